#!/usr/bin/env python3
"""`wary audit follow`: each row comes to the receiver at least once and in order, whatever is killed and
started again in between."""
import http.server
import json
import os
import re
import select
import signal
import socket
import subprocess
import sys
import threading
import time

from wary_test import BUILD, HOME, TMP, WAIT_S, WARY, Lines, audit, changed_copy, finish, has, has_not, note, ok, same

EVENTS = 700


def session(db, events=EVENTS, seed=1):
    done = subprocess.run([BUILD / "tests/lib/audit_session", db, str(events), str(seed)], check=True,
                          capture_output=True, text=True)
    return done.stdout.strip()


def rows_of(db, *words):
    done = audit("export", "--db", str(db), "--format", "jsonl", *words)
    return [json.loads(line) for line in done.stdout.splitlines()]


def once_each(ids):
    """The ids without those that came again."""
    return list(dict.fromkeys(ids))


def same_ids(got, want, text):
    """That each came, in order; shows no more than where they part."""
    at = next((n for n, (a, b) in enumerate(zip(got, want)) if a != b), min(len(got), len(want)))
    same((len(got), got[at:at + 3]), (len(want), want[at:at + 3]), text)


class Follow:
    """A running `wary audit follow`."""

    def __init__(self, db, *words):
        self.child = subprocess.Popen([WARY, "audit", "follow", "--db", str(db), *map(str, words)],
                                      stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.said = Lines(self.child.stderr)
        self.lines = []

    def until(self, part):
        """Waits until it says something."""
        while True:
            line = self.said.next()
            if line is None:
                return False
            self.lines.append(line)
            if part in line:
                return True

    def kill(self, how=signal.SIGKILL):
        self.child.send_signal(how)
        return self.end()

    def end(self):
        status = self.child.wait(WAIT_S)
        while (line := self.said.next()) is not None:
            self.lines.append(line)
        self.child.stderr.close()
        return status


def until(true):
    end = time.monotonic() + WAIT_S
    while not true():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


# ---- command -----------------------------------------------------------------------------------------------

RECEIVER = """
import os, signal, sys
out, flag = sys.argv[1:]
with open(out, "a", encoding="utf8") as file:
    for n, line in enumerate(sys.stdin):
        file.write(line)
        file.flush()
        if n == 3 and os.path.exists(flag):
            os.remove(flag)
            os.kill(os.getpid(), signal.SIGKILL)
"""


def received(out):
    try:
        return [json.loads(line) for line in out.read_text().splitlines() if line.endswith("}")]
    except OSError:
        return []


def test_command():
    db, out, flag, state = TMP / "c.db", TMP / "c.out", TMP / "c.flag", TMP / "c.state"
    words = ("--to", "command", "--state", state, "--", sys.executable, "-c", RECEIVER, out, flag)
    session(db)
    flag.touch()
    f = Follow(db, *words)
    ok(f.until("they wait"), "a command that is killed while it reads: that is said")
    ok(until(lambda: len(once_each(r["id"] for r in received(out))) == EVENTS), "all came in the end")
    session(db, seed=2)
    ok(until(lambda: len(once_each(r["id"] for r in received(out))) == 2 * EVENTS), "and those of the next session")
    same(f.kill(), -signal.SIGKILL, "the follower is killed")
    before = len(received(out))
    session(db, seed=3)
    f = Follow(db, *words)
    ok(until(lambda: len(once_each(r["id"] for r in received(out))) == 3 * EVENTS), "the next one goes on")
    same(f.kill(signal.SIGTERM), 0, "SIGTERM ends it")
    got = received(out)
    ids = [r["id"] for r in got]
    same_ids(once_each(ids), [r["id"] for r in rows_of(db)], "nothing is lost, the order is kept")
    ok(len(got) > len(set(ids)), "what a killed command had came again")
    ok(ids[before] > EVENTS, "but not what was taken long before")
    same(got[-1], rows_of(db)[-1], "a row is as `export --format jsonl` has it")
    same(sorted(p.name for p in TMP.glob("c.state*")), ["c.state", "c.state.lock"], "no temporary file is left")
    done = audit("follow", "--db", str(db), "--to", "command", "--once", "--", "/nonexistent/x")
    same(done.returncode, 1, "a command that there is not")
    has(done.stderr, "No such file", "is told")
    done = audit("follow", "--db", str(db), "--to", "command", "--once", "--", "false")
    same(done.returncode, 1, "one that says no, once")
    same(audit("follow", "--db", str(db), "--to", "command", "--once", "--", "sh", "-c", "read x").returncode, 0,
         "one that says yes need not read all")


def test_stubborn():
    """A run that does not end when it is asked to; a state that cannot be written."""
    db, flag, state = TMP / "c.db", TMP / "stubborn.flag", TMP / "s.state"
    code = ("import signal, sys, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
            " open(sys.argv[1], 'w').close(); time.sleep(100000)")
    f = Follow(db, "--to", "command", "--state", state, "--", sys.executable, "-c", code, flag)
    ok(until(flag.exists), "a run that ignores SIGTERM")
    same(f.kill(signal.SIGTERM), 0, "does not keep the follower from ending")
    ok(not state.exists(), "and its rows do not count as taken")
    (TMP / "s.state.new").mkdir()
    done = audit("follow", "--db", str(db), "--to", "command", "--once", "--state", str(state), "--", "cat")
    same(done.returncode, 2, "a state that cannot be written")
    has(done.stderr, "s.state: Is a directory", "is told, with the reason")


def test_choice():
    """--session, --since, --where, and the states they have."""
    db, out = TMP / "c.db", TMP / "choice.out"
    name = rows_of(db)[-1]["session"]
    put = ("--", "sh", "-c", f"cat >>{out}")
    common = ("follow", "--db", str(db), "--to", "command")
    same(audit(*common, "--session", name, *put).returncode, 0, "of a session that has ended: it ends")
    same({r["session"] for r in received(out)}, {name}, "only its rows")
    same(len(received(out)), EVENTS, "all of them")
    same(audit(*common, "--session", name, *put).returncode, 0, "again")
    same(len(received(out)), EVENTS, "nothing new, nothing sent: the state is kept")
    ok(any((HOME / ".local/state/wary/follow").iterdir()), "in the state folder")
    out.unlink()
    same(audit(*common, "--once", "--where", "class=exec", *put).returncode, 0, "an expression")
    same([r["id"] for r in received(out)], [r["id"] for r in rows_of(db) if r["class"] == "exec"], "only what fits")
    out.unlink()
    same(audit(*common, "--once", "--since", "1d", *put).returncode, 0, "a time")
    same(len(received(out)), 3 * EVENTS, "what came since")
    same(audit(*common, "--once", "--state", "/nonexistent/state", *put).returncode, 2, "a state that cannot be kept")
    other = TMP / "other.db"
    session(other, 5)
    done = audit("follow", "--db", str(other), "--to", "command", "--once", "--state", str(TMP / "c.state"), *put)
    same(done.returncode, 2, "a state of another record")
    has(done.stderr, "another record", "is not gone on from")
    (TMP / "bad.state").write_text("wary-follow-1 x")
    done = audit(*common, "--once", "--state", str(TMP / "bad.state"), *put)
    same(done.returncode, 2, "what is no state")
    has(done.stderr, "not a state", "is not taken for one")
    f = Follow(db, "--to", "command", "--state", TMP / "held.state", "--", "sh", "-c", f"cat >>{TMP}/held.out")
    ok(until((TMP / "held.state").exists), "a follower at work")
    done = audit(*common, "--state", str(TMP / "held.state"), *put)
    same(done.returncode, 2, "a second with its state")
    has(done.stderr, "another one", "is refused")
    same(f.kill(signal.SIGINT), 0, "SIGINT ends it")


# ---- datagrams ---------------------------------------------------------------------------------------------

class Socket:
    """A receiver of datagrams that can be stopped and started."""

    def __init__(self, path):
        self.path, self.got, self.socket = path, [], None

    def start(self):
        if self.path.exists():
            self.path.unlink()
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(str(self.path))

    def stop(self):
        """Without reading what is waiting: it is lost with the socket."""
        self.socket.close()

    def read(self, rows):
        """So many datagrams, empty ones not counted; fewer where no more come."""
        got = []
        while len(got) < rows and select.select([self.socket], [], [], WAIT_S)[0]:
            data = self.socket.recv(1 << 20)
            if data:
                got.append(data)
        self.got += got
        return got


def syslog_row(data):
    match = re.fullmatch(rb"<(\d+)>1 (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z) ([!-~]{1,255}) wary ([0-9a-f]+)"
                         rb" ([!-~]{1,32}) - (\{.*\})", data, re.S)
    if not match or match[1] not in (b"86", b"84", b"83"):
        note(f"not a message of RFC 5424: {data[:200]!r}")
        return {"id": 0}
    return json.loads(match[6])


def journal_row(data):
    fields = dict(line.split(b"=", 1) for line in data.split(b"\n")[:-1])
    good = {b"MESSAGE", b"PRIORITY", b"SYSLOG_IDENTIFIER"} <= set(fields)
    good = good and all(re.fullmatch(rb"[A-Z][A-Z0-9_]{0,63}", name) for name in fields)
    if not good:
        note(f"not an entry of the journal: {data[:200]!r}")
        return {"id": 0}
    return {"id": int(fields[b"WARY_ID"]), "object": fields.get(b"WARY_OBJECT", b"").decode()}


def test_datagrams(kind, row_of):
    db, state = TMP / f"{kind}.db", TMP / f"{kind}.state"
    receiver = Socket(TMP / f"{kind}.sock")
    words = ("--to", kind, "--at", receiver.path, "--state", state)
    session(db)
    done = audit("follow", "--db", str(db), *map(str, words), "--once")
    same((done.returncode, state.exists()), (1, False), f"{kind}: nobody is there")
    receiver.start()
    f = Follow(db, *words)
    receiver.read(300)
    receiver.stop()
    ok(f.until("they wait"), f"{kind}: the receiver goes, with rows unread")
    receiver.start()
    receiver.read(100)
    same(f.kill(), -signal.SIGKILL, f"{kind}: the follower is killed")
    receiver.stop()
    receiver.start()
    f = Follow(db, *words)
    while EVENTS not in {row_of(data)["id"] for data in receiver.got[-1:]}:
        if not receiver.read(1):
            break
    session(db, seed=2)
    receiver.read(EVENTS)
    same(f.kill(signal.SIGTERM), 0, f"{kind}: SIGTERM ends it")
    receiver.stop()
    rows = [row_of(data) for data in receiver.got]
    want = rows_of(db)
    same_ids(once_each(r["id"] for r in rows), [r["id"] for r in want], f"{kind}: nothing is lost, the order is kept")
    same([r["object"] for r in rows[-EVENTS:]], [r["object"] for r in want[-EVENTS:]], f"{kind}: with what was done")
    plain = TMP / "plain"
    plain.write_text("")
    done = audit("follow", "--db", str(db), "--to", kind, "--at", str(plain), "--once")
    same(done.returncode, 1, f"{kind}: what is no socket")


def test_long(kind, row_of):
    """Texts that are longer than a datagram may be."""
    db = TMP / "long.db"
    if not db.exists():
        session(db, 3)
        made = sqlite_copy(db)
        made.replace(db)
    receiver = Socket(TMP / f"{kind}.long")
    receiver.start()
    f = Follow(db, "--to", kind, "--at", receiver.path, "--state", TMP / f"{kind}.longstate", "--once")
    got = receiver.read(3)
    same(f.end(), 0, f"{kind}: long texts")
    same([row_of(data)["id"] for data in got], [1, 2, 3], f"{kind}: come too")
    ok(all(b"cut" in data.lower() for data in got), f"{kind}: and say that they are cut")
    receiver.stop()


def sqlite_copy(db):
    path = TMP / "long-made.db"
    with changed_copy(db, path) as made:
        first = made.execute("SELECT max(id) + 1 FROM string").fetchone()[0]
        made.execute("INSERT INTO string VALUES (?, 0, ?, 0)", (first, b"\xff\n" * 200000))
        detail = made.execute("SELECT max(id) + 1 FROM detail").fetchone()[0]
        made.execute("INSERT INTO detail VALUES (?, ?, ?, ?, ?, NULL, 0, 0)", (detail, first, first, first, first))
        made.execute("UPDATE event SET object = ?, detail = ?", (first, detail))
        made.execute("UPDATE act SET rule_text = ?, rule_file = ?", (first, first))
        made.execute("UPDATE actor SET program = ?", (first,))
    return path


# ---- otlp-http ---------------------------------------------------------------------------------------------

class Collector(http.server.BaseHTTPRequestHandler):
    """Takes OTLP; `plan` says what the next answers are."""
    protocol_version = "HTTP/1.1"
    plan = []
    got = []
    bad = []
    left = []
    lock = threading.Lock()

    def do_POST(self):  # noqa: N802, pylint: disable=invalid-name
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with self.lock:
            what = self.plan.pop(0) if self.plan else 200
            if self.path != "/v1/logs" or self.headers["Content-Type"] != "application/json":
                self.bad.append((self.path, self.headers["Content-Type"]))
            if what in (200, "chunked", "interim", "open"):
                self.got.append(json.loads(body))
        if what == "nothing":
            self.close_connection = True
        elif what == "interim":
            self.wfile.write(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\nContent-Length: 9\r\n\r\n")
            self.wfile.flush()
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
        elif what == "open":
            self.wfile.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;x=y\r\n{}\r\n0\r\nTrailer: z\r\n\r\n")
            self.wfile.flush()
            # The connection stays: only the last chunk says that this is all.
            self.left.append(self.rfile.read(1))
            self.close_connection = True
        elif what == "chunked":
            self.send_response(200)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            text = b'{"partialSuccess":{"rejectedLogRecords":"2","errorMessage":"too\\u001b[31m old"}}'
            self.wfile.write(b"%x\r\n%s\r\n%x\r\n%s\r\n0\r\n\r\n" % (7, text[:7], len(text) - 7, text[7:]))
        else:
            text = b"{}"
            self.send_response(what)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

    def log_message(self, *_):
        pass


def otlp_ids(bodies):
    return [int(next(a["value"]["intValue"] for a in record["attributes"] if a["key"] == "wary.id"))
            for body in bodies for resource in body["resourceLogs"] for scope in resource["scopeLogs"]
            for record in scope["logRecords"]]


class Server:
    def __init__(self, port=0):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Collector)
        self.port = self.server.server_address[1]
        self.thread = threading.Thread(target=self.server.serve_forever)
        self.thread.start()

    def stop(self):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


def test_http():
    db, state = TMP / "h.db", TMP / "h.state"
    session(db)
    server = Server()
    url = f"http://127.0.0.1:{server.port}/v1/logs"
    Collector.plan[:] = [200, 503, "nothing", 429, "chunked"]
    f = Follow(db, "--to", "otlp-http", "--at", url, "--state", state)
    ok(until(lambda: len(set(otlp_ids(Collector.got))) == EVENTS), "otlp-http: all came, past what was not taken")
    server.stop()
    session(db, seed=2)
    ok(f.until("they wait") and f.until("they wait"), "otlp-http: the collector is stopped")
    server = Server(server.port)
    ok(until(lambda: len(set(otlp_ids(Collector.got))) == 2 * EVENTS), "otlp-http: and started: all came")
    same(f.kill(signal.SIGTERM), 0, "otlp-http: SIGTERM ends it")
    same_ids(once_each(otlp_ids(Collector.got)), [r["id"] for r in rows_of(db)], "otlp-http: in order")
    same(Collector.bad, [], "otlp-http: to the path, with the type of OTLP")
    rejected = [line for line in f.lines if "did not want" in line]
    same(len(rejected), 1, "otlp-http: what a collector rejects is told")
    ok(all(c.isprintable() for line in rejected for c in line), "otlp-http: in print")
    ok(all(len({next(a["value"]["stringValue"] for a in record["attributes"] if a["key"] == "wary.session")
                for record in scope["logRecords"]}) == 1
           for body in Collector.got for resource in body["resourceLogs"] for scope in resource["scopeLogs"]),
       "otlp-http: a request is of one session")
    # Both are stopped: the one at any time, the other with what it had been sent and not yet answered.
    session(db, seed=3)
    Collector.plan[:] = [200, "nothing"]
    f = Follow(db, "--to", "otlp-http", "--at", url, "--state", state)
    ok(until(lambda: not Collector.plan), "otlp-http: a follower that goes on, past a collector that dies")
    server.stop()
    same(f.kill(), -signal.SIGKILL, "otlp-http: and is killed")
    session(db, seed=4)
    server = Server(server.port)
    Collector.plan[:] = [503]
    f = Follow(db, "--to", "otlp-http", "--at", url, "--state", state)
    ok(until(lambda: len(set(otlp_ids(Collector.got))) == 4 * EVENTS), "otlp-http: what comes after both is all there")
    same(f.kill(signal.SIGTERM), 0, "otlp-http: SIGTERM ends that too")
    same_ids(once_each(otlp_ids(Collector.got)), [r["id"] for r in rows_of(db)], "otlp-http: nothing lost, in order")
    Collector.plan[:] = ["interim", "open", "interim"]
    Collector.got.clear()
    words = ("--to", "otlp-http", "--at", url, "--once", "--state", str(TMP / "h3.state"))
    same(audit("follow", "--db", str(db), *words).returncode, 0, "otlp-http: answers of 1xx, and one in chunks")
    same(otlp_ids(Collector.got), [r["id"] for r in rows_of(db)], "otlp-http: are understood: nothing came twice")
    ok(until(lambda: Collector.left == [b""]), "otlp-http: who has all of an answer does not wait for its end")
    Collector.plan[:] = [400]
    done = audit("follow", "--db", str(db), "--to", "otlp-http", "--at", url, "--state", str(TMP / "h2.state"))
    same(done.returncode, 1, "otlp-http: a request that is refused for good")
    has(done.stderr, "status 400", "otlp-http: ends it, with the status")
    ok(not (TMP / "h2.state").exists(), "otlp-http: and nothing counts as taken")
    server.stop()


def test_words():
    for words, says in (((), "usage"), (("--to", "mail"), "one of syslog"), (("--to", "command"), "after --"),
                        (("--to", "otlp-http"), "usage"), (("--to", "otlp-http", "--at", "https://h/"), "TLS"),
                        (("--to", "otlp-http", "--at", "ftp://h/"), "http://HOST"),
                        (("--to", "otlp-http", "--at", "http://h:99999/"), "no port"),
                        (("--to", "otlp-http", "--at", "http://u@h/"), "no host"),
                        (("--to", "syslog", "--at", "x" * 200), "path of a socket"),
                        (("--to", "command", "--where", "pid=", "--", "cat"), "column"),
                        (("--to", "command", "--since", "never", "--", "cat"), "never")):
        done = audit("follow", *words)
        same((done.returncode, done.stdout), (2, ""), f"{' '.join(words)[:60]} is refused")
        has(done.stderr, says, "with what is wrong")
    help_text = audit("follow", "--help").stdout
    has(help_text, "--once", "help")
    has_not(help_text, "None", "help is whole")


test_command()
test_stubborn()
test_choice()
test_datagrams("syslog", syslog_row)
test_datagrams("journald", journal_row)
test_long("syslog", syslog_row)
test_long("journald", journal_row)
test_http()
test_words()
finish()
