"""For Python tests: checks (TAP), running wary natively and supervised, and
terminals. A test ends in `finish()`."""
import contextlib
import errno
import fcntl
import os
import pathlib
import pty
import select
import signal
import sqlite3
import struct
import subprocess
import sys
import termios
import time

WARY = os.environ["WARY"]
SRC = pathlib.Path(os.environ["SRC"])
BUILD = pathlib.Path(os.environ["BUILD"])
CC = os.environ.get("CC", "cc")
TMP = pathlib.Path(os.environ["TMPDIR"])
HOME = pathlib.Path(os.environ["HOME"])
DB = TMP / "state/wary.db"
os.environ["WARY_DB"] = str(DB)
# Generous: a machine may be twenty times slower than the one this was made on.
WAIT_S = 60

_made = 0
_failed = 0


def ok(passed, text):
    """One check."""
    global _made, _failed
    _made += 1
    if not passed:
        _failed += 1
    print(f"{'ok' if passed else 'not ok'} {_made} - {text}", flush=True)
    return bool(passed)


def same(got, want, text):
    """That two values are equal; shows both when they are not."""
    if not ok(got == want, text):
        print(f"#   got  {got!r}\n#   want {want!r}", flush=True)
    return got == want


def has(text, part, what):
    """That a text has a part (both str or both bytes)."""
    if not ok(part in text, what):
        print(f"#   {part!r} is not in {text!r}", flush=True)


def has_not(text, part, what):
    if not ok(part not in text, what):
        print(f"#   {part!r} is in {text!r}", flush=True)


def note(text):
    for line in str(text).split("\n"):
        print("# " + line, flush=True)


def skip(why):
    """Ends the test as one that cannot be made here."""
    print(why, flush=True)
    sys.exit(77)


def finish():
    print(f"1..{_made}", flush=True)
    sys.exit(1 if _failed or not _made else 0)


def policy(text="", name="test.wary"):
    """Writes a policy and returns its path. Without text: everything allowed
    but the floor."""
    path = TMP / name
    path.write_text("wary 1\n" + (text or "default allow\n"))
    return path


def wary(*argv, rules=None, options=(), timeout=WAIT_S * 4, **more):
    """Runs wary over a command; text of stdout and stderr are captured.
    rules: a policy's text (policy()), or None for the permissive one."""
    file = policy(rules or "")
    more.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.run([WARY, "-p", str(file), *options, "--", *map(str, argv)],
                          capture_output=True, text=True, errors="surrogateescape",
                          timeout=timeout, check=False, **more)


def native(*argv, timeout=WAIT_S * 4, **more):
    """The same command without wary."""
    more.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.run(list(map(str, argv)), capture_output=True, text=True,
                          errors="surrogateescape", timeout=timeout, check=False, **more)


def audit(*argv, timeout=WAIT_S):
    """`wary audit …` on the scratch store."""
    return subprocess.run([WARY, "audit", *argv], capture_output=True, text=True,
                          timeout=timeout, check=False, stdin=subprocess.DEVNULL)


def caller(name):
    """Path of a built caller program: "e2e/open" or "lib/hello"."""
    return BUILD / "tests" / name


class Lines:
    """Lines of a pipe, taken one by one without losing what is buffered."""

    def __init__(self, pipe):
        self.fd, self.rest, self.ended = pipe.fileno(), b"", False

    def next(self, timeout=WAIT_S):
        """The next line as text, or None: none came, or the pipe ended."""
        end = time.monotonic() + timeout
        while b"\n" not in self.rest:
            left = end - time.monotonic()
            if self.ended or left < 0 or not select.select([self.fd], [], [], left)[0]:
                return None
            data = os.read(self.fd, 65536)
            self.ended = not data
            self.rest += data
        line, self.rest = self.rest.split(b"\n", 1)
        return line.decode(errors="surrogateescape")


class Terminal:
    """A command on a terminal of its own (session leader)."""

    def __init__(self, argv, env=None, rows=24, columns=80, cwd=None):
        self.seen = b""
        self.status = None
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            try:
                fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
                if cwd:
                    os.chdir(cwd)
                os.execvpe(argv[0], [str(a) for a in argv], env or os.environ)
            except OSError as error:
                os.write(2, f"exec: {error}\n".encode())
            os._exit(127)

    def type(self, data):
        os.write(self.fd, data if isinstance(data, bytes) else data.encode())

    def resize(self, rows, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def _read(self, timeout):
        ready, _, _ = select.select([self.fd], [], [], timeout)
        if not ready:
            return True
        try:
            data = os.read(self.fd, 65536)
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            return False
        self.seen += data
        return bool(data)

    def until(self, pattern, timeout=WAIT_S):
        """Reads until the bytes (or compiled pattern) appear in what has not
        been taken yet. Returns what was read up to and with them (a match
        object for a pattern), or None."""
        end = time.monotonic() + timeout
        open_ = True
        while True:
            if isinstance(pattern, bytes):
                at = self.seen.find(pattern)
                if at >= 0:
                    taken = self.seen[:at + len(pattern)]
                    self.seen = self.seen[len(taken):]
                    return taken
            else:
                match = pattern.search(self.seen)
                if match:
                    self.seen = self.seen[match.end():]
                    return match
            if not open_ or time.monotonic() > end:
                return None
            open_ = self._read(0.2)

    def end(self, timeout=WAIT_S):
        """Reads to the end and waits. Returns the wait status, None at the
        timeout (the command is then killed)."""
        stop = time.monotonic() + timeout
        while self._read(0.2) and time.monotonic() < stop:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.status = status
                while self._read(0):
                    if not select.select([self.fd], [], [], 0)[0]:
                        break
                break
        while self.status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.status = status
            elif time.monotonic() > stop:
                os.kill(self.pid, signal.SIGKILL)
                os.waitpid(self.pid, 0)
                break
            else:
                time.sleep(0.02)
        os.close(self.fd)
        return self.status


@contextlib.contextmanager
def changed_copy(store, path):
    """A copy of a store, open for changes that no trigger refuses."""
    with contextlib.closing(sqlite3.connect(store)) as a, contextlib.closing(sqlite3.connect(path)) as b:
        a.backup(b)
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        _drop_triggers(db)
        yield db


def _drop_triggers(db):
    """Returns what makes them again."""
    triggers = db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
    for name, _ in triggers:
        db.execute(f"DROP TRIGGER {name}")
    return [sql for _, sql in triggers]


def store_copy(store, path):
    """A whole copy in one file, the log's rows in it; the store itself stays as it is."""
    for old in path.parent.glob(f"{path.name}*"):
        old.unlink()
    with contextlib.closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as a, \
            contextlib.closing(sqlite3.connect(path)) as b:
        a.backup(b)
        b.execute("PRAGMA journal_mode = DELETE")
    return path


@contextlib.contextmanager
def opened_store(path, keep_triggers=False):
    """For changes that no trigger refuses; the triggers are there again afterwards."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA synchronous = OFF")
        triggers = [] if keep_triggers else _drop_triggers(db)
        yield db
        for sql in triggers:
            db.execute(sql)


def change_store(path, *statements, keep_triggers=False):
    """Runs statements, each as SQL or as (SQL, values), with the triggers out of the way."""
    with opened_store(path, keep_triggers) as db:
        for statement in statements:
            db.execute(*(statement if isinstance(statement, tuple) else (statement,)))
