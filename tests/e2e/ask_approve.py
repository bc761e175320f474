#!/usr/bin/env python3
"""`wary approve`: questions are answered from another terminal or by a program;
the tree itself cannot reach the socket."""
import json
import re

from wary_test import *

RULES = "default allow\nask read {0}/secret*\n"


def start(command):
    """wary without a terminal; questions can only go to the socket."""
    rules = policy(RULES.format(TMP))
    return subprocess.Popen([WARY, "-p", str(rules), "--", *command], stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            start_new_session=True)


def approve_json():
    return subprocess.Popen([WARY, "approve", "--json"], stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, text=True, start_new_session=True)


# The command waits for a line, so that whoever answers can come first.
READ = 'read go; cat "$1" "$1"; echo "status $?"'


def reader(name):
    return start(["sh", "-c", READ, "sh", str(TMP / name)])


def answered(scope, answer="yes", name="secret1"):
    """One question, answered by a program; what the command printed."""
    client = approve_json()
    run = reader(name)
    wait_for_client(client)
    run.stdin.write("go\n")
    run.stdin.flush()
    asked = []
    lines = Lines(client.stdout)
    while run.poll() is None:
        line = lines.next(0.2)
        message = json.loads(line) if line else {}
        if message.get("type") != "question":
            continue
        asked.append(message)
        client.stdin.write(json.dumps({"session": message["session"], "id": message["id"],
                                       "answer": answer, "scope": scope}) + "\n")
        client.stdin.flush()
    out, err = run.communicate()
    client.stdin.close()
    client.wait(WAIT_S)
    return asked, out, err


def wait_for_client(client):
    """Until the client has connected; it counts from then on, also where wary has not
    looked at it yet."""
    end = time.monotonic() + WAIT_S
    while time.monotonic() < end and not is_connected(client.pid):
        time.sleep(0.05)


def is_connected(pid):
    """Whether it has a unix socket that is: unix(7)'s table has state and inode."""
    table = (line.split() for line in pathlib.Path("/proc/net/unix").read_text().splitlines())
    connected = {f"socket:[{row[6]}]" for row in table if row[5] == "03"}
    own = (fd for fd in os.listdir(f"/proc/{pid}/fd") if int(fd) > 2)
    return any(link(pid, fd) in connected for fd in own)


def link(pid, fd):
    try:
        return os.readlink(f"/proc/{pid}/fd/{fd}")
    except OSError:
        return ""


for name in ("secret1", "secret2", "secret3", "secret4"):
    (TMP / name).write_text(f"contents of {name}\n")

# Nobody at all.
run = reader("secret1")
out, err = run.communicate("go\n")
has(err, "nobody to ask", "without a terminal and a client a question is refused at once")
has(err, "wary approve", "and it is said how to be asked")
has_not(out, "contents", "nothing was read")

asked, out, err = answered("once")
same(out.count("contents of secret1"), 2, "a yes from a program lets it through")
same(len(asked), 2, "once is once: the second read asked again")
has(asked[0]["lines"]["headline"], "wants to read", "the question says what")
has(asked[0]["lines"]["because"], "test.wary:3", "and which rule")

asked, out, err = answered("session", name="secret2")
same(out.count("contents of secret2"), 2, "a yes for the session")
same(len(asked), 1, "was asked once")

asked, out, err = answered("once", "no", "secret3")
has_not(out, "contents", "a no refuses")
has(err, "you said no", "and says whose no it was")

# A person on another terminal.
run = reader("secret4")
person = Terminal([WARY, "approve"], columns=100)
person.until(b"waiting for questions")
wait_for_client(person)
run.stdin.write("go\n")
run.stdin.flush()
for _ in range(2):
    ok(person.until(b"[i] more") is not None, "the other terminal shows the box")
    person.type("y")
    code = person.until(re.compile(rb"type  (\w{4})  "))
    person.type(code.group(1) if code else b"n")
out, err = run.communicate(timeout=WAIT_S)
same(out.count("contents of secret4"), 2, "its yes counts")
person.type(b"\x03")
person.end()

# The tree itself: every way to the socket is closed. It is told the path, which
# it could not find out by itself.
ATTACK = r"""
import os, socket, subprocess, sys
path = sys.stdin.readline().strip()
try:
    os.stat(path)
    os.listdir(os.path.dirname(path))
    print("SEEN")
except OSError as error:
    print("hidden", error.errno)
s = socket.socket(socket.AF_UNIX)
try:
    s.connect(path)
    print("CONNECTED")
except OSError as error:
    print("refused", error.errno)
p = subprocess.run([sys.argv[1], "approve", "--json"], input="{}\n", capture_output=True,
                   text=True)
print("approve", p.returncode, "QUESTION" if "question" in p.stdout else "")
"""
(TMP / "attack.py").write_text(ATTACK)
run = start(["/usr/bin/python3", str(TMP / "attack.py"), WARY])
folders = [os.environ.get("XDG_RUNTIME_DIR"), str(HOME / ".local/state"), f"/run/user/{os.getuid()}"]
sockets = []
end = time.monotonic() + WAIT_S
while not sockets and time.monotonic() < end:
    sockets = [str(p) for root in folders if root for p in pathlib.Path(root).rglob("wary/**/*.sock")]
    time.sleep(0.05)
same(len(sockets), 1, "the session has a control socket")
same(os.stat(sockets[0]).st_mode & 0o777, 0o600, "which only its user may open")
out, err = run.communicate(sockets[0] + "\n", timeout=WAIT_S)
has(out, "refused", "no process of the tree connects to it")
has(out, "approve", "and wary approve, run by the tree,")
has_not(out, "QUESTION", "sees no question")
ok(not os.path.exists(sockets[0]), "the socket goes with the session")

finish()
