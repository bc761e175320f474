#!/usr/bin/env python3
"""A store of version 1 of the schema (lib/store_1.sql): it is verified as before, read with the columns and views
of this version, and made one of this version by the next session, unless another is at work in it or anything in it
is not as wary made it."""
import contextlib
import fcntl
import hashlib
import json
import os
import re
import sqlite3
import subprocess
import sys

from export_stores import packages_store
from wary_test import HOME, SRC, TMP, WAIT_S, WARY, finish, has, has_not, ok, policy, same

SQL = (SRC / "tests/lib/store_1.sql").read_text()
KEYS = HOME / ".local/state/wary/keys"
FLOWS = "batch_classes & 768", "batch_classes & 1536"  # the second: as it was at first
CONNECT = 45  # the row that the former view leaves out
VIEW = "CREATE VIEW decisions AS SELECT"
NEW = {"size_before", "links_left"}


def keys():
    KEYS.mkdir(parents=True, mode=0o700)
    for name, byte in re.findall(r"^-- (machine(?:\.pub)?): ([0-9a-f]+)$", SQL, re.M):
        path = KEYS / name
        path.write_bytes(bytes.fromhex(byte) if name == "machine" else f"wary-public-key-1 {byte}\n".encode())
        path.chmod(0o600)


def store(name, *changes):
    """A store of version 1 with other texts in it."""
    folder = TMP / name
    folder.mkdir(mode=0o700)
    sql = SQL
    for old, new in changes:
        ok(old in sql, f"{name}: there is what is changed")
        sql = sql.replace(old, new)
    with contextlib.closing(sqlite3.connect(folder / "s.db")) as db:
        db.executescript(sql)
    return folder / "s.db"


def audit(*argv):
    done = subprocess.run([WARY, "audit", *map(str, argv)], capture_output=True, text=True, timeout=WAIT_S, check=False,
                          stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout, done.stderr


def session(db, script="echo 1 > f; echo 22 > g; mv f g; rm g"):
    done = subprocess.run([WARY, "-p", policy(), "--db", db, "--", "sh", "-c", script], capture_output=True, text=True,
                          timeout=WAIT_S, check=False, stdin=subprocess.DEVNULL, cwd=db.parent)
    same(done.returncode, 0, f"{db.parent.name}: a session writes it")
    return done.stderr


def verified(db, want, what):
    """Of both verifiers; what wary says."""
    status, out, err = audit("verify", "--db", db)
    if not same(status, want, f"{what}: wary"):
        print("#", (out + err).replace("\n", "\n# "))
    second = subprocess.run([sys.executable, SRC / "examples/verify.py", db, KEYS / "machine.pub"], capture_output=True,
                            text=True, timeout=WAIT_S, check=False)
    if not same(second.returncode, want, f"{what}: the second verifier"):
        print("#", second.stdout.replace("\n", "\n# "))
    return out + err


def ask(db, sql):
    with contextlib.closing(sqlite3.connect(f"file:{db}?mode=ro", uri=True)) as one:
        return one.execute(sql).fetchall()


def version(db):
    return ask(db, "PRAGMA user_version")[0][0]


def digest(db):
    return hashlib.sha256(db.read_bytes()).hexdigest()


def sql(db, text):
    status, out, err = audit("sql", "--json", "--db", db, text)
    same((status, err), (0, ""), f"sql: {text}")
    return [json.loads(line) for line in out.splitlines()]


def check_readers(name, change, noted):
    db = store(name, *change)
    before = digest(db)
    said = verified(db, 0, f"{name}: intact as ever")
    same("as an earlier wary made it" in said, noted, f"{name}: and what is known of its view is said where it is so")
    same([row["id"] for row in sql(db, "SELECT id FROM flows")], [CONNECT], f"{name}: its connection is seen")
    same(ask(db, "SELECT id FROM flows"), [] if noted else [(CONNECT,)], f"{name}: to others as its view has it")
    same(sql(db, "SELECT count(*) n, count(size_before) s, count(links_left) l FROM events"), [{"n": 49, "s": 0, "l": 0}],
         f"{name}: with the columns of today")
    for view in ("decisions", "processes", "packages", "grants", "questions", "limits", "flows", "sessions"):
        ok(audit("sql", "--db", db, f"SELECT * FROM {view}")[0] == 0, f"{name}: {view}")
    ids = [row[0] for row in ask(db, "SELECT name FROM session ORDER BY id")]
    for argv in (("log", "--json"), ("query", "--json", "size = 0 or links != 1"), ("show", ids[0]), ("tree", ids[1]),
                 ("stats",), ("sessions",), ("packages", ids[0]), ("diff", *ids), ("report", ids[0], "-o", TMP / f"{name}.html"),
                 *(("export", "--format", f) for f in ("jsonl", "csv", "ecs", "ocsf", "cef", "otlp")),
                 ("verify", "--session", ids[0]), ("anchor",)):
        status, out, err = audit(argv[0], "--db", db, *argv[1:])
        if not same(status, argv[0] == "diff", f"{name}: {argv[0]} {argv[-1]}"):
            print("#", err)
        if argv[0] == "log":
            rows = [json.loads(line) for line in out.splitlines()]
            ok(rows and all(row["size_before"] is None and row["links_left"] is None for row in rows), f"{name}: sizes are null")
    status, proof, _ = audit("prove", str(CONNECT), "--db", db)
    file = TMP / f"{name}.proof"
    file.write_text(proof)
    same((status, audit("verify", "--proof", file)[0]), (0, 0), f"{name}: a row of it is proven")
    same((digest(db), version(db)), (before, 1), f"{name}: reading has changed nothing")


def check_made_anew(name, change):
    db = store(name, *change)
    rows = ask(db, "SELECT * FROM event ORDER BY id")
    session(db)
    same(version(db), 2, f"{name}: it is of this version then")
    same(ask(db, "SELECT id, at_us, took_us, actor, act, object, detail, result, mark FROM event WHERE id <= 49 ORDER BY id"), rows,
         f"{name}: no row has changed")
    has_not(verified(db, 0, f"{name}: made anew"), "an earlier wary", f"{name}: its views too")
    same(ask(db, f"SELECT id FROM flows WHERE id = {CONNECT}"), [(CONNECT,)], f"{name}: which leave nothing out")
    same(ask(db, "SELECT syscall IN ('rename', 'renameat', 'renameat2'), size_before, links_left FROM decisions"
                 " WHERE size_before IS NOT NULL AND object LIKE '%/_' AND class = 'delete'"),
         [(1, 3, 0), (0, 2, 0)], f"{name}: sizes are on record")
    there = ask(db, "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name")
    session(TMP / name / "new.db", "true")
    same(there, ask(TMP / name / "new.db", "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name"),
         f"{name}: to the letter as a new one")
    session(db)
    verified(db, 0, f"{name}: once more")


def check_busy():
    """A session that runs may be of an earlier wary, which could not go on writing."""
    db = store("busy")
    live = db.parent / ".s.db.live"
    live.mkdir(mode=0o700)
    journal = live / ("ab" * 16)
    with open(journal, "w", encoding="ascii") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        has(session(db), "another session runs in it", "busy: it is said that it stays")
        same(version(db), 1, "busy: it stays as it was")
        verified(db, 0, "busy: written as it was")
        same(len(ask(db, "SELECT 1 FROM decisions WHERE class = 'delete' AND result = 0")) > 1, True, "busy: all is on record")
        has(audit("log", "--db", db)[1], "delete", "busy: and is read")
        same(sql(db, "SELECT count(size_before) n FROM events"), [{"n": 0}], "busy: but no sizes")
        same(audit("prune", "--keep", "100d", "--db", db)[0], 0, "busy: retention works")
        same(version(db), 1, "busy: and leaves it too")
        journal.unlink()
    session(db)
    same(version(db), 2, "busy: alone with it, the next makes it anew")
    verified(db, 0, "busy: then")


def check_tampered(name, change, where, own=()):
    """@own: a query that wary's own views answer, and what."""
    db = store(name, change)
    has(verified(db, 1, f"{name}: found"), where, f"{name}: where it is")
    if own:
        same(sql(db, own[0]), own[1], f"{name}: what wary shows does not come from it")
    has(session(db), "not as wary made it", f"{name}: a session does not make it anew")
    same(version(db), 1, f"{name}: so that nothing is lost of it")
    has(verified(db, 1, f"{name}: found still"), where, f"{name}: in the same place")
    if own:
        same(sql(db, own[0]), own[1], f"{name}: nor then")


def check_version_lies():
    """Of what it says to be, nothing but itself is taken for true."""
    db = store("says", ("PRAGMA user_version = 1", "PRAGMA user_version = 2"))
    has(verified(db, 1, "version 1 that says 2"), "event was changed", "what is missing is named")
    db = store("fresh")
    session(db)
    with contextlib.closing(sqlite3.connect(db)) as one:
        one.execute("PRAGMA user_version = 1")
    has(verified(db, 1, "version 2 that says 1"), "event was changed", "likewise")
    session(db)
    verified(db, 1, "and after a session")
    with contextlib.closing(sqlite3.connect(db)) as one:
        one.execute("PRAGMA user_version = 2")
    verified(db, 0, "put right it is intact")
    for number in (0, 3):
        with contextlib.closing(sqlite3.connect(db)) as one:
            one.execute(f"PRAGMA user_version = {number}")
        same(audit("log", "--db", db)[0], 2, f"version {number} is not read")


def check_views_of_today():
    """Also of this version the views are wary's own, whatever the file has."""
    db = store("today")
    session(db)
    with contextlib.closing(sqlite3.connect(db)) as one:
        text = one.execute("SELECT sql FROM sqlite_master WHERE name = 'flows'").fetchone()[0]
        one.executescript(f"DROP VIEW flows; {text} AND id <> {CONNECT}")
    same(ask(db, "SELECT id FROM flows"), [], "today: the file's own hides a row")
    same([row["id"] for row in sql(db, "SELECT id FROM flows")], [CONNECT], "today: wary's shows it")
    has(verified(db, 1, "today: found"), "flows was changed", "today: by name")


def check_every_reader():
    """What reads through views gives the same where those of the file show nothing; of both versions."""
    made, package = packages_store()
    for name, path in (("old", store("old")), ("new", store("new"))):
        ids = [row[0] for row in ask(path, "SELECT name FROM session ORDER BY id")]
        asked = [(path, "diff", ids[0], ids[1]), (path, "sql", "SELECT count(*) FROM decisions"), (path, "suggest", ids[1])]
        if name == "new":
            same(audit("hold", ids[0], "--db", path)[0], 0, f"{name}: a session is held")
            asked += [(made, "export", "--format", "cyclonedx", "--session", package), (path, "hold"),
                      (path, "prune", "--dry-run", "--keep", "1s")]
        same(version(path), 1 if name == "old" else 2, f"{name}: of its version")
        empty = {}
        for db in {path, made} if name == "new" else {path}:
            empty[db] = TMP / f"{name}-{db.name}-empty.db"
            with contextlib.closing(sqlite3.connect(db)) as a, contextlib.closing(sqlite3.connect(empty[db])) as b:
                a.backup(b)
                for view, text in b.execute("SELECT name, sql FROM sqlite_master WHERE type = 'view'").fetchall():
                    b.executescript(f"DROP VIEW {view}; CREATE VIEW {view} AS SELECT * FROM"
                                    f" ({text.split(' AS ', 1)[1]}) WHERE 0")
            same(ask(empty[db], "SELECT * FROM events"), [], f"{name}: the views of {db.name} are empty")
        for db, *words in asked:
            got = []
            for one in (db, empty[db]):
                if words[0] == "suggest":
                    done = subprocess.run([WARY, "policy", "suggest", "--db", one, words[1]], capture_output=True, text=True,
                                          timeout=WAIT_S, check=False, stdin=subprocess.DEVNULL)
                    got.append((done.returncode, done.stdout, ""))
                else:
                    got.append(audit(words[0], *words[1:], "--db", one))
            texts = [re.sub(r'"(serialNumber|timestamp)":"[^"]*"', "", text).replace(str(empty[db]), str(db)) for _, text, _ in got]
            if words[0] == "prune":  # how much would stay is of the file
                texts = [text.split(", about")[0] for text in texts]
                has(texts[0], "stays: it is held", f"{name}: prune leaves what is held")
            ok(len(texts[0]) > 5, f"{name}: {words[0]} has something to say")
            same((got[1][0], texts[1]), (got[0][0], texts[0]), f"{name}: {words[0]} does not read them")


os.environ.pop("XDG_STATE_HOME", None)
keys()
check_readers("one", (), False)
check_readers("before", (FLOWS,), True)
check_made_anew("anew", ())
check_made_anew("beforeanew", (FLOWS,))
check_busy()
check_tampered("view", (FLOWS[0], FLOWS[0] + " AND id <> 45"), "flows was changed", ("SELECT id FROM flows", [{"id": CONNECT}]))
check_tampered("kind", ("kind = 'limit'", "kind = 'limits'"), "limits was changed")
check_tampered("events", ("FROM checkpoint c CROSS JOIN session s ON", "FROM checkpoint c CROSS JOIN session s ON c.id < 5 AND"),
               "events was changed", ("SELECT count(*) n FROM events WHERE id = 45", [{"n": 1}]))
check_tampered("stranger", ("COMMIT;", "CREATE INDEX more ON event (object);\nCOMMIT;"), "more")
check_tampered("trigger", ("'the record is append-only'", "'no'"), "was changed")
check_tampered("removed", (re.search(r"^CREATE VIEW grants .*;$", SQL, re.M)[0], ""), "grants was removed")
check_version_lies()
check_views_of_today()
check_every_reader()
finish()
