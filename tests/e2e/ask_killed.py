#!/usr/bin/env python3
"""The process that asks is killed while a question is shown: the answer is no,
the terminal is as it was, and the tree goes on."""
import os
import pathlib
import signal

from wary_test import TMP, WARY, Terminal, has, ok, policy, same, finish

RULES = f"default allow\nask read {TMP}/docs/**\n"
SCRIPT = """
stty -a >"$2/before"
cat "$1"; echo "status $?"
cat "$1"; echo "again $?"
stty -a >"$2/after"
read -r line; echo "read $line"
"""
(TMP / "docs").mkdir()
(TMP / "docs/a").write_text("contents\n")


def asker_of(wary_pid):
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            stat = (entry / "stat").read_text()
        except OSError:
            continue
        name, rest = stat.split("(", 1)[1].rsplit(")", 1)
        if name == "wary-ask" and int(rest.split()[1]) == wary_pid:
            return int(entry.name)
    return None


t = Terminal([WARY, "-p", policy(RULES), "--", "sh", "-c", SCRIPT, "sh", TMP / "docs/a", TMP],
             columns=100)
ok(t.until(b"[i] more") is not None, "a question is shown")
pid = asker_of(t.pid)
if ok(pid is not None, "the process that asks is there"):
    os.kill(pid, signal.SIGKILL)
rest = t.until(b"status 1")
if ok(rest is not None, "the tree goes on, with a no"):
    has(rest, b"Permission denied", "EACCES")
    has(rest, b"was killed", "which is said")
ok(t.until(b"again 1") is not None, "what needs an answer later is refused as well")
t.type("typed\n")
ok(t.until(b"read typed") is not None, "the terminal is the tree's again")
same(t.end(), 0, "exit status")
before, after = (TMP / "before").read_text(), (TMP / "after").read_text()
ok(before, "modes were noted")
same(after, before, "and are as before")
finish()
