#!/usr/bin/env python3
"""Sockets, messages, signals and owners give under wary what they give
natively, call by call: same_*.c print one line a call."""
import os
import pathlib
import shutil
import sys

sys.path.insert(0, os.path.join(os.environ["SRC"], "tests/lib"))
from wary_test import TMP, caller, finish, native, note, ok, same, wary

PROGRAMS = ["same_unix", "same_inet", "same_messages", "same_signals"]


def fresh():
    """The same empty folder for both runs: names of sockets are compared."""
    folder = pathlib.Path(TMP) / "w"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return folder


def lines(run, what):
    if not ok(run.returncode == 0, f"{what}: exit status {run.returncode}"):
        note(run.stderr)
    return run.stdout.splitlines()


for name in PROGRAMS:
    want = lines(native(caller("e2e/" + name), cwd=fresh()), name + " natively")
    got = lines(wary(caller("e2e/" + name), cwd=fresh(), options=["-q"]), name + " under wary")
    ok(len(want) > 20 and len(got) == len(want), f"{name}: {len(want)} lines")
    for one, two in zip(want, got):
        if one != two:
            same(two, one, f"{name}: {one[:40].strip()}")
finish()
