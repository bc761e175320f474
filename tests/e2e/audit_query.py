#!/usr/bin/env python3
"""`wary audit query`: what it finds is what the same condition finds in the
rows themselves; what cannot be meant is refused with its column."""
import json
import os
import sys
from subprocess import PIPE, Popen, run

from wary_test import (BUILD, HOME, SRC, TMP, audit, change_store, finish, has, has_not, note, ok, same,
                       wary)


def query(*words):
    done = audit("query", "--json", *words)
    if not ok(done.returncode == 0, f"query {' '.join(words)}"):
        note(done.stderr)
    return [json.loads(line) for line in done.stdout.splitlines()]


def everything():
    rows = [json.loads(line) for line in audit("log", "--all", "--json").stdout.splitlines()]
    return {row["id"]: row for row in rows}


def agrees(rows, condition, *words):
    """The ids that a Python condition picks are those that the query picks."""
    wanted = {n for n, row in rows.items() if condition(row)}
    got = {row["id"] for row in query(*words)}
    same(got, wanted, f"{' '.join(words)}: {len(wanted)} of {len(rows)}")
    return wanted


def long_sessions():
    """Two of more than a batch each, where the writer begins anew: what batches are passed over
    have no row that fits."""
    db = str(TMP / "long.db")
    for events, seed in ((14000, 1), (6000, 2)):
        done = run([BUILD / "tests/lib/audit_session", db, str(events), str(seed)], check=False,
                   capture_output=True, text=True)
        if not ok(done.returncode == 0, f"a session of {events} events"):
            note(done.stderr)
    rows = {row["id"]: row for row in map(json.loads, audit(
        "log", "--all", "--json", "--db", db).stdout.splitlines())}
    pids = sorted({row["pid"] for row in rows.values()})
    for pid in pids[::17] + pids[-1:]:
        found = agrees(rows, lambda r, pid=pid: r["pid"] == pid, "--db", db, f"pid={pid}")
        ok(found, "it has some")
    agrees(rows, lambda r: r["program"] == "/usr/bin/gcc", "--db", db, "program=/usr/bin/gcc")
    agrees(rows, lambda r: r["pid"] in pids[3:5] and r["class"] == "read", "--db", db,
           f"pid in ({pids[3]},{pids[4]}) and class=read")
    agrees(rows, lambda r: r["pid"] == pids[5] or r["seq"] > 13900, "--db", db,
           f"pid={pids[5]} or seq>13900")
    agrees(rows, lambda r: r["pid"] != pids[5], "--db", db, f"not pid={pids[5]}")
    same(query("--db", db, "pid=1"), [], "of one that is not there")
    last = query("--db", db, "--last", "3", f"pid={pids[2]}")
    same([r["id"] for r in last], [n for n, r in rows.items() if r["pid"] == pids[2]][-3:],
         "the last three")
    same(run([sys.executable, SRC / "examples/verify.py", db, HOME / ".local/state/wary/keys/machine.pub"], check=False, capture_output=True,
             env=dict(os.environ)).returncode, 0, "the second verifier agrees with it")


def false_anew():
    """An actor from before a batch that says there is none."""
    db = str(TMP / "anew.db")
    with Popen([BUILD / "tests/lib/audit_session", db, "200", "1", "pause"], stdin=PIPE, stdout=PIPE,
               text=True) as halves:
        halves.stdout.readline()
        halves.stdout.readline()
        while audit("query", "--json", "--db", db, "seq<=100").stdout.count("\n") < 100:
            pass  # the writer commits what is older than 0.2 s
        halves.communicate("\n\n")
    change_store(db, "UPDATE checkpoint SET kind = kind | 8 WHERE id = (SELECT c.id FROM checkpoint c "
                 "JOIN event e ON e.id BETWEEN c.first_event AND c.first_event + c.events - 1 "
                 "WHERE e.actor < c.first_actor LIMIT 1)")
    done = audit("verify", "--db", db)
    same(done.returncode, 1, "is found")
    has(done.stdout + done.stderr, "it has a value that wary never writes", "with the row that has it")


def main():
    (TMP / "work").mkdir()
    (TMP / "work/it's").write_text("x")
    rules = f'default allow\ndeny file {TMP}/work/secret\ndeny connect *:*\n'
    done = wary("sh", "-c", "cat \"it's\" secret; echo a >made; rm made; ls /nowhere; "
                "exec python3 -S -c 'import socket; socket.socket().connect_ex((\"127.0.0.1\", 9))'",
                rules=rules, cwd=TMP / "work")
    if not same(done.returncode, 0, "a session to ask about"):
        note(done.stderr)
    rows = everything()
    refused = agrees(rows, lambda r: r["answer"] != "allow", "refused")
    ok(len(refused) >= 2, "there are refusals")
    agrees(rows, lambda r: r["answer"] == "deny", "verdict=deny")
    agrees(rows, lambda r: r["class"] == "connect" and r["answer"] == "deny" and r["object"] == "127.0.0.1:9",
           "class=connect and verdict=deny and name=127.0.0.1")
    found = query('class=connect and name~"127.*" since 1d')
    same([r["object"] for r in found], ["127.0.0.1:9"], "a name without its port, by pattern, since yesterday")
    same(query("class=connect until 1d"), [], "and none until then")
    quoted = agrees(rows, lambda r: (r["object"] or "").endswith("/it's"), "object~\"**/it's\"")
    ok(quoted, "a name with a quote in it is found")
    agrees(rows, lambda r: r["result"] == -2 and not (r["program"] or "").endswith("/ls"),
           "result=ENOENT and not program~**/ls")
    agrees(rows, lambda r: r["class"] in ("create", "delete"), "class in (create, delete)")
    agrees(rows, lambda r: r["took_us"] > 1000 or r["pid"] == 1, "took>1ms or pid=1")
    agrees(rows, lambda r: (r["class"] == "exec" or r["class"] == "read") and r["answer"] == "allow",
           "(class=exec or class=read) and verdict=allow")
    agrees(rows, lambda r: r["uid"] != os.geteuid(), f"uid!={os.geteuid()}")
    agrees(rows, lambda r: r["seq"] <= 10, "seq<=10")
    agrees(rows, lambda r: "secret" in (r["rule_text"] or ""), "rule~**secret**")
    last = audit("query", "--json", "--last", "1", "class=exec").stdout.splitlines()
    same(json.loads(last[0])["id"] if len(last) == 1 else last,
         max(n for n, r in rows.items() if r["class"] == "exec"), "the last one")
    text = audit("query", "refused").stdout
    has(text, "work/secret", "a table for people")
    has_not(text, str(HOME) + "/", "with the home folder as ~")
    for words, says in (("verdcit=deny", 'did you mean "verdict"'), ("pid=", "column 5: a value"),
                        ("(pid=1", "column 7"), ("class=nothing", "it is one of read write"),
                        ("pid=1 since never", "no time")):
        done = audit("query", words)
        same((done.returncode, done.stdout), (2, ""), f"{words} is refused")
        has(done.stderr, says, "with what is wrong")
    same(audit("query").returncode, 2, "nothing asked")
    same(audit("query", "--help").returncode, 0, "help")
    long_sessions()
    false_anew()
    finish()


main()
