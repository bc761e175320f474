#!/usr/bin/env python3
"""A machine that lacks or forbids something: wary says what, before anything
runs, or the command runs rightly; never unsupervised, never half."""
import errno
import json
import subprocess

from wary_test import TMP, WARY, caller, finish, has, ok, policy, same

SECRET = TMP / "secret"
SECRET.write_text("the secret\n")
GOOD = TMP / "good"
GOOD.write_text("fine\n")
POLICY = str(policy(f"default allow\ndeny file {SECRET}\n"))
COMMAND = ["sh", "-c", f"echo RAN; cat {SECRET}; cat {GOOD}"]

# What is taken away: a call of x86-64 (or one request or flag of it), its errno,
# a part of what wary must say; None: it must run all the same.
CASES = [
    ("no Landlock", "444", errno.ENOSYS, None),
    ("no ptrace", "101", errno.EPERM, "ptrace"),
    ("no process_vm_readv", "310", errno.EPERM, "process_vm_readv"),
    ("no seccomp", "317", errno.EPERM, "SECCOMP_GET_NOTIF_SIZES"),
    ("no killable wait (before 5.19)", "317:1&0x20", errno.EINVAL, "5.19"),
    ("a supervisor already", "317:1&0x20", errno.EBUSY, "supervised already"),
    ("no receiving", "16:1=0xc0502100", errno.EPERM, "NOTIF_RECV"),
    ("no descriptors added", "16:1=0x40182103", errno.EINVAL, "NOTIF_ADDFD"),
    ("no pidfd_open", "434", errno.ENOSYS, "pidfd_open"),
    ("no pidfd_getfd (Yama)", "438", errno.EPERM, "pidfd_getfd"),
    ("no clone3", "435", errno.ENOSYS, None),
]


def run(case, *argv):
    return subprocess.run([caller("lib/outer"), case[1], str(case[2]), WARY, *argv], capture_output=True,
                          text=True, timeout=240, check=False, stdin=subprocess.DEVNULL)


for case in CASES:
    r = run(case, "-p", POLICY, *COMMAND)
    ok("the secret" not in r.stdout, f"{case[0]}: what is denied is denied")
    if case[3] is None:
        ok(r.stdout == "RAN\nfine\n", f"{case[0]}: the command runs, supervised")
    else:
        same((r.returncode, r.stdout), (125, ""), f"{case[0]}: 125, and nothing has run")
        has(r.stderr, case[3], f"{case[0]}: says what")
        d = run(case, "doctor")
        same(d.returncode, 1, f"{case[0]}: doctor says that wary cannot run")
        has(d.stdout, case[3], f"{case[0]}: and why")

d = subprocess.run([WARY, "doctor"], capture_output=True, text=True, timeout=240, check=False)
same(d.returncode, 0, "doctor: this machine will do")
d = subprocess.run([WARY, "doctor", "--json"], capture_output=True, text=True, timeout=240, check=False)
found = json.loads(d.stdout)
ok(found["kernel"]["state"] == ("degraded" if "PIDFD_THREAD" in d.stdout else "ok"),
   "doctor --json: the kernel")
ok(all(f["state"] in ("ok", "degraded") for f in found.values()), "doctor --json: nothing is missing")

r = subprocess.run([WARY, "-p", POLICY, WARY, "-p", POLICY, *COMMAND], capture_output=True, text=True,
                   timeout=240, check=False, stdin=subprocess.DEVNULL)
ok("the secret" not in r.stdout and "RAN" not in r.stdout, "wary inside wary does not run unsupervised")
ok(r.returncode == 125 and "wary" in r.stderr, "and says so")
finish()
