#!/usr/bin/env python3
"""`own` is what the session itself listens on, at the moment it connects: a port
that it has left and a process outside has taken is not its own, however fast
the two take turns.  Not a byte reaches the process outside."""
import os
import socket
import sys
import threading

sys.path.insert(0, os.path.join(os.environ["SRC"], "tests/lib"))
from wary_test import caller, finish, native, note, ok, wary

ROUNDS = int(os.environ.get("ROUNDS", "3000"))
RULES = """default allow
deny connect *:*
allow connect own:*
"""


class Outside:
    """Listens on the port whenever it is free, for a moment, and counts the
    bytes that are sent to it."""

    def __init__(self, port):
        self.port = port
        self.bytes = 0
        self.listened = 0
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def listen(self):
        s = socket.socket()
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            s.bind(("127.0.0.1", self.port))
            s.listen(64)
        except OSError:
            s.close()
            return None
        s.settimeout(0.005)
        return s

    def run(self):
        while not self.over.wait(0.001):
            s = self.listen()
            if not s:
                continue
            self.listened += 1
            try:
                while True:
                    peer, _ = s.accept()
                    with peer:
                        peer.settimeout(1)
                        self.bytes += len(peer.recv(16))
            except OSError:
                pass
            s.close()

    def end(self):
        self.over.set()
        self.thread.join()


def attack(run, **more):
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    outside = Outside(port)
    result = run(caller("race/own_takeover"), ROUNDS, port, **more)
    outside.end()
    if result.returncode != 0:
        note(result.stderr)
    listened, good = map(int, (result.stdout or "0 0").split())
    return outside, listened, good


outside, listened, good = attack(wary, rules=RULES, options=["-q"])
ok(listened > 0 and outside.listened > 0,
   f"the tree listened {listened} times, a process outside {outside.listened} times")
ok(good > 0, f"{good} of {ROUNDS} connections reached the session's own listener")
ok(outside.bytes == 0, f"{outside.bytes} bytes reached the process outside")
for tries in range(20):
    outside, listened, good = attack(native)
    if outside.bytes:
        break
ok(outside.bytes > 0, "natively they do")
finish()
