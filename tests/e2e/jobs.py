#!/usr/bin/env python3
"""Signals and job control, as if wary were not there: the same scripts on a
terminal of their own, natively and supervised."""
import os
import re
import signal
import subprocess
import sys
import time

from wary_test import TMP, WAIT_S, WARY, Terminal, finish, ok, policy, same

RUN = [WARY, "-q", "-p", str(policy()), "--"]

# Says each signal that it gets with its number; ends on "end" from its input.
COUNTER = TMP / "counter.py"
COUNTER.write_text("""
import os, signal, sys
got = {}
def on(nr, frame):
    got[nr] = got.get(nr, 0) + 1
    os.write(1, b"got %d x%d\\r\\n" % (nr, got[nr]))
for nr in (1, 2, 3, 10, 12, 14, 15, 18, 28):
    signal.signal(nr, on)
os.write(1, b"ready %d\\r\\n" % os.getpid())
while True:
    line = sys.stdin.readline()
    if not line or line.startswith("end"):
        break
    os.write(1, b"read %s\\r\\n" % line.strip().encode())
os.write(1, b"bye\\r\\n")
""")


# Sleeps with every signal at its default: a shell that runs `sleep` can lose one
# between fork and exec, natively as well.
SLEEPER = TMP / "sleeper.py"
SLEEPER.write_text("""
import os, signal
for nr in (1, 2, 3, 10, 12, 14, 15):
    signal.signal(nr, signal.SIG_DFL)
os.write(1, b"ready\\n")
while True:
    signal.pause()
""")


def start(*argv):
    return Terminal([*RUN, *argv])


def test_terminal():
    t = start("sh", "-c", "test -t 0 && test -t 1 && test -t 2 && echo T''TY; stty size; tty; read x; echo \"<$x>\"")
    ok(t.until(b"TTY"), "the command is on the terminal")
    ok(t.until(b"24 80"), "with its size")
    ok(t.until(re.compile(rb"/dev/pts/\d+")), "and its name")
    t.type("hello\n")
    ok(t.until(b"<hello>"), "and reads from it")
    same(t.end(), 0, "and ends")


def test_interrupt():
    t = start(sys.executable, SLEEPER)
    t.until(b"ready")
    t.type(b"\x03")
    status = t.end()
    ok(status is not None and os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGINT,
       "Ctrl-C: dies by SIGINT")
    t = start(sys.executable, SLEEPER)
    t.until(b"ready")
    t.type(b"\x1c")
    status = t.end()
    ok(status is not None and os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGQUIT,
       "Ctrl-\\: dies by SIGQUIT")
    t = start(sys.executable, str(COUNTER))
    t.until(b"ready")
    t.type(b"\x03")
    ok(t.until(b"got 2 x1"), "Ctrl-C is the command's to handle")
    t.type("one\n")
    ok(t.until(b"read one"), "and it goes on")
    seen = t.seen
    t.type("end\n")
    t.until(b"bye")
    ok(b"got 2" not in seen + t.seen, "it came once")
    same(t.end(), 0, "and ends with its own status")


def test_resize():
    t = start(sys.executable, str(COUNTER))
    t.until(b"ready")
    t.resize(40, 100)
    ok(t.until(b"got 28 x1"), "a resize is told to the command")
    t.type("end\n")
    t.until(b"bye")
    ok(b"got 28" not in t.seen, "once")
    t.end()


def inner_pid(t):
    found = t.until(re.compile(rb"ready (\d+)"))
    return int(found.group(1))


def test_forwarded():
    """A signal for wary alone is meant for the command."""
    t = start(sys.executable, str(COUNTER))
    inner_pid(t)
    for n, nr in enumerate((signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2, signal.SIGHUP,
                            signal.SIGINT, signal.SIGQUIT, signal.SIGALRM), 1):
        os.kill(t.pid, nr)
        ok(t.until(b"got %d x1" % nr), f"signal {int(nr)} to wary reaches the command")
        t.type(f"line{n}\n")
        t.until(b"read line%d" % n)
    t.type("end\n")
    t.until(b"bye")
    same(t.end(), 0, "all handled")


def test_group():
    """A signal for the whole group, as timeout(1) sends it, comes once."""
    t = start(sys.executable, str(COUNTER))
    inner_pid(t)
    for nr in (signal.SIGTERM, signal.SIGUSR1):
        os.killpg(t.pid, nr)
        ok(t.until(b"got %d x1" % nr), f"signal {int(nr)} to the group reaches the command")
    t.type("last\n")
    ok(t.until(b"read last"), "and it goes on")
    t.type("end\n")
    t.until(b"bye")
    ok(b"x2" not in t.seen, "each came once")
    t.end()


def test_dies():
    """Signals that the command does not handle: wary dies by the same."""
    for nr in (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGALRM):
        p = subprocess.Popen([*RUN, sys.executable, str(SLEEPER)],
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        p.stdout.readline()
        p.send_signal(nr)
        same(p.wait(WAIT_S * 4), -nr, f"signal {int(nr)}: dies by it")
        p.stdout.close()


def test_ignored():
    """nohup: what is ignored stays ignored."""
    p = subprocess.Popen([*RUN, "sh", "-c", "echo ready; read x; echo $x"], stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE,
                         preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    p.stdout.readline()
    p.send_signal(signal.SIGHUP)
    out, _ = p.communicate(b"alive\n", WAIT_S * 4)
    same((out, p.returncode), (b"alive\n", 0), "an ignored SIGHUP is ignored")


def stopped(pid):
    """Waits for a child to stop; the signal, or None."""
    end = time.monotonic() + WAIT_S
    while time.monotonic() < end:
        got, status = os.waitpid(pid, os.WUNTRACED | os.WNOHANG)
        if got == pid:
            return os.WSTOPSIG(status) if os.WIFSTOPPED(status) else None
        time.sleep(0.01)
    return None


def test_stop():
    t = start(sys.executable, str(COUNTER))
    pid = inner_pid(t)
    os.kill(pid, signal.SIGSTOP)
    same(stopped(t.pid), signal.SIGSTOP, "the command stops: wary stops")
    os.kill(t.pid, signal.SIGCONT)
    ok(t.until(b"got 18"), "wary is continued: the command is")
    t.type("alive\n")
    ok(t.until(b"read alive"), "and goes on")
    t.type("end\n")
    same(t.end(), 0, "to the end")


def test_shell():
    """A shell with jobs, inside and around."""
    t = Terminal(["bash", "--norc", "--noprofile", "-i"])
    t.type("PS1=; stty -echo; echo st''art\n")
    t.until(b"start")
    t.type("'" + "' '".join(RUN) + "' sleep 1000\n")
    t.type(b"")
    # Only once it is the foreground group does Ctrl-Z mean it.
    wait_foreground(t)
    t.type(b"\x1a")
    ok(t.until(b"Stopped"), "Ctrl-Z: the shell sees its job stop")
    t.type("jobs; bg; echo ba''ck\n")
    ok(t.until(b"back"), "bg: the shell goes on")
    t.type("fg\n")
    t.until(b"sleep 1000")
    wait_foreground(t)
    t.type(b"\x03")
    t.type("echo rc:$?\n")
    ok(t.until(b"rc:130"), "fg, Ctrl-C: died by SIGINT")
    t.type("for i in 1 2 3; do '" + "' '".join(RUN) + "' sleep 1000; echo round:$i; done; echo lo''op:$?\n")
    wait_foreground(t)
    t.type(b"\x03")
    t.type("echo af''ter\n")
    seen = t.until(b"after") or b""
    ok(b"round:1" not in seen, "Ctrl-C ends a loop around wary, as around any command")
    t.type("exit 3\n")
    status = t.end()
    same(os.waitstatus_to_exitcode(status) if status is not None else None, 3, "the shell ends")


def wait_foreground(t):
    """Until a job, and not the shell, has the terminal, and has run a program
    of the command's (the tree sleeps)."""
    def sleeping():
        group = os.tcgetpgrp(t.fd)
        if group == t.pid:
            return False
        r = subprocess.run(["ps", "-o", "comm=", "-g", str(group)], capture_output=True, text=True,
                           check=False)
        del r
        out = subprocess.run(["ps", "-e", "-o", "pgid=,comm="], capture_output=True, text=True,
                             check=False).stdout
        return any(line.split()[:2] == [str(group), "sleep"] for line in out.split("\n") if line.split())

    for _ in range(WAIT_S * 10):
        if sleeping():
            return
        t._read(0.1)


def test_inner_shell():
    t = start("bash", "--norc", "--noprofile", "-i")
    t.type("PS1=; stty -echo; echo st''art\n")
    seen = t.until(b"start") or b""
    ok(b"no job control" not in seen, "a shell inside has job control")
    t.type("sleep 1000\n")
    wait_foreground(t)
    t.type(b"\x1a")
    ok(t.until(b"Stopped"), "Ctrl-Z inside stops a job inside only")
    t.type("kill -9 %1; wait %1; echo go''on; exit 7; exit 7\n")
    ok(t.until(b"goon"), "and the shell inside goes on")
    status = t.end()
    same(os.waitstatus_to_exitcode(status) if status is not None else None, 7, "with its status")


def test_hangup():
    """The terminal goes away: the tree gets SIGHUP, and wary ends with it."""
    t = start(sys.executable, SLEEPER)
    t.until(b"ready")
    os.close(t.fd)
    _, status = os.waitpid(t.pid, 0)
    ok(os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGHUP, "dies by SIGHUP")


test_terminal()
test_interrupt()
test_resize()
test_forwarded()
test_group()
test_dies()
test_ignored()
test_stop()
test_shell()
test_inner_shell()
test_hangup()
finish()
