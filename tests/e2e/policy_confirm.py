#!/usr/bin/env python3
"""What changes a policy asks on the terminal, and only a yes is a yes."""
import os
import sys

sys.path.insert(0, os.environ["SRC"] + "/tests/lib")
from wary_test import HOME, WARY, Terminal, finish, has, has_not, ok, same  # noqa: E402

OWN = HOME / ".config/wary/policy.wary"
APP = HOME / "app"


def asked(argv, question, answer):
    """Types an answer once the question has come; status and what was said."""
    terminal = Terminal([WARY, "policy", *argv], env=dict(os.environ, TERM="xterm"), cwd=APP)
    said = terminal.until(question)
    ok(said is not None, f"{' '.join(argv)}: asks")
    terminal.type(answer)
    status = terminal.end()
    return os.waitstatus_to_exitcode(status), (said or b"") + terminal.seen


def main():
    (APP / ".wary").mkdir(parents=True)
    for answer in "\n", "n\n", "yess\n", "\x04":
        status, _ = asked(["allow", "read /mnt/x"], b"add it? [y/N] ", answer)
        same(status, 1, f"{answer!r} is no yes")
        ok(not OWN.exists(), f"{answer!r}: nothing is written")
    status, said = asked(["allow", "read /mnt/x"], b"add it? [y/N] ", "y\n")
    same(status, 0, "y is a yes")
    has(OWN.read_text(), "allow read /mnt/x  # added ", "y: it is written")
    has(said, b"\033[32mallow", "verdicts are coloured on a terminal")
    os.environ["NO_COLOR"] = "1"
    status, said = asked(["deny", "read /mnt/y"], b"add it? [y/N] ", "yes\n")
    same(status, 0, "yes is a yes")
    has_not(said, b"\033[", "no colours where NO_COLOR is set")

    (APP / ".wary/policy.wary").write_text("wary 1\nallow edit /mnt/z/\n")
    records = HOME / ".local/state/wary/trust"
    status, _ = asked(["trust", "."], b"accept it as it is? [y/N] ", "n\n")
    same(status, 1, "trust: n is no yes")
    ok(not records.exists(), "trust: nothing is accepted")
    status, _ = asked(["trust", "."], b"accept it as it is? [y/N] ", "y\n")
    same(status, 0, "trust: y is a yes")
    same(len(list(records.iterdir())), 1, "trust: it is on record")
    same([p.stat().st_mode & 0o777 for p in records.iterdir()], [0o600], "trust: readable by nobody else")
    finish()


main()
