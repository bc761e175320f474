#!/usr/bin/env python3
"""What wary may do once a session runs (src/trap/confine.def) against what its
objects can ask for: the functions of libc that they call, and SYS_ names.

Fails where a call is declared that neither wary nor a library in it makes, and
where one is made that is not declared and not of the time before. BUILD: a build tree."""
import os
import pathlib
import re
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ["BUILD"])
# Functions by another name than their call's.
NAMES = {
    "eventfd2": ["eventfd"], "signalfd4": ["signalfd"], "newfstatat": ["fstatat"],
    "pread64": ["pread"], "pwrite64": ["pwrite"], "wait4": ["waitpid"], "waitid": ["waitpid"],
    "recvmsg": ["recvmsg", "recv"], "epoll_pwait": ["epoll_wait"],
    "rt_sigaction": ["sigaction"],
    "rt_sigqueueinfo": ["sigqueue", "rt_tgsigqueueinfo"], "tkill": ["tgkill"],
    "getdents64": ["readdir"], "statfs": ["fstatfs"], "readlink": ["readlinkat"],
    "ppoll": ["poll"], "exit_group": ["exit", "_exit"], "sendmmsg": ["sendmsg"],
    "timerfd_create": ["timerfd_create", "poll"], "timerfd_settime": ["timerfd_settime", "poll"],
    "getpeername": ["getsockname"], "setresuid": ["setfsuid"], "setresgid": ["setfsgid"],
    "sched_getparam": ["sched_setparam"], "sched_getscheduler": ["sched_setscheduler"],
    "getpriority": ["setpriority"], "getrusage": ["clock_gettime"],
    "fchmodat2": ["fchmodat"], "dup": ["dup3"], "dup2": ["dup3"], "rmdir": ["unlinkat"],
}
# Whose own use it is, by the reason's words: their objects are not looked into.
LIBRARIES = re.compile(r"\b(libc|malloc|threads|sanitizers|SQLite|libsodium|the kernel|handlers)\b")
# Made before a session is confined, each in a place of its own.
BEFORE = {"fork": "asker, guardian, launcher", "execveat": "trap/kernel tries it",
          "close_range": "ask/asker, cmd/keeper", "setpgid": "ask/asker", "setsid": "cmd/keeper", "eventfd": "as eventfd2",
          "signalfd": "as signalfd4"}


def symbols():
    """Undefined symbols of wary's objects, without the 64 of large files."""
    out = subprocess.run(["nm", "-u", BUILD / "libwary.a", BUILD / "libwarypure.a"], check=True,
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    found = re.findall(r"^\s+U (?:__(?=\w+_chk$))?(\w+?)(?:_chk)?$", out, re.M)  # fortified ones too
    return {name.removesuffix("64") for name in found}


def by_number():
    found = set()
    for path in (TOP / "src").rglob("*.[ch]"):
        found.update(re.findall(r"\b(?:SYS|__NR)_(\w+)", path.read_text()))
    return found


def main():
    if not (BUILD / "libwary.a").exists():
        print("no objects yet: run make first")
        return 77
    declared = dict(re.findall(r'^USES\((\w+), "([^"]*)"\)',
                               (TOP / "src/trap/confine.def").read_text(), re.M))
    rows = set(re.findall(r"^(?:PASS|SHUT|GONE|ROW)\((\w+),",
                          (TOP / "src/call/table.def").read_text(), re.M))
    called = symbols() | by_number()
    wrong = [f"{name} is declared ({why}), and nothing calls it"
             for name, why in declared.items() if not LIBRARIES.search(why)
             and not called.intersection([name] + NAMES.get(name, []))]
    wrong += [f"{name} is called, and trap/confine.def does not declare it"
              for name in sorted(called & rows) if name not in declared and name not in BEFORE]
    if len(declared) < 100 or len(called) < 300:
        wrong.append(f"{len(declared)} declared, {len(called)} called: not understood")
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0


sys.exit(main())
