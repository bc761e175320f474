"""Names whose arguments another thread changes while they are decided: what the
tests flip_*.py share.  Each mode of race/files_flip.c runs three times: natively,
where the refused effect is seen; under a wary with a fault planted (what was
judged is fetched a second time), where it is seen too, so that the rounds are
known to be enough to find one; and under wary, where it never is.  A million
calls: ROUNDS=1000000 SECONDS=3000."""
import os
import pathlib
import shutil
import subprocess

from wary_test import BUILD, TMP, caller, native, note, ok, policy, wary

ROUNDS = int(os.environ.get("ROUNDS", "100000"))
SECONDS = float(os.environ.get("SECONDS", "5"))
# As long as it takes to find the fault, within what a loaded machine needs.
PATIENCE_S = 60
TOP = pathlib.Path(TMP) / "w"
RULES = f"""default allow
deny read,edit {TOP}/nay/**
deny edit {TOP}/rdo/**
deny file {TOP}/hid/**
"""
PROGRAM = caller("race/files_flip")
PLANTED = BUILD / "tests/race/wary-planted"


def fresh():
    shutil.rmtree(TOP, ignore_errors=True)
    for folder, text in (("aye", "aye"), ("nay", "nay"), ("rdo", "rdo"), ("hid", "nothing")):
        (TOP / folder).mkdir(parents=True)
        for name in ("f", "t", "v", "m"):
            (TOP / folder / name).write_text(text)
        (TOP / folder / "l").symlink_to("hidden" if folder == "hid" else "shown")
    return TOP


def words(run, mode):
    out = run.stdout.split()
    if len(out) != 6:
        note(f"{mode}: status {run.returncode} {run.stdout!r} {run.stderr[-2000:]!r}")
        return 0, 0, "broken"
    return int(out[1]), int(out[3]), out[5]


def planted(mode, seconds):
    """The same under the wary that has the fault."""
    return subprocess.run([PLANTED, "-q", "-p", policy(RULES), "--", PROGRAM, mode, "10000000",
                           str(seconds)], cwd=fresh(), capture_output=True, text=True,
                          timeout=PATIENCE_S * 4, check=False, stdin=subprocess.DEVNULL)


def check(mode, twice=False):
    """twice: a second rule holds even where the first was tricked."""
    made, _, seen = words(native(PROGRAM, mode, "10000000", PATIENCE_S, cwd=fresh()), mode)
    ok(seen == "hit", f"{mode}: natively the refused effect is seen ({made} rounds)")
    made, _, seen = words(planted(mode, SECONDS if twice else PATIENCE_S), mode)
    if twice:
        ok(seen == "clean", f"{mode}: a planted fault does not suffice ({made} rounds)")
    else:
        ok(seen == "hit", f"{mode}: a planted fault is found ({made} rounds)")
    made, allowed, seen = words(wary(PROGRAM, mode, ROUNDS, SECONDS, cwd=fresh(), rules=RULES,
                                     options=["-q"], timeout=240 + SECONDS), mode)
    ok(seen == "clean" and allowed > 0,
       f"{mode}: never under wary ({made} rounds, {allowed} allowed)")
