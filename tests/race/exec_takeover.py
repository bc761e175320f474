#!/usr/bin/env python3
"""A leader whose number is taken over by another thread's exec in the middle of
a call: nothing is written into the new program, nothing put among its
descriptors, and every process ends."""
import os

from wary_test import caller, finish, native, note, same, wary

ROUNDS = int(os.environ.get("ROUNDS", "150"))
# A rule that speaks of stat has those calls answered by wary as well.
RULES = "default allow\ndeny stat /no/such/thing/at/all\n"
WANT = f"intact {ROUNDS} changed 0 other 0\n"

same(native(caller("race/exec_takeover"), ROUNDS).stdout, WANT, "natively")
for rules in ("default allow\n", RULES):
    run = wary(caller("race/exec_takeover"), ROUNDS, rules=rules, options=["-q"])
    if not same(run.stdout, WANT, "under wary"):
        note(run.stderr[-2000:])
finish()
