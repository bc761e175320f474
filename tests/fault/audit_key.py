#!/usr/bin/env python3
# wary-test: timeout=600
"""Key rotation: old sessions verify with the old public key and with the new one, for
both verifiers; proofs and anchors hold across it; a session that runs, or dies, is not
disturbed; the old secret is written over; forged rotations are found and named."""
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys

from wary_test import BUILD, SRC, TMP, WAIT_S, WARY, change_store, finish, has, note, ok, same, store_copy

STATE = TMP / "state"
ENV = dict(os.environ, XDG_STATE_HOME=str(STATE))
ENV.pop("WARY_DB")
STORE = STATE / "wary/wary.db"
KEYS = STATE / "wary/keys"
SECOND = SRC / "examples/verify.py"


def run(*argv, env=None):
    done = subprocess.run(list(map(str, argv)), env=env or ENV, capture_output=True, text=True, timeout=WAIT_S * 4,
                          check=False, stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout + done.stderr


def session(*more, db=STORE, env=None):
    return run(BUILD / "tests/lib/audit_session", db, *more, env=env)


def audit(*argv, env=None):
    return run(WARY, "audit", *argv, env=env)


def second(*argv):
    return run(sys.executable, SECOND, *argv)


def public():
    return (KEYS / "machine.pub").read_text().split()[1]


def rotate():
    status, text = audit("key", "rotate")
    same(status, 0, "the key is replaced")
    return text


def both(store, key, what, want=0):
    """Both verifiers agree."""
    status, text = audit("verify", store, "--key", key)
    if not same(status, want, f"{what}: verify"):
        note(text)
    other, said = second(store, key)
    if not same(other, want, f"{what}: the second verifier"):
        note(said)
    return text


def copy(name, source=STORE):
    return store_copy(source, TMP / f"{name}.db")


def rows(sql, store=STORE):
    db = sqlite3.connect(f"file:{store}?mode=ro", uri=True)
    found = db.execute(sql).fetchall()
    db.close()
    return found


def running(mode):
    """A session that has recorded something and goes on."""
    process = subprocess.Popen([BUILD / "tests/lib/audit_session", STORE, "40", "9", mode], env=ENV,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    name = process.stdout.readline().strip()
    same(process.stdout.readline(), "half\n", f"session {name} runs")
    return process, name


def test_rotation():
    """Returns the public keys, from the first on."""
    keys = []
    status, text = audit("key", "rotate")
    same(status, 2, "there is no key yet")
    has(text, "does not exist", "it says so")
    same(session(50)[0], 0, "a session of the first key")
    keys.append(public())
    same(audit("prove", "7", "-o", TMP / "before.proof")[0], 0, "a proof made before")
    same(audit("anchor", "-o", TMP / "anchor")[0], 0, "an anchor")
    shutil.copytree(KEYS, TMP / "stolen/wary/keys")
    secret = (KEYS / "machine").read_bytes()
    with open(KEYS / "machine", "rb") as held:
        lives, lives_name = running("pause")
        dies, _ = running("pause")
        text = rotate()
        has(text, "whose secret half was wiped", "it says so")
        held.seek(0)
        same(held.read(), bytes(len(secret)), "the old file was written over")
    keys.append(public())
    ok(keys[0] != keys[1], "it is another key")
    left = [f.name for f in KEYS.iterdir() if secret[32:64] in f.read_bytes()]
    same(left, [], "the old secret is in no file")
    same(sorted(f.name for f in KEYS.iterdir()), ["former", "machine", "machine.pub"],
         "and nothing else is left there")
    same([oct((KEYS / n).stat().st_mode & 0o777) for n in ("former", "machine")], ["0o600"] * 2, "for nobody else")
    dies.send_signal(signal.SIGKILL)
    dies.wait()
    lives.communicate("go\n", timeout=WAIT_S * 4)
    same(lives.returncode, 0, "the session that ran meanwhile ends as it would have")
    same(session(50)[0], 0, "a session of the new key, which recovers the one that died")
    same(rows("SELECT reason FROM closing ORDER BY reason"), [("exited",)] * 4 + [("recovered",)],
         "all have their ends")
    same(rows(f"SELECT count(*) FROM events WHERE session = '{lives_name}'"), [(40,)], "with all they did")
    return keys


def test_keys(keys):
    for n, key in enumerate(keys):
        both(STORE, key, f"by key {n} alone")
    both(STORE, "ab" * 32, "by another machine's key", want=1)
    status, text = audit("verify")
    same(status, 0, "by this machine's")
    has(text, "(this machine)", "signed by this machine")
    same(audit("verify", "--anchor", TMP / "anchor")[0], 0, "an anchor from before holds")
    listed = audit("key")[1].split("\n")
    same([line.split()[1] for line in listed if line], list(reversed(keys)), "they are listed")
    shown = audit("sql", "SELECT object2, result FROM events WHERE object = 'key rotate' ORDER BY id", "--json")[1]
    for key in keys[1:]:
        has(shown, key, "the rotation is on record")


def test_proofs(keys):
    last = rows("SELECT max(id) FROM event")[0][0]
    for row in (7, last):
        file = TMP / f"{row}.{len(keys)}.proof"
        same(audit("prove", str(row), "-o", file)[0], 0, f"a proof of row {row}")
        for n, key in enumerate(keys):
            same(audit("verify", "--proof", file, "--key", key)[0], 0, f"shows it to who knows key {n}")
            same(second("--proof", file, key)[0], 0, "and to the second verifier")
        same(audit("verify", "--proof", file, "--key", "ab" * 32)[0], 1, "to nobody else")
    same(audit("verify", "--proof", TMP / "before.proof")[0], 0, "a proof from before holds here")
    same(audit("verify", "--proof", TMP / "before.proof", "--key", keys[0])[0], 0, "and where the first key is known")
    same(second("--proof", TMP / "before.proof", keys[0])[0], 0, "the second verifier agrees")


def test_other_store(keys):
    """One that has seen no rotation, and one that has seen nothing before it."""
    fresh = STATE / "wary/fresh.db"
    same(session(5, db=fresh)[0], 0, "a store made after it")
    for n, key in enumerate(keys):
        both(fresh, key, f"a new store by key {n}")


def test_prune(keys):
    """Sessions of every key are removed by the last."""
    path = STATE / "wary/pruned.db"
    shutil.copyfile(copy("pruned"), path)
    status, text = audit("prune", "--db", path, "--max-size", "1K")
    ok(status in (0, 1) and "was removed" in text, "retention goes on across it")
    both(path, keys[0], "with tombstones, by the first key")
    both(path, keys[-1], "and by the last")


def found(name, pattern, *statements, store=None, key=None):
    path = store or copy("tampered")
    change_store(path, *statements)
    key = key or public()
    status, text = audit("verify", path, "--key", key)
    right = status == 1 and re.search(pattern, text)
    if not ok(right, f"{name}: found and named"):
        note(f"status {status}, wanted /{pattern}/\n{text}")
    status, text = second(path, key)
    if not same(status, 1, "the second verifier too"):
        note(text)


def test_forged():
    first, after, back = [r[0] for r in rows("SELECT id FROM signer WHERE role = 'machine' ORDER BY id LIMIT 3")]
    last = rows("SELECT max(id) FROM signer")[0][0]
    junk = os.urandom(32), os.urandom(64)
    found("a rotation by nobody", "rotation to key .* is forged",
          ("INSERT INTO signer SELECT ?, role, ?, certified_by, ?, at_us FROM signer WHERE id = ?",
           (last + 1, *junk, after)))
    found("a rotation's key changed", "rotation to key .* is forged",
          ("UPDATE signer SET public = ? WHERE id = ?", (junk[0], after)))
    found("a rotation's certificate changed", "rotation to key .* is forged",
          ("UPDATE signer SET certificate = ? WHERE id = ?", (junk[1], after)))
    found("what vouches for the former key changed", "rotation to key .* is forged",
          ("UPDATE signer SET certificate = ? WHERE id = ?", (junk[1], back)))
    found("a rotation at another time", "rotation to key .* is forged",
          ("UPDATE signer SET at_us = at_us + 1 WHERE id = ?", (after,)))
    found("a rotation taken out", f"signer {after} was removed", ("DELETE FROM signer WHERE id = ?", (after,)))
    found("what vouches for the former key taken out", f"signer {back} was removed",
          ("DELETE FROM signer WHERE id = ?", (back,)))
    found("a session under another of the machine's keys", "was changed: its certificate does not fit",
          ("UPDATE signer SET certified_by = ? WHERE id = ?", (after, first + 1)))


def test_stolen(keys):
    """Who has a copy of the old key."""
    thief = dict(ENV, XDG_STATE_HOME=str(TMP / "stolen"))
    status, text = session(5, env=thief)
    same(status, 1, "the old key opens no session in a store that has the new one")
    has(text, "was replaced", "and it is said why")
    back = rows("SELECT id FROM signer WHERE role = 'machine' ORDER BY id LIMIT 3")[2][0]
    # A second rotation, as the thief makes it, in a store from before the first one.
    mine = rows("SELECT role, public, certified_by, certificate, at_us FROM signer WHERE role = 'machine'"
                " ORDER BY id LIMIT 3")[1:]
    theirs = TMP / "stolen/wary/theirs.db"
    same(session(5, db=theirs, env=thief)[0], 0, "elsewhere it does")
    same(audit("key", "rotate", "--db", theirs, env=thief)[0], 0, "and can be replaced")
    next_key = rows("SELECT role, public, certified_by, certificate, at_us FROM signer WHERE role = 'machine'"
                    " ORDER BY id LIMIT 3", theirs)[1:]
    last = rows("SELECT max(id) FROM signer")[0][0]
    found("a key replaced twice", "was replaced by key .* but by another one",
          ("INSERT INTO signer VALUES (?, ?, ?, ?, ?, ?)", (last + 1, *next_key[0])))
    role, key, _, certificate, at = next_key[0]
    found("also by the row that vouches for the former key", "was replaced by key .* but by another one",
          ("INSERT INTO signer VALUES (?, ?, ?, ?, ?, ?)", (last + 1, role, key, back, certificate, at)))
    # A session of the old key put after the new one: room for the new one's rows is left before it.
    shutil.copyfile(TMP / "before/machine", TMP / "stolen/wary/keys/machine")
    for name in ("former", "machine.pub"):
        (TMP / "stolen/wary/keys" / name).unlink(missing_ok=True)
    late = TMP / "stolen/wary/late.db"
    same(session(5, db=late, env=thief)[0], 0, "a store of the old key")
    change_store(late, *[("INSERT INTO signer SELECT ?, role, public, certified_by, certificate, at_us FROM signer"
                          " WHERE id = 2", (ident,)) for ident in (3, 4)])
    same(session(5, db=late, env=thief)[0], 0, "a later session of the old key")
    path = copy("late", late)
    statements = []
    for ident, (role, key, by, certificate, at) in zip((3, 4), mine):
        statements += [("DELETE FROM signer WHERE id = ?", (ident,)),
                       ("INSERT INTO signer VALUES (?, ?, ?, ?, ?, ?)",
                        (ident, role, key, 1 if by == 1 else 3, certificate, at))]
    found("a session of a key that was replaced before",
          "signer 5 was certified by key .* after that had been replaced",
          *statements, store=path, key=keys[1])
    status, text = session(5, db=path, env=thief)
    same(status, 1, "which opens no other session there, though it was the last that certified")
    has(text, "was replaced", "and it is said why")
    found("also where it names the row that vouches for the former key",
          "signer 5 was certified by key .* after that had been replaced",
          ("UPDATE signer SET certified_by = 4 WHERE id = 5", ()), store=path, key=keys[1])
    # One session alone is looked at: its key leads to one that replaced the old one a second time.
    other = TMP / "stolen/wary/other.db"
    same(session(5, db=other, env=thief)[0], 0, "another store of the old key")
    change_store(other, *[("INSERT INTO signer SELECT ?, role, public, certified_by, certificate, at_us FROM signer"
                          " WHERE id = 2", (ident,)) for ident in (3, 4)])
    same(audit("key", "rotate", "--db", TMP / "stolen/wary/elsewhere.db", env=thief)[0], 0, "which is replaced")
    status, name = session(5, db=other, env=thief)
    same(status, 0, "and a session of the key after it")
    path = copy("other", other)
    change_store(path, *statements)
    status, text = audit("show", name.strip(), "--db", path)
    ok("NOT INTACT" in text, "is not shown as intact")
    found("a second key after the old one, with all it signed", "but by another one", store=path, key=keys[1])


def test_backup(keys):
    """An old copy of keys/ is put back and replaced once more: it has no place in a record
    that knows the first replacement, and that stays as it is."""
    machine = dict(ENV, XDG_STATE_HOME=str(TMP / "backup"))
    shutil.copytree(TMP / "before", TMP / "backup/wary/keys")
    (TMP / "backup/wary/keys/machine").chmod(0o600)
    same(audit("key", "rotate", "--db", TMP / "backup/wary/elsewhere.db", env=machine)[0], 0,
         "a copy of the first key is replaced elsewhere")
    for _ in range(2):
        status, text = session(5, env=machine)
        same(status, 1, "the key after it opens no session in the store that knows another")
        has(text, "was replaced", "and it is said why")
    both(STORE, keys[-1], "and the store stays intact")


def test_links():
    """Other names of the files of keys/: what is in force is not written over, what was in force is,
    whatever names it has, and what has no key is not."""
    os.link(KEYS / "machine", KEYS / "machine.new")
    rotate()
    ok(not (KEYS / "machine.new").exists(), "machine.new as another name of the key: only that name goes")
    same(session(5)[0], 0, "there is a key")
    os.link(KEYS / "machine", TMP / "kept")
    os.link(KEYS / "former", KEYS / "former.new")
    size = (TMP / "kept").stat().st_size
    rotate()
    same((TMP / "kept").read_bytes(), bytes(size), "a second name that somebody keeps has nothing of the former key")
    (TMP / "notes").write_text("what is somebody's own, and longer than the beginning of a key")
    os.link(TMP / "notes", KEYS / "machine.new")
    same(session(5)[0], 0, "a file that has no key as machine.new, and a session")
    same(((TMP / "notes").read_text()[:4], (KEYS / "machine.new").exists()), ("what", False), "loses that name alone")
    (KEYS / "machine.new").write_bytes((KEYS / "machine").read_bytes())
    same(session(5)[0], 0, "a key that was to be the next one, and a session")
    ok(not (KEYS / "machine.new").exists(), "which takes it away")
    both(STORE, public(), "the record is intact")


def test_public():
    """machine.pub that is not the key's: it is not believed, and made anew."""
    key = public()
    text = (KEYS / "machine.pub").read_text()
    for name, other in (("torn", text[:40]), ("of no bytes", ""), ("another's", text.replace(key, "ab" * 32))):
        (KEYS / "machine.pub").write_text(other)
        status, said = audit("verify")
        same((status, "(this machine)" in said), (0, True), f"machine.pub {name}: the record is this machine's")
        same(session(5)[0], 0, "a session")
        same((KEYS / "machine.pub").read_text(), text, "makes it anew")
    (KEYS / "machine.pub").unlink()
    os.mkfifo(KEYS / "machine.pub")
    same(session(5)[0], 0, "a FIFO as machine.pub: nothing waits for it")
    same((KEYS / "machine.pub").read_text(), text, "and it is made anew")
    same(sorted(f.name for f in KEYS.iterdir()), ["former", "machine", "machine.pub"], "and nothing else is left")
    (KEYS / "machine").rename(TMP / "machine")
    status, said = audit("verify")
    same((status, "(this machine)" in said), (0, True), "machine.pub alone is believed")
    (TMP / "machine").rename(KEYS / "machine")


def test_odd_files():
    """What is no file is refused, and nothing waits for it."""
    for name in ("former", "machine"):
        (KEYS / name).rename(KEYS / "kept")
        os.mkfifo(KEYS / name, 0o600)
        status, text = session(5)
        same(status, 1, f"a FIFO as keys/{name}: no session")
        has(text, "it must be a file of yours", "and it is said why")
        (KEYS / name).unlink()
        (KEYS / "kept").rename(KEYS / name)
    same(session(5)[0], 0, "with the files there is one")


def main():
    keys = test_rotation()
    (TMP / "before").mkdir()
    shutil.copyfile(TMP / "stolen/wary/keys/machine", TMP / "before/machine")
    test_keys(keys)
    test_proofs(keys)
    rotate()
    keys.append(public())
    same(session(5)[0], 0, "a session of the third key")
    test_keys(keys)
    test_proofs(keys)
    test_other_store(keys)
    test_prune(keys)
    test_forged()
    test_stolen(keys)
    test_backup(keys)
    test_links()
    test_public()
    test_odd_files()
    finish()


if __name__ == "__main__":
    main()
