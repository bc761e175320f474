#!/usr/bin/env python3
"""Wary is killed while a question is shown, alone or with the process that asks: the
tree is ended, and the terminal is as it was, and whose it was; or the shell's, where
that has taken it."""
import os
import pathlib
import re
import signal
import time

from wary_test import TMP, WAIT_S, WARY, Terminal, finish, has, note, ok, policy, same

RULES = f"default allow\nask read {TMP}/docs/**\n"
(TMP / "docs").mkdir()
(TMP / "docs/a").write_text("contents\n")
# The shell goes on when the test has seen wary's processes end.
SCRIPT = """
%(modes)s
stty -a >"$2/before"
"$0" -q -p "$3" -- sh -c 'echo $$ >"$2/tree"; cat "$1/docs/a"; echo undead' sh "$2" "$2"
echo "status $?"
until [ -e "$2/go" ]; do sleep 0.1; done
stty -a >"$2/after"
stty sane
echo "settled"
read -r line; echo "read $line"
"""


def children(pid, names):
    """The processes below it with these names: name -> pid."""
    found = {}
    for entry in pathlib.Path("/proc").iterdir():
        try:
            stat = (entry / "stat").read_text() if entry.name.isdigit() else ""
        except OSError:
            continue
        match = re.match(r"(\d+) \((.*)\) \S (\d+)", stat, re.S)
        if match and int(match.group(3)) == pid and match.group(2) in names:
            found[match.group(2)] = int(match.group(1))
    return found


def is_over(pid):
    try:
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return True
    return stat.rsplit(")", 1)[1].split()[0] in "ZX"


def ends(pid, what):
    end = time.monotonic() + WAIT_S
    while not is_over(pid) and time.monotonic() < end:
        time.sleep(0.02)
    ok(is_over(pid), f"{what} ends")


def kill_all(order):
    for pid, sig in order:
        os.kill(pid, sig)
        # A stop takes effect a moment later; then nothing of it can come between.
        end = time.monotonic() + WAIT_S
        while sig == signal.SIGSTOP and time.monotonic() < end and \
                pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "T":
            time.sleep(0.01)


def scenario(name, order, shell=("sh",), modes="", sees=None):
    for old in ("before", "after", "go", "tree"):
        (TMP / old).unlink(missing_ok=True)
    t = Terminal([*shell, "-c", SCRIPT % {"modes": modes}, WARY, "x", TMP, policy(RULES)], columns=100)
    if not ok(t.until(b"[i] more") is not None, f"{name}: a question is shown"):
        note(t.seen)
        return
    wary = children(t.pid, {"wary"})["wary"]
    parts = children(wary, {"wary-ask", "wary-guardian"})
    tree = int((TMP / "tree").read_text())
    parts["wary"] = wary
    kill_all([(parts[who], sig) for who, sig in order])
    for who in ("wary-ask", "wary-guardian"):
        ends(parts[who], f"{name}: {who}")
    ends(tree, f"{name}: the tree")
    (TMP / "go").touch()
    said = t.until(b"settled")
    if ok(said is not None, f"{name}: the shell goes on"):
        has(said, b"status 137", f"{name}: wary was killed")
        ok(b"undead" not in said and b"contents" not in said, f"{name}: nothing was allowed")
        if sees:
            has(said, sees, f"{name}: the screen is the first one again")
    t.type("typed\n")
    ok(t.until(b"read typed") is not None, f"{name}: the terminal is the shell's")
    same(t.end(), 0, f"{name}: exit status")
    before, after = (TMP / "before").read_text(), (TMP / "after").read_text()
    ok("speed" in before, f"{name}: modes were noted")
    same(after, before, f"{name}: and are as before")


STOP, KILL = signal.SIGSTOP, signal.SIGKILL
BOTH = [("wary", STOP), ("wary-ask", KILL), ("wary", KILL)]
FIRST = [("wary-ask", STOP), ("wary", KILL), ("wary-ask", KILL)]
scenario("wary alone", [("wary", KILL)])
scenario("both", BOTH)
scenario("wary first", FIRST)
scenario("wary alone, job control", [("wary", KILL)], ("sh", "-m"))
# A shell with job control would see that wary is stopped.
scenario("both, job control", FIRST, ("sh", "-m"))
scenario("both, other modes", BOTH, modes="stty -icanon -echo -isig min 1", sees=b"\033[?1049l")
scenario("wary alone, other modes", [("wary", KILL)], modes="stty -icanon -echo min 1", sees=b"\033[?1049l")
finish()
