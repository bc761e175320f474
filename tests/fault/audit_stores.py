#!/usr/bin/env python3
# wary-test: timeout=900
"""Stores that cannot be used, several sessions at once, and journals whose
store lost them: the reason is said, nothing is lost, all of it verifies."""
import os
import shutil
import signal
import sqlite3
import subprocess
import sys

from wary_test import BUILD, TMP, WAIT_S, WARY, finish, has, note, ok, same, skip, store_copy

STATE = TMP / "state"
ENV = dict(os.environ, XDG_STATE_HOME=str(STATE))
KEY = STATE / "wary/keys/machine.pub"
PROGRAM = BUILD / "tests/lib/audit_session"


def start(db, events, *more):
    return subprocess.Popen([PROGRAM, db, str(events), *map(str, more)], env=ENV, text=True,
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE)


def session(db, events, *more):
    run = start(db, events, *more)
    out, err = run.communicate(timeout=250)
    return run.returncode, out.strip(), err.strip()


def verify(db):
    done = subprocess.run([WARY, "audit", "verify", "--db", db, "--key", KEY], env=ENV,
                          capture_output=True, text=True, timeout=250, check=False,
                          stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout + done.stderr


def rows(db, sql):
    with sqlite3.connect(f"file:{db}?mode=ro", uri=True) as connection:
        found = connection.execute(sql).fetchall()
    connection.close()
    return found


def refused(what, db, *parts):
    status, _, err = session(db, 5)
    ok(status == 1, f"{what}: no session begins")
    for part in parts:
        has(err, part, f"{what}: says {part!r}")


def bad_stores():
    folder = TMP / "bad"
    folder.mkdir()
    path = folder / "text.db"
    path.write_text("this is no database\n" * 300)
    refused("a text file", path, "not a database", "move it away")
    path = folder / "other.db"
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE t (x)")
    other.close()
    refused("another program's database", path, "not a record of wary")
    path = folder / "newer.db"
    session(path, 5)
    with sqlite3.connect(path) as newer:
        newer.execute("PRAGMA user_version = 99")
    newer.close()
    refused("a newer version's", path, "newer version of wary", "name another record")
    path = folder / "damaged.db"
    session(path, 200)
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = DELETE")
    root = connection.execute("SELECT rootpage FROM sqlite_master"
                              " WHERE name = 'checkpoint'").fetchone()[0]
    connection.close()
    with open(path, "r+b") as damaged:
        damaged.seek((root - 1) * 4096)
        damaged.write(b"\xff" * 4096)
    refused("a damaged one", path, "damaged", "move it away")
    folder = TMP / "folder-as-store"
    folder.mkdir()
    refused("a folder", folder, "cannot be used")
    link = TMP / "link.db"
    link.symlink_to(TMP / "elsewhere.db")
    refused("a symbolic link", link, "cannot be used")


def read_only():
    if os.geteuid() == 0:
        note("read-only folders: root may write them")
        return
    folder = TMP / "read-only"
    folder.mkdir()
    folder.chmod(0o500)
    refused("a read-only folder", folder / "a.db", "cannot be written", "--db FILE")
    folder.chmod(0o700)
    session(folder / "a.db", 5)
    folder.chmod(0o500)
    same(session(folder / "a.db", 5)[0], 0, "one whose files are there is good enough")
    folder.chmod(0o700)
    same(verify(folder / "a.db")[0], 0, "and verifies")
    copy = store_copy(folder / "a.db", folder / "copy 1%?.db")
    db = sqlite3.connect(copy)
    db.execute("PRAGMA journal_mode = WAL")
    db.close()
    same([f.name for f in folder.glob("copy*")], [copy.name], "a copy without a log")
    copy.chmod(0o400)
    folder.chmod(0o500)
    status, text = verify(copy)
    same(status, 0, "is read where nothing can be made beside it")
    has(text, "nobody writes to", "and it is said what it is taken for")
    folder.chmod(0o700)
    (folder / f"{copy.name}-wal").touch()
    folder.chmod(0o500)
    status, text = verify(copy)
    same(status, 2, "not where it has a log")
    has(text, "copy it", "which has to be copied with it")
    folder.chmod(0o700)


def held_up():
    """Another program holds the store for longer than is waited for at once."""
    db = TMP / "held.db"
    process = subprocess.Popen([BUILD / "tests/lib/audit_session", db, "3000", "5", "pause"], env=ENV, text=True,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    name = process.stdout.readline().strip()
    same(process.stdout.readline(), "half\n", "a session runs")
    other = sqlite3.connect(db, isolation_level=None, timeout=100)
    other.execute("BEGIN IMMEDIATE")
    process.stdin.write("go\n")
    process.stdin.flush()
    has(process.stderr.readline(), "waits in the journal", "what it records waits, and that is said")
    same(process.poll(), None, "it goes on")
    other.execute("ROLLBACK")
    other.close()
    process.communicate("go\n", timeout=WAIT_S * 4)
    same(process.returncode, 0, "and ends as it would have")
    same(rows(db, f"SELECT count(*) FROM events WHERE session = '{name}'"), [(3000,)], "with all its rows")
    same(verify(db)[0], 0, "the store verifies")


def full_disk():
    """A file system of a few megabytes, where root may mount one."""
    folder = TMP / "full"
    folder.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", folder],
                          stderr=subprocess.DEVNULL, check=False)
    if done.returncode:
        note("a full disk: cannot mount one here")
        return
    try:
        path = folder / "a.db"
        status, _, err = session(path, 200000)
        same(status, 1, "a disk that fills up ends the session")
        before = rows(path, "SELECT count(*) FROM event")[0][0]
        refused("a full disk", path, "no space left")
        (folder / "a.db-shm").unlink(missing_ok=True)
        subprocess.run(["mount", "-o", "remount,size=60m", folder], check=True)
        status, _, err = session(path, 5)
        same(status, 0, f"with room again the next one begins {err}")
        status, text = verify(path)
        same(status, 0, "and all of it verifies")
        note(text.strip())
        counted = rows(path, "SELECT decisions FROM closing WHERE session = 1")[0][0]
        ok(counted > before, f"what was in the journal came after: {before} and {counted}")
    finally:
        subprocess.run(["umount", "-l", folder], check=False)


def keys():
    machine = STATE / "wary/keys/machine"
    machine.chmod(0o644)
    refused("a key that others can read", TMP / "k.db", "chmod 600")
    machine.chmod(0o600)
    data = machine.read_bytes()
    machine.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    refused("a damaged key", TMP / "k.db", "damaged")
    machine.write_bytes(data)
    pub = machine.with_name("machine.pub")
    text = pub.read_text()
    pub.unlink()
    same(session(TMP / "k.db", 1)[0], 0, "without the public half a session begins")
    same(pub.read_text(), text, "and makes it again")


def several():
    db = TMP / "several.db"
    counts = [3000, 6000, 1, 9000, 2000]
    runs = [start(db, n, i) for i, n in enumerate(counts)]
    names = []
    for run in runs:
        out, err = run.communicate(timeout=250)
        same(run.returncode, 0, f"one of several sessions at once {err}")
        names.append(out.strip())
    same(len(set(names)), len(counts), "each has a name of its own")
    for name, n in zip(names, counts):
        found = rows(db, "SELECT count(*), max(seq), count(DISTINCT seq) FROM events"
                         f" WHERE session = '{name}'")
        if not same(found, [(n, n, n)], f"{n} rows of session {name}"):
            note(rows(db, f"SELECT kind, object, object2, min(seq), max(seq), count(*) FROM events"
                          f" WHERE session = '{name}' AND kind <> 'decision' GROUP BY 1, 2, 3"))
            note(rows(db, "SELECT c.id, c.session, c.kind, c.first_event, c.events FROM checkpoint c"))
            note(sorted(path.name for path in TMP.glob("several*")) + os.listdir(TMP / ".several.db.live"))
    status, text = verify(db)
    same(status, 0, "the store verifies")
    note(text.strip())
    has(text, f"{sum(counts):,} rows", "all rows")


def died():
    db = TMP / "died.db"
    session(db, 20)
    status, name, _ = session(db, 100, 7, "die")
    same(status, -signal.SIGKILL, "a session dies between intent and outcome")
    live = TMP / ".died.db.live"
    same(len(list(live.iterdir())), 1, "its journal stays")
    status, text = verify(db)
    same(status, 0, "verify recovers it")
    same(list(live.iterdir()), [], "the journal is gone")
    same(rows(db, f"SELECT count(*), sum(unknown) FROM decisions WHERE session = '{name}'"),
         [(100, 1)], "every decision, one of them with an unknown outcome")
    same(rows(db, f"SELECT reason, status, decisions FROM sessions WHERE session = '{name}'"),
         [("recovered", -1, 100)], "the session is closed")
    same(rows(db, "SELECT count(*) FROM signer WHERE role = 'recovery'"), [(1,)],
         "signed as recovered")
    note(text.strip())


def lost_row():
    """The store as it was before the session; the journal as it was left."""
    db = TMP / "lost.db"
    session(db, 20)
    older = store_copy(db, TMP / "lost-older.db")
    status, name, _ = session(db, 50, 7, "die")
    for end in ("", "-wal", "-shm", ".head"):
        (TMP / f"lost.db{end}").unlink(missing_ok=True)
    shutil.move(older, db)
    status, text = verify(db)
    same(status, 0, f"the session is made again from its journal {text}")
    same(rows(db, "SELECT count(*), sum(unknown) FROM decisions"
                  f" WHERE session = '{name}'"), [(50, 1)], "with all its decisions")
    same(rows(db, f"SELECT command, cwd, reason FROM sessions WHERE session = '{name}'"),
         [("npm install", "/home/ana/src/app", "recovered")], "its command and folder")
    same(rows(db, "SELECT count(*) FROM session_source"), [(4,)], "and its policy")


def foreign_journal():
    """A journal that this machine's key did not seal is kept, not believed."""
    db = TMP / "foreign.db"
    session(db, 5)
    session(db, 5, 1, "die")
    live = TMP / ".foreign.db.live"
    journal = next(live.iterdir())
    data = bytearray(journal.read_bytes())
    data[60] ^= 1
    journal.write_bytes(data)
    status, _, err = session(db, 5)
    same(status, 0, "the next session begins")
    has(err, "another machine's key", "and says why the journal was not recovered")
    same([p.name.startswith("kept-") for p in live.iterdir()], [True], "it is kept")
    status, text = verify(db)
    same(status, 1, "verify says that the session has no end")
    has(text, "has neither a closing record nor a journal", "in words")


def main():
    if not PROGRAM.exists():
        skip("tests/lib/audit_session is not built")
    same(session(TMP / "first.db", 3)[0], 0, "a session")
    same(oct((STATE / "wary/keys/machine").stat().st_mode), "0o100600", "the key is its owner's")
    same(oct((TMP / "first.db").stat().st_mode), "0o100600", "the store too")
    bad_stores()
    read_only()
    held_up()
    full_disk()
    keys()
    several()
    died()
    lost_row()
    foreign_journal()
    finish()


if __name__ == "__main__":
    sys.exit(main())
