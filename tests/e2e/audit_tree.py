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


USES = """
import os, resource, time
memory = bytearray(60 << 20)
end = time.process_time() + 0.4
while time.process_time() < end:
    memory[::4096] = bytes(len(memory) // 4096)
time.sleep(0.5)
used = resource.getrusage(resource.RUSAGE_SELF)
print(used.ru_utime * 1000, used.ru_stime * 1000, used.ru_maxrss)
"""


def test_used():
    """What is said of a process is never more than it used."""
    seen = []
    for _ in range(10):
        new_store()
        done = wary(sys.executable, "-S", "-c", USES)
        user, system, peak = map(float, done.stdout.split())
        node = processes()[0][0]
        seen += [k for k in ("user_ms", "system_ms", "peak_kib") if k in node]
        # Of what it uses after it has looked itself: its own end.
        final = node.get("times") == "final"
        ok(node.get("user_ms", 0) + node.get("system_ms", 0) <= user + system + (500 if final else 20),
           f"no more time than it used: {node} {user} {system}")
        # The kernel counts memory by processor, and adds up roughly.
        ok(node.get("peak_kib", 0) <= peak + 4096, f"nor memory: {node} {peak}")
        if "user_ms" in seen and "peak_kib" in seen and "times" in node:
            break
    ok("user_ms" in seen and "peak_kib" in seen, "and it is known")
    row = [json.loads(line) for line in audit("query", "--json", "--last", "1", "kind=process").stdout.splitlines()][0]
    same({k: row[k] for k in ("user_ms", "times", "peak_kib") if k in row},
         {k: node[k] for k in ("user_ms", "times", "peak_kib") if k in node}, "log --json has the same")
    ok(re.search(r"^ *\d+  0 +\S+ \S+ +[0-9.]+s\+? ", audit("tree", session()).stdout, re.M), "and the tree as text")
    ok(re.search(r"^used +[0-9.]+s", audit("show", session()).stdout, re.M), "and show")


def test_forked():
    """Every process that made a decision is in the tree."""
    new_store()
    folder = TMP / "forks"
    folder.mkdir()
    done = wary("sh", "-c", "(echo a >one); (:); (/bin/echo b >two; (echo c >three)); (nosuch; echo d >four); cd /",
                cwd=folder)
    same((done.returncode, sorted(f.name for f in folder.iterdir())), (0, ["four", "one", "three", "two"]), "it works")
    nodes, by_id = processes()
    with sqlite3.connect(f"file:{DB}?mode=ro", uri=True) as db:
        pids = dict(db.execute("SELECT object, pid FROM decisions WHERE class = 'create'"))
        missing = db.execute("SELECT DISTINCT pid FROM decisions WHERE pid NOT IN"
                             " (SELECT pid FROM processes)").fetchall()
        late = db.execute("SELECT d.id FROM decisions d WHERE d.syscall NOT IN ('execve', 'execveat') AND NOT EXISTS"
                          " (SELECT 1 FROM processes p WHERE p.pid = d.pid AND p.id < d.id)").fetchall()
    db.close()
    same(missing, [], "each has a row")
    same(late, [], "before what it did")
    for name in ("one", "three", "four"):
        found = [n for n in nodes if n["pid"] == pids[os.path.realpath(folder / name)]]
        same([n["command"] for n in found], [None], f"who made {name} only forked")
        ok(found and found[0]["parent"], "below who forked it")
    same(len({n["pid"] for n in nodes if n["command"] is None}), len([n for n in nodes if n["command"] is None]),
         "each once")


def test_usage():
    same(audit("tree").returncode, 2, "a session must be named")
    same(audit("tree", "nosuch").returncode, 2, "one that is on record")
    same(audit("tree", "--help").returncode, 0, "help")


if tuple(map(int, re.match(r"(\d+)\.(\d+)", os.uname().release).groups())) < (6, 15):
    skip("before 6.15 the kernel tells nobody but the parent how a process ended")
test_tree()
test_rows()
test_many()
test_used()
test_forked()
test_usage()
finish()
