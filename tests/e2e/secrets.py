#!/usr/bin/env python3
"""Secrets reach the program that they are for, and nothing else has them: not
its children, not /proc, not a copy of it, not code that is put into it."""
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys

from wary_test import CC, DB, TMP, WARY, caller, finish, has, has_not, note, ok, policy, same, wary

ROOT = pathlib.Path(TMP).resolve() / "w"
WORK, BIN = ROOT / "work", ROOT / "bin"
for folder in (WORK, BIN):
    folder.mkdir(parents=True)
TOOL = BIN / "tool"
shutil.copy(caller("e2e/secrets"), TOOL)
VALUE = "s3cr3t-" + os.urandom(12).hex()
LENGTH = f"length {len(VALUE)}\n"
NONE = "length 0\n"
PYTHON = pathlib.Path(shutil.which("python3")).resolve()
BASE = f"default allow\ndeny edit **\nallow edit {WORK}/** /dev/null /dev/tty\n"
RULES = BASE + f"secret TOKEN from env:MY_PAT to {TOOL} as env\n"
ENV = {**os.environ, "MY_PAT": VALUE, "TOKEN": "somebody-else's"}


def run(*argv, rules=RULES, env=None):
    return wary(*argv, rules=rules, options=["-q"], cwd=WORK, env={**ENV, **(env or {})})


def gets(what, *argv, **more):
    r = run(*argv, **more)
    if not same(r.stdout, LENGTH, f"gets it: {what}"):
        note(r.stderr)


def gets_none(what, *argv, **more):
    r = run(*argv, **more)
    if not same(r.stdout, NONE, f"does not get it: {what}"):
        note(r.stderr)


def lacks(what, *argv, **more):
    r = run(*argv, **more)
    has_not(r.stdout + r.stderr, VALUE, f"has no value: {what}")
    has_not(r.stdout, "TOKEN", f"nor a name: {what}")
    return r.stdout


def script(path, text):
    path.write_text(text)
    path.chmod(0o755)
    return path


def test_who():
    gets("the tool", TOOL)
    gets("below a shell", "sh", "-c", f"{TOOL}; true")
    gets("under another argv[0]", "bash", "-c", f"exec -a other {TOOL}")
    os.symlink(TOOL, WORK / "alias")
    gets("by a link", "./alias")
    shutil.copy(TOOL, WORK / "tool")
    gets_none("a copy", "./tool")
    gets_none("a copy by PATH", "sh", "-c", f"PATH={WORK}:$PATH tool")
    gets_none("a hard link", "sh", "-c", f"ln {TOOL} hard && ./hard || echo length 0")
    loader = subprocess.run(["sh", "-c", "ls /lib64/ld-linux-*.so.* /lib/ld-linux-*.so.*"],
                            capture_output=True, text=True, check=False).stdout.split()
    if loader:
        gets_none("by its loader", loader[0], TOOL)
    lacks("env", "env")
    lacks("a shell and its environ", "sh", "-c", "env; cat /proc/self/environ /proc/$$/environ")
    lacks("what the tool starts", TOOL, "exec", "env")
    lacks("a shell that the tool starts", TOOL, "exec", "sh", "-c", "env; sh -c env")
    out = run(TOOL, "proc").stdout
    has_not(out, VALUE, "/proc/self/environ of the tool has no value")
    has(out, "PATH=", "and is otherwise there")
    same(lacks("the names of another", "sh", "-c", "env").count("MY_PAT"), 0, "MY_PAT is gone")


def test_hijack():
    code = WORK / "evil.c"
    code.write_text("""#include <stdio.h>
#include <stdlib.h>
__attribute__((constructor)) static void c(void)
{ if (getenv("TOKEN")) puts("STOLEN"); }
unsigned la_version(unsigned v) { return v; }
""")
    subprocess.run([CC.split()[-1], "-shared", "-fPIC", code, "-o", WORK / "evil.so"], check=True)
    for name in ("LD_PRELOAD", "LD_AUDIT"):
        gets(f"with {name}, which is taken out", TOOL, env={name: str(WORK / "evil.so")})
    for name in ("LD_LIBRARY_PATH", "GCONV_PATH", "LOCPATH", "PYTHONPATH", "NODE_OPTIONS",
                 "BASH_ENV", "GIT_SSH_COMMAND", "OPENSSL_CONF"):
        out = run(TOOL, "names", env={name: str(WORK)}).stdout.split()
        ok(name not in out and "PATH" in out and "TOKEN" in out, f"{name} is taken out")
    out = run("sh", "-c", "env", env={"LD_LIBRARY_PATH": str(WORK)}).stdout
    has(out, "LD_LIBRARY_PATH", "other programs keep them")


def test_scripts():
    rules = BASE + f"secret TOKEN from env:MY_PAT to {BIN}/plain {BIN}/by-env as env\n"
    body = "echo length ${#TOKEN}\n"
    script(BIN / "plain", "#!/bin/sh\n" + body)
    script(BIN / "by-env", "#!/usr/bin/env sh\n" + body)
    script(WORK / "own", "#!/bin/sh\n" + body)
    gets("a script", BIN / "plain", rules=rules)
    gets("a script of env", BIN / "by-env", rules=rules)
    gets("by PATH", "sh", "-c", f"PATH={BIN}:$PATH by-env", rules=rules)
    gets_none("another script", "./own", rules=rules)
    gets_none("the shell for the script", "sh", BIN / "plain", rules=rules)
    gets_none("env with another interpreter first in PATH", "sh", "-c",
              f"cp /bin/sh {WORK}/sh; PATH={WORK}:$PATH; {BIN}/by-env", rules=rules)
    os.symlink(BIN / "plain", WORK / "turn")
    gets_none("through a link that can be turned", "./turn", rules=rules)
    gets_none("through a folder that can be moved", f"{WORK}/../bin/plain", rules=rules)


def test_interpreters():
    code = "import os; print('length', len(os.environ.get('TOKEN', '')))"
    (BIN / "tool.py").write_text(code + "\n")
    any_code = BASE + f"secret TOKEN from env:MY_PAT to {PYTHON} as env\n"
    one_file = BASE + (f"secret TOKEN from env:MY_PAT to {PYTHON} "
                       f"when argv {BIN}/tool.py ** as env\n")
    gets_none("an interpreter with code", PYTHON, "-c", code, rules=any_code)
    gets_none("an interpreter with a file", PYTHON, BIN / "tool.py", rules=any_code)
    gets("an interpreter by a rule about its arguments", PYTHON, BIN / "tool.py", rules=one_file)
    gets_none("with other arguments", PYTHON, "-c", code, rules=one_file)


def test_rules():
    gets_none("where a later rule refuses", TOOL,
              rules=RULES + "deny secret TOK*\n")
    gets("with arguments that match", TOOL, "len",
         rules=BASE + f"secret TOKEN from env:MY_PAT to {TOOL} when argv len as env\n")
    gets_none("with others", TOOL, "len", "x",
              rules=BASE + f"secret TOKEN from env:MY_PAT to {TOOL} when argv len as env\n")
    gets_none("from a variable that is not set", TOOL,
              rules=BASE + f"secret TOKEN from env:ABSENT to {TOOL} as env\n")
    r = run(TOOL, rules=BASE + f"secret TOKEN from env:MY_PAT to {TOOL} as env ask\n")
    ok(r.returncode == 126 and "length" not in r.stdout, "nobody to ask: refused")
    r = run(TOOL, rules=f"default allow\nsecret TOKEN from env:MY_PAT to {TOOL} as env\n")
    has_not(r.stdout, LENGTH, "a program that the tree may write gets nothing")


def test_outside():
    """While the tool holds it, no process of wary or of the tree shows it."""
    file = policy(RULES)
    with subprocess.Popen([WARY, "-q", "-p", file, "--", TOOL, "hold"], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, env=ENV, text=True) as p:
        same(p.stdout.readline(), LENGTH, "the tool holds it")
        shown = 0
        for pid in os.listdir("/proc"):
            if not pid.isdigit() or int(pid) == os.getpid():
                continue
            try:
                data = pathlib.Path(f"/proc/{pid}/environ").read_bytes()
                name = os.readlink(f"/proc/{pid}/exe")
            except OSError:
                continue
            if VALUE.encode() in data:
                note(f"{pid} {name}")
                shown += 1
        same(shown, 0, "nothing in /proc shows it")
        p.stdin.close()
        same(p.wait(), 0, "the tool ends")


def test_record():
    run("sh", "-c", f"{TOOL}; {TOOL} len {VALUE}; true {VALUE}; cat {WORK}/{VALUE}; cd /; "
        f"mkdir {WORK}/{VALUE}; cd {WORK}/{VALUE}; true")
    held = [p for p in pathlib.Path(DB).parent.rglob("*") if p.is_file() and
            VALUE.encode() in p.read_bytes()]
    same(held, [], "the value is in no file of the record")
    with sqlite3.connect(f"file:{DB}?mode=ro", uri=True) as db:
        rows = db.execute("SELECT DISTINCT object, program, answer FROM grants "
                          "WHERE answer = 'allow'").fetchall()
    ok(("TOKEN", str(TOOL), "allow") in rows, "each grant is on record")


test_who()
test_hijack()
test_scripts()
test_interpreters()
test_rules()
test_outside()
test_record()
finish()
