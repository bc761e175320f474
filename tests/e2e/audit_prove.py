#!/usr/bin/env python3
"""`wary audit prove` and `verify --proof`: a row of a real session is shown by a file
alone, by wary and by the second verifier, and by no file that was changed."""
import contextlib
import copy
import importlib.util
import io
import json
import os
import random
import sqlite3
import subprocess
import sys

from wary_test import DB, HOME, SRC, TMP, WARY, audit, changed_copy, finish, has, has_not, note, ok, same, store_copy, wary

KEY = HOME / ".local/state/wary/keys/machine.pub"
SECOND = SRC / "examples/verify.py"
MUTATIONS = 150
sys.dont_write_bytecode = True


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


# What is put in the place of a value of a proof.
ODD = [None, True, False, 0, 1, -1, 1.0, 1e300, 2**63 - 1, 2**63, 2**64, 10**400, "", "0", "00", "zz", " ", "\0", "machine",
       "session", "é", [], [[]], {}, {"a": 1}, "ab" * 32, "ab" * 64]
HEX = [str.upper, lambda t: t + "0", lambda t: t + "00", lambda t: t[2:], lambda t: t[:-2], lambda t: " " + t,
       lambda t: t[:2] + " " + t[2:], lambda t: "0x" + t[2:], lambda t: t[:-1] + "\n", lambda t: "0" * len(t),
       lambda t: t[::-1], lambda t: ("1" if t[:1] == "0" else "0") + t[1:], lambda t: t.replace("a", "é", 1)]
TEXT = [lambda t, n: t[:n], lambda t, n: t + "x", lambda t, n: t + " \n", lambda t, n: "\ufeff" + t, lambda t, n: "[" + t + "]",
        lambda t, n: t[:n] + "\0" + t[n:], lambda t, n: t[:n] + " " + t[n:], lambda t, n: "[" * 100000, lambda t, n: t + t,
        lambda t, n: t.replace('"row": ', '"row": 0', 1), lambda t, n: t.replace('"row": ', '"row": -', 1),
        lambda t, n: t.replace('"place": ', '"place": NaN, "x": ', 1), lambda t, n: t.replace('"row": ', '"row": 7, "row": ', 1),
        lambda t, n: t.replace('"by"', '"b\\u0079"', 1), lambda t, n: t.replace('"path": [', '"path": [,', 1),
        lambda t, n: t.replace("{", "// {", 1), lambda t, n: t.replace('"', "'"), lambda t, n: t[:n] + "\udcff" + t[n:],
        lambda t, n: t.encode().decode("latin-1") + "\x85"]


def places(value, at=()):
    """All values of a proof, each as (where it is, what)."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in pairs:
        yield (*at, key), one
        yield from places(one, (*at, key))


def inside(proof, where):
    for key in where:
        proof = proof[key]
    return proof


def mutated(chance, text):
    """A proof that is changed in one place; what was done."""
    proof = json.loads(text)
    found = list(places(proof))
    where, what = chance.choice(found)
    holder, key = inside(proof, where[:-1]), where[-1]
    how = chance.choice(["odd", "odd", "hex", "hex", "gone", "more", "other", "swap", "text"])
    if how == "text":
        number = chance.randrange(len(TEXT))
        return TEXT[number](text, chance.randrange(len(text))), f"text {number}"
    if how == "odd":
        holder[key] = chance.choice(ODD)
    elif how == "hex" and isinstance(what, str):
        holder[key] = chance.choice(HEX)(what)
    elif how == "gone":
        del holder[key]
    elif how == "more" and isinstance(holder, dict):
        holder[chance.choice(["extra", "Role", "row ", "\u00e9"])] = what
    elif how == "more":
        holder.insert(chance.randrange(len(holder) + 1), what)
    elif how == "swap" and isinstance(holder, list):
        chance.shuffle(holder)
    else:
        holder[key] = copy.deepcopy(chance.choice([value for _, value in found if type(value) is type(what)]))
    return json.dumps(proof), f"{how} {where} {json.dumps(what)[:40]}"


def load_second():
    spec = importlib.util.spec_from_file_location("verify", SECOND)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.main


def test_mutations():
    """Both verifiers agree on proofs that are none, and on those that are the same otherwise written."""
    same(audit("key", "rotate").returncode, 0, "another key")
    same(wary("sh", "-c", "exec sh -c 'exit 3' with some arguments").returncode, 3, "and a session of it")
    main, apart, count = load_second(), [], {0: 0, 1: 0}
    changed = TMP / "changed.proof"
    for row in rows("SELECT max(id) FROM processes UNION SELECT min(id) FROM event"):
        text = audit("prove", str(row[0])).stdout
        chance = random.Random(5)
        for _ in range(MUTATIONS):
            new, done = mutated(chance, text)
            changed.write_bytes(new.encode(errors="surrogateescape"))
            first = verify(changed, "--key", KEY)
            with contextlib.redirect_stdout(io.StringIO()) as said:
                other = main(["verify.py", "--proof", str(changed), str(KEY)])
            count[first[0]] = count.get(first[0], 0) + 1
            if first[0] != other:
                apart.append((done, first[0], first[1][-100:], other, said.getvalue()[-100:]))
    if not same(len(apart), 0, f"the verifiers agree: {count[0]} are proofs still, {count[1]} are not"):
        note("\n".join(map(str, apart[:20])))
    ok(count[0] > MUTATIONS // 50 and count[1] > MUTATIONS and set(count) == {0, 1}, "of both kinds there are some")


WORK = make()
test_rows(WORK)
test_statuses()
test_changes()
test_changed_record()
test_record()
test_mutations()
ok(audit("prove", "--help").returncode == 0, "help")
finish()
