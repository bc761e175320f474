#!/usr/bin/env python3
"""Programs are started under wary as they are natively: each way to name one,
each way to fail, scripts within scripts, descriptors, threads."""
import os
import pathlib
import shutil
import sys

sys.path.insert(0, os.path.join(os.environ["SRC"], "tests/lib"))
from wary_test import TMP, caller, finish, native, note, ok, same, wary

# What wary refuses on purpose: files without a name need a rule of their own.
PERMISSIVE = "default allow\nallow exec **\n"


def fresh():
    folder = pathlib.Path(TMP) / "w"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return folder


def lines(run, what):
    if not ok(run.returncode == 0, f"{what}: exit status {run.returncode}"):
        note(run.stderr)
    return run.stdout.splitlines()


program = caller("e2e/exec")
want = lines(native(program, cwd=fresh()), "natively")
got = lines(wary(program, cwd=fresh(), options=["-q"], rules=PERMISSIVE), "under wary")
ok(len(want) > 100 and len(got) == len(want), f"{len(want)} lines, {len(got)} under wary")
for one, two in zip(want, got):
    same(two, one, one[:60].strip())
finish()
