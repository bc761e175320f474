#!/usr/bin/env python3
"""Socket calls whose arguments another thread changes while they are decided:
nothing denied is ever reached.  Natively each attack reaches it, which shows
that the listeners see it and that the flipping hits; under a wary that fetches a
second time what it judged (a planted fault) it reaches it too, which shows that
so many calls find one.  ROUNDS: calls of each kind (a million: ROUNDS=1000000)."""
import os
import pathlib
import select
import shutil
import socket
import subprocess
import sys
import threading

sys.path.insert(0, os.path.join(os.environ["SRC"], "tests/lib"))
from wary_test import BUILD, TMP, caller, finish, native, note, ok, policy, wary

# Calls of each kind under wary: enough to find a fault that is planted.
ROUNDS = int(os.environ.get("ROUNDS", "2000"))
MODES = {
    "connect_address": ROUNDS, "connect_fd": ROUNDS, "connect_link": ROUNDS,
    "connect_path": ROUNDS, "sendto_address": 5 * ROUNDS, "sendmsg_header": 5 * ROUNDS,
    "sendmmsg_second": 5 * ROUNDS, "sendto_fd": 2 * ROUNDS, "sendmsg_fd": 2 * ROUNDS,
    "sendmsg_control": ROUNDS, "bind_link": ROUNDS // 4,
}
PLANTED = BUILD / "tests/race/wary-planted"
# Further messages are judged where they are fetched: there the fault does nothing.
JUDGED_AS_FETCHED = {"sendmmsg_second"}
# As long as it takes to find the fault on a loaded machine; natively likewise.
RUNS = 100


class Outside:
    """Who listens where the policy does not let the tree: counts what comes."""

    def __init__(self, folder):
        self.hits = 0
        self.options = 0
        self.tcp_yes, self.udp_yes, self.yes = self.pair()
        self.tcp_no, self.udp_no, self.no = self.pair()
        self.udp_yes.setsockopt(socket.IPPROTO_IP, 6, 1)  # IP_RECVOPTS
        self.unix_yes = self.unix(folder / "yes/s.sock")
        self.unix_no = self.unix(folder / "no/s.sock")
        self.quiet = [self.tcp_yes, self.udp_yes, self.unix_yes]
        self.alarm = [self.tcp_no, self.udp_no, self.unix_no]
        self.wake_read, self.wake_write = os.pipe()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    @staticmethod
    def pair():
        while True:
            tcp = socket.socket()
            tcp.bind(("127.0.0.1", 0))
            tcp.listen(128)
            udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            try:
                udp.bind(tcp.getsockname())
                return tcp, udp, tcp.getsockname()[1]
            except OSError:
                udp.close()
                tcp.close()

    @staticmethod
    def unix(path):
        s = socket.socket(socket.AF_UNIX)
        s.bind(str(path))
        s.listen(128)
        return s

    def take(self, s):
        if s.type == socket.SOCK_STREAM:
            s.accept()[0].close()
        else:
            self.options += any(kind == 6 for _, kind, _ in s.recvmsg(64, 256)[1])

    def run(self):
        while True:
            ready = select.select(self.quiet + self.alarm + [self.wake_read], [], [])[0]
            for s in ready:
                if s != self.wake_read:
                    self.take(s)
                    self.hits += s in self.alarm
            if ready == [self.wake_read]:
                return

    def end(self):
        """Stops after what has arrived was counted."""
        os.write(self.wake_write, b"x")
        self.thread.join()
        for s in self.quiet + self.alarm:
            s.close()


def folder():
    top = pathlib.Path(TMP) / "flip"
    shutil.rmtree(top, ignore_errors=True)
    (top / "yes").mkdir(parents=True)
    (top / "no").mkdir()
    (top / "link").symlink_to("yes")
    return top


def rules(top, outside):
    return f"""default allow
deny connect *:* unix:/** unix:@*
allow connect 127.0.0.1:{outside.yes} unix:{top}/yes/** udp/127.0.0.1:{outside.no}
deny edit {top}/no/**
"""


def planted(*argv, rules, options):
    """Under the wary that has the fault."""
    return subprocess.run([PLANTED, "-p", policy(rules), *options, "--", *map(str, argv)],
                          capture_output=True, text=True, timeout=240, check=False,
                          stdin=subprocess.DEVNULL)


def attack(mode, rounds, run):
    top = folder()
    outside = Outside(top)
    text = rules(top, outside)
    if mode.startswith("send"):
        text = text.replace(f" udp/127.0.0.1:{outside.no}", "")
    argv = [caller("race/net_flip"), mode, rounds, outside.yes, outside.no, top]
    more = {"timeout": 240 + rounds // 500} if run is wary else {}
    result = run(*argv) if run is native else run(*argv, rules=text, options=["-q"], **more)
    outside.end()
    if result.returncode != 0:
        note(result.stderr)
    good = int(result.stdout or 0)
    return good, outside.hits + outside.options + (top / "no/new.sock").exists()


def until_hit(mode, run):
    """Runs until what is denied is reached; returns how many runs that took."""
    for tries in range(1, RUNS + 1):
        if attack(mode, 2000, run)[1]:
            return tries
    return None


for mode, rounds in MODES.items():
    if sys.argv[1:] and mode not in sys.argv[1:]:
        continue
    # connect_fd: connecting a datagram socket there is allowed and is no hit.
    good, hits = attack(mode, rounds, wary)
    ok(hits == 0, f"{mode}: {rounds} calls under wary, {good} succeeded, none reached what is denied")
    ok(good > 0, f"{mode}: what is allowed is reached")
    tries = until_hit(mode, native)
    ok(tries, f"{mode}: the attack works natively (after {tries} runs)")
    if mode not in JUDGED_AS_FETCHED:
        tries = until_hit(mode, planted)
        ok(tries, f"{mode}: a planted fault is found (after {tries} runs)")
finish()
