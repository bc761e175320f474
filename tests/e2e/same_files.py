#!/usr/bin/env python3
"""Files and folders give under wary what they give natively, call by call:
each program prints one line a call, with result, errno, mode, size, flags. Once
as the filter lets stat calls run, once with a rule that has them all trapped."""
import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ["SRC"], "tests/lib"))
from wary_test import (TMP, WARY, Terminal, caller, finish, native, note, ok, policy, same,
                       wary)

PROGRAMS = ["same_open", "same_names", "same_attr", "same_proc", "same_owner", "same_wait"]
# A rule that speaks of stat, and never matches.
STAT = "default allow\ndeny stat /no/such/thing/at/all\n"


def fresh():
    """The same empty folder for every run."""
    folder = pathlib.Path(TMP) / "w"
    if folder.exists():
        subprocess.run(["chmod", "-R", "u+rwX", folder], check=True)
        shutil.rmtree(folder)
    folder.mkdir()
    folder.chmod(0o755)
    return folder


# Before Linux 6.9 a thread's own table is out of reach, and what is done on it refused;
# before 6.10 linkat of a descriptor needs a capability natively (docs/DIFFERENCES.md).
DOCTOR = subprocess.run([WARY, "doctor"], capture_output=True, text=True, check=False,
                        stdin=subprocess.DEVNULL).stdout
OLDER = {"fchmod by the thread's number": "ENOSYS", "linkat of the descriptor": "EPERM"}
KNOWN = OLDER if "PIDFD_THREAD" in DOCTOR else {}


def lines(run, what):
    if not ok(run.returncode == 0, f"{what}: exit status {run.returncode}"):
        note(run.stderr)
    return run.stdout.splitlines()


def compare(name, want, got, how):
    ok(len(want) > 20 and len(got) == len(want), f"{name} {how}: {len(want)} lines")
    for one, two in zip(want, got):
        text, _, result = two.rpartition(" ")
        if one != two and KNOWN.get(text.strip()) != result:
            same(two, one, f"{name} {how}: {one[:48].strip()}")


for name in PROGRAMS:
    program = caller("e2e/" + name)
    want = lines(native(program, cwd=fresh()), name + " natively")
    got = lines(wary(program, cwd=fresh(), options=["-q"]), name + " under wary")
    compare(name, want, got, "under wary")
    got = lines(wary(program, cwd=fresh(), options=["-q"], rules=STAT), name + " with stat")
    compare(name, want, got, "with stat trapped")

# What has no name (a pipe, a memfd) is the caller's own, whatever is refused.
program = caller("e2e/same_attr")
want = lines(native(program, cwd=fresh()), "same_attr natively")
got = lines(wary(program, cwd=fresh(), options=["-q"],
                 rules=f"default deny\nallow read,exec /**\nallow edit {TMP}/w/**\n"),
            "same_attr with little allowed")
compare("same_attr", want, got, "with little allowed")


def on_terminal(argv):
    """What a program on a terminal of its own prints, without the numbers of
    terminals."""
    terminal = Terminal([str(a) for a in argv], cwd=fresh())
    status = terminal.end()
    ok(status == 0, f"on a terminal: {pathlib.Path(argv[0]).name} ends with {status}")
    return terminal.seen.decode().replace("\r", "").splitlines()


program = caller("e2e/same_tty")
want = on_terminal([program])
got = on_terminal([WARY, "-q", "-p", policy(), "--", program])
# Two processes print: which is first is not the same twice, natively either.
compare("same_tty", sorted(want), sorted(got), "under wary")
finish()
