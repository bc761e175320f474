#!/usr/bin/env python3
"""What a call took away is on record with its size: of the very object that was judged, covered by the
chain, and only where the call was done."""
import contextlib
import ctypes
import json
import os
import pathlib
import signal
import sqlite3
import subprocess
import sys

from wary_test import DB, HOME, SRC, TMP, WAIT_S, WARY, Lines, audit, change_store, finish, has, note, ok, policy, same, store_copy, wary

WORK = TMP / "work"
RULES = f"default allow\ndeny delete {WORK}/kept"

# Prints what each call must have on record: its name, the last part of the object's name, size and names left.
CALLER = r"""
import ctypes, errno, json, os, socket, stat, sys
os.chdir(sys.argv[1])
libc = ctypes.CDLL(None, use_errno=True)

def put(name, data):
    fd = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    os.write(fd, data)
    os.close(fd)

def rename2(a, b, flags):
    return libc.renameat2(-100, a.encode(), -100, b.encode(), flags)

def want(call, name, size=None, links=None):
    print(json.dumps([call, name, size, links]))

def fails(what):
    try:
        what()
    except OSError:
        return
    sys.exit("that did not fail")

put("trunc", b"x" * 100)
os.close(os.open("trunc", os.O_WRONLY | os.O_TRUNC)); want("openat", "trunc", 100, 1)
os.close(os.open("trunc", os.O_WRONLY | os.O_TRUNC)); want("openat", "trunc", 0, 1)
put("both", b"x" * 7)
os.close(os.open("both", os.O_RDWR | os.O_TRUNC | os.O_CREAT)); want("openat", "both", 7, 1)
put("reads", b"x" * 8)
os.close(os.open("reads", os.O_RDONLY | os.O_TRUNC)); want("openat", "reads", 8, 1)
os.close(os.open("fresh", os.O_WRONLY | os.O_TRUNC | os.O_CREAT)); want("openat", "fresh")
os.close(os.open("fresh", os.O_WRONLY)); want("openat", "fresh")
put("made", b"x" * 9)
os.close(libc.creat(b"made", 0o644)); want("creat", "made", 9, 1)
put("cut", b"x" * 50)
os.truncate("cut", 10); want("truncate", "cut", 50, 1)
os.truncate("cut", 1000); want("truncate", "cut", 10, 1)
put("twice", b"x" * 20); os.link("twice", "second")
os.truncate("second", 0); want("truncate", "second", 20, 2)
fails(lambda: os.truncate("absent", 0)); want("truncate", "absent")
fails(lambda: os.open("cut/x", os.O_WRONLY | os.O_TRUNC)); want("openat", "x")

put("gone", b"x" * 11); os.unlink("gone"); want("unlink", "gone", 11, 0)
put("one", b"x" * 12); os.link("one", "two"); os.link("one", "three")
os.unlink("one"); want("unlink", "one", 12, 2)
os.unlink("two"); want("unlink", "two", 12, 1)
os.unlink("three"); want("unlink", "three", 12, 0)
put("held", b"x" * 13); fd = os.open("held", os.O_RDWR)
os.unlink("held"); want("unlink", "held", 13, 0)
assert os.fstat(fd).st_size == 13
os.close(fd)
put("empty", b""); os.unlink("empty"); want("unlink", "empty", 0, 0)
os.symlink("where/it/leads", "link"); os.unlink("link"); want("unlink", "link", 14, 0)
os.mkdir("folder"); os.rmdir("folder"); want("rmdir", "folder")
os.mkfifo("fifo"); os.unlink("fifo"); want("unlink", "fifo")
s = socket.socket(socket.AF_UNIX); s.bind("socket"); os.unlink("socket"); want("unlink", "socket")
fails(lambda: os.unlink("absent")); want("unlink", "absent")
put("kept", b"x" * 5); fails(lambda: os.unlink("kept")); want("unlink", "kept")
os.mkdir("full"); put("full/x", b"1"); fails(lambda: os.rmdir("full")); want("rmdir", "full")

put("from", b"x" * 3); put("over", b"x" * 14)
os.rename("from", "over"); want("rename", "from", 14, 0)
put("from2", b"x" * 3); os.rename("from2", "new"); want("rename", "from2")
put("from3", b"x" * 3); put("linked", b"x" * 15); os.link("linked", "other")
os.rename("from3", "linked"); want("rename", "from3", 15, 1)
put("same", b"x" * 16); os.link("same", "as")
os.rename("same", "as"); want("rename", "same")
put("left", b"x" * 17); put("right", b"x" * 18)
assert rename2("left", "right", 2) == 0; want("renameat2", "left")
assert rename2("left", "right", 1) == -1; want("renameat2", "left")
os.mkdir("d1"); os.mkdir("d2"); os.rename("d1", "d2"); want("rename", "d1")
os.symlink("xyz", "ln"); put("ff", b""); os.rename("ff", "ln"); want("rename", "ff", 3, 0)
fails(lambda: os.rename("kept", "full")); want("rename", "kept")

if len(sys.argv) > 2:  # a file system whose files may be that long
    big = sys.argv[2]
    for n in (2**53 + 1, 2**62 + 1):
        put(big, b""); os.truncate(big, n)
        want("truncate", "big", 0, 1)
        os.truncate(big, n - 2); want("truncate", "big", n, 1)
        os.unlink(big); want("unlink", "big", n - 2, 0)
fd = os.open(".", os.O_TMPFILE | os.O_RDWR); os.write(fd, b"1"); os.close(fd)
"""


def long_file():
    """A name where a file may have more bytes than a double counts, or None."""
    path = pathlib.Path(f"/dev/shm/wary-{os.getpid()}/big")
    try:
        path.parent.mkdir()
        path.touch()
        os.truncate(path, 2**62 + 1)
    except OSError:
        return None
    finally:
        with contextlib.suppress(OSError):
            path.unlink()
    return path


def rows(db=DB, where="1"):
    with contextlib.closing(sqlite3.connect(f"file:{db}?mode=ro", uri=True)) as store:
        return store.execute("SELECT syscall, object, result, size_before, links_left, answer, flags, id FROM decisions"
                             f" WHERE {where} ORDER BY id").fetchall()


def both_verify(db, what, want=0):
    said = audit("verify", "--db", str(db))
    same(said.returncode, want, f"{what}: wary")
    public = next((HOME / ".local/state/wary/keys").glob("machine.pub"))
    done = subprocess.run([sys.executable, SRC / "examples/verify.py", db, public], capture_output=True, text=True,
                          timeout=WAIT_S, check=False)
    same(done.returncode, want, f"{what}: the second verifier")
    return said.stdout + said.stderr, done.stdout


def check_cases():
    WORK.mkdir()
    big = long_file()
    done = wary(sys.executable, "-c", CALLER, WORK, *([big] if big else []), rules=RULES)
    same((done.returncode, done.stderr.count("Traceback")), (0, 0), "the calls are made")
    wanted = [tuple(json.loads(line)) for line in done.stdout.splitlines()]
    # Rows in the order of the calls: each is the next of its call, object and result.
    got = [(r[0], os.path.basename(r[1]), *r[3:5]) for r in rows()
           if r[0] in {w[0] for w in wanted} and (r[1].startswith(str(WORK)) or str(big) == r[1])]
    at = 0
    for one in wanted:
        here = next((n for n in range(at, len(got)) if got[n] == one), None)
        if not ok(here is not None, f"{one[0]} of {one[1]}: {one[2]} bytes, {one[3]} names left"):
            note([g for g in got if g[1] == one[1]])
            continue
        at = here + 1
    sized = [g for g in got if g[2] is not None]
    same(len(sized), len([w for w in wanted if w[2] is not None]), "nothing else has a size")
    others = [r for r in rows() if r[3] is not None and (r[2] is None or r[2] < 0 or r[5] != "allow")]
    same(others, [], "no size where nothing was done")
    if big:
        big.parent.rmdir()
    else:
        note("no file system here has files of more than 2^53 bytes")
    return bool(big)


def check_readers(has_big):
    one = rows(where="syscall = 'unlink' AND object LIKE '%/three'")[0]
    session = json.loads(audit("log", "--json").stdout.splitlines()[0])["session"]
    line = [json.loads(text) for text in audit("log", "--json").stdout.splitlines()]
    mine = next(row for row in line if row["id"] == one[7])
    same((mine["size_before"], mine["links_left"]), (12, 0), "log --json has it")
    ok(all("size_before" in row for row in line), "in every row")
    same(sum(row["size_before"] is not None for row in line), len(rows(where="size_before IS NOT NULL")), "null elsewhere")
    ok(any("/work/three " in text and "had 12 B" in text for text in audit("log").stdout.splitlines()), "log shows it")
    found = [json.loads(text) for text in audit("query", "--json", "size >= 12 and links = 0 and object ~ **/three").stdout.splitlines()]
    same([row["id"] for row in found], [one[7]], "query finds it")
    has(audit("sql", f"SELECT size_before || '/' || links_left FROM events WHERE id = {one[7]}").stdout, "12/0", "sql has it")
    has(audit("show", session).stdout, "bytes taken away", "show sums up")
    csv = audit("export", "--format", "csv").stdout.splitlines()
    ok(csv[0].endswith(",size_before,links_left") and any(text.endswith(",0,12,0") for text in csv), "CSV has it")
    jsonl = [json.loads(text) for text in audit("export", "--format", "jsonl").stdout.splitlines()]
    same([(row["size_before"], row["links_left"]) for row in jsonl if row["id"] == one[7]], [(12, 0)], "jsonl has it")
    ecs = [json.loads(text) for text in audit("export", "--format", "ecs").stdout.splitlines()]
    same([(row["wary"]["size_before"], row["wary"]["links_left"]) for row in ecs if row["event"]["id"] == str(one[7])],
         [(12, 0)], "ECS has it")
    ok(all(("size_before" in row["wary"]) == (row["wary"]["size_before"] is not None if "size_before" in row["wary"] else False)
           for row in ecs), "and nothing where it is not known")
    ocsf = [json.loads(text) for text in audit("export", "--format", "ocsf").stdout.splitlines()]
    same(sum("size_before" in row["unmapped"] for row in ocsf), len(rows(where="size_before IS NOT NULL")), "OCSF has it")
    otlp = audit("export", "--format", "otlp").stdout
    has(otlp, '{"key":"wary.size_before","value":{"intValue":"12"}}', "OTLP has it")
    cef = audit("export", "--format", "cef").stdout.splitlines()
    has(next(text for text in cef if text.find(f"externalId={one[7]} ") > 0), " oldFileSize=12", "CEF has it")
    page = TMP / "page.html"
    same(audit("report", session, "-o", str(page)).returncode, 0, "report")
    has(page.read_text(), '["12","0",1]', "the page has it")
    if has_big:
        whole = 2**62 + 1
        same([row["size_before"] for row in jsonl].count(whole), 1, "a number beyond 2^53 is whole in JSON")
        has(otlp, f'"intValue":"{whole}"', "in OTLP")
        has(page.read_text(), f'"{whole}"', "and, as text, in the page")
        ok(f"oldFileSize={whole}" not in "\n".join(cef), "and left out of CEF, whose integers are short")


def check_chain():
    both_verify(DB, "the store")
    one = rows(where="syscall = 'unlink' AND object LIKE '%/three'")[0][7]
    for n, change in enumerate((f"UPDATE event SET size_before = 13 WHERE id = {one}",
                                f"UPDATE event SET links_left = 1 WHERE id = {one}",
                                f"UPDATE event SET size_before = NULL, links_left = NULL WHERE id = {one}",
                                f"UPDATE event SET links_left = NULL WHERE id = {one}",
                                f"UPDATE event SET size_before = '12' WHERE id = {one}",
                                f"UPDATE event SET size_before = -1 WHERE id = {one}",
                                f"UPDATE event SET size_before = 0, links_left = 0 WHERE id = {one + 1} AND size_before IS NULL"
                                f" OR id = {one} AND size_before = 12")):
        copy = store_copy(DB, TMP / f"copy{n}.db")
        change_store(copy, change)
        # The type that SQLite gives back an integer's column for text is an integer: nothing was changed.
        both_verify(copy, change.split(" WHERE")[0], 0 if "'12'" in change else 1)
    proof = audit("prove", str(one), "--db", str(DB)).stdout
    file = TMP / "proof.json"
    file.write_text(proof)
    said = audit("verify", "--proof", str(file))
    same(said.returncode, 0, "a proof of such a row is one")
    has(said.stdout, "12 bytes before, names left: 0", "and says what went")
    public = next((HOME / ".local/state/wary/keys").glob("machine.pub"))
    second = [sys.executable, SRC / "examples/verify.py", "--proof", file, public]
    same(subprocess.run(second, capture_output=True, timeout=WAIT_S, check=False).returncode, 0, "for the second verifier too")
    data = json.loads(proof)
    row = next(r for r in data["rows"] if r["bytes"].startswith("45"))
    for change in (row["bytes"][:-32], row["bytes"][:-2] + "01", row["bytes"] + "00"):
        file.write_text(json.dumps({**data, "rows": [r if r is not row else {**row, "bytes": change} for r in data["rows"]]}))
        same((audit("verify", "--proof", str(file)).returncode,
              subprocess.run(second, capture_output=True, timeout=WAIT_S, check=False).returncode), (1, 1), "changed it is none")


# Its outcome is in the journal alone when wary is killed.
LAST = r"""
import os, sys, time
os.chdir(sys.argv[1])
open("last", "w").write("x" * 21)
os.unlink("last")
print("done", flush=True)
time.sleep(600)
"""


def check_recovery():
    child = subprocess.Popen([WARY, "-q", "-p", policy(RULES), "--", sys.executable, "-c", LAST, WORK],
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, start_new_session=True)
    same(Lines(child.stdout).next(), "done", "it has been done")
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()
    same(wary("true").returncode, 0, "the next start recovers")
    same([r[3:5] for r in rows(where=f"syscall = 'unlink' AND object = '{WORK}/last'")], [(21, 0)], "the size too")
    both_verify(DB, "recovered")


# Names change hands all the while; each file has a size of its own.
RACERS = r"""
import contextlib, os, sys, threading
os.chdir(sys.argv[1])
over = threading.Event()

def take():
    while not over.is_set():
        with contextlib.suppress(OSError):
            os.unlink("name")

threads = [threading.Thread(target=take) for _ in range(2)]
for one in threads:
    one.start()
for n in range(1, int(sys.argv[2]) + 1):
    with open("next", "w") as f:
        f.write("x" * n)
    os.rename("next", "name")
    with contextlib.suppress(OSError):
        os.rename("name", f"kept{n}")
over.set()
for one in threads:
    one.join()
"""


def check_race():
    folder = TMP / "race"
    folder.mkdir()
    rounds = 600
    same(wary(sys.executable, "-c", RACERS, folder, rounds).returncode, 0, "names are changed while they are removed")
    kept = {path.stat().st_size for path in folder.iterdir()}
    here = rows(where=f"object LIKE '{folder}/%' AND size_before IS NOT NULL")
    gone = {r[3] for r in here if r[4] == 0}
    note(f"{len(kept)} of {rounds} files are left, {len(gone)} are said to be gone")
    same(gone & kept, set(), "none that is there is said to be gone")
    ok(gone <= set(range(rounds + 1)), "each size is one of a file that was")


big_there = check_cases()
check_readers(big_there)
check_chain()
check_recovery()
check_race()
finish()
