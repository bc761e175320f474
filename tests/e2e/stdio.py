#!/usr/bin/env python3
"""Standard input, output and error are the caller's own, untouched."""
import hashlib
import os
import subprocess

from wary_test import TMP, WARY, finish, native, ok, policy, same, wary

POLICY = str(policy())
RUN = [WARY, "-q", "-p", POLICY, "--"]
SHELL_RUN = f"'{WARY}' -q -p '{POLICY}' --"


def test_bytes():
    data = os.urandom(3 << 20) + b"\0\n\xff"
    r = subprocess.run([*RUN, "cat"], input=data, stdout=subprocess.PIPE, timeout=240, check=False)
    same(hashlib.sha256(r.stdout).hexdigest(), hashlib.sha256(data).hexdigest(), "3 MB through cat")
    r = subprocess.run([*RUN, "sh", "-c", "read x; echo \"$x\"; cat"], input=b"one\ntwo\n",
                       stdout=subprocess.PIPE, timeout=240, check=False)
    same(r.stdout, b"one\ntwo\n", "no byte is read ahead")
    r = wary("sh", "-c", "echo out; echo err >&2; read x || echo eof", options=["-q"])
    same((r.stdout, r.stderr), ("out\neof\n", "err\n"), "output, error and end of input apart")
    r = subprocess.run(["sh", "-c", f"printf 'a\\nb\\nc\\n' | {{ {SHELL_RUN} head -c 2; cat; }}"],
                       stdout=subprocess.PIPE, timeout=240, check=False)
    ok(r.stdout.startswith(b"a\n"), "wary takes nothing of the input that it shares")


def test_pipes():
    r = subprocess.run(["sh", "-c", f"{SHELL_RUN} yes | head -n 1"], stdout=subprocess.PIPE,
                       timeout=240, check=False)
    same(r.stdout, b"y\n", "a reader that leaves ends the writer")
    r = subprocess.run(["bash", "-c", f"{SHELL_RUN} yes | head -n 1; echo ${{PIPESTATUS[0]}}"],
                       stdout=subprocess.PIPE, timeout=240, check=False)
    same(r.stdout, b"y\n141\n", "by SIGPIPE")
    # The reader is served as soon as the tree has let go, whatever wary still waits for.
    fifo = TMP / "go"
    os.mkfifo(fifo)
    p = subprocess.Popen([*RUN, "sh", "-c", f"cat '{fifo}' >/dev/null 2>&1 & echo done"],
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    same(p.stdout.read(), b"done\n", "output ends though a process without it runs on")
    ok(p.poll() is None, "and wary waits for that process")
    with open(fifo, "wb"):
        pass
    same(p.wait(240), 0, "until it has ended")
    r, w = os.pipe()
    p = subprocess.Popen([*RUN, "sh", "-c", "exec <&-; sleep 60 & echo $!; wait"], stdin=r,
                         stdout=subprocess.PIPE)
    os.close(r)
    first = p.stdout.readline()
    try:
        while os.write(w, b"x" * 65536):
            pass
    except BrokenPipeError:
        ok(True, "input that the tree has closed is closed")
    os.kill(int(first), 15)
    p.wait(240)


def test_closed():
    """With any of the three closed: the command sees them closed, and what wary
    opens never gets their numbers."""
    report = TMP / "report"
    for closing in ("0<&-", "1>&-", "2>&-", "0<&- 1>&-", "1>&- 2>&-", "0<&- 1>&- 2>&-"):
        r = subprocess.run(["sh", "-c", f"{SHELL_RUN} sh -c 'exit 3' {closing}"], timeout=240,
                           check=False)
        same(r.returncode, 3, f"{closing}: runs")
        found = []
        for how in (SHELL_RUN, ""):
            subprocess.run(["sh", "-c", f"{how} sh -c 'ls /proc/$$/fd 9>\"{report}\" >&9' {closing}"],
                           stdin=subprocess.DEVNULL, timeout=240, check=False)
            found.append(report.read_text())
        same(found[0], found[1], f"{closing}: the same descriptors as natively")


def test_inherited():
    """Descriptors that the caller left open are there; none of wary's is."""
    extra = os.open(TMP / "extra", os.O_RDWR | os.O_CREAT)
    os.dup2(extra, 77)
    os.set_inheritable(77, True)
    program = ("import os\n"
               "for n in sorted(os.listdir('/proc/self/fd'), key=int):\n"
               "    try: print(n, os.readlink('/proc/self/fd/' + n))\n"
               "    except OSError: pass\n")
    script = TMP / "fds.py"
    script.write_text(program)
    for text, argv in (("the first process", ["python3", str(script)]),
                       ("a grandchild", ["sh", "-c", f"sh -c 'python3 {script}; true'; true"])):
        lists = []
        for run in ((lambda *a, **m: wary(*a, options=["-q"], **m)), native):
            r = run(*argv, pass_fds=[77])
            lists.append([line for line in r.stdout.split("\n")
                          if "pipe:" not in line and "/proc/" not in line])
        same(lists[0], lists[1], f"{text}: the same descriptors as natively")
        ok(any(line.startswith("77 ") for line in lists[0]), f"{text}: the caller's own is one of them")
    os.close(77)


test_bytes()
test_pipes()
test_closed()
test_inherited()
finish()
