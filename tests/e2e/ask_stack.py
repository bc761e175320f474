#!/usr/bin/env python3
"""A rule with `stack`: who made the call, function by function, is recorded and
shown by [i]; for a program without symbols by addresses; and whatever a program
makes of its own unwinding data, the question comes, and wary goes on."""
import os
import pathlib
import re
import shutil
import subprocess

from wary_test import TMP, WARY, Terminal, audit, caller, finish, has, note, ok, policy, same

CODE = re.compile(rb"type  (\w{4})  ")
# What rules let the tree write is not given to the unwinder, where it may.
RULES = policy("default allow\ndeny edit /usr/** /lib/** /lib64/** /bin/** /sbin/**\n"
               f"ask read {TMP}/docs/** stack\n")
OPEN = policy(f"default allow\nask read {TMP}/docs/** stack\n", "open.wary")
(TMP / "docs").mkdir()
(TMP / "docs/a").write_text("contents\n")
shutil.copy(caller("e2e/stack_caller"), TMP / "with_names")
shutil.copy(caller("e2e/stack_caller"), TMP / "stripped")
subprocess.run(["strip", TMP / "stripped"], check=True)


def asked(program, *words, rules=RULES):
    """Asks, looks at the details, says yes. Returns what was shown."""
    t = Terminal([WARY, "-p", rules, "--", program, TMP / "docs/a", *words], rows=60, columns=120)
    if not ok(t.until(b"[i] more") is not None, f"{program.name} {' '.join(words)}: a question"):
        note(t.seen)
    t.type("i")
    shown = t.until(re.compile(rb"call stack(.*?)\[", re.S))
    t.type("y")
    code = t.until(CODE)
    t.type(code.group(1) if code else b"\x03")
    same(t.end(), 0, "answered, and the program goes on")
    return shown.group(1).decode(errors="replace") if shown else ""


def recorded():
    out = audit("sql", "SELECT stack FROM events WHERE stack IS NOT NULL ORDER BY rowid DESC LIMIT 1")
    return out.stdout


frames = asked(TMP / "with_names")
for name in ("innermost_opens", "middle_calls", "outermost_begins", "main"):
    has(frames, name, f"{name} is named")
has(frames, "with_names+0x", "with its file and place")
frames = asked(TMP / "stripped")
ok(len(re.findall(r"stripped\+0x", frames)) >= 3, "without symbols: the places in its file")
ok("innermost_opens" not in frames, "and no names")
for how in ("0", "1", "2", "3"):
    frames = asked(TMP / "with_names", how)
    ok("#0" in frames or not frames, f"spoilt unwinding data {how}: what could be told")
frames = asked(TMP / "with_names", rules=OPEN)
has(frames, "#0", "where rules let the tree write libraries: a stack as far as it can be told")
if os.geteuid() == 0:
    ok("middle_calls" not in frames, "and not with the help of their unwinding data")
# The libraries for it are there where a rule asks for stacks, and nowhere else.
if os.geteuid() == 0:
    for rules, there in ((policy("default allow\n", "plain.wary"), False), (RULES, True)):
        with subprocess.Popen([WARY, "-q", "-p", rules, "--", "cat"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE) as p:
            p.stdin.write(b"x")
            p.stdin.flush()
            p.stdout.read(1)
            maps = pathlib.Path(f"/proc/{p.pid}/maps").read_text()
            p.stdin.close()
        same("libunwind" in maps, there, f"libunwind {'is' if there else 'is not'} loaded")
(TMP / "broken").mkdir()
for name in ("x86_64", "aarch64"):
    (TMP / f"broken/libunwind-{name}.so.8").write_text("no library\n")
t = Terminal([WARY, "-p", RULES, "--", TMP / "with_names", TMP / "docs/a"], rows=60, columns=120,
             env=os.environ | {"LD_LIBRARY_PATH": f"{TMP}/broken"})
ok(t.until(b"without call stacks: ") is not None, "where they cannot be loaded: that is said")
ok(t.until(b"[i] more") is not None, "and the question comes all the same")
t.type("n")
ok(t.end() != 0, "and a no counts")
same(audit("verify").returncode, 0, "the record is intact")
finish()
