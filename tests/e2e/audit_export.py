#!/usr/bin/env python3
"""`wary audit export`: every row, in both formats, whatever names are like."""
import csv
import io
import json
import os
import re
import subprocess

from wary_test import DB, TMP, WARY, audit, changed_copy, finish, has, ok, same, wary

HOSTILE = ['a"b,c', "two\nlines", "=cmd()", "+1", "tab\tand\x1b[31m", "back\\slash", "ü€"]


def lines(text):
    return [json.loads(line) for line in text.splitlines()]


def work():
    folder = TMP / "work"
    folder.mkdir()
    for name in HOSTILE:
        (folder / name).write_text("x")
    with open(os.fsencode(folder) + b"/not\xffutf8", "w", encoding="utf8"):
        pass
    done = wary("sh", "-c", "cat ./* >/dev/null; sh -c \"=x '$1'\"; true", "sh", "=arg", cwd=folder)
    same(done.returncode, 0, "a session with odd names")


def test_jsonl():
    done = audit("export", "--format", "jsonl")
    same(done.returncode, 0, "as JSON lines")
    rows = lines(done.stdout)
    ok(all(row.pop("schema") == 1 for row in rows), "each with the number of its schema")
    same(rows, lines(audit("log", "--all", "--json").stdout), "all rows, as `log` has them")
    names = {row["object"].rsplit("/", 1)[1] for row in rows if row["class"] == "read" and "/work/" in row["object"]}
    same(names, {*HOSTILE, "not\udcffutf8"}, "names as they are")
    kinds = {row["kind"] for row in rows}
    ok({"decision", "process"} <= kinds, f"of all kinds: {sorted(kinds)}")
    some = lines(audit("export", "--format", "jsonl", "kind=process", "and", "pid>0").stdout)
    same(len(some), sum(r["kind"] == "process" for r in rows), "or those that fit an expression")
    return rows


def unprintable(text):
    """What text_printable writes, read back."""
    return re.sub(r"\\(x([0-9a-f]{2})|u\{?([0-9a-f]+)\}?|[ntr\\])",
                  lambda m: (chr(int(m[2], 16)) if m[2] else chr(int(m[3], 16)) if m[3] else
                             {"n": "\n", "t": "\t", "r": "\r", "\\": "\\"}[m[1]]), text)


def test_csv(rows):
    done = audit("export", "--format", "csv")
    same(done.returncode, 0, "as CSV")
    table = list(csv.DictReader(io.StringIO(done.stdout, newline="")))
    same(len(table), len(rows), "as many rows")
    numbers = ("id", "seq", "time_us", "took_us", "pid", "tid", "ppid", "uid", "rule_line", "flags", "reason")
    wrong = [(name, a[name], b[name]) for a, b in zip(table, rows) for name in numbers if int(a[name]) != b[name]]
    wrong += [(a["result"], b["result"]) for a, b in zip(table, rows)
              if a["result"] != ("" if b["result"] is None else str(b["result"]))]
    texts = [name for name in rows[0] if name not in numbers and name != "result"]
    for a, b in zip(table, rows):
        for name in texts:
            cell = a[name]
            want = b[name] or ""
            if want[:1] in ("=", "+", "-", "@") and want:
                wrong += [] if cell.startswith("'") else [(name, cell)]
                cell = cell[1:]
            if unprintable(cell) != want and "\udcff" not in want:
                wrong.append((name, cell, want))
    same(wrong[:5], [], "every cell is what it was")
    ok(not any(cell[:1] in ("=", "+", "@") for row in table for cell in row.values()), "no cell is a formula")
    ok(all(c.isprintable() or c in "\r\n" for c in done.stdout), "nothing that a terminal obeys")
    same(done.stdout.count("\n"), len(rows) + 1, "one line each")


def test_output():
    file = TMP / "out.csv"
    same(audit("export", "--format", "csv", "-o", str(file)).returncode, 0, "into a file")
    same(file.read_bytes().decode(), audit_bytes("csv"), "with the same in it")
    same(audit("export", "--format", "csv", "-o", str(file)).returncode, 2, "which is not written over")
    with open("/dev/full", "wb") as full:
        done = subprocess.run([WARY, "audit", "export", "--format", "jsonl"], stdout=full,
                              stderr=subprocess.PIPE, text=True, check=False, stdin=subprocess.DEVNULL)
    same(done.returncode, 2, "a full disk is a failure")
    has(done.stderr, "No space left", "which is told")
    for words, says in ((("--format", "xml"), "one of jsonl, csv"), ((), "usage"),
                        (("--format", "csv", "pid="), "column 5"), (("--format", "csv", "--session", "nosuch"), "nosuch")):
        done = audit("export", *words)
        same((done.returncode, done.stdout), (2, ""), f"{words} is refused")
        has(done.stderr, says, "with what is wrong")
    same(audit("export", "--help").returncode, 0, "help")


def test_formula():
    """Names that a spreadsheet would calculate: no path begins so, other objects may."""
    path = TMP / "made.db"
    with changed_copy(DB, path) as db:
        first = db.execute("SELECT max(id) + 1 FROM string").fetchone()[0]
        for n, sign in enumerate("=+-@"):
            db.execute("INSERT INTO string VALUES (?, 0, ?, 0)", (first + n, f'{sign}HYPERLINK("x")'))
            db.execute("UPDATE event SET object = ? WHERE id = ?", (first + n, 20 + n))
    done = audit("export", "--db", str(path), "--format", "csv", "id>=20 and id<24")
    table = list(csv.DictReader(io.StringIO(done.stdout, newline="")))
    same([row["object"] for row in table], [f"'{sign}HYPERLINK(\"x\")" for sign in "=+-@"],
         "a text that looks like a formula is none")


def audit_bytes(form):
    return subprocess.run([WARY, "audit", "export", "--format", form], capture_output=True, check=True,
                          stdin=subprocess.DEVNULL).stdout.decode()


work()
test_csv(test_jsonl())
test_output()
test_formula()
finish()
