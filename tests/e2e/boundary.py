#!/usr/bin/env python3
"""The second boundary: a wary whose own decisions are switched off (built for
this test alone) still cannot do, nor let the tree do, what no rule could allow:
the kernel refuses it to the workers and to the tree."""
import os
import re
import shutil
import signal
import socket
import subprocess

from wary_test import BUILD, TMP, WAIT_S, WARY, finish, ok, policy, same

OPEN = BUILD / "tests/e2e/wary-open"
CHILD = r"""
import errno, os, signal, socket, sys
top, port, name, outside = sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
def attempt(name, f, *a):
    try:
        f(*a)
        print(name, "DONE", flush=True)
    except OSError as e:
        print(name, errno.errorcode.get(e.errno, e.errno), flush=True)
def opened(path, flags):
    os.close(os.open(top + path, flags, 0o600))
def executed(path):
    pid = os.fork()
    if pid == 0:
        try:
            os.execv(top + path, [path])
        except OSError as e:
            os._exit(e.errno)
    status = os.waitpid(pid, 0)[1]
    if status:
        raise OSError(os.waitstatus_to_exitcode(status), "")
def connected(family, where):
    s = socket.socket(family)
    s.settimeout(10)
    try: s.connect(where)
    finally: s.close()
def bound(where):
    s = socket.socket()
    try: s.bind(where)
    finally: s.close()
attempt("inside.read", opened, "/a/in/file", os.O_RDONLY)
attempt("inside.create", opened, "/a/in/new", os.O_WRONLY | os.O_CREAT)
attempt("inside.denied_by_a_rule", opened, "/a/in/denied", os.O_RDONLY)
attempt("read", opened, "/out/file", os.O_RDONLY)
attempt("write", opened, "/out/file", os.O_WRONLY)
attempt("create", opened, "/out/new", os.O_WRONLY | os.O_CREAT)
attempt("truncate", os.truncate, top + "/out/file", 0)
attempt("mkdir", os.mkdir, top + "/out/dir")
attempt("symlink", os.symlink, "x", top + "/out/sym")
attempt("mkfifo", os.mkfifo, top + "/out/fifo")
attempt("rename_out", os.rename, top + "/a/in/new", top + "/out/moved")
attempt("link_in", os.link, top + "/out/file", top + "/a/in/linked")
attempt("rename_in", os.rename, top + "/out/file", top + "/a/in/moved")
attempt("unlink", os.unlink, top + "/out/denied")
attempt("list", os.listdir, top + "/out")
attempt("exec", executed, "/out/true")
attempt("connect", connected, socket.AF_INET, ("127.0.0.1", port))
attempt("bind", bound, ("127.0.0.1", 0))
attempt("connect_abstract", connected, socket.AF_UNIX, "\0" + name)
attempt("signal", os.kill, outside, signal.SIGURG)
"""
KEPT = ("inside.read", "inside.create", "inside.denied_by_a_rule")


# Names may be made beside a folder that a rule speaks of, since it may be made
# itself: what is out of reach has another parent.
def attack(program, rules, outside, listener, name):
    shutil.rmtree(TMP / "t", ignore_errors=True)
    for folder in ("a/in", "out"):
        (TMP / "t" / folder).mkdir(parents=True)
        for file in ("file", "denied"):
            (TMP / "t" / folder / file).write_text("text\n")
    shutil.copy("/usr/bin/true", TMP / "t/out/true")
    argv = ["/usr/bin/python3", "-c", CHILD, str(TMP / "t"), str(listener.getsockname()[1]), name,
            str(outside.pid)]
    if program:
        argv = [program, "-q", "-p", policy(rules), "--"] + argv
    run = subprocess.run(argv, capture_output=True, text=True, timeout=WAIT_S * 2, check=False,
                         stdin=subprocess.DEVNULL)
    same(run.returncode, 0, "the attack was made to its end")
    if run.returncode:
        print("# " + run.stderr[-1500:].replace("\n", "\n# "))
    return dict(line.split() for line in run.stdout.splitlines())


if not ok(OPEN.exists(), "the wary of this test is built (make tests-build)"):
    finish()
doctor = subprocess.run([WARY, "doctor"], capture_output=True, text=True, check=False,
                        stdin=subprocess.DEVNULL).stdout
offered = next((line for line in doctor.splitlines() if line.startswith("second boundary")), "")
if not ok("Landlock ABI" in offered, f"the kernel's Landlock: {offered[19:]}"):
    finish()
# What older kernels do not bind yet (doctor says so) is not asked of them.
ABI = int(re.search(r"ABI (\d+)", offered).group(1))
NEEDS = {"truncate": 3, "connect": 4, "bind": 4, "connect_abstract": 6, "signal": 6}
RULES = f"""default deny
allow read,exec /usr/ /lib/ /lib64/ /bin/ /etc/ /dev/null
allow edit,read {TMP}/t/a/in/
deny read {TMP}/t/a/in/denied
"""
listener = socket.create_server(("127.0.0.1", 0))
name = f"wary-test-boundary-{os.getpid()}"
abstract = socket.socket(socket.AF_UNIX)
abstract.bind("\0" + name)
abstract.listen(8)
with subprocess.Popen(["sleep", "600"]) as outside:
    plain = attack(None, "", outside, listener, name)
    same([n for n, r in plain.items() if r != "DONE"], [], "natively each is done")
    closed = attack(WARY, RULES, outside, listener, name)
    same([n for n, r in closed.items() if r == "DONE"], ["inside.read", "inside.create"],
         "with decisions: what the rules allow")
    alone = attack(OPEN, RULES, outside, listener, name)
    same(set(alone), set(plain), "without decisions: each was tried")
    for n in KEPT:
        same(alone.get(n), "DONE", f"{n}: done, since nothing decides")
    for n in [n for n in plain if n not in KEPT and NEEDS.get(n, 1) <= ABI]:
        ok(alone.get(n) in ("EACCES", "EPERM", "EXDEV"), f"{n}: the kernel refuses ({alone.get(n)})")
    outside.send_signal(signal.SIGKILL)
finish()
