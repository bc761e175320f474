#!/usr/bin/env python3
"""The exit status: COMMAND's own, by the same signal; 125, 126, 127."""
import os
import signal
import subprocess

from wary_test import TMP, WARY, finish, has, native, ok, policy, same, wary


def status_of(*argv, **more):
    return wary(*argv, **more).returncode


def test_exits():
    for n in (0, 1, 2, 37, 124, 125, 126, 127, 128, 200, 255):
        same(status_of("sh", "-c", f"exit {n}"), n, f"exit {n}")
    for s in (signal.SIGTERM, signal.SIGKILL, signal.SIGPIPE, signal.SIGSEGV, signal.SIGHUP,
              signal.SIGUSR1, signal.SIGABRT, signal.SIGINT, signal.SIGQUIT, signal.SIGALRM,
              signal.SIGXFSZ, 40):
        same(status_of("sh", "-c", f"kill -{int(s)} $$"), -s, f"dies by signal {int(s)}")
    same(status_of("sh", "-c", "(sleep 0.2; exit 9) & exit 5"), 5, "a later process does not count")
    same(status_of("sh", "-c", "(exit 9); exit 6"), 6, "an earlier one neither")
    same(os.listdir(TMP).count("core"), 0, "no core file")


def test_search():
    """PATH is searched as execvp(3) does it, by the command itself."""
    first, second = TMP / "first", TMP / "second"
    for folder in (first, second):
        folder.mkdir()
    (first / "tool").write_text("not executable")
    tool = second / "tool"
    tool.write_text("#!/bin/sh\necho second\n")
    tool.chmod(0o755)
    plain = second / "plain"
    plain.write_text("echo plain $1\n")
    plain.chmod(0o755)
    path = {**os.environ, "PATH": f"{TMP}/none:{first}:{second}:{os.environ['PATH']}"}
    for argv in (["tool"], ["plain", "x"], ["no-such-command"], [str(first / "tool")],
                 [str(TMP / "none")], [str(TMP)], [str(tool / "below")]):
        a, b = wary(*argv, env=path), native("sh", "-c", 'exec "$@"', "sh", *argv, env=path)
        same(a.returncode, b.returncode, f"{argv[0]}: status as natively")
        same(a.stdout, b.stdout, f"{argv[0]}: output as natively")
    r = wary("no-such-command")
    has(r.stderr, "wary: no-such-command: ", "a command that is not there is named")
    same(r.stdout, "", "nothing on standard output")
    r = wary("no\x1b[31m\nsuch")
    ok("\x1b" not in r.stderr.replace(os.linesep, ""), "its name is printable on the terminal")
    r = wary(str(tool), rules=f"default allow\ndeny exec {tool}\n")
    same(r.returncode, 126, "refused: 126")
    same(r.stdout, "", "refused: nothing has run")


def fails(text, argv, part=None, **more):
    r = subprocess.run([WARY, *argv], capture_output=True, text=True, timeout=240, check=False,
                       stdin=subprocess.DEVNULL, **more)
    same(r.returncode, 125, f"{text}: 125")
    ok(r.stderr.startswith("wary: "), f"{text}: says so")
    same(r.stdout, "", f"{text}: nothing on standard output")
    if part:
        has(r.stderr, part, f"{text}: says what")


def test_failures():
    ran = TMP / "ran"
    touch = ["touch", str(ran)]
    good = policy()
    fails("no command", [])
    fails("an empty line of options", ["--"])
    fails("an unknown option", ["--nonsense", *touch])
    fails("an option without its value", ["-p"])
    fails("a policy that is not there", ["-p", "./none.wary", *touch])
    fails("a wrong policy", ["-p", str(policy("alow read **\n", "wrong.wary")), *touch], "wrong.wary:2:")
    fails("an unknown class", ["-p", str(policy("allow raed /**\n", "class.wary")), *touch], "raed")
    fails("a wrong rule of the command line", ["-p", str(good), "--rule", "deny nothing", *touch])
    fails("a store below a file", ["-p", str(good), "-o", f"{good}/x/wary.db", *touch])
    garbage = TMP / "garbage.db"
    garbage.write_bytes(b"this is no database" * 1000)
    fails("a damaged store", ["-p", str(good), "-o", str(garbage), *touch], "garbage.db")
    same(garbage.read_bytes()[:7], b"this is", "a damaged store is left as it was")
    if os.geteuid() != 0:
        closed = TMP / "closed"
        closed.mkdir()
        closed.chmod(0o500)
        fails("a store in a read-only folder", ["-p", str(good), "-o", f"{closed}/wary.db", *touch])
        secret = policy("default allow\n", "secret.wary")
        secret.chmod(0)
        fails("an unreadable policy", ["-p", str(secret), *touch])
    ok(not ran.exists(), "nothing has run")


def test_forms():
    good = str(policy())
    for text, argv in (("run", ["run", "-p", good, "sh", "-c", "exit 3"]),
                       ("--", ["-p", good, "--", "sh", "-c", "exit 3"]),
                       ("options of the command", ["-qp", good, "sh", "-c", "exit 3"]),
                       ("long options", ["--policy=" + good, "--quiet", "sh", "-c", "exit 3"]),
                       ("a store", ["-p", good, "-o", str(TMP / "other.db"), "sh", "-c", "exit 3"])):
        r = subprocess.run([WARY, *argv], stdin=subprocess.DEVNULL, timeout=240, check=False)
        same(r.returncode, 3, f"{text}: runs")
    ok((TMP / "other.db").exists(), "-o: the record is there")
    r = subprocess.run([WARY, "--help"], capture_output=True, text=True, check=False)
    ok(r.returncode == 0 and "usage" in r.stdout.lower() and not r.stderr, "--help")
    r = subprocess.run([WARY, "--version"], capture_output=True, text=True, check=False)
    ok(r.returncode == 0 and r.stdout.startswith("wary "), "--version")
    r = subprocess.run([WARY, "-q", "-p", good, "true"], capture_output=True, text=True, check=False)
    same((r.returncode, r.stdout, r.stderr), (0, "", ""), "-q: says nothing")
    r = wary("sh", "-c", "exit 4", options=["--rule", "deny read /etc/hostname"])
    same(r.returncode, 4, "--rule: runs")


test_exits()
test_search()
test_failures()
test_forms()
finish()
