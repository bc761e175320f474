#!/usr/bin/env python3
"""Rules by name: a name server of the test's own behind the guard.  Names are
decided and recorded, an address counts only by an answer that wary got, and
nothing of a program's own bytes reaches the name server."""
import os
import pathlib
import socket
import struct
import sys
import threading

sys.path.insert(0, os.path.join(os.environ["SRC"], "tests/lib"))
from wary_test import TMP, audit, finish, has, has_not, ok, same, wary


class NameServer:
    """Answers every A query, with 127.0.0.1 first and others later."""

    def __init__(self):
        self.asked = []
        self.sizes = set()
        self.times = {}
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.word = "127.0.0.1:%d" % self.socket.getsockname()[1]
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            query, peer = self.socket.recvfrom(4096)
            end = 12
            labels = []
            while query[end]:
                labels.append(query[end + 1:end + 1 + query[end]].decode())
                end += query[end] + 1
            name = ".".join(labels)
            kind = struct.unpack(">H", query[end + 1:end + 3])[0]
            self.asked.append(name)
            self.sizes.add(len(query) - (end + 5))
            answer = query[:2] + b"\x81\x80\0\1" + (b"\0\1" if kind == 1 else b"\0\0") + bytes(4)
            answer += query[12:end + 5]
            if kind == 1:
                turn = self.times[name] = self.times.get(name, 0) + 1
                answer += b"\xc0\x0c\0\1\0\1\0\0\0\0\0\4" + bytes([127, 0, 0, turn])
            self.socket.sendto(answer, peer)


CLIENT = r"""
import socket, struct, sys
port = int(sys.argv[1])
def name_server():
    try:
        for line in open("/etc/resolv.conf"):
            if line.startswith("nameserver"): return line.split()[1]
    except OSError: pass
    return "127.0.0.1"
def query(name, more=b""):
    q = b"\x12\x34\1\0\0\1\0\0\0\0\0" + (b"\1" if more else b"\0")
    for label in name.split("."): q += bytes([len(label)]) + label.encode()
    return q + b"\0\0\1\0\1" + more
def attempt(what, f):
    try: print(what, f(), sep="\t")
    except OSError as e: print(what, type(e).__name__ + " %s" % e.errno, sep="\t")
def by_name(name): socket.create_connection((name, port), 10).close(); return "connected"
def by_tcp(name):
    s = socket.socket(); s.settimeout(30); s.connect((name_server(), 53))
    q = query(name); s.sendall(struct.pack(">H", len(q)) + q)
    n = struct.unpack(">H", s.recv(2, socket.MSG_WAITALL))[0]; a = s.recv(n, socket.MSG_WAITALL)
    return "code %d answers %d" % (a[3] & 15, a[7])
def by_udp(name):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(30); s.connect((name_server(), 53))
    s.send(query(name, b"\0\0\x29\4\xd0\0\0\0\0\0\4secr")); a = s.recv(1500)
    return "code %d answers %d" % (a[3] & 15, a[7])
def unconnected(data):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    return s.sendto(data, (name_server(), 53)) == len(data)
def address(ip): socket.create_connection((ip, port), 10).close(); return "connected"
attempt("before", lambda: address("127.0.0.1"))
attempt("good", lambda: by_name("good.test"))
attempt("again", lambda: by_name("GOOD.test."))
attempt("now", lambda: address("127.0.0.1"))
attempt("bad", lambda: by_name("bad.test"))
attempt("tail", lambda: by_name("good.test.bad.test"))
attempt("tcp good", lambda: by_tcp("good.test"))
attempt("tcp bad", lambda: by_tcp("secret-data.bad.test"))
attempt("udp good", lambda: by_udp("other.good.test"))
attempt("udp bad", lambda: by_udp("secret-data.bad.test"))
attempt("sendto good", lambda: unconnected(query("plain.good.test", b"\0\0\x29\4\xd0\0\0\0\0\0\4secr")))
attempt("sendto bad", lambda: unconnected(query("secret-data.bad.test")))
attempt("sendto other", lambda: unconnected(b"secret data, no question"))
"""


def main():
    server = NameServer()
    os.environ["WARY_NAMESERVERS"] = server.word
    os.environ.pop("RES_OPTIONS", None)
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(16)
    port = listener.getsockname()[1]
    client = pathlib.Path(TMP) / "client.py"
    client.write_text(CLIENT)
    rules = f"""default allow
deny connect *:*
deny resolve *
allow resolve *.good.test
allow connect good.test:{port} at 127.0.0.1/32
"""
    run = wary(sys.executable, client, port, rules=rules)
    same(run.returncode, 0, "the program ends well")
    said = dict(line.split("\t") for line in run.stdout.splitlines())
    check(said, server, run.stderr)


def check(said, server, stderr):
    has(said["before"], "13", "an address that no answer named is refused")
    same(said["good"], "connected", "an allowed name leads to a connection")
    same(said["again"], "connected", "asked again, the answer is the same (pinned)")
    same(said["now"], "connected", "the address counts now")
    has(said["bad"], "gaierror", "another name is not resolved")
    has(said["tail"], "gaierror", "nor one that only begins like the allowed one")
    same(said["tcp good"], "code 0 answers 1", "a query by TCP")
    same(said["tcp bad"], "code 5 answers 0", "is refused for another name")
    same(said["udp good"], "code 0 answers 1", "a query on a connected datagram socket")
    same(said["udp bad"], "code 5 answers 0", "is refused for another name")
    same(said["sendto good"], "True", "a query that is sent without connecting")
    has(said["sendto bad"], "PermissionError", "is refused for another name")
    ok("Error" in said["sendto other"], "what is no query does not go to a name server")
    same(sorted(set(server.asked)), ["good.test", "other.good.test", "plain.good.test"],
         "the name server was asked for these and nothing else")
    same(server.sizes, {0}, "with nothing beside the question")
    has(stderr, "may not look up", "a refusal is told")
    log = audit("log", "--class", "resolve").stdout
    has(log, "good.test", "names are on record")
    has(log, "secret-data.bad.test", "refused ones too")
    has_not(log, "localhost", "and no others")


main()
finish()
