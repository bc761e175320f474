#!/usr/bin/env python3
"""A process beside wary that has the terminal (wary … | tee log) stands still while a
question is shown: what the tree has written into its pipe before does not come over
the box. Whoever started wary does not, and it goes on afterwards, also where the process
that asks was killed."""
import os
import pathlib
import re
import signal
import time

from wary_test import TMP, WAIT_S, WARY, Terminal, finish, note, ok, policy, same

RULES = f"default allow\nask read {TMP}/docs/**\n"
(TMP / "docs").mkdir()
(TMP / "docs/a").write_text("contents\n")
# One copies its input to the terminal, with its number first; another in the same group has
# nothing to do with the terminal.
SCRIPT = """
sh -c 'echo $$ >"$1/aside"; exec sleep 600' sh "$2" </dev/null >/dev/null 2>&1 &
"$0" -q -p "$1" -- sh -c 'yes 0123456789abcdef | head -n 3000; cat "$1/docs/a"; echo "status $?"; read -r x </dev/tty;
  echo "heard $x"' sh "$2" | sh -c 'echo $$ >"$1/beside"; exec cat' sh "$2"
kill "$(cat "$2/aside")"
"""


def state(pid):
    return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]


def becomes(pid, stopped, what):
    end = time.monotonic() + WAIT_S
    while (state(pid) == "T") != stopped and time.monotonic() < end:
        time.sleep(0.02)
    same(state(pid) == "T", stopped, what)


def child(pid, name):
    for entry in pathlib.Path("/proc").iterdir():
        try:
            stat = (entry / "stat").read_text() if entry.name.isdigit() else ""
        except OSError:
            continue
        match = re.match(r"\d+ \((.*)\) \S (\d+)", stat, re.S)
        if match and match.group(1) == name and int(match.group(2)) == pid:
            return int(entry.name)
    return None


def question(how, answer):
    t = Terminal(["sh", "-c", SCRIPT, WARY, policy(RULES), TMP], columns=100)
    if not ok(t.until(b"[i] more") is not None, f"{how}: a question is shown"):
        note(t.seen[-500:])
        return
    beside, aside = (int((TMP / name).read_text()) for name in ("beside", "aside"))
    becomes(beside, True, f"{how}: who has the terminal stands still")
    ok(state(aside) != "T", f"{how}: who has not goes on")
    ok(state(t.pid) != "T", f"{how}: so does the shell")
    answer(t)
    ok(t.until(b"status 1") is not None, f"{how}: what the tree wrote before comes after the answer, a no")
    becomes(beside, False, f"{how}: it goes on")
    t.type("typed\n")
    ok(t.until(b"heard typed") is not None, f"{how}: so does the tree")
    same(t.end(), 0, f"{how}: exit status")


question("answered", lambda t: t.type("n"))
question("killed", lambda t: os.kill(child(child(t.pid, "wary"), "wary-ask"), signal.SIGKILL))
finish()
