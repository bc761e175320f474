#!/usr/bin/env python3
"""What the tree gets of what wary was given, and what it must not have."""
import os
import resource
import signal
import subprocess
import sys

from wary_test import TMP, WARY, finish, has, native, ok, policy, same, wary

LOOK = TMP / "look.py"
LOOK.write_text("""
import os, resource, signal, sys
keys = ("Umask", "NoNewPrivs", "Seccomp", "SigBlk", "SigIgn", "CapInh", "CapPrm", "CapEff", "CapBnd",
        "CapAmb", "Groups", "Uid", "Gid")
for line in open("/proc/self/status"):
    if line.split(":")[0] in keys:
        print(line.split(":")[0], " ".join(line.split(":")[1].split()))
for name in ("CORE", "NOFILE", "STACK", "CPU", "FSIZE", "AS", "DATA", "NPROC", "MEMLOCK"):
    print(name, resource.getrlimit(getattr(resource, "RLIMIT_" + name)))
print("nice", os.getpriority(os.PRIO_PROCESS, 0))
print("cwd", os.getcwd())
# RES_OPTIONS is wary's own, for its DNS guard.
print("env", sorted(k for k in os.environ if k not in ("_", "RES_OPTIONS")))
print("pgrp", os.getpgrp() == int(sys.argv[1]) if len(sys.argv) > 1 else "")
print("sid", os.getsid(0))
print("affinity", sorted(os.sched_getaffinity(0)))
""")
# The tree must not have these: to administer the machine, its kernel, devices, network.
FORBIDDEN = {"SYS_ADMIN": 21, "SYS_PTRACE": 19, "SYS_RESOURCE": 24, "NET_ADMIN": 12, "BPF": 39,
             "SYS_MODULE": 16, "MKNOD": 27, "SYS_RAWIO": 17, "SYS_BOOT": 22, "SYS_TIME": 25,
             "SYS_TTY_CONFIG": 26, "LINUX_IMMUTABLE": 9, "MAC_ADMIN": 33, "MAC_OVERRIDE": 32,
             "SYSLOG": 34, "NET_RAW": 13, "PERFMON": 38, "CHECKPOINT_RESTORE": 40}
KEPT = {"CHOWN": 0, "DAC_OVERRIDE": 1, "FOWNER": 3, "KILL": 5, "SETGID": 6, "SETUID": 7,
        "NET_BIND_SERVICE": 10}


def looks(run, **more):
    r = run(sys.executable, str(LOOK), **more)
    return dict(line.split(" ", 1) for line in r.stdout.split("\n") if " " in line)


def odd_state():
    """As a caller that has changed what it can change."""
    os.umask(0o057)
    os.nice(1)
    os.setpgid(0, 0)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR2, signal.SIGRTMIN + 3})
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, 128))
    resource.setrlimit(resource.RLIMIT_STACK, (4 << 20, resource.getrlimit(resource.RLIMIT_STACK)[1]))


def test_same():
    for text, prepare in (("an ordinary caller", None), ("an odd caller", odd_state)):
        here, there = looks(wary, preexec_fn=prepare), looks(native, preexec_fn=prepare)
        ok(len(here) > 15, f"{text}: looks")
        for key in there:
            if key not in ("CORE", "NoNewPrivs", "Seccomp", "CapInh", "CapPrm", "CapEff", "CapBnd"):
                same(here.get(key), there[key], f"{text}: {key} as natively")
        same(here.get("CORE"), "(0, 0)", f"{text}: no core dumps, for good")
        same(here.get("NoNewPrivs"), "1", f"{text}: no new privileges")
        same(here.get("Seccomp"), "2", f"{text}: under the filter")


def test_rights():
    here, there = looks(wary), looks(native)
    for key in ("CapPrm", "CapEff", "CapBnd"):
        bits, before = int(here[key], 16), int(there[key], 16)
        same(bits & ~before, 0, f"{key}: nothing new")
        left = [n for n, b in FORBIDDEN.items() if bits >> b & 1]
        if os.geteuid() == 0 or key != "CapBnd":
            same(left, [], f"{key}: none that no tree may have")
        if os.geteuid() == 0:
            lost = [n for n, b in KEPT.items() if before >> b & 1 and not bits >> b & 1]
            same(lost, [], f"{key}: what work as root needs is kept")
    if os.geteuid() == 0:
        r = wary("sh", "-c", "touch x && chown 12345:54321 x && stat -c %u:%g x", cwd=TMP)
        same(r.stdout, "12345:54321\n", "root's tree can still chown")
        r = wary("python3", "-c", "import os; os.setgroups([7]); os.setgid(54321); os.setuid(12345); "
                 "print(os.getuid(), os.getgid(), os.getgroups()); open('/etc/shadow')", cwd=TMP)
        has(r.stdout, "12345 54321 [7]", "root's tree can become another user")
        has(r.stderr, "PermissionError", "who is then held to that user's rights")
        r = wary("sh", "-c", "mknod null c 1 3 || echo refused", cwd=TMP)
        same(r.stdout, "refused\n", "root's tree makes no devices")
        r = wary("python3", "-c", "import resource as r\n"
                 "try: r.setrlimit(r.RLIMIT_CORE, (1, 1)); print('raised')\n"
                 "except (OSError, ValueError) as e: print('refused')")
        same(r.stdout, "refused\n", "root's tree cannot raise the core limit")


def test_core():
    """A core dump would be a file that nobody decided."""
    before = set(os.listdir(TMP))
    r = wary("sh", "-c", "ulimit -c unlimited; kill -ABRT $$", cwd=TMP)
    same(r.returncode, -signal.SIGABRT, "dies by SIGABRT")
    same({n for n in os.listdir(TMP) if "core" in n} - before, set(), "without a core")


def test_environment():
    env = {**os.environ, "MY_TOKEN": "1", "MY_NAME": "2", "AWS_X": "3"}
    r = wary("env", env=env, rules="default allow\nenv drop *_TOKEN AWS_*\n")
    ok("MY_NAME=2" in r.stdout and "MY_TOKEN" not in r.stdout and "AWS_X" not in r.stdout,
       "env drop takes variables out")
    r = subprocess.run([WARY, "-p", str(policy()), "sh", "-c", "echo $0"], capture_output=True,
                       text=True, timeout=240, check=False, stdin=subprocess.DEVNULL)
    same(r.stdout, "sh\n", "argv[0] is the caller's")


test_same()
test_rights()
test_core()
test_environment()
finish()
