#!/usr/bin/env python3
"""Who vouches for a record: verify, show and report say the same of one and the same record, and
keys of this machine that are there and cannot be read never count as none."""
import html
import json
import os
import re
import shutil
import sqlite3
import subprocess

from wary_test import BUILD, TMP, WAIT_S, WARY, change_store, finish, has, has_not, note, ok, same, store_copy

STATE = TMP / "state"
KEYS = STATE / "wary/keys"
STORE = TMP / "one.db"


def env_of(name):
    return dict(os.environ, XDG_STATE_HOME=str(TMP / name))


def made(store, name, events=300):
    done = subprocess.run([BUILD / "tests/lib/audit_session", store, str(events)], env=env_of(name), check=True,
                          capture_output=True, text=True, timeout=WAIT_S * 4, stdin=subprocess.DEVNULL)
    return done.stdout.strip()


def audit(*argv, name="state"):
    done = subprocess.run([WARY, "audit", *map(str, argv)], env=env_of(name), capture_output=True, text=True,
                          timeout=WAIT_S * 4, check=False, stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout + done.stderr


def said(store, session, *more, name="state"):
    """What each of the three says of a session: in one line, without what is before it."""
    page = TMP / "page.html"
    page.unlink(missing_ok=True)
    status, text = audit("verify", "--db", store, "--session", session, *more, name=name)
    lines = {"verify": text.strip().split("\n")[-1].removeprefix("wary: ")}
    shown, text = audit("show", "--db", store, *more, session, name=name)
    line = next((one for one in text.split("\n") if one.startswith("record")), text)
    lines["show"] = line.split("; ", 1)[-1]
    reported, text = audit("report", "--db", store, *more, session, "-o", page, name=name)
    meta = re.search(r'"verified":("(?:[^"\\]|\\.)*"),"intact":(true|false)', page.read_text()) if page.exists() else None
    lines["report"] = html.unescape(json.loads(meta[1])) if meta else text
    same((shown, reported), (0, 0), "show and report have done what they do")
    same(meta and meta[2], "true" if status == 0 else "false", "the page is marked likewise")
    return status, lines


def agree(what, store, session, want, *more, status=1, name="state"):
    got, lines = said(store, session, *more, name=name)
    same(got, status, what)
    for command, line in lines.items():
        # Where verify names each finding, the others name verify.
        same(line.removesuffix(": see wary audit verify"), lines["verify"], f"{what}: {command} says the same")
    ok(re.search(want, lines["verify"]), f"{what}: {lines['verify']}")


def test_words():
    sessions = [made(STORE, "state"), made(STORE, "state"), made(STORE, "state")]
    whose = r"signed by key \S+ \(this machine\)$"
    agree("of this machine", STORE, sessions[1], f"rows?, .* of session {sessions[1]}, and the chain of .* intact, {whose}",
          status=0)
    status, text = audit("verify", "--db", STORE, "--session", sessions[1])
    has(text, "left out: the rows, policies and keys of 2 other sessions", "what is left out of a session's is said")
    has_not(audit("verify", "--db", STORE)[1], "left out", "of the whole record nothing is")
    key = (KEYS / "machine.pub").read_text().split()[1]
    there = TMP / "theirs.db"
    theirs = made(there, "elsewhere")
    public = TMP / "elsewhere/wary/keys/machine.pub"
    agree("another machine's", there, theirs, "NOT VOUCHED FOR: .* which this machine does not know.* --key")
    agree("where there is no key", STORE, sessions[0], "NOT VOUCHED FOR: .* this machine has none.* --key", name="none")
    agree("another's, its key named", there, theirs, r"intact, signed by key \S+$", "--key", public, status=0)
    agree("by a key that is none of those named", there, theirs, "NOT VOUCHED FOR: .* none of those that were named",
          "--key", key)
    status, text = audit("verify", "--db", there)
    same(status, 1, "the whole of it")
    has(text, "which this machine does not know", "and in the same words")
    has_not(text, "intact", "not as intact")
    for path, session, name in ((STORE, sessions[2], "state"), (there, theirs, "state"), (STORE, sessions[2], "none")):
        bad = store_copy(path, TMP / "bad.db")
        change_store(bad, "UPDATE event SET result = 99 WHERE id = (SELECT max(id) FROM event)")
        agree("changed", bad, session, "^NOT INTACT: trust nothing of this session$", name=name)
    return sessions[0], key


def put_aside():
    for file in KEYS.iterdir():
        if file.is_dir():
            file.rmdir()
        else:
            file.unlink()
    for file in (TMP / "kept").iterdir():
        shutil.copy2(file, KEYS / file.name)


def closed(what, session, key, reason):
    """That no command takes keys which cannot be read for none."""
    for argv in (("verify", "--db", STORE), ("verify", "--db", STORE, "--session", session), ("show", "--db", STORE, session),
                 ("report", "--db", STORE, session, "-o", TMP / "none.html"), ("verify", "--proof", TMP / "proof")):
        status, text = audit(*argv)
        if not ok(status == 2 and reason in text and "--key" in text and "cannot be told" in text,
                  f"{what}: {argv[0]} {argv[1]}"):
            note(f"status {status}\n{text}")
    ok(not (TMP / "none.html").exists(), f"{what}: no page")
    for argv in (("verify", "--db", STORE, "--key", key), ("verify", "--proof", TMP / "proof", "--key", key)):
        same(audit(*argv)[0], 0, f"{what}: with the key named: {argv[1]}")
    has(audit("show", "--db", STORE, "--key", key, session)[1], ": intact, signed by key", f"{what}: show likewise")
    same(audit("prune", "--db", STORE, "--keep", "0s")[0], 2, f"{what}: nothing is pruned")
    # These need no key.
    for argv in (("anchor", "--db", STORE), ("prove", "--db", STORE, "3")):
        same(audit(*argv)[0], 0, f"{what}: {argv[0]} trusts nobody")
    put_aside()


def test_unreadable(session, key):
    same(audit("prove", "--db", STORE, "-o", TMP / "proof", "3")[0], 0, "a proof")
    same(audit("key", "rotate", "--db", TMP / "elsewhere.db")[0], 0, "the key is replaced")
    now = (KEYS / "machine.pub").read_text().split()[1]
    made(STORE, "state", 5)
    shutil.copytree(KEYS, TMP / "kept")
    for name, why in (("machine", "damaged"), ("former", "damaged")):
        whole = (KEYS / name).read_bytes()
        (KEYS / name).write_bytes(whole[:-1])
        closed(f"{name} cut short", session, key, why)
        (KEYS / name).write_bytes(bytes(len(whole)))
        closed(f"{name} of zeros", session, key, why)
        (KEYS / name).unlink()
        (KEYS / name).mkdir(mode=0o700)
        closed(f"a folder as {name}", session, key, "cannot be used")
        (KEYS / name).unlink()
        os.mkfifo(KEYS / name, 0o600)
        closed(f"a FIFO as {name}", session, key, "cannot be used")
        (KEYS / name).unlink()
        (KEYS / name).symlink_to(TMP / "kept" / name)
        closed(f"a link as {name}", session, key, "cannot be used")
    (KEYS / "machine").unlink()
    (KEYS / "machine.pub").write_text("wary-public-key-1 12")
    closed("machine.pub alone and torn", session, key, "it is no public key")
    (KEYS / "machine").unlink()
    (KEYS / "machine.pub").unlink()
    (KEYS / "machine.pub").mkdir()
    closed("a folder as machine.pub, alone", session, key, "Is a directory")
    (KEYS / "machine").unlink()
    (KEYS / "machine.pub").unlink()
    (KEYS / "machine.pub").symlink_to("/proc/self/mem")
    closed("machine.pub alone and not to be read", session, key, "Input/output error")
    KEYS.rename(TMP / "aside")
    KEYS.write_text("")
    status, text = audit("verify", "--db", STORE)
    same(status, 2, "a file where the keys should be")
    has(text, "Not a directory", "is said")
    KEYS.unlink()
    (TMP / "aside").rename(KEYS)
    if os.geteuid() != 0:
        for name in ("machine", "former"):
            (KEYS / name).chmod(0)
            closed(f"{name} that may not be read", session, key, "Permission denied")
        KEYS.chmod(0)
        status, text = audit("verify", "--db", STORE)
        same(status, 2, "a folder that may not be entered")
        has(text, "Permission denied", "is said")
        KEYS.chmod(0o700)
    (KEYS / "machine").unlink()
    status, text = audit("verify", "--db", STORE)
    same(status, 0, "machine.pub alone counts")
    has(text, "(this machine)", "as this machine's")
    same(now, (KEYS / "machine.pub").read_text().split()[1], "it is the key in force")
    shutil.rmtree(KEYS)
    status, text = audit("verify", "--db", STORE)
    same(status, 1, "without any file")
    has(text, "this machine has none", "there is none")


def test_empty():
    """A store that no session has written to: what a session's copy is without its log."""
    empty = TMP / "empty.db"
    made(TMP / "full.db", "state", 1)
    with sqlite3.connect(TMP / "full.db") as db:
        parts = [sql for (sql,) in db.execute("SELECT sql FROM sqlite_master WHERE sql NOT NULL AND name NOT LIKE 'sqlite%'"
                                              " ORDER BY rowid")]
        marks = [f"PRAGMA {name} = {db.execute('PRAGMA ' + name).fetchone()[0]}" for name in ("application_id", "user_version")]
    with sqlite3.connect(empty) as db:
        for sql in marks + parts:
            db.execute(sql)
    status, text = audit("verify", "--db", empty)
    same(status, 0, "an empty store")
    has(text, "0 rows, 0 checkpoints, 0 sessions: nothing is on it", "is called that")


test_empty()
test_unreadable(*test_words())
finish()
