#!/usr/bin/env python3
"""A hostile program of the tree, under a policy that allows everything, cannot
touch wary, the guardian or another process of the user's by number, nor type on
the terminal, nor signal whoever there is."""
import os
import resource
import signal
import subprocess

from wary_test import (TMP, WAIT_S, WARY, Lines, Terminal, audit, caller, finish, has, native, ok,
                       policy, same)

PROGRAM = caller("e2e/attack_self")
VICTIM = r"""
import signal, sys
for s in (signal.SIGUSR1, signal.SIGURG):
    signal.signal(s, lambda n, f: (sys.stdout.write("%d\n" % n), sys.stdout.flush()))
print("ready", flush=True)
while True:
    signal.pause()
"""


class Victim:
    """A process of the user's outside the tree, which tells of each signal."""

    def __init__(self):
        self.process = subprocess.Popen(["/usr/bin/python3", "-c", VICTIM], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, start_new_session=True)
        self.lines = Lines(self.process.stdout)
        same(self.lines.next(), "ready", "a process outside the tree")

    def heard(self):
        """What was heard before a signal of the test's own."""
        os.kill(self.process.pid, signal.SIGUSR1)
        heard = []
        while True:
            line = self.lines.next()
            if line in (None, str(int(signal.SIGUSR1))):
                return heard
            heard.append(line)

    def end(self):
        self.process.kill()
        self.process.wait()


def state(pid):
    """What the attempts would change, and who still runs."""
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as f:
        letter = f.read().rsplit(")", 1)[1].split()[0]
    with open(f"/proc/{pid}/oom_score_adj", encoding="ascii") as f:
        score = f.read()
    return (letter in "SRD", os.getpriority(os.PRIO_PROCESS, pid), os.sched_getaffinity(pid),
            os.sched_getscheduler(pid), resource.prlimit(pid, resource.RLIMIT_NOFILE), score,
            os.getpgid(pid))


def children(pid):
    found = []
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/children", encoding="ascii") as f:
            found += [int(word) for word in f.read().split()]
    return found


def name_of(pid):
    with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as f:
        return f.read().strip()


def on_processes():
    victim = Victim()
    tree = subprocess.Popen([WARY, "-q", "-p", policy(), "--", "sh", "-c",
                             'echo up; read -r line; exec "$0" processes $line', PROGRAM],
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                            start_new_session=True)
    lines = Lines(tree.stdout)
    same(lines.next(), "up", "the tree runs")
    guardian = [p for p in children(tree.pid) if name_of(p) == "wary-guardian"]
    same(len(guardian), 1, "the guardian is known")
    targets = {tree.pid: "wary", guardian[0]: "the guardian", victim.process.pid: "another process"}
    before = {pid: state(pid) for pid in targets}
    tree.stdin.write(" ".join(map(str, targets)) + "\n")
    tree.stdin.close()
    done, made = [], 0
    while True:
        line = lines.next()
        if line is None:
            break
        name, pid, result = line.split()
        made += 1
        # Its own group is wary's as well; who is reached is looked at below.
        if result == "DONE" and (name, int(pid)) != ("kill_group", tree.pid):
            done.append(f"{name} on {targets[int(pid)]}")
    ok(made >= 3 * 40, f"{made} attempts were made")
    same(done, [], "none was done")
    same(tree.wait(WAIT_S), 0, "wary ends as the program ends")
    same(victim.heard(), [], "the other process heard no signal")
    pid = victim.process.pid
    same(state(pid), before[pid], "and is as it was")
    victim.end()


def on_living_wary():
    """The same, and wary is looked at before the tree ends."""
    tree = subprocess.Popen([WARY, "-q", "-p", policy(), "--", "sh", "-c",
                             'echo up; read -r line; "$0" processes $line >/dev/null; '
                             'echo made; read -r line', PROGRAM],
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                            start_new_session=True)
    lines = Lines(tree.stdout)
    lines.next()
    pids = [tree.pid] + children(tree.pid)
    before = [state(p) for p in pids]
    tree.stdin.write(" ".join(map(str, pids)) + "\n")
    tree.stdin.flush()
    same(lines.next(), "made", "all attempts on wary's processes")
    same([state(p) for p in pids], before, "they are as they were")
    tree.stdin.write("\n")
    tree.stdin.close()
    same(tree.wait(WAIT_S), 0, "and go on")


def on_peer():
    """The number and the handle that the kernel gives of who connected a unix socket."""
    tree = subprocess.Popen([WARY, "-q", "-p", policy(), "--", "sh", "-c", '"$0" peer; read -r line', PROGRAM],
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=TMP,
                            start_new_session=True)
    lines = Lines(tree.stdout)
    before = (lines.next() or "").split()
    same(before[:2], ["peer", str(tree.pid)], "is wary's own")
    made = []
    while len(made) < 42 and (line := lines.next()) is not None:
        made.append(line)
    ok(len(made) >= 40, f"{len(made)} attempts were made, by {before[2]}")
    same([line for line in made if line.endswith("DONE") and not line.startswith("kill_group ")], [], "none was done")
    tree.stdin.close()
    same(tree.wait(WAIT_S), 1, "wary goes on to the end")


def natively():
    victim = Victim()
    run = native(PROGRAM, "processes", victim.process.pid)
    done = [line.split()[0] for line in run.stdout.splitlines() if line.endswith("DONE")]
    for name in ("kill", "kill_group", "tgkill", "pidfd_send_signal", "setpriority", "F_SETOWN",
                 "prlimit_set", "sched_setaffinity", "proc_environ"):
        ok(name in done, f"natively {name} is done")
    victim.end()


def on_everyone():
    victim = Victim()
    run = subprocess.run([WARY, "-q", "-p", policy(), "--", PROGRAM, "everyone"],
                         capture_output=True, text=True, timeout=WAIT_S * 2, check=False,
                         stdin=subprocess.DEVNULL, start_new_session=True)
    same(run.returncode, 0, "signals to everyone leave wary alone")
    has(run.stdout, "kill_own_group 0", "and were tried")
    same(victim.heard(), [], "and reach nobody outside")
    victim.end()


def on_terminal():
    t = Terminal([WARY, "-q", "-p", policy(), "--", "sh", "-c", '"$0" terminal >"$1"', PROGRAM,
                  TMP / "typed"])
    same(t.end(), 0, "requests to a terminal")
    lines = (TMP / "typed").read_text().splitlines()
    same(len(lines), 16, "were made")
    same([line for line in lines if not line.endswith("EPERM")], [],
         "each is refused, whatever the upper half of the request says")
    ok(b"x" not in t.seen, "nothing was typed")


natively()
os.environ["WARY_ATTACK"] = "1"
on_processes()
on_living_wary()
on_peer()
on_everyone()
on_terminal()
same(audit("verify").returncode, 0, "the record is intact")
finish()
