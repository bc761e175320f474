#!/usr/bin/env python3
"""`wary audit query`: what it finds is what the same condition finds in the
rows themselves; what cannot be meant is refused with its column."""
import json
import os

from wary_test import HOME, TMP, audit, finish, has, has_not, note, ok, same, wary


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
    finish()


main()
