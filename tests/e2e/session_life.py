#!/usr/bin/env python3
"""The life of a session on record: created, paused, resumed, ended, cleaned up, recovered, each
with its reason code (docs/AUDIT.md, "Session life")."""
import contextlib
import os
import re
import signal
import sqlite3
import subprocess
import time

from wary_test import DB, TMP, WAIT_S, WARY, Terminal, audit, finish, has, has_not, note, ok, policy, same, wary

CODE = re.compile(rb"type  (\w{4})  ")
MENU = b"[i] more"


def life(name=None):
    """Of the last session, or the one of that name: (object, reason, object2) in order."""
    with contextlib.closing(sqlite3.connect(f"file:{DB}?mode=ro", uri=True, timeout=WAIT_S)) as db:
        which = name or db.execute("SELECT name FROM session ORDER BY id DESC LIMIT 1").fetchone()[0]
        return db.execute("SELECT object, reason, coalesce(object2, '') FROM events WHERE session = ? AND kind = 'session'"
                          " ORDER BY id", (which,)).fetchall()


def on_record(sql):
    """Waits until a query has a row: a running session commits as it goes."""
    end = time.monotonic() + WAIT_S
    while time.monotonic() < end:
        with contextlib.suppress(sqlite3.Error), \
                contextlib.closing(sqlite3.connect(f"file:{DB}?mode=ro", uri=True, timeout=WAIT_S)) as db:
            row = db.execute(sql).fetchone()
            if row:
                return row[0]
        time.sleep(0.05)
    return None


def plain():
    same(wary("true").returncode, 0, "a session")
    same(life(), [("created", 1, ""), ("ended", 20, "exited"), ("cleaned up", 30, "")],
         "created, ended by itself, nothing left")
    wary("true", options=("--learn",))
    same(life()[0], ("created", 2, ""), "one that learns says so")
    wary("sh", "-c", "kill -TERM $$")
    same(life()[1], ("ended", 21, "signalled"), "one whose command was killed")
    with contextlib.closing(sqlite3.connect(f"file:{DB}?mode=ro", uri=True)) as db:
        same(db.execute("SELECT min(seq) FROM events WHERE kind = 'decision' AND session IN (SELECT session FROM"
                        " events WHERE object = 'created')").fetchone()[0] > 1, True, "created comes first")
    text = audit("show", "last").stdout if audit("show", "last").returncode == 0 else ""
    has(audit("log", "--all", "--last", "3").stdout + text, "cleaned up", "log --all has them")
    has_not(audit("log").stdout, "cleaned up", "log, which is of decisions, has not")


# The command ends, and leaves one that waits for its pipe.
LEAVES = "exec 3<&0; cat <&3 >/dev/null & exit 0"


def left_behind():
    file = policy("")
    one = subprocess.Popen([WARY, "-p", str(file), "--", "sh", "-c", LEAVES], stdin=subprocess.PIPE,
                           stderr=subprocess.PIPE)
    name = on_record("SELECT session FROM events WHERE kind = 'process' AND object2 = 'exited' AND session ="
                     " (SELECT name FROM session ORDER BY id DESC LIMIT 1) AND session NOT IN"
                     " (SELECT session FROM sessions WHERE open = 0)")
    ok(name is not None, "the command has ended, the session has not")
    one.communicate(timeout=WAIT_S * 4)
    same(one.returncode, 0, "what it left ends")
    same(life(name)[1:], [("ended", 20, "exited"), ("cleaned up", 31, "1 process left")], "by itself")
    one = subprocess.Popen([WARY, "-p", str(file), "--end", "--", "sh", "-c", LEAVES], stdin=subprocess.PIPE)
    same(one.wait(WAIT_S * 4), 0, "with --end nothing is waited for")
    one.stdin.close()
    ended = life()[-1]
    same(ended[:2], ("cleaned up", 32), "wary ended what was left")
    ok(ended[2] in ("1 process left, ended by --end", "ended by --end"), f"which is said: {ended[2]}")
    wary("true", options=("--end",))
    same(life()[-1], ("cleaned up", 30, ""), "--end with nothing to end")


def stopped():
    """A stop of the command, and wary's with it."""
    one = subprocess.Popen([WARY, "-p", str(policy("")), "--", "sh", "-c", "echo $$; kill -STOP $$; exit 5"],
                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    tree = int(one.stdout.readline())
    end = time.monotonic() + WAIT_S
    status = 0
    while time.monotonic() < end and not status:
        _, status = os.waitpid(one.pid, os.WUNTRACED | os.WNOHANG)
        time.sleep(0.02)
    ok(status and os.WIFSTOPPED(status), "wary stops")
    # Its command stands still by itself: a shell would continue both.
    os.kill(one.pid, signal.SIGCONT)
    os.kill(tree, signal.SIGCONT)
    same(one.wait(WAIT_S * 4), 5, "and goes on")
    one.stdout.close()
    same([row for row in life() if row[0] in ("paused", "resumed")],
         [("paused", 11, "SIGSTOP"), ("resumed", 11, "SIGSTOP")], "both are on record")


def asked():
    (TMP / "docs").mkdir()
    (TMP / "docs/a").write_text("contents\n")
    file = policy(f"default allow\nask read {TMP}/docs/**\n")
    t = Terminal([WARY, "-p", file, "--", "cat", TMP / "docs/a"], columns=100)
    ok(t.until(MENU) is not None, "a question is shown")
    t.type("y")
    code = t.until(CODE)
    t.type(code.group(1) if code else b"\x03")
    ok(t.until(b"contents") is not None, "answered")
    same(t.end(), 0, "to its end")
    same(life(), [("created", 1, ""), ("paused", 10, ""), ("resumed", 10, ""), ("ended", 20, "exited"),
                  ("cleaned up", 30, "")], "the tree stood still for it")
    name = on_record("SELECT name FROM session ORDER BY id DESC LIMIT 1")
    has(audit("show", name).stdout, "paused     once, for ", "show says for how long")
    t = Terminal([WARY, "-p", file, "--", "cat", TMP / "docs/a"], columns=100)
    ok(t.until(MENU) is not None, "another")
    t.type("k")
    t.end()
    same(life(), [("created", 1, ""), ("paused", 10, ""), ("resumed", 10, ""), ("ended", 22, "stopped"),
                  ("cleaned up", 32, "ended by an answer")], "a person has ended all of it")


def killed():
    one = subprocess.Popen([WARY, "-p", str(policy("")), "--", "cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    one.stdin.write(b"x\n")
    one.stdin.flush()
    one.stdout.readline()
    one.kill()
    one.wait(WAIT_S)
    one.stdin.close()
    one.stdout.close()
    same(wary("true").returncode, 0, "wary was killed; the next one starts")
    name = on_record("SELECT session FROM sessions WHERE reason = 'recovered'")
    same([row[:2] for row in life(name)], [("created", 1), ("recovered", 40)], "and says what became of it")
    status = audit("verify")
    if not same(status.returncode, 0, "the record verifies"):
        note(status.stdout)


plain()
left_behind()
stopped()
asked()
killed()
finish()
