#!/usr/bin/env python3
# wary-test: timeout=900
"""`wary audit prune` and `hold`: whole sessions go and the rest verifies; what is done to
tombstones, or goes without one, is found; kill -9 in the middle loses nothing."""
import contextlib
import fcntl
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time

from wary_test import (BUILD, SRC, TMP, WARY, change_store, finish, has, has_not, note, ok, opened_store, same,
                       store_copy)

STATE = TMP / "state"
ENV = dict(os.environ, XDG_STATE_HOME=str(STATE))
DB = STATE / "wary/wary.db"
ENV["WARY_DB"] = str(DB)
KEY = STATE / "wary/keys/machine.pub"


def session(events, *more, db=DB, env=None):
    done = subprocess.run([BUILD / "tests/lib/audit_session", db, str(events), *map(str, more)], env=env or ENV,
                          capture_output=True, text=True, timeout=250, check=False, stdin=subprocess.DEVNULL)
    return done.stdout.strip()


def audit(*argv, env=None):
    done = subprocess.run([WARY, "audit", *map(str, argv)], env=env or ENV, capture_output=True, text=True,
                          timeout=250, check=False, stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout + done.stderr


def verify(db=DB, *more):
    return audit("verify", "--db", db, "--key", KEY, *more)


def second(db):
    """The second verifier, over one file."""
    done = subprocess.run([sys.executable, SRC / "examples/verify.py", db, KEY], capture_output=True, text=True,
                          timeout=250, check=False)
    return done.returncode, done.stdout + done.stderr


def rows(sql, db=DB):
    with contextlib.closing(sqlite3.connect(f"file:{db}?mode=ro", uri=True)) as connection:
        return connection.execute(sql).fetchall()


def sessions(db=DB):
    return [r[0] for r in rows("SELECT name FROM session ORDER BY id", db)]


def copy(name, source=DB):
    return store_copy(source, TMP / f"{name}.db")


def found(what, pattern, *statements, second_too=False):
    path = copy("tampered")
    change_store(path, *statements)
    status, text = verify(path)
    if not ok(status == 1 and re.search(pattern, text, re.M) and "NOT INTACT" in text, what):
        note(f"status {status}, wanted /{pattern}/\n{text}")
    if second_too:
        same(second(path)[0], 1, f"{what}: to the second verifier too")


def make():
    """Sessions, of which one died and one is held; anchors and a proof from before."""
    names = [session(200 + n, n) for n in range(3)]
    names.append(session(150, 9, "die"))
    names.append(session(120, 10))
    same(sessions(), names, "five sessions, one of them recovered")
    same(audit("hold", names[1])[0], 0, "one is held")
    has(audit("hold", names[1])[1], "held already", "once")
    has(audit("hold")[1], names[1], "and listed")
    same(audit("prove", "5", "-o", TMP / "5.proof")[0], 0, "a proof from before")
    same(audit("anchor", "-o", TMP / "before.anchor")[0], 0, "an anchor from before")
    return names


def every_anchor(path):
    """An anchor of each checkpoint; the hash of one is prev of the next."""
    for ident, prev in rows("SELECT id - 1, lower(hex(prev)) FROM checkpoint WHERE id > 1"):
        (path / f"{ident}.anchor").write_text(f"wary-anchor-1 {ident} {prev}\n")
    return sorted(path.glob("*.anchor"))


def room():
    return sum(path.stat().st_size for path in (DB, DB.with_name("wary.db-wal")) if path.exists())


def check_removed(names):
    (TMP / "anchors").mkdir()
    anchors = every_anchor(TMP / "anchors")
    before = sessions()
    plain = copy("plain").read_bytes()
    status, text = audit("prune", "--keep", "0s", "--dry-run")
    same(status, 0, "what would be removed is said")
    has(text, f"session {names[0]} (", "by name")
    has(text, "would be removed", "as what it is")
    same(copy("plain").read_bytes(), plain, "and nothing has changed")
    same(audit("prune", "--keep", "1w")[0], 0, "what is young stays")
    same(audit("prune", "--keep", "31536000s")[0], 0, "a year in seconds, as in --since")
    same(sessions(), before, "all of it")
    size = room()
    status, text = audit("prune", "--keep", "0s")
    same(status, 0, f"pruned {text}")
    has(text, f"session {names[1]} (", "the one that is held")
    has(text, "stays: it is held", "stays, which is said")
    has(text, "stays: it holds another one", "and so does what says so")
    left = sessions()
    same([n for n in names if n in left], [names[1]], "all others are gone")
    ok(room() < size, "the files have become smaller")
    status, text = verify()
    same(status, 0, f"the record verifies {text}")
    for name in (names[0], names[2], names[3], names[4]):
        has(text, f"session {name} was removed by retention", f"{name} by its tombstone")
    same(second(copy("one"))[0], 0, "to the second verifier too")
    options = [o for a in anchors[:15] for o in ("--anchor", a)]
    same(verify(DB, *options)[0], 0, "anchors of what was removed still hold")
    wrong = TMP / "wrong.anchor"
    text = anchors[0].read_text().split()
    wrong.write_text(f"{text[0]} {text[1]} {'0' * 64}\n")
    status, said = verify(DB, "--anchor", wrong)
    same(status, 1, "one of another history does not")
    has(said, "another history", "which is said")
    same(audit("verify", "--proof", TMP / "5.proof")[0], 0, "a proof of a row that went still shows it")
    same(rows("SELECT count(*) FROM source WHERE sha256 NOT IN (SELECT sha256 FROM session_source)"), [(0,)],
         "no policy text is left over")
    same(rows("SELECT count(*) FROM events WHERE kind = 'session' AND object = 'prune' AND result = 0"), [(4,)],
         "each removal is on record")


def check_tombstones():
    for name, value in (("session", 77), ("name", "ffff"), ("uuid", bytes(16)), ("at_us", 5), ("reason", "other"),
                        ("checkpoints", 1), ("events", 1), ("bridges", b""), ("signer", 2), ("signature", bytes(64))):
        found(f"tombstone.{name} changed", r"^wary: tombstone 2 ",
              (f"UPDATE tombstone SET {name} = ? WHERE id = 2", (value,)), second_too=name in ("events", "name"))
    data = rows("SELECT bridges FROM tombstone WHERE id = 1")[0][0]
    for at in (0, 8, 16, 30, 60, len(data) - 1):
        new = data[:at] + bytes([data[at] ^ 1]) + data[at + 1:]
        found(f"byte {at} of its bridges changed", r"^wary: tombstone 1 ",
              ("UPDATE tombstone SET bridges = ? WHERE id = 1", (new,)), second_too=at == 30)
    last = rows("SELECT max(id) FROM tombstone")[0][0]
    for ident in (1, 2, last):
        found(f"tombstone {ident} of {last} removed", r"^wary: (checkpoint|tombstone)s? ",
              f"DELETE FROM tombstone WHERE id = {ident}")
    found("all of them removed", r"were removed", "DELETE FROM tombstone", second_too=True)
    found("one doubled", r"^wary: tombstone ", f"INSERT INTO tombstone SELECT {last + 1}, session, name, uuid, at_us,"
          " reason, checkpoints, events, bridges, signer, signature FROM tombstone WHERE id = 1")
    first = rows("SELECT min(id) FROM event")[0][0]
    ok(first > 1, "there is a gap before the first row")
    found("a row put into the gap", r"inserted",
          f"INSERT INTO event SELECT 1, at_us, took_us, actor, act, object, detail, result, mark,"
          f" size_before, links_left FROM event"
          f" WHERE id = {first}", second_too=True)
    with contextlib.closing(sqlite3.connect(copy("guarded"), isolation_level=None)) as db:
        for sql in ("DELETE FROM tombstone", "UPDATE tombstone SET at_us = 1", "DELETE FROM event"):
            try:
                db.execute(sql)
                ok(False, f"{sql} is refused")
            except sqlite3.IntegrityError as error:
                has(str(error), "append-only", f"{sql} is refused to everyone else")


def gone(session_id, db):
    """The statements that take a session out, as retention would."""
    statements = []
    for table in ("string", "actor", "act", "detail", "event"):
        for first, count in rows(f"SELECT first_{table}, {table}s FROM checkpoint WHERE session = {session_id}", db):
            statements.append(f"DELETE FROM {table} WHERE id >= {first} AND id < {first + count}")
    return statements + [f"DELETE FROM {t} WHERE session = {session_id}"
                         for t in ("checkpoint", "closing", "session_source")] + [
                             f"DELETE FROM session WHERE id = {session_id}"]


def check_without_tombstone(original, names):
    held = rows(f"SELECT id FROM session WHERE name = '{names[1]}'")[0][0]
    found("a session taken out without a tombstone", r"were removed|was removed", *gone(held, DB))
    # What was removed, put back from an older copy beside its tombstone.
    path = copy("back")
    with opened_store(path) as db:
        db.execute(f"ATTACH '{original}' AS o")
        first = db.execute("SELECT min(session) FROM tombstone").fetchone()[0]
        for table in ("string", "actor", "act", "detail", "event"):
            db.execute(f"INSERT INTO {table} SELECT t.* FROM o.{table} t JOIN o.checkpoint c ON t.id >= c.first_{table}"
                       f" AND t.id < c.first_{table} + c.{table}s WHERE c.session = {first}")
        for table in ("checkpoint", "closing", "session_source"):
            db.execute(f"INSERT INTO {table} SELECT * FROM o.{table} WHERE session = {first}")
        db.execute(f"INSERT INTO session SELECT * FROM o.session WHERE id = {first}")
    status, text = verify(path)
    same(status, 1, "a session put back beside its tombstone is found")
    has(text, "is here, and has a tombstone", "which is said")
    # Another machine's tombstone over what was cut out.
    env = dict(ENV, XDG_STATE_HOME=str(TMP / "forger"))
    forged = TMP / "forged.db"
    for n in range(2):
        session(150, n, db=forged, env=env)
    same(audit("prune", "--keep", "0s", "--db", forged, env=env)[0], 0, "another machine prunes its own")
    row = rows("SELECT * FROM tombstone WHERE id = 1", forged)[0]
    last = rows("SELECT max(id) FROM tombstone")[0][0]
    found("another record's tombstone", r"^wary: tombstone ",
          (f"INSERT INTO tombstone VALUES ({last + 1}{', ?' * 10})", row[1:]))
    # A record that is all another machine's, its tombstones too, with this machine's key put in.
    path = copy("strange", forged)
    same(verify(path)[0], 1, "another machine's record is not this one's")
    key = rows("SELECT role, public, certified_by, certificate, at_us FROM signer WHERE id = 1")[0]
    with opened_store(path) as db:
        db.execute("INSERT INTO signer VALUES ((SELECT 1 + max(id) FROM signer), ?, ?, ?, ?, ?)", key)
    same(verify(path)[0], 1, "nor with this machine's key among the signers")
    status, text = second(path)
    same(status, 1, "to the second verifier neither")
    has(text, "another machine's key", "which says why")


def check_damaged():
    path = copy("damaged")
    with opened_store(path) as db:
        db.execute("UPDATE event SET result = 99 WHERE id = (SELECT max(id) FROM event)")
    before = sessions(path)
    status, text = audit("prune", "--keep", "0s", "--db", path)
    same(status, 1, "what is not intact is not pruned")
    has(text, "not intact", "which is said")
    same(sessions(path), before, "nothing has gone")


def check_living(names):
    """A session whose journal is locked is one that runs."""
    path = copy("living")
    uuid = rows(f"SELECT lower(hex(uuid)) FROM session WHERE name = '{names[1]}'")[0][0]
    live = TMP / ".living.db.live"
    live.mkdir(exist_ok=True)
    same(audit("hold", "--release", names[1], "--db", path)[0], 0, "the hold is taken off")
    with open(live / uuid, "w", encoding="ascii") as journal:
        fcntl.flock(journal, fcntl.LOCK_EX)
        text = audit("prune", "--keep", "0s", "--db", path)[1]
        has(text, "stays: it runs", "what runs stays")
        ok(names[1] in sessions(path), "all of it")
    text = audit("prune", "--keep", "0s", "--db", path)[1]
    has_not(text, "stays", "and goes when it has ended")
    same(verify(path)[0], 0, "verifies")
    same(len(sessions(path)), 1, "what is left is the pruning's own session")


def check_raced(original, names):
    """A session that goes while it is being held is not said to be held."""
    path = copy("raced", original)
    live = TMP / ".raced.db.live"
    live.mkdir(exist_ok=True)
    ident = rows(f"SELECT id FROM session WHERE name = '{names[0]}'", path)[0][0]
    turn = os.open(live, os.O_RDONLY | os.O_DIRECTORY)
    fcntl.flock(turn, fcntl.LOCK_EX)
    run = subprocess.Popen([WARY, "audit", "hold", names[0], "--db", path], env=ENV, text=True,
                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    # It has found the session, and waits for its turn to write.
    while run.poll() is None and not any(len(p.name) == 32 for p in live.iterdir()):
        time.sleep(0.01)
    with opened_store(path) as db:
        for statement in gone(ident, path):
            db.execute(statement)
    os.close(turn)
    text = run.communicate(timeout=120)[0]
    same(run.returncode, 1, "held too late")
    has(text, f"session {names[0]} was removed meanwhile", "is said")
    has_not(text, "is held", "and nothing else")


def check_size():
    """Oldest first, no more than must be; a store that has no room set apart is written anew."""
    path = TMP / "sized.db"
    names = [session(3000, n, db=path) for n in range(4)]
    plain = TMP / "old.db"
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA auto_vacuum = NONE")
        db.execute(f"VACUUM INTO '{plain}'")
    with contextlib.closing(sqlite3.connect(plain)) as db:
        db.execute("PRAGMA auto_vacuum = NONE")
        db.execute("VACUUM")
        db.execute("PRAGMA journal_mode = WAL")
        same(db.execute("PRAGMA auto_vacuum").fetchone()[0], 0, "a store as one was made before")
    size = plain.stat().st_size
    for store in (path, plain):
        status, text = audit("prune", "--max-size", f"{size // 2048}K", "--db", store)
        same(status, 0, f"pruned to half its size {text}")
        left = [n for n in names if n in sessions(store)]
        ok(left and left == names[-len(left):] and len(left) < 4, f"the oldest went {left}")
        ok(store.stat().st_size <= size // 2 + 65536, f"{store.stat().st_size} of {size} bytes are left")
        same(verify(store)[0], 0, "verifies")
    same(audit("prune", "--max-size", "1K", "--db", path)[0], 1, "what cannot be reached is said")


def check_killed():
    """kill -9 in the middle, again and again."""
    base = TMP / "base.db"
    names = [session(400, n, db=base) for n in range(6)]
    for after in range(6):
        path = copy("killed", base)
        run = subprocess.Popen([WARY, "audit", "prune", "--keep", "0s", "--db", path], env=ENV, text=True,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        for _ in range(after):
            run.stdout.readline()
        os.kill(run.pid, signal.SIGKILL)
        run.communicate(timeout=60)
        status, text = verify(path)
        here = set(sessions(path)) & set(names)
        buried = {r[0] for r in rows("SELECT name FROM tombstone", path)} & set(names)
        if not ok(status == 0 and not here & buried and here | buried == set(names) and len(buried) >= after,
                  f"killed after {after}: {len(buried)} gone, {len(here)} here, verifies"):
            note(text)
        same(audit("prune", "--keep", "0s", "--db", path)[0], 0, "and is done with the next")
        same(verify(path)[0], 0, "which verifies")


def check_beside():
    """Sessions that write meanwhile are not stopped, and lose nothing."""
    path = TMP / "beside.db"
    session(50, db=path)
    runs = [subprocess.Popen([BUILD / "tests/lib/audit_session", path, "15000", str(n)], env=ENV, text=True,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            for n in range(3)]
    names = [run.stdout.readline().strip() for run in runs]
    wrong = []
    while True:
        over = all(run.poll() is not None for run in runs)
        status, text = audit("prune", "--keep", "0s", "--db", path)
        if status:
            wrong.append(text)
        if over:
            break
    same(wrong, [], "pruned while three sessions write")
    for run in runs:
        _, err = run.communicate(timeout=60)
        same((run.returncode, err), (0, ""), "which come to their end")
    same({name: events for name, events in rows("SELECT name, events FROM tombstone", path) if name in names},
         {name: 15000 for name in names}, "with all of their rows, and go when they have ended")
    same(verify(path)[0], 0, "verifies")


def check_words():
    for words in (("--keep", "90"), ("--keep", "x"), ("--keep", "2000000000w"), ("--max-size", "5"), (), ("--keep", "1d", "more")):
        same(audit("prune", *words)[0], 2, "wrong words: " + " ".join(words))
    same(audit("hold", "nosuch")[0], 2, "no such session")
    same(audit("hold", "--release")[0], 2, "of none")
    same(audit("prune", "--keep", "1d", "--db", TMP / "none.db")[0], 2, "no record")


def main():
    names = make()
    original = copy("original")
    check_removed(names)
    check_tombstones()
    check_without_tombstone(original, names)
    check_damaged()
    check_living(names)
    check_raced(original, names)
    check_size()
    check_killed()
    check_beside()
    check_words()
    shutil.rmtree(TMP / "anchors")
    finish()


if __name__ == "__main__":
    main()
