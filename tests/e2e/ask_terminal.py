#!/usr/bin/env python3
"""Questions on the terminal of a running session: what is shown, every answer,
job control and full-screen programs around them."""
import re

from wary_test import *

RULES = "default allow\nask read {0}/docs/**\n"
(TMP / "docs").mkdir()
for name in ("a", "b", "c"):
    (TMP / "docs" / name).write_text(f"contents of {name}\n")
CODE = re.compile(rb"type  (\w{4})  ")
MENU = b"[i] more"


def session(script, *args, options=(), rules=RULES, **more):
    file = policy(rules.format(TMP))
    return Terminal([WARY, "-p", file, *options, "--", "sh", "-c", script, "sh", *args],
                    columns=100, **more)


def answer(t, key):
    """Answers the question that is shown; a yes with its code."""
    shown = t.until(MENU)
    ok(shown is not None, f"a question is shown (answered {key})")
    t.type(key)
    if key in "ys":
        code = t.until(CODE)
        t.type(code.group(1) if code else b"\x03")
    return shown or b""


# What is shown.
t = session('cat "$1"; echo "status $?"', TMP / "docs/a")
shown = answer(t, "y")
has(shown, b"cat (", "the program is named")
has(shown, b"wants to read " + str(TMP).encode(), "and the file")
has(shown, b"test.wary:3", "and the rule")
has(shown, b"sh \xe2\x86\x92 cat" if b"sh \xe2\x86\x92 cat" in shown else b"\xe2\x86\x92 cat",
    "and what started it")
ok(t.until(b"contents of a") is not None, "yes lets it read")
ok(t.until(b"status 0") is not None, "as if nothing had been asked")
same(t.end(), 0, "exit status")

# No, by key and by Ctrl-C: the program goes on with EACCES.
for key in ("n", "\x03"):
    t = session('cat "$1"; echo "status $?"', TMP / "docs/a")
    answer(t, key)
    rest = t.until(b"status 1")
    ok(rest is not None and b"Permission denied" in rest, f"{key!r} refuses with EACCES")
    same(t.end(), 0, "and the session goes on")

# This session: the same is not asked again, another is.
t = session('cat "$1"; cat "$1"; cat "$2"', TMP / "docs/a", TMP / "docs/b")
answer(t, "s")
ok(t.until(b"contents of a") is not None, "read once")
ok(t.until(b"contents of a") is not None, "and once more, unasked")
shown = answer(t, "n")
has(shown, b"docs/b", "another file is another question")
t.end()

# Stop all: the tree is ended.
t = session('cat "$1"; echo NOT REACHED; sleep 600', TMP / "docs/a")
answer(t, "k")
status = t.end()
ok(status is not None and status != 0, "k ends everything")
has_not(t.seen, b"NOT REACHED", "at once")

# Always: written to the user's answers, and used by the next session.
config = {**os.environ, "XDG_CONFIG_HOME": str(HOME / ".config")}
(HOME / ".config/wary").mkdir(parents=True)
(HOME / ".config/wary/mine.wary").write_text("wary 1\n" + RULES.format(TMP))


def mine(script, *args):
    return Terminal([WARY, "-p", "mine", "--", "sh", "-c", script, "sh", *args], env=config,
                    columns=100)


t = mine('cat "$1"; cat "$1"', TMP / "docs/c")
ok(t.until(MENU) is not None, "a question is shown")
t.type("a")
ok(t.until(b"allow read " + str(TMP).encode()) is not None, "the rule is shown before it is written")
t.type("\r")
code = t.until(CODE)
t.type(code.group(1) if code else b"\x03")
ok(t.until(b"contents of c") is not None, "always is a yes")
same(t.end(), 0, "once")
answers = list((HOME / ".config/wary").rglob("answers/*.wary"))
same(len(answers), 1, "the answers are a file")
if answers:
    has(answers[0].read_text(), "allow read " + str(TMP / "docs/c"), "with the rule in it")
t = mine('cat "$1"; echo "status $?"', TMP / "docs/c")
rest = t.until(b"status 0")
ok(rest is not None and MENU not in rest, "the next session does not ask")
t.end()

# The terminal's modes and foreground group are given back.
t = session('stty -a > "$2/before"; cat "$1"; stty -a > "$2/after"; cat', TMP / "docs/a", TMP)
answer(t, "y")
ok(t.until(b"contents of a") is not None, "answered")
t.type("typed\n")
ok(t.until(b"typed") is not None and t.until(b"typed") is not None, "the tree reads the terminal")
t.type(b"\x04")
same(t.end(), 0, "to its end")
same((TMP / "after").read_text(), (TMP / "before").read_text(), "modes are as before")

# What was typed before the question goes to nobody.
t = session('sleep 1; cat "$1"; echo "status $?"', TMP / "docs/a")
t.type("yyyy\nnnnn\nkkkk\n")
answer(t, "y")
ok(t.until(b"status 0") is not None, "keys typed ahead are no answer")
t.end()

# A shell with job control inside: the question does not disturb its jobs.
file = policy(RULES.format(TMP))
t = Terminal([WARY, "-p", file, "--", "bash", "--norc", "--noprofile", "-i"], columns=100)
t.type(f"PS1=; sleep 30 & cat {TMP}/docs/a; jobs; echo RE''ADY\n")
answer(t, "y")
rest = t.until(b"READY")
ok(rest is not None and b"contents of a" in rest, "the foreground job has read")
ok(rest is not None and b"Running" in rest and b"Stopped" not in rest,
   "and no job was seen stopped")
t.type("kill %1; exit 7\n")
status = t.end()
ok(status is not None and os.waitstatus_to_exitcode(status) == 7, "the shell ends by itself")

# A program that reads single keys gets its screen back.
RAW = """
import os, sys, termios, tty
tty.setraw(0)
os.write(1, b"RAW\\r\\n")
try:
    open(sys.argv[1]).read()
    os.write(1, b"OPENED\\r\\n")
except OSError:
    os.write(1, b"REFUSED\\r\\n")
key = os.read(0, 1)
os.write(1, b"KEY " + key + b"\\r\\n")
"""
(TMP / "raw.py").write_text(RAW)
t = session('exec /usr/bin/python3 "$1" "$2"', TMP / "raw.py", TMP / "docs/a")
ok(t.until(b"RAW") is not None, "a program in raw mode")
shown = answer(t, "y")
has(shown, b"\x1b[?1049h", "is asked about on the other screen")
rest = t.until(b"OPENED")
ok(rest is not None and b"\x1b[?1049l" in rest, "which is left again")
t.type("x")
ok(t.until(b"KEY x") is not None, "and the next key is the program's")
t.end()

finish()
