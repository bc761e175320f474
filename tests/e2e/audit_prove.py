#!/usr/bin/env python3
"""`wary audit prove` and `verify --proof`: a row of a real session is shown by a file
alone, by wary and by the second verifier, and by no file that was changed."""
import json
import os
import random
import sqlite3
import subprocess
import sys

from wary_test import DB, HOME, SRC, TMP, WARY, audit, changed_copy, finish, has, has_not, note, ok, same, store_copy, wary

KEY = HOME / ".local/state/wary/keys/machine.pub"
SECOND = SRC / "examples/verify.py"


def verify(file, *more):
    """Without any record."""
    env = dict(os.environ, WARY_DB=str(TMP / "nowhere/none.db"))
    done = subprocess.run([WARY, "audit", "verify", "--proof", file, *more], env=env, check=False,
                          capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout + done.stderr


def second(*argv):
    done = subprocess.run([sys.executable, SECOND, *argv], check=False, capture_output=True, text=True,
                          timeout=250, stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout + done.stderr


def rows(sql):
    db = sqlite3.connect(f"file:{DB}?mode=ro", uri=True)
    found = db.execute(sql).fetchall()
    db.close()
    return found


def make():
    (TMP / "work").mkdir()
    work = os.path.realpath(TMP / "work")
    done = wary("sh", "-c", 'echo a >"$(printf \'a\\033[31m\\nb\')"; cat secret; true', cwd=work,
                rules=f"default allow\ndeny file {work}/secret\n")
    same(done.returncode, 0, "a session")
    return work


def test_rows(work):
    """The first row, the last, one refused, one with a hostile name, one of each kind."""
    last = rows("SELECT max(id) FROM event")[0][0]
    wanted = {1: "", last: "", rows("SELECT min(id) FROM decisions WHERE answer = 'deny'")[0][0]: "secret",
              rows("SELECT min(id) FROM decisions WHERE class = 'create'")[0][0]: r"a\x1b[31m\nb",
              rows("SELECT min(id) FROM processes WHERE argv LIKE '%secret%'")[0][0]: "cat secret"}
    for row, part in wanted.items():
        file = TMP / f"{row}.proof"
        same(audit("prove", str(row), "-o", str(file)).returncode, 0, f"a proof of row {row}")
        status, text = verify(file)
        same(status, 0, "shows it")
        has(text, "is on record as follows", "in words")
        has(text, part, "with its names, printable")
        has_not(text, "\x1b", "and nothing that a terminal obeys")
        same(second("--proof", file, KEY)[0], 0, "the second verifier agrees")
    same(audit("prove", "1").stdout, (TMP / "1.proof").read_text(), "or printed")
    same(audit("prove", "1", "-o", str(TMP / "1.proof")).returncode, 2, "no file is written over")
    row = max(wanted)
    has(verify(TMP / f"{row}.proof")[1], f"row {row:,} is on record", "the row is named")


def test_statuses():
    file = TMP / "1.proof"
    same(verify(file, "--key", KEY)[0], 0, "the key may be named")
    same(verify(file, "--key", "ab" * 32)[0], 1, "another machine's key shows nothing")
    same(second("--proof", file, "ab" * 32)[0], 1, "nor to the second verifier")
    same(verify(TMP / "nowhere.proof")[0], 2, "a file that is not there")
    same(audit("verify", "--proof", str(file), "--db", str(DB)).returncode, 2, "a proof needs no record")
    same(audit("prove", "99999999").returncode, 1, "no such row")
    same(audit("prove", "x").returncode, 2, "no row at all")
    same(audit("prove").returncode, 2, "none named")
    env = dict(os.environ, HOME=str(TMP), XDG_STATE_HOME=str(TMP / "elsewhere"))
    done = subprocess.run([WARY, "audit", "verify", "--proof", file], env=env, check=False, capture_output=True,
                          text=True, timeout=60)
    same(done.returncode, 2, "without any key there is nothing to check it by")
    has(done.stderr, "--key", "which is said")


def test_changes():
    """Both verifiers say the same of changed files. (Every byte: tests/unit/audit_proof.)"""
    text = (TMP / "1.proof").read_text()
    changed = TMP / "changed.proof"
    seed = int.from_bytes(os.urandom(4), "little")
    chance = random.Random(seed)
    note(f"seed {seed}")
    wrong = []
    for _ in range(8):
        at = chance.randrange(len(text))
        new = text[:at] + chance.choice("0123456789abcdef[]{},x") + text[at + 1:]
        try:
            harmless = json.loads(new) == json.loads(text)
        except ValueError:
            harmless = False
        changed.write_text(new)
        if [verify(changed)[0], second("--proof", changed, KEY)[0]] != [not harmless, not harmless]:
            wrong.append((at, new[at]))
    same(wrong, [], "a changed byte is found by both")
    changed.write_text(json.dumps(json.loads(text), indent=4))
    same(verify(changed)[0], 0, "another layout of the same is the same")
    changed.write_text("")
    same(verify(changed)[0], 1, "an empty file shows nothing")


def test_changed_record():
    wrong = TMP / "wrong.db"
    with changed_copy(DB, wrong) as db:
        db.execute("UPDATE event SET result = 77 WHERE id = 1")
    done = audit("prove", "--db", str(wrong), "1")
    same((done.returncode, done.stdout), (1, ""), "no proof of what was changed")
    has(done.stderr, "row 1 (session", "which is named")


def test_record():
    """The whole record by the second verifier."""
    whole = store_copy(DB, TMP / "whole.db")
    status, text = second(whole, KEY)
    same(status, 0, f"intact to the second verifier {text}")
    with changed_copy(DB, TMP / "wrong2.db") as db:
        db.execute("UPDATE event SET result = 77 WHERE id = 1")
    same(second(TMP / "wrong2.db", KEY)[0], 1, "and not, where a row was changed")


WORK = make()
test_rows(WORK)
test_statuses()
test_changes()
test_changed_record()
test_record()
ok(audit("prove", "--help").returncode == 0, "help")
finish()
