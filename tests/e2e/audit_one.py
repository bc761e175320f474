#!/usr/bin/env python3
"""What vouches for one session: `wary audit verify --session`, show and report read its rows and
the chain over all checkpoints; a change of it, or of the chain, is found, one of another session's
rows is not theirs to say."""
import contextlib
import os
import re
import sqlite3
import subprocess

from wary_test import BUILD, TMP, WAIT_S, WARY, change_store, finish, has, note, ok, same, store_copy

ENV = dict(os.environ, XDG_STATE_HOME=str(TMP / "state"))
STORE = TMP / "state/wary/one.db"
KEY = TMP / "state/wary/keys/machine.pub"


def made(events, seed, env=None, db=STORE):
    done = subprocess.run([str(BUILD / "tests/lib/audit_session"), str(db), str(events), str(seed)], env=env or ENV,
                          capture_output=True, text=True, timeout=WAIT_S * 4, check=False, stdin=subprocess.DEVNULL)
    return done.stdout.strip()


def audit(*argv):
    done = subprocess.run([WARY, "audit", *map(str, argv)], env=ENV, capture_output=True, text=True,
                          timeout=WAIT_S * 4, check=False, stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout + done.stderr


def rows(sql, db=STORE):
    with contextlib.closing(sqlite3.connect(f"file:{db}?mode=ro", uri=True)) as connection:
        return connection.execute(sql).fetchall()


def verify(db, name):
    return audit("verify", "--db", db, "--key", KEY, "--session", name)


def changed(*statements):
    path = store_copy(STORE, TMP / "changed.db")
    change_store(path, *statements)
    return path


def found(what, name, pattern, *statements):
    path = changed(*statements)
    status, text = verify(path, name)
    if not ok(status == 1 and re.search(pattern, text) and "NOT INTACT" in text, what):
        note(f"status {status}, wanted /{pattern}/\n{text}")
    return path


def main():
    names = [made(6000, 1), made(5000, 2), made(4000, 3)]
    ids = dict(rows("SELECT name, id FROM session"))
    one, two, three = (ids[n] for n in names)
    mine = f"session = {two}"
    batches = rows(f"SELECT id, first_event, events FROM checkpoint WHERE {mine} AND events > 0 ORDER BY id")
    count = rows(f"SELECT count(*), sum(events) FROM checkpoint WHERE {mine}")[0]
    others = rows(f"SELECT count(*) FROM checkpoint WHERE session <> {two}")[0][0]
    status, text = verify(STORE, names[1])
    same(status, 0, f"a session by itself {text}")
    has(text, f"{count[1]:,} rows, {count[0]} checkpoints of session {names[1]}, and the chain of {others} others: intact",
        "what was verified is said")
    same(audit("verify", "--db", STORE, "--session", "nosuch")[0], 2, "one that is not there")
    has(audit("show", "--db", STORE, names[1])[1], f"; {count[1]:,} rows, {count[0]} checkpoints of session {names[1]}, ",
        "show says what it verified")

    first = batches[0][1]
    path = found("a row of it changed", names[1], "was changed", f"UPDATE event SET result = 99 WHERE id = {first + 7}")
    has(audit("show", "--db", path, names[1])[1], "NOT INTACT", "show finds it too")
    audit("report", "--db", path, names[1], "-o", TMP / "page.html")
    has((TMP / "page.html").read_text(), "NOT INTACT", "and the report")
    same(verify(path, names[0])[0], 0, "of another session nothing is wrong")
    same(audit("verify", "--db", path, "--key", KEY)[0], 1, "of the whole record it is")
    path = changed(f"UPDATE event SET result = 99 WHERE id = (SELECT first_event + 3 FROM checkpoint WHERE session = {one}"
                   " AND events > 9 LIMIT 1)")
    same(verify(path, names[1])[0], 0, "a row of another one: not of this")
    has(audit("show", "--db", path, names[0])[1], "NOT INTACT", "but of that")

    found("a row of it removed", names[1], "removed", f"DELETE FROM event WHERE id = {first + 7}")
    found("its last batch removed", names[1], "removed", f"DELETE FROM checkpoint WHERE id = (SELECT max(id) FROM"
          f" checkpoint WHERE {mine})", f"DELETE FROM closing WHERE {mine}")
    found("a batch given to another session", names[1], "another history|was removed|not the one",
          f"UPDATE checkpoint SET session = {three} WHERE id = {batches[-1][0]}")
    found("its closing record changed", names[1], "closing record", f"UPDATE closing SET status = 1 WHERE {mine}")
    found("its closing record removed", names[1], "closing record", f"DELETE FROM closing WHERE {mine}")
    found("its opening record changed", names[1], "opening record", f"UPDATE session SET cwd = '/x' WHERE id = {two}")
    found("its policy's text changed", names[1], "policy source", "UPDATE source SET text = text || '# x'")
    found("its policy's text removed", names[1], "policy text", "DELETE FROM source")
    found("a checkpoint of another session changed", names[1], "another history",
          f"UPDATE checkpoint SET at_us = at_us + 1 WHERE session = {one} AND kind & 1")
    found("one removed", names[1], "removed", f"DELETE FROM checkpoint WHERE session = {one} AND kind & 1")
    found("the last one changed, which nothing covers", names[1], "signature does not fit",
          "UPDATE checkpoint SET skew_us = skew_us + 1 WHERE id = (SELECT max(id) FROM checkpoint)")
    found("a view that shows something else", names[1], "view",
          "DROP VIEW limits", "CREATE VIEW limits AS SELECT * FROM events")
    # The end cut off cleanly: this machine saw it.
    path = changed(*[f"DELETE FROM {t} WHERE id >= (SELECT first_{t} FROM checkpoint WHERE session = {three} LIMIT 1)"
                     for t in ("string", "actor", "act", "detail", "event")],
                   *[f"DELETE FROM {t} WHERE session = {three}" for t in ("checkpoint", "closing", "session_source")],
                   f"DELETE FROM session WHERE id = {three}")
    head = STORE.with_name("one.db.head").read_text()
    same(verify(path, names[1])[0], 0, "sessions after it cut off: without an anchor nobody can tell")
    path.with_name("changed.db.head").write_text(head)
    status, text = verify(path, names[1])
    same(status, 1, "with this machine's it is found")
    has(text, "the end was cut off", "and said")
    path.with_name("changed.db.head").unlink()
    # All of it made anew by another machine.
    env = dict(os.environ, XDG_STATE_HOME=str(TMP / "other"))
    forged = TMP / "other.db"
    name = made(3000, 2, env=env, db=forged)
    same(verify(forged, name)[0], 1, "another machine's is not this one's")
    # What retention removed is bridged.
    same(audit("hold", "--db", STORE, names[1])[0], 0, "held")
    audit("prune", "--db", STORE, "--keep", "0s")
    same([n for n in names if n in [r[0] for r in rows("SELECT name FROM session")]], [names[1]], "those around it go")
    same(verify(STORE, names[1])[0], 0, "over the gaps it still verifies")
    found("a tombstone changed", names[1], "tombstone 1", "UPDATE tombstone SET events = events + 1 WHERE id = 1")
    found("a tombstone removed", names[1], "removed", "DELETE FROM tombstone WHERE id = 2")
    finish()


if __name__ == "__main__":
    main()
