#!/usr/bin/env python3
"""Law 1: when wary is killed its tree goes, daemons and fork chains too; and
wary waits for, or ends, what the command leaves running."""
import os
import pathlib
import random
import signal
import subprocess
import time

from wary_test import TMP, WAIT_S, WARY, Terminal, finish, ok, policy, same

# What the trees say as they are ended must not come between the lines of TAP.
os.dup2(os.open(os.devnull, os.O_WRONLY), 2)

RUN = [WARY, "-q", "-p", str(policy()), "--"]
MARK = f"wary-killed-{os.getpid()}"
ROUNDS = 12


def alive():
    """Processes of a tree: their environment has the mark. Zombies do not count."""
    found = []
    for folder in pathlib.Path("/proc").iterdir():
        if not folder.name.isdigit() or int(folder.name) == os.getpid():
            continue
        try:
            if MARK.encode() in (folder / "environ").read_bytes():
                found.append(int(folder.name))
        except OSError:
            pass
    return found


def gone(text):
    end = time.monotonic() + WAIT_S
    while alive() and time.monotonic() < end:
        time.sleep(0.05)
    left = alive()
    same(left, [], text)
    for pid in left:
        os.kill(pid, signal.SIGKILL)


def start(*argv, **more):
    env = {**os.environ, "MARK": MARK}
    return subprocess.Popen([*RUN, *argv], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            start_new_session=True, env=env, **more)


def inner(p):
    """wary and its own helpers carry the mark too: only the tree is meant."""
    return [pid for pid in alive() if pid != p.pid]


def test_killed():
    script = ("setsid sleep 1000 & (setsid sh -c 'sleep 1000 & sleep 1000' &) ; sh -c 'sleep 1000; true' & "
              "echo ready; while :; do /bin/true; done")
    for n in range(ROUNDS):
        p = start("sh", "-c", script)
        if n % 3:
            p.stdout.readline()
        time.sleep(random.random() * 0.2)
        p.kill()
        p.wait()
        p.stdout.close()
        gone(f"round {n + 1}: nothing is left of the tree")


def test_chain():
    """A process that forks and leaves, again and again, is not outrun."""
    chain = TMP / "chain.py"
    chain.write_text("import os\nos.setsid()\nos.write(1, b'ready\\n')\n"
                     "while True:\n    if os.fork():\n        os._exit(0)\n")
    for n in range(3):
        p = start("sh", "-c", f"python3 {chain} & python3 {chain} & sleep 1000")
        p.stdout.readline()
        p.kill()
        p.wait()
        p.stdout.close()
        gone(f"chain {n + 1}: ended")


def test_waits():
    fifo = TMP / "fifo"
    os.mkfifo(fifo)
    p = start("sh", "-c", f"setsid sh -c 'read x <{fifo}' >/dev/null 2>&1 & exit 5")
    same(p.stdout.read(), b"", "the command has let go of its output")
    ok(p.poll() is None, "wary waits for a daemon")
    fifo.write_text("go\n")
    same(p.wait(WAIT_S), 5, "then exits as the command did")
    p.stdout.close()
    p = subprocess.run([WARY, "-q", "-p", str(policy()), "--end", "sh", "-c", "sleep 1000 & exit 6"],
                       stdin=subprocess.DEVNULL, timeout=WAIT_S * 4, check=False)
    same(p.returncode, 6, "--end: what the command leaves running is ended")


def test_told():
    """After the command, a signal ends what it left."""
    for nr in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        p = start("sh", "-c", "setsid sleep 1000 >/dev/null & exit 4")
        p.stdout.read()
        time.sleep(0.1)
        end = time.monotonic() + WAIT_S
        while p.poll() is None and time.monotonic() < end:
            p.send_signal(nr)
            time.sleep(0.2)
        same(p.wait(WAIT_S), 4, f"signal {int(nr)} ends the rest")
        p.stdout.close()
        gone(f"signal {int(nr)}: nothing is left")
    t = Terminal([WARY, "-p", str(policy()), "sh", "-c", "setsid sleep 1000 & exit 3"])
    ok(t.until(b"has ended; wary stays with"), "on a terminal wary says that it stays")
    t.type(b"\x03")
    status = t.end()
    same(os.waitstatus_to_exitcode(status) if status is not None else None, 3, "Ctrl-C ends the rest")


def test_guardian():
    """The guardian killed from outside: wary ends the tree."""
    p = start("sh", "-c", "echo ready; setsid sleep 1000 & sleep 1000")
    p.stdout.readline()
    guardian = None
    for pid in inner(p):
        try:
            if pathlib.Path(f"/proc/{pid}/comm").read_text().strip() == "wary-guardian":
                guardian = pid
        except OSError:
            pass
    if guardian is None:  # an ordinary user cannot read its environment
        out = subprocess.run(["ps", "-o", "pid=,comm=", "--ppid", str(p.pid)], capture_output=True,
                             text=True, check=False).stdout
        guardian = next(int(line.split()[0]) for line in out.split("\n") if "wary-guardian" in line)
    os.kill(guardian, signal.SIGKILL)
    ok(p.wait(WAIT_S * 2) != 0, "wary ends")
    p.stdout.close()
    gone("nothing is left of the tree")


test_killed()
test_chain()
test_waits()
test_told()
test_guardian()
finish()
