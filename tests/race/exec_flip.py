#!/usr/bin/env python3
"""What is executed is what was decided, however fast another thread changes
the path, an argument, a link, the file, the descriptor or a script meanwhile.
Natively the other one runs, and under a wary that fetches a second time what it
judged (a planted fault) it runs too: so many rounds find one."""
import os
import pathlib
import re
import shutil
import subprocess

from wary_test import BUILD, TMP, caller, finish, native, note, ok, policy, wary

ROUNDS = int(os.environ.get("ROUNDS", "120"))
ROOT = pathlib.Path(TMP).resolve() / "w"


def fresh():
    shutil.rmtree(ROOT, ignore_errors=True)
    ROOT.mkdir()
    for name in ("good", "evil"):
        shutil.copy(caller("race/exec_flip"), ROOT / name)
        (ROOT / (name + ".d")).mkdir()
        shutil.copy(caller("race/exec_flip"), ROOT / (name + ".d/it"))


def seen(run):
    found = re.search(r"good (\d+) evil (\d+) refused (\d+) killed (\d+) other (\d+)", run.stdout)
    if not found:
        note(f"status {run.returncode}\n{run.stdout}\n{run.stderr}")
        return None
    return dict(zip(("good", "evil", "refused", "killed", "other"), map(int, found.groups())))


def planted(mode, rounds):
    """Under the wary that has the fault."""
    return subprocess.run([BUILD / "tests/race/wary-planted", "-q", "-p", policy(RULES), "--",
                           ROOT / "good", mode, str(rounds)], cwd=ROOT, capture_output=True,
                          text=True, timeout=280, check=False, stdin=subprocess.DEVNULL)


def until_evil(run):
    """Whether the one that may not run has run at all, in up to 40 runs."""
    for tries in range(1, 41):
        fresh()
        found = seen(run())
        if found and found["evil"] > 0:
            return f"{found}, run {tries}"
    return None


# "second" is evil at first, and "first" whenever the two have been exchanged:
# names do not tell, so the file that may not run is told by its place.
RULES = f"""default allow
deny exec {ROOT}/evil {ROOT}/evil.d/
deny exec ** when has evil
"""

for mode in ("path", "argument", "link", "descriptor", "folder", "script"):
    bites = until_evil(lambda m=mode: native(ROOT / "good", m, ROUNDS, cwd=ROOT))
    ok(bites, f"{mode}: natively the other one runs ({bites})")
    # Whose folder changes is looked up once a call: there the fault does nothing.
    if mode != "folder":
        bites = until_evil(lambda m=mode: planted(m, ROUNDS))
        ok(bites, f"{mode}: a planted fault is found ({bites})")
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
