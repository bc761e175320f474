#!/usr/bin/env python3
"""`wary audit diff`, `stats`, `anchor` and `stack`; what `report` says of the record."""
import collections
import json
import os
import re
import sqlite3
import subprocess

from wary_test import BUILD, DB, TMP, WAIT_S, WARY, audit, changed_copy, finish, has, note, ok, same, store_copy, wary


def rows(*argv):
    done = audit(*argv)
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()]


def sessions():
    return [row["session"] for row in rows("sessions", "--json")[1]][::-1]


def run(script, rules=None):
    done = wary("sh", "-c", script, rules=rules, cwd=TMP / "work")
    if not same(done.returncode, 0, script):
        note(done.stderr)


def things(done, work):
    return {(r["refused"], r["class"], r["object"][len(work) + 1:]): r["times"] for r in done
            if r["object"].startswith(work)}


def test_diff():
    (TMP / "work").mkdir()
    work = os.path.realpath(TMP / "work")
    (TMP / "work/secret").write_text("x")
    deny = f"default allow\ndeny file {work}/secret\n"
    run("echo a >same; cat same")
    run("echo a >same; cat same same; echo b >new; mkdir folder; cat secret; true", deny)
    run("echo a >same; cat same", deny)
    first, second, third = sessions()
    status, found = rows("diff", "--json", first, second)
    same((status, things(found, work)),
         (1, {(False, "write", "same"): 1, (False, "create", "new"): 1, (False, "create", "folder"): 1}),
         "what the second did that the first did not")
    status, found = rows("diff", "--json", "--all", first, second)
    got = things(found, work)
    same((status, got.get((True, "read", "secret"))), (1, 1), "with what was only read, or refused to be")
    ok((False, "read", "same") not in got, "but not what both have read, however often")
    status, found = rows("diff", "--json", second, third)
    same((status, found), (0, []), "the third did nothing that the second did not")
    text = audit("diff", first, second)
    has(text.stdout, "/work/new", "as a table")
    same(audit("diff", first).returncode, 2, "two sessions are wanted")
    same(audit("diff", first, "nosuch").returncode, 2, "that there are")


def test_stats():
    first, second, _ = sessions()
    for words, condition in (((), ""), ((second,), f" WHERE session = '{second}'")):
        status, found = rows("stats", "--json", *words)
        same(status, 0, "stats " + " ".join(words))
        db = sqlite3.connect(f"file:{DB}?mode=ro", uri=True)
        want = collections.defaultdict(list)
        for column in ("class", "program"):
            for name, *numbers in db.execute(
                    f"SELECT {column}, count(*), sum(answer <> 'allow'),"
                    " sum(result < 0 AND answer = 'allow'), sum(unknown), sum(took_us)"
                    f" FROM decisions{condition} GROUP BY 1"):
                want[column, name] = [n or 0 for n in numbers]
        total = db.execute(f"SELECT count(*) FROM decisions{condition}").fetchone()[0]
        db.close()
        got = {(r["by"], r["what"]): [r["decisions"], r["refused"], r["failed"], r["unknown"], r["took_us"]]
               for r in found if r["by"] != "rule"}
        same(got, dict(want), "counts by class and program are those of the rows")
        rules = [r for r in found if r["by"] == "rule"]
        same(sum(r["decisions"] for r in rules), total, "and every decision has its rule")
    ok(any("deny file" in r["what"] and r["refused"] for r in rules), "refusals are under their rule")
    has(audit("stats").stdout, "PROGRAM", "as tables")


def test_anchor():
    kept = TMP / "kept.anchor"
    same(audit("anchor", "-o", str(kept)).returncode, 0, "an anchor is written")
    same(audit("anchor").stdout, kept.read_text(), "or printed")
    same(audit("verify", "--anchor", str(kept)).returncode, 0, "the record fits it")
    older = store_copy(DB, TMP / "older.db")
    run("true")
    same(audit("verify", "--anchor", str(kept)).returncode, 0, "and fits it after another session")
    same(audit("anchor", "-o", str(kept)).returncode, 2, "one that was kept is not written over")
    newer = TMP / "newer.anchor"
    same(audit("anchor", "-o", str(newer)).returncode, 0, "the next")
    done = audit("verify", "--db", str(older), "--anchor", str(newer))
    same(done.returncode, 1, "an older copy does not have it")
    has(done.stdout, "is missing", "which is said")
    same(audit("verify", "--db", str(older)).returncode, 0, "though by itself it is intact")
    wrong = TMP / "wrong.db"
    with changed_copy(older, wrong) as db:
        db.execute("UPDATE checkpoint SET at_us = at_us + 1 WHERE id = (SELECT max(id) FROM checkpoint)")
    done = audit("anchor", "--db", str(wrong))
    same((done.returncode, done.stdout), (1, ""), "no anchor is made of what was changed")


def test_stack():
    """A row with a stack is made where one is asked for; others say so."""
    done = audit("stack", "1")
    same(done.returncode, 1, "no stack was taken")
    has(done.stderr, "no call stack was taken for row 1", "which is said")
    done = audit("stack", "99999999")
    same(done.returncode, 1, "no such row")
    same(audit("stack", "x").returncode, 2, "no row at all")
    path = TMP / "made.db"
    with changed_copy(DB, path) as db:
        text = db.execute("SELECT max(id) + 1 FROM string").fetchone()[0]
        detail = db.execute("SELECT max(id) + 1 FROM detail").fetchone()[0]
        db.execute("INSERT INTO string VALUES (?, 0, ?, 0)", (text, "main+0x10\n\x1b[31mlib+0x2\n"))
        db.execute("INSERT INTO detail VALUES (?, 0, 0, 0, ?, NULL, 0, 0)", (detail, text))
        db.execute("UPDATE event SET detail = ? WHERE id = 7", (detail,))
    done = audit("stack", "--db", str(path), "7")
    same(done.stdout, "main+0x10\n\\x1b[31mlib+0x2\n", "the frames, one a line, printed harmlessly")


def report_says(env=None, db=DB):
    """What the page says of the record."""
    file = TMP / "report.html"
    done = subprocess.run([WARY, "audit", "report", "--db", str(db), sessions()[0], "-o", str(file)], check=False,
                          capture_output=True, text=True, env=env, stdin=subprocess.DEVNULL)
    same((done.returncode, done.stderr), (0, ""), "a report")
    meta = re.search(r'"verified":"([^"]*)","intact":(true|false)', file.read_text())
    return (meta[1], meta[2]) if meta else (None, None)


def test_report():
    """Whether this machine's keys vouch for what the page shows is said."""
    said, intact = report_says()
    ok(re.fullmatch(r"[0-9,]+ rows, \d+ checkpoints? of session \w+, and the chain of \d+ others?: intact, signed by key \S+"
                    r" \(this machine\)", said or ""),
       f"of this machine: {said}")
    same(intact, "true", "as one that is intact")
    elsewhere = dict(os.environ, XDG_STATE_HOME=str(TMP / "elsewhere"))
    said, intact = report_says(elsewhere)
    has(said, "NOT VOUCHED FOR", "where there is no key: not")
    has(said, "this machine has none", "for that reason")
    shown = subprocess.run([WARY, "audit", "show", "--db", str(DB), sessions()[0]], env=elsewhere, stdin=subprocess.DEVNULL,
                           capture_output=True, text=True, timeout=WAIT_S, check=False)
    has(shown.stdout, "NOT VOUCHED FOR", f"show says it too {shown.stderr}")
    same(intact, "false", "which does not pass for intact")
    subprocess.run([BUILD / "tests/lib/audit_session", TMP / "theirs.db", "5"], check=True, env=elsewhere,
                   stdout=subprocess.DEVNULL)
    said, intact = report_says(elsewhere)
    has(said, "which this machine does not know", "where there is another key: likewise")
    same(intact, "false", "nor does that")
    wrong = TMP / "wrong-report.db"
    with changed_copy(DB, wrong) as db:
        db.execute("UPDATE event SET result = 77 WHERE id = (SELECT max(id) FROM event)")
    for env in (None, elsewhere):
        same(report_says(env, wrong), ("NOT INTACT: trust nothing of this session: see wary audit verify", "false"), "a record that was changed")


test_diff()
test_stats()
test_report()
test_anchor()
test_stack()
finish()
