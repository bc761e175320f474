#!/usr/bin/env python3
"""What the policy says of a recorded session is what happened: every decision of
real work under the shipped default, put to the policy again as an expect line."""
import json
import os
import sqlite3
import subprocess
import sys

sys.path.insert(0, os.environ["SRC"] + "/tests/lib")
from wary_test import CC, DB, HOME, TMP, WARY, finish, note, ok, same  # noqa: E402

APP = HOME / "app"
REGISTRY = os.environ.get("NPM_REGISTRY", "https://registry.npmjs.org/")
ENV = dict(os.environ, GIT_CONFIG_GLOBAL="/dev/null", GIT_AUTHOR_NAME="t", GIT_AUTHOR_EMAIL="t@t",
           GIT_COMMITTER_NAME="t", GIT_COMMITTER_EMAIL="t@t")
# What a question cannot state: rules about the session itself, and lookups.
SKIPPED = ("own:*", "registry:")


def run(*argv):
    return subprocess.run(argv, cwd=APP, env=ENV, capture_output=True, timeout=280,
                          stdin=subprocess.DEVNULL, check=False)


def word(raw):
    """An object as the language writes it, byte by byte."""
    plain = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+:@%"
    return "".join(chr(b) if b in plain else f"\\x{b:02x}" for b in raw)


def rows():
    db = sqlite3.connect(f"file:{DB}?mode=ro", uri=True)
    db.text_factory = bytes
    session = db.execute("SELECT session FROM sessions ORDER BY started_us DESC LIMIT 1").fetchone()[0]
    # A rule's `by` may mean the script that an interpreter was started for.
    found = db.execute("SELECT DISTINCT class, d.object, d.program, answer, judge, rule_file, rule_line,"
                       " rule_text, (SELECT p.object FROM processes p WHERE p.session = d.session"
                       " AND p.pid = d.pid AND p.object2 = 'started' AND p.id < d.id"
                       " ORDER BY p.id DESC LIMIT 1) FROM decisions d WHERE session = ? AND class NOT IN"
                       " ('stat', 'syscall', 'ipc', 'resolve', 'install')",
                       (session.decode(),)).fetchall()
    db.close()
    return found


def replay(name, argv):
    out = run(WARY, *argv)
    same(out.returncode, 0, f"{name}: runs under default")
    lines, wanted = ["wary 1", 'include "default"'], []
    for kind, target, program, answer, judge, file, line, rule, script in rows():
        if judge not in (b"rule", b"floor", b"default") or target is None or not target:
            continue
        target = target if isinstance(target, bytes) else str(target).encode()
        if any(part.encode() in (rule or b"") for part in SKIPPED) or target[:1] not in b"/u0123456789[":
            continue
        by = [f" by {word(p)}" if p and p.startswith(b"/") else "" for p in (program, script)]
        asked = [f"expect {answer.decode()} {kind.decode()} {word(target)}{b}" for b in by]
        asked = list(dict.fromkeys(asked))
        wanted.append(({answer.decode()}, file, line, judge, asked[0], len(lines) + 1, len(asked)))
        lines.extend(asked)
    policy = TMP / f"{name}.wary"
    policy.write_text("\n".join(lines) + "\n")
    out = run(WARY, "policy", "test", "--json", str(policy))
    if not ok(out.returncode != 2, f"{name}: the questions can be put"):
        note(out.stderr.decode(errors="replace"))
        return
    results = {r["line"]: r for r in json.loads(out.stdout)}
    wrong = agreed = 0
    for verdicts, file, line, judge, text, first, n in wanted:
        where = {b"rule": f"{(file or b'').decode()}:{line}", b"floor": "floor",
                 b"default": "default"}[judge]
        answers = [results[first + i] for i in range(n)]
        # Nobody can be asked here: what would ask is on record as refused.
        if any((a["got"] in verdicts or (a["got"] == "ask" and "deny" in verdicts)) and a["by"] == where
               for a in answers):
            agreed += 1
            continue
        wrong += 1
        if wrong <= 10:
            note(f"{text}: on record {verdicts} by {where}, policy says "
                 + ", ".join(f"{a['got']} by {a['by']}" for a in answers))
    same(wrong, 0, f"{name}: {agreed} kinds of decisions are what the policy says, by the same rule")
    ok(agreed > 20, f"{name}: there were enough of them")


def main():
    APP.mkdir()
    run("git", "init", "-q", ".")
    (HOME / ".ssh").mkdir()
    (HOME / ".ssh/id_ed25519").write_text("key")
    (APP / "Makefile").write_text("all: m\nm: m.c\n\t$(CC) -o $@ m.c\n")
    (APP / "m.c").write_text("#include <stdio.h>\nint main(void) { return puts(\"x\") < 0; }\n")
    replay("make", ["make", "-s", "CC=" + CC.split()[-1]])
    (HOME / ".npmrc").write_text(f"registry={REGISTRY}\naudit=false\nfund=false\nupdate-notifier=false\n")
    (APP / "package.json").write_text('{ "name": "app", "version": "1.0.0", "private": true }\n')
    replay("npm", ["npm", "install", "express"])
    replay("git", ["sh", "-c", "git add . && git commit -qm x && git clone -q . copy && git gc -q"])
    replay("python", ["python3", "-c", "import tempfile, sqlite3, json, subprocess, os\n"
                      "subprocess.run(['ls', '-l', '/'], stdout=subprocess.DEVNULL)\n"
                      "f = tempfile.NamedTemporaryFile(); os.mkdir('d'); os.rename('d', 'e')\n"])
    replay("refused", ["sh", "-c", "cat ~/.ssh/id_ed25519; echo x >>~/.bashrc; cat /etc/shadow;"
                       " echo x >/etc/wary-test; sudo true; echo x >/mnt/wary-test; cat ~/.nosuch/x; ls ~;"
                       " for i in a b c d e f g h; do cat ~/.aws/$i; cat /proc/self/comm; done; exit 0"])
    finish()


main()
