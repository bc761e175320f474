#!/usr/bin/env python3
"""A leader whose number is taken over by another thread's exec in the middle of
a call: nothing is written into the new program, nothing put among its
descriptors, and every process ends.  A wary that writes to whoever has the
number by then (a planted fault) is found."""
import os
import re
import subprocess

from wary_test import BUILD, caller, finish, native, note, ok, policy, same, wary

ROUNDS = int(os.environ.get("ROUNDS", "150"))
# A rule that speaks of stat has those calls answered by wary as well.
RULES = "default allow\ndeny stat /no/such/thing/at/all\n"
WANT = f"intact {ROUNDS} changed 0 other 0\n"

same(native(caller("race/exec_takeover"), ROUNDS).stdout, WANT, "natively")
for rules in ("default allow\n", RULES):
    run = wary(caller("race/exec_takeover"), ROUNDS, rules=rules, options=["-q"])
    if not same(run.stdout, WANT, "under wary"):
        note(run.stderr[-2000:])


def late():
    """Under the wary that has the fault: how many programs were changed."""
    run = subprocess.run([BUILD / "tests/race/wary-late", "-q", "-p", policy(RULES), "--",
                          caller("race/exec_takeover"), "50"], capture_output=True, text=True,
                         timeout=280, check=False, stdin=subprocess.DEVNULL)
    found = re.search(r"changed (\d+)", run.stdout)
    return int(found.group(1)) if found else 0


# Elsewhere than on the machine that tests run on (tests/kernel) it takes minutes.
if os.environ.get("PLANTED") != "elsewhere":
    ok(any(late() for _ in range(40)), "a planted fault is found")
finish()
