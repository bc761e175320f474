#!/usr/bin/env python3
# wary-test: timeout=900
"""Whatever is changed in a store, verify finds it and names it.

Every column of every table is changed in a row, rows are removed, doubled,
swapped, inserted and cut off, triggers and views dropped, an older copy put
back, the store signed anew by another key; each in a copy of its own.
"""
import os
import re
import shutil
import sqlite3
import subprocess
import sys

from wary_test import BUILD, SRC, TMP, WARY, change_store, finish, note, ok as check, store_copy

ENV = dict(os.environ, XDG_STATE_HOME=str(TMP / "state"))
MADE = TMP / "state/wary/wary.db"
ORIGINAL = TMP / "original.db"
KEY = TMP / "state/wary/keys/machine.pub"
TABLES = ("event", "string", "actor", "act", "detail", "checkpoint", "session",
          "session_source", "source", "signer", "closing")
ROW = {"event": r"^wary: row ", "string": r"^wary: string ", "actor": r"^wary: actor ",
       "act": r"^wary: act ", "detail": r"^wary: detail "}


def session(events, *more, env=None, db=MADE):
    return subprocess.run([BUILD / "tests/lib/audit_session", db, str(events), *map(str, more)],
                          env=env or ENV, capture_output=True, text=True, timeout=120,
                          check=False, stdin=subprocess.DEVNULL)


def copy(name, source=None):
    """A whole copy, the log's rows in it; the store itself stays as it is."""
    path = TMP / f"{name}.db"
    if source:
        return store_copy(source, path)
    for old in TMP.glob(f"{name}.db*"):
        old.unlink()
    shutil.copyfile(ORIGINAL, path)
    return path


def verify(path, *options):
    done = subprocess.run([WARY, "audit", "verify", "--db", path, "--key", KEY, *options],
                          env=ENV, capture_output=True, text=True, timeout=120, check=False,
                          stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout + done.stderr


def found(name, pattern, *statements, **more):
    """A change is found: status 1, and a line says what it is."""
    path = copy("tampered")
    try:
        change_store(path, *statements, **more)
    except sqlite3.Error as error:
        check(False, f"{name}: sqlite says {error}")
        return
    status, text = verify(path)
    right = status == 1 and re.search(pattern, text, re.M) and "NOT INTACT" in text
    check(right, name)
    if not right:
        note(f"status {status}, wanted /{pattern}/\n{text}")


def other_value(value):
    if value is None:
        return 1
    if isinstance(value, bytes):
        return bytes([value[0] ^ 1]) + value[1:]
    return value + 1 if isinstance(value, int) else value + "x"


def columns(db, table):
    return [r[1] for r in db.execute(f"PRAGMA table_info({table})")]


def every_column():
    db = sqlite3.connect(ORIGINAL)
    for table in TABLES:
        names = columns(db, table)
        count = db.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
        rowid, *values = db.execute(f"SELECT rowid, * FROM {table} ORDER BY rowid LIMIT 1 OFFSET ?",
                                    (count // 2,)).fetchone()
        for name, value in zip(names, values):
            where = f"WHERE rowid = {rowid}"
            if name in ("id", "session") and value == rowid:
                new = -7
            else:
                new = other_value(value)
            pattern = ROW.get(table, "^wary: ")
            found(f"{table}.{name} changed", pattern,
                  (f"UPDATE {table} SET {name} = ? {where}", (new,)))
            if isinstance(value, int) and name not in ("id", "session"):
                found(f"{table}.{name} of another type", pattern,
                      (f"UPDATE {table} SET {name} = ? {where}", (b"x",)))
    db.close()


def other_types():
    """The second verifier says what is no value of a record, and does not stumble over it."""
    small = TMP / "small.db"
    check(session(10, db=small).returncode == 0, "a small store")
    db = sqlite3.connect(small)
    names = {table: columns(db, table) for table in TABLES}
    db.close()
    for number, table in enumerate(TABLES):
        for value in (b"x", "x", -1):
            path = copy("tampered", small)
            name = names[table][-1 - number % 2]
            change_store(path, (f"UPDATE {table} SET {name} = ?", (value,)))
            done = subprocess.run([sys.executable, SRC / "examples/verify.py", path, KEY], env=ENV, check=False,
                                  capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)
            right = done.returncode == 1 and "NOT INTACT" in done.stdout and not done.stderr
            check(right, f"the second verifier: {table}.{name} is {value!r}")
            if not right:
                note(f"status {done.returncode}\n{done.stdout}{done.stderr}")


def every_table():
    db = sqlite3.connect(ORIGINAL)
    for table in TABLES:
        first, last = db.execute(f"SELECT min(rowid), max(rowid) FROM {table}").fetchone()
        ids = [r[0] for r in db.execute(f"SELECT rowid FROM {table} ORDER BY rowid")]
        names = ", ".join(columns(db, table)[1:])
        middle = ids[len(ids) // 2]
        for what, row in (("first", first), ("middle", middle), ("last", last)):
            found(f"{table}: the {what} row removed", ROW.get(table, "^wary: "),
                  f"DELETE FROM {table} WHERE rowid = {row}")
        found(f"{table}: all rows removed", "^wary: ", f"DELETE FROM {table}")
        if table not in ("session", "closing"):
            found(f"{table}: a row doubled at the end", "^wary: ",
                  f"INSERT INTO {table} SELECT {last + 1}, {names} FROM {table}"
                  f" WHERE rowid = {middle}")
        if len(ids) > 1:
            found(f"{table}: two rows swapped", ROW.get(table, "^wary: "),
                  f"UPDATE {table} SET rowid = -1 WHERE rowid = {ids[0]}",
                  f"UPDATE {table} SET rowid = {ids[0]} WHERE rowid = {last}",
                  f"UPDATE {table} SET rowid = {last} WHERE rowid = -1")
    found("event: the last three rows removed", r"^wary: row .* and 2 after it were removed",
          "DELETE FROM event WHERE rowid > (SELECT max(rowid) - 3 FROM event)")
    found("event: a row inserted before all", r"^wary: row .* was inserted",
          "INSERT INTO event SELECT -5, at_us, took_us, actor, act, object, detail, result, mark, size_before, links_left"
          " FROM event WHERE id = 3")
    found("a row changed and its hash made anew", r"hash",
          "UPDATE event SET took_us = took_us + 1, mark = mark + 1 WHERE id = 5")
    db.close()


def names_the_row():
    path = copy("tampered")
    change_store(path, "UPDATE event SET result = 13 WHERE id = 40")
    status, text = verify(path)
    db = sqlite3.connect(path)
    session_name, seq = db.execute(
        "SELECT s.name, c.first_seq + 40 - c.first_event FROM checkpoint c"
        " JOIN session s ON s.id = c.session"
        " WHERE 40 BETWEEN c.first_event AND c.first_event + c.events - 1").fetchone()
    db.close()
    check(status == 1 and f"row 40 (session {session_name}, seq {seq}) was changed" in text,
          "the row is named with its session and seq")
    note(text.strip())


def second(what, pattern, status=1):
    """The second verifier says of the store that was changed last what the first does."""
    done = subprocess.run([sys.executable, SRC / "examples/verify.py", TMP / "tampered.db", KEY], env=ENV, check=False,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
    right = done.returncode == status and re.search(pattern, done.stdout) and not done.stderr
    if not check(right, f"the second verifier: {what}"):
        note(f"status {done.returncode}\n{done.stdout}{done.stderr}")


def older_view():
    """A view as stores from before the first release have it is in one of this version a change (and in those
    none: e2e/audit_older.py)."""
    db = sqlite3.connect(ORIGINAL)
    sql, = db.execute("SELECT sql FROM sqlite_master WHERE name = 'flows'").fetchone()
    db.close()
    older = sql.replace("& 768", "& 1536")
    found("an older view", "^wary: the view flows was changed", "DROP VIEW flows", older, keep_triggers=True)
    check(older != sql, "which is another")
    second("an older view", "the schema was changed")
    found("no other", "^wary: the view flows was changed", "DROP VIEW flows", sql.replace("& 768", "& 512"),
          keep_triggers=True)
    second("no other", "the schema was changed")


def schema():
    older_view()
    db = sqlite3.connect(ORIGINAL)
    objects = db.execute("SELECT type, name FROM sqlite_master"
                         " WHERE type IN ('trigger', 'view', 'index') AND sql NOT NULL").fetchall()
    db.close()
    for kind, name in objects:
        found(f"{kind} {name} dropped", f"^wary: the {kind} {name} was removed",
              f"DROP {kind} {name}", keep_triggers=True)
        if name in ("event_update", "session_name", "grants"):
            second(f"{kind} {name} dropped", f"removed: .*{name}")
    found("a trigger added", "wary did not make: sneaky",
          "CREATE TRIGGER sneaky AFTER INSERT ON event BEGIN DELETE FROM string; END",
          keep_triggers=True)
    second("a trigger added", "no writer makes: .*sneaky")
    # One that has all that a reader asks is read in place of the table.
    found("an index added", "wary did not make: sneaky",
          "CREATE INDEX sneaky ON event (id, act, object, result)", keep_triggers=True)
    second("an index added", "no writer makes: .*sneaky")
    found("a table added", "wary did not make: sneaky", "CREATE TABLE sneaky (id)", keep_triggers=True)
    second("a table added", "no writer makes: .*sneaky")
    found("statistics, which lead the planner", "wary did not make: sqlite_stat", "ANALYZE", keep_triggers=True)
    second("statistics", "no writer makes: .*sqlite_stat")
    found("a view changed", "^wary: the view decisions was changed",
          "DROP VIEW decisions", "CREATE VIEW decisions AS SELECT * FROM event WHERE id > 5",
          keep_triggers=True)
    second("a view changed", "the schema was changed")
    for table in ("checkpoint", "signer", "session", "event"):
        db = sqlite3.connect(ORIGINAL)
        names = columns(db, table)
        db.close()
        rest = ", ".join(f"1 AS {name}" for name in names if name != "id")
        found(f"rows without end in the place of {table}", f"^wary: the table {table} was removed",
              f"DROP TABLE {table}", f"CREATE VIEW {table} AS WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL"
              f" SELECT id + 1 FROM n) SELECT id, {rest} FROM n", keep_triggers=True)
        done = subprocess.run([WARY, "audit", "prove", "5", "--db", TMP / "tampered.db"], env=ENV, timeout=120,
                              check=False, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        check(done.returncode == 1 and "no proof is made" in done.stderr, "and nothing is proven by them")


def lower_key(path, table):
    """The largest id that a page of the tree above the rows says is below it, lowered: who
    seeks a row goes to the wrong page, who reads one after the other does not."""
    db = sqlite3.connect(path)
    size, = db.execute("PRAGMA page_size").fetchone()
    page, = db.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()
    db.close()
    data = bytearray(path.read_bytes())
    at = (page - 1) * size
    if data[at] != 5:  # the root is no page above others
        return False
    cell = at + int.from_bytes(data[at + 12:at + 14], "big") + 4
    end = cell
    while data[end] & 0x80:
        end += 1
    key = sum((data[i] & 0x7f) << 7 * (end - i) for i in range(cell, end + 1)) - 5
    for i in range(cell, end + 1):
        data[i] = key >> 7 * (end - i) & 0x7f | (0x80 if i < end else 0)
    path.write_bytes(data)
    return True


def pages():
    session_id = sqlite3.connect(ORIGINAL).execute("SELECT name FROM session ORDER BY id").fetchone()[0]
    for table in ("event", "string"):
        path = copy("tampered")
        if not check(lower_key(path, table), f"{table} has more than one page"):
            continue
        for options in ((), ("--session", session_id)):
            status, text = verify(path, *options)
            if not check(status == 1 and "the database is damaged" in text,
                         f"a page of {table} that leads past its rows {options}"):
                note(text)
        done = subprocess.run([sys.executable, SRC / "examples/verify.py", path, KEY], env=ENV, check=False,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
        check(done.returncode == 1, f"the second verifier finds it too {done.stdout}")


def guards():
    """The triggers refuse what a program might do by mistake."""
    for recursive in (0, 1):
        path = copy("guarded")
        db = sqlite3.connect(path, isolation_level=None)
        db.execute(f"PRAGMA recursive_triggers = {recursive}")
        for table in TABLES:
            key = "session" if table == "closing" else "id"
            refused = 0
            names = ", ".join(columns(db, table))
            for sql in (f"UPDATE {table} SET {key} = {key}", f"DELETE FROM {table}",
                        f"INSERT OR REPLACE INTO {table} SELECT {names} FROM {table} LIMIT 1",
                        f"REPLACE INTO {table} SELECT {names} FROM {table} LIMIT 1"):
                try:
                    db.execute(sql)
                except sqlite3.IntegrityError as error:
                    refused += "append-only" in str(error)
            check(refused == 4, f"{table} is append-only (recursive_triggers {recursive})")
        db.close()
        check(verify(path)[0] == 0, "and nothing has changed")


def cut_off():
    """Ends that are cut off cleanly: what an anchor and the head are for."""
    db = sqlite3.connect(ORIGINAL)
    last = db.execute("SELECT max(id) FROM session").fetchone()[0]
    names = {t: db.execute(f"SELECT first_{t}, first_event FROM checkpoint WHERE session = ?"
                           " AND kind & 1", (last,)).fetchone()[0]
             for t in ("string", "actor", "act", "detail", "event")}
    signer = db.execute("SELECT signer FROM session WHERE id = ?", (last,)).fetchone()[0]
    sources = db.execute("SELECT min(id) FROM session_source WHERE session = ?",
                         (last,)).fetchone()[0]
    db.close()
    statements = [f"DELETE FROM {t} WHERE id >= {first}" for t, first in names.items()]
    statements += [f"DELETE FROM checkpoint WHERE session = {last}",
                   f"DELETE FROM session WHERE id = {last}",
                   f"DELETE FROM closing WHERE session = {last}",
                   f"DELETE FROM session_source WHERE id >= {sources}",
                   f"DELETE FROM signer WHERE id >= {signer}"]
    path = copy("tampered")
    change_store(path, *statements)
    check(verify(path)[0] == 0, "the last session taken out whole: only an anchor can tell")
    shutil.copy(f"{MADE}.head", f"{path}.head")
    status, text = verify(path)
    check(status == 1 and "is missing" in text, "the head tells")
    os.unlink(f"{path}.head")
    status, text = verify(path, "--anchor", f"{MADE}.head")
    check(status == 1 and "the anchor is of, is missing" in text, "an anchor tells")
    check(verify(ORIGINAL, "--anchor", f"{MADE}.head")[0] == 0, "the anchor fits the original")
    found("the last checkpoint and its rows cut off", "^wary: ",
          "DELETE FROM event WHERE id >= (SELECT first_event FROM checkpoint"
          " WHERE id = (SELECT max(id) FROM checkpoint))",
          "DELETE FROM checkpoint WHERE id = (SELECT max(id) FROM checkpoint)")


def lost_log():
    """The -wal removed while it holds committed rows."""
    folder = TMP / "lost"
    shutil.copytree(TMP / "state/wary", folder)
    check((folder / "wary.db-wal").exists(), "rows are in the log alone")
    (folder / "wary.db-wal").unlink()
    (folder / "wary.db-shm").unlink(missing_ok=True)
    status, text = verify(folder / "wary.db")
    check(status in (1, 2) and "intact" not in text.replace("NOT INTACT", ""),
          "a log that was removed is found")
    note(text.strip())


def old_copy():
    path = TMP / "state/wary/wary.db"
    older = copy("older", path)
    check(session(20).returncode == 0, "a further session")
    for name in ("wary.db-wal", "wary.db-shm"):
        (path.parent / name).unlink(missing_ok=True)
    shutil.copy(older, path)
    status, text = verify(path)
    check(status == 1 and "older copy put back" in text, "an older copy put back is found")
    note(text.strip())


def other_key():
    """All of it made by somebody without the private key."""
    env = dict(ENV, XDG_STATE_HOME=str(TMP / "forger"))
    forged = TMP / "forged.db"
    check(session(50, env=env, db=forged).returncode == 0, "a store of another key")
    status, text = verify(forged)
    check(status == 1 and "none of those that were named" in text, "a store of another key is not trusted")
    note(text.strip())
    path = copy("tampered")
    with sqlite3.connect(forged) as a, sqlite3.connect(path) as b:
        row = a.execute("SELECT public, certificate, at_us FROM signer WHERE id = 1").fetchone()
    a.close()
    b.close()
    found("the machine's key replaced", "^wary: ",
          ("UPDATE signer SET public = ?, certificate = ?, at_us = ? WHERE id = 1", row))


def side_by_side():
    """Full batches are hashed several at once: what is changed in one of them is found all the same,
    in each, and named; and the rows of the others are not taken for changed."""
    large = TMP / "large.db"
    for events, seed in ((15000, 1), (9000, 2)):
        check(session(events, seed, db=large).returncode == 0, "a session of several batches")
    db = sqlite3.connect(large)
    batches = db.execute("SELECT id, first_event, events, first_string, strings FROM checkpoint "
                         "WHERE events > 100 ORDER BY id").fetchall()
    db.close()
    check(len(batches) >= 5, f"{len(batches)} batches of more than a few rows")
    for number, (point, event, events, string, strings) in enumerate(batches):
        ends = {1: event, 2: event + events // 2, 3: event + events - 1}
        row = f"{ends[number % 3 + 1]:,}"
        text = string + strings // 2
        for what, pattern, *statements in (
                ("a time", rf"^wary: row {row} .* was changed", f"UPDATE event SET at_us = at_us + 1 WHERE id = {row}"),
                ("a mark", rf"^wary: row {row} .* was changed", f"UPDATE event SET mark = mark - 1 WHERE id = {row}"),
                ("another type", rf"^wary: row {row} .* never writes", f"UPDATE event SET object = x'00' WHERE id = {row}"),
                ("a row removed", rf"^wary: row {row} .* was removed", f"DELETE FROM event WHERE id = {row}"),
                ("a string", rf"^wary: string {text:,} .* was changed",
                 f"UPDATE string SET text = text || 'x' WHERE id = {text}"),
                ("a long string", rf"^wary: string {text:,} .* was changed",
                 f"UPDATE string SET text = '{'y' * 300}' WHERE id = {text}"),
                ("the root", rf"^wary: checkpoint {point} .* was changed",
                 f"UPDATE checkpoint SET root = zeroblob(32) WHERE id = {point}"),
                ("the chain", rf"^wary: checkpoint {point} .* was changed",
                 f"UPDATE checkpoint SET chain = zeroblob(32) WHERE id = {point}"),
                ("the signature", rf"^wary: checkpoint {point} .* was changed",
                 f"UPDATE checkpoint SET signature = zeroblob(64) WHERE id = {point}")):
            path = copy("tampered", large)
            change_store(path, *(s.replace(row, row.replace(",", "")) for s in statements))
            status, said = verify(path)
            lines = [line for line in said.splitlines() if re.match(r"wary: (row|string) ", line)]
            right = status == 1 and re.search(pattern, said, re.M) and len(lines) <= 1
            check(right, f"{what} of batch {point} changed")
            if not right:
                note(f"status {status}, wanted /{pattern}/ alone\n{said}")
    path = copy("tampered", large)
    change_store(path, "INSERT INTO event (id, at_us, took_us, actor, act, object, detail, result, mark) "
                 "SELECT 99999999, at_us, took_us, actor, act, object, detail, result, "
                 "mark FROM event WHERE id = 9")
    status, said = verify(path)
    check(status == 1 and "row 99,999,999 was inserted" in said, "a row put behind them")
    path = copy("tampered", large)
    change_store(path, "INSERT INTO event (id, at_us, took_us, actor, act, object, detail, result, mark) "
                 "SELECT -5, at_us, took_us, actor, act, object, detail, result, mark "
                 "FROM event WHERE id = 9")
    check(verify(path)[0] == 1, "a row put before them")


def truncated():
    data = copy("tampered").read_bytes()
    wrong = []
    for size in list(range(0, len(data), 4096)) + [100, 5000, len(data) - 1]:
        path = TMP / "short.db"
        path.write_bytes(data[:size])
        status, _ = verify(path)
        if status == 0:
            wrong.append(size)
    check(not wrong, f"every truncation of the file is found {wrong}")


def main():
    for number in range(3):
        done = session(60 + 40 * number, number)
        check(done.returncode == 0, f"session {number}: {done.stderr.strip()}")
    shutil.copyfile(copy("made", MADE), ORIGINAL)
    status, text = verify(ORIGINAL)
    check(status == 0 and "3 sessions: intact" in text, "the untouched copy is intact")
    note(text.strip())
    names_the_row()
    every_column()
    other_types()
    every_table()
    schema()
    pages()
    guards()
    cut_off()
    lost_log()
    side_by_side()
    truncated()
    other_key()
    old_copy()
    finish()


if __name__ == "__main__":
    sys.exit(main())
