#!/usr/bin/env python3
"""Processes on record: what each ran, where, whose child it was, how it ended;
and `wary audit tree`."""
import json
import os
import re
import sqlite3
import sys

from wary_test import DB, TMP, audit, finish, has, note, ok, same, skip, wary


def new_store():
    for old in DB.parent.glob(f"{DB.name}*"):
        old.unlink()


def session():
    with sqlite3.connect(f"file:{DB}?mode=ro", uri=True) as db:
        name = db.execute("SELECT name FROM session ORDER BY id DESC LIMIT 1").fetchone()[0]
    db.close()
    return name


def processes():
    """The tree as `--json` has it: {command: node}, and by id."""
    done = audit("tree", "--json", session())
    same(done.returncode, 0, "the tree can be read")
    nodes = [json.loads(line) for line in done.stdout.splitlines()]
    return nodes, {n["id"]: n for n in nodes}


def one(nodes, command):
    found = [n for n in nodes if n["command"] == command]
    if not ok(len(found) == 1, f"{command!r} is in the tree once"):
        note(nodes)
        finish()
    return found[0]


def test_tree():
    new_store()
    done = wary("sh", "-c", "sh -c 'exit 5'; sh -c 'kill -9 $$'; (true; (echo; sh -c 'exit 3'); :); "
                "sh -c 'exec sh -c \"exit 4\"'; exit 7")
    same(done.returncode, 7, "the command's own status")
    nodes, by_id = processes()
    root = nodes[0]
    same((root["parent"], os.waitstatus_to_exitcode(root["status"])), (0, 7), "COMMAND is the root")
    five = one(nodes, "sh -c 'exit 5'")
    same((five["parent"], os.waitstatus_to_exitcode(five["status"])), (root["id"], 5),
         "a child and its status")
    killed = one(nodes, "sh -c 'kill -9 $$'")
    same((killed["parent"], os.waitstatus_to_exitcode(killed["status"])), (root["id"], -9),
         "one that was killed")
    three = one(nodes, "sh -c 'exit 3'")
    above = by_id[three["parent"]]
    same((three["status"] >> 8, above["command"]), (3, None), "one below a process that only forked")
    while above["command"] is None:
        above = by_id[above["parent"]]
    same(above["id"], root["id"], "which is below COMMAND")
    twice = [n for n in nodes if n["command"] and " ⇒ " in n["command"]]
    same([(n["status"] >> 8, n["parent"]) for n in twice], [(4, root["id"])],
         "a process that ran two programs is one")
    ok(all(n["began_us"] <= n["ended_us"] for n in nodes), "all have ended, after they began")
    ok(all(n["uid"] == os.geteuid() for n in nodes), "with their uid")
    text = audit("tree", session()).stdout
    has(text, "├─ sh -c 'exit 5'", "the tree as text")
    ok(re.search(r"SIGKILL .*├─ sh -c 'kill -9 \$\$'", text), "with signals by name")


def test_rows():
    new_store()
    folder = TMP / "there"
    folder.mkdir()
    hostile = "a\x1b[31m\nb"
    done = wary(sys.executable, "-S", "-c", "import os, sys; os.execv('/bin/echo', ['echo', sys.argv[1]])",
                hostile, cwd=folder)
    same(done.stdout, hostile + "\n", "the command works")
    with sqlite3.connect(f"file:{DB}?mode=ro", uri=True) as db:
        rows = db.execute("SELECT object2, program, cwd, argv, result, reason, unknown FROM processes"
                          " ORDER BY id").fetchall()
    db.close()
    same([r[0] for r in rows], ["started", "started", "exited"], "rows of one process")
    same((rows[1][1], rows[1][2]), (os.path.realpath("/bin/echo"), str(folder)), "program and folder")
    has(rows[1][3], "echo ", "all its arguments")
    has(rows[1][3], "31m", "as they were")
    same(rows[2][4:], (0, 0, 0), "its status is known")
    text = audit("tree", session()).stdout
    ok("\x1b" not in text and "\nb" not in text, "what the child chose is printed harmlessly")


def test_many():
    """Numbers of processes that end at once, and all of their rows."""
    new_store()
    done = wary("sh", "-c", "i=0; while [ $i -lt 60 ]; do sh -c \"exit $((i % 7))\" & i=$((i+1)); done; wait")
    same(done.returncode, 0, "sixty processes")
    nodes, _ = processes()
    got = sorted(n["status"] >> 8 for n in nodes[1:])
    if not same(got, sorted(i % 7 for i in range(60)), "each with its status"):
        note([n for n in nodes if n["status"] < 0 or n["command"] is None])
        note(done.stderr)
    same(audit("verify").returncode, 0, "the record is intact")


def test_usage():
    same(audit("tree").returncode, 2, "a session must be named")
    same(audit("tree", "nosuch").returncode, 2, "one that is on record")
    same(audit("tree", "--help").returncode, 0, "help")


if tuple(map(int, re.match(r"(\d+)\.(\d+)", os.uname().release).groups())) < (6, 15):
    skip("before 6.15 the kernel tells nobody but the parent how a process ended")
test_tree()
test_rows()
test_many()
test_usage()
finish()
