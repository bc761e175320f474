#!/usr/bin/env python3
"""What is executed is what was decided, however fast another thread changes
the path, an argument, a link, the file, the descriptor or a script meanwhile."""
import os
import pathlib
import re
import shutil

from wary_test import TMP, caller, finish, native, note, ok, wary

ROUNDS = int(os.environ.get("ROUNDS", "250"))
ROOT = pathlib.Path(TMP).resolve() / "w"


def fresh():
    shutil.rmtree(ROOT, ignore_errors=True)
    ROOT.mkdir()
    for name in ("good", "evil"):
        shutil.copy(caller("race/exec_flip"), ROOT / name)


def seen(run):
    found = re.search(r"good (\d+) evil (\d+) refused (\d+) killed (\d+) other (\d+)", run.stdout)
    if not found:
        note(f"status {run.returncode}\n{run.stdout}\n{run.stderr}")
        return None
    return dict(zip(("good", "evil", "refused", "killed", "other"), map(int, found.groups())))


# "second" is evil at first, and "first" whenever the two have been exchanged:
# names do not tell, so the file that may not run is told by its place.
RULES = f"""default allow
deny exec {ROOT}/evil
deny exec ** when has evil
"""

for mode in ("path", "argument", "link", "descriptor", "script"):
    fresh()
    bites = seen(native(ROOT / "good", mode, ROUNDS, cwd=ROOT))
    ok(bites and bites["evil"] > 0, f"{mode}: natively the other one runs ({bites})")
    fresh()
    under = seen(wary(ROOT / "good", mode, ROUNDS, cwd=ROOT, rules=RULES, options=["-q"]))
    ok(under and under["evil"] == 0, f"{mode}: under wary it never does ({under})")
    ok(under and under["good"] > 0, f"{mode}: the allowed one does")
    ok(under and sum(under.values()) == ROUNDS, f"{mode}: every round has ended")
# Nothing is refused here, and nothing may be lost: a file that is exchanged for
# another between decision and load is not what was decided.
for mode in ("file", "variable"):
    fresh()
    under = seen(wary(ROOT / "good", mode, ROUNDS, cwd=ROOT, options=["-q"]))
    ok(under and under["other"] == 0 and sum(under.values()) == ROUNDS,
       f"{mode}: every round has ended ({under})")
finish()
