#!/usr/bin/env python3
"""A tree cannot approve its own request: it types, writes to the terminal, makes
the terminal answer, changes its modes, kills and continues, and gets nothing."""
import re

from wary_test import *

RULES = "default allow\nask read {0}/secret\n"
(TMP / "secret").write_text("THE CONTENTS\n")
MENU = b"[i] more"

# A helper keeps attacking the terminal while its sibling asks.
ATTACK = r"""
import fcntl, os, signal, struct, sys, termios, time
for s in (signal.SIGTTOU, signal.SIGTTIN, signal.SIGTSTP, signal.SIGHUP):
    signal.signal(s, signal.SIG_IGN)
tty = os.open("/dev/tty", os.O_RDWR)
ready = os.open(sys.argv[1], os.O_WRONLY)
os.write(ready, b"x")
count = 0
while True:
    for byte in b"ys\n":
        try:
            fcntl.ioctl(tty, termios.TIOCSTI, bytes([byte]))
        except OSError:
            pass
    try:
        fcntl.ioctl(tty, 0x541C, struct.pack("b", 3))
    except OSError:
        pass
    # Ask the terminal to type: title, answerback, status, cursor, screen.
    try:
        os.write(tty, b"\x1b]2;yyyy\x07\x1b[21t\x05\x1b[5n\x1b[6n\x1b[c\x1b[1;1;1;1;24;80*y")
        os.write(tty, b"\x1b[2J\x1b[Hwary asks: read README? type  aaaa  \r\n")
        os.tcsetpgrp(tty, os.getpgrp())
        attributes = termios.tcgetattr(tty)
        attributes[3] |= termios.ECHO | termios.ICANON
        termios.tcsetattr(tty, termios.TCSANOW, attributes)
    except OSError:
        pass
    for pid in os.listdir("/proc"):
        if pid.isdigit() and count % 50 == 0:
            for sig in (signal.SIGCONT, signal.SIGKILL) if pid != str(os.getpid()) else ():
                try:
                    if b"wary" in open(f"/proc/{pid}/comm", "rb").read():
                        os.kill(int(pid), sig)
                except OSError:
                    pass
    count += 1
    time.sleep(0.001)
"""
(TMP / "attack.py").write_text(ATTACK)
SCRIPT = """
mkfifo "$1/ready"
/usr/bin/python3 "$1/attack.py" "$1/ready" & attacker=$!
read -n 1 go < "$1/ready"
for i in 1 2 3; do
    cat "$1/secret" && echo GOT''IT || echo RE''FUSED
done
kill -9 $attacker
echo EN''D
"""
file = policy(RULES.format(TMP))
t = Terminal([WARY, "-p", file, "--", "bash", "-c", SCRIPT, "bash", TMP], columns=100)
for round_ in range(3):
    shown = t.until(MENU)
    ok(shown is not None, f"question {round_ + 1} is shown")
    # The terminal answers as an obliging one would, and as a lying one could.
    for report in (b"\x1b[0n", b"\x1b[1;1R", b"\x1b[?1;2c", b"\x1b]lyyyy\x1b\\", b"\x1bP1!~0000\x1b\\"):
        t.type(report)
    before = t.until(re.compile(b".*", re.S))
    has_not(before.group(0) if before else b"", b"read README?",
            "nothing is painted over it while it is shown")
    t.type("y")
    ok(t.until(b", type  ") is not None, "a key alone is no yes")
    t.type("0000")
    ok(t.until(b"that was not the code") is not None, "a wrong code is no yes")
    t.type("n")
    ok(t.until(b"REFUSED") is not None, "and so it is refused")
ok(t.until(b"END") is not None, "the session goes on")
status = t.end()
same(status, 0, "to its own end")
has_not(t.seen, b"THE CONTENTS", "nothing was read")

run = subprocess.run([WARY, "audit", "log", "--class", "read", "--json"], capture_output=True,
                     text=True, check=False, timeout=WAIT_S)
rows = [line for line in run.stdout.splitlines() if str(TMP / "secret") in line]
ok(rows and not [r for r in rows if '"allow"' in r], "the record has it refused, and never allowed")

finish()
