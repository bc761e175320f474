#!/usr/bin/env python3
"""Learn, suggest, run again: the suggestion covers its session and no more."""
import os
import subprocess

from learn import APP, ENV, drop, last_session, learned, run, suggest
from wary_test import DB, HOME, TMP, WARY, finish, has, has_not, ok, same


def prepare():
    (HOME / ".ssh").mkdir(parents=True)
    (HOME / ".ssh/id_ed25519").write_text("key")
    (HOME / ".tool/1234").mkdir(parents=True)
    for name in "a", "b":
        (HOME / ".tool/1234" / name).write_text(name)
    (HOME / ".one").mkdir()
    (HOME / ".one/file").write_text("x")
    APP.mkdir()
    run("git", "init", "-q", ".")
    source = HOME / "src/lib"
    source.mkdir(parents=True)
    (source / "file").write_text("x")
    for argv in (["init", "-q", "."], ["add", "."], ["commit", "-qm", "x"]):
        subprocess.run(["git", *argv], cwd=source, env=ENV, check=True, capture_output=True)
    (APP / "Makefile").write_text("all: m\nm: m.c\n\t$(CC) -o $@ m.c\n")
    (APP / "m.c").write_text("int main(void) { return 0; }\n")


def main():
    prepare()
    text = learned("clone", ["git", "clone", "-q", str(HOME / "src/lib"), "lib"], drop("lib"))
    has(text, "${PROJECT}/ ", "clone: the project is one rule")
    has_not(text, "lib/.git", "clone: and no file of it is named")
    has(text, 'include "keys"', "clone: keys stay refused")
    learned("commit", ["sh", "-c", "echo $$ >>f; git add f; git commit -qm f"], drop())
    text = learned("make", ["make", "-s", "CC=" + os.environ.get("CC", "cc").split()[-1]], drop("m"))
    has(text, "/usr/ ", "make: what programs load is one rule")
    text = learned("home", ["sh", "-c", 'cat "$HOME/.tool/1234/a" "$HOME/.tool/1234/b" "$HOME/.one/file";'
                            ' : >"$HOME/made-0123456789abcdef"'], drop())
    has(text, "~/.tool/ ", "home: a tool's folder is one rule")
    has(text, "~/.one/file ", "home: one file is that file")
    has(text, "~/made-* ", "home: what is made up becomes a star")
    has_not(text, "~/ ", "home: never the whole")

    text = learned("key", ["sh", "-c", 'cat "$HOME/.ssh/id_ed25519"; cat /proc/self/status >/dev/null'],
                   drop())
    ok(text.index('include "keys"') < text.index("~/.ssh/id_ed25519"),
       "key: what keys refuse is named behind it, for a person to strike out")
    has_not(text, "~/.ssh/ ", "key: file by file")

    # What the floor refused is no decision that a policy could make.
    run(WARY, "--learn", "sh", "-c", f'cat "{DB}"; exit 0')
    has_not(suggest("floor", last_session()), str(DB.parent), "floor: never suggested")

    out = run(WARY, "policy", "suggest", "nosuch")
    same(out.returncode, 125, "no such session")
    has(out.stderr, b'no decisions of a session "nosuch"', "no such session: said so")
    out = run(WARY, "policy", "suggest", "x", "--db", str(TMP / "none.db"))
    same(out.returncode, 125, "no such store")
    target = TMP / "written.wary"
    same(run(WARY, "policy", "suggest", last_session(), "-o", str(target)).returncode, 0, "-o FILE")
    ok(target.read_text().startswith("wary 1\n"), "-o FILE has it")
    finish()


main()
