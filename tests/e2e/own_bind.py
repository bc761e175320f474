#!/usr/bin/env python3
"""`allow bind own:*` gives the tree what only this host reaches, and no port that
the network reaches, whichever way it is opened."""
import os
import sys

sys.path.insert(0, os.path.join(os.environ["SRC"], "tests/lib"))
from wary_test import finish, native, same, wary

RULES = """default allow
deny bind *:* unix:@*
allow bind own:*
"""
CHILD = r"""
import errno, socket
def attempt(name, family, kind, address, listen):
    s = socket.socket(family, kind)
    try:
        if address is not None:
            s.bind(address)
        if listen:
            s.listen(1)
        print(name, "done")
    except OSError as e:
        print(name, errno.errorcode[e.errno])
    s.close()
T, U, four, six = socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.AF_INET, socket.AF_INET6
attempt("loopback", four, T, ("127.0.0.1", 0), True)
attempt("another_loopback", four, T, ("127.9.8.7", 0), True)
attempt("datagrams_at_loopback", four, U, ("127.0.0.1", 0), False)
attempt("datagrams_at_some_port", four, U, ("0.0.0.0", 0), False)
attempt("local_name", socket.AF_UNIX, T, "\0wary-test-own-bind-%d" % __import__("os").getpid(), True)
attempt("all_addresses", four, T, ("0.0.0.0", 0), True)
attempt("all_addresses_at_a_port", four, T, ("0.0.0.0", 48123), True)
attempt("no_address_at_all", four, T, None, True)
attempt("datagrams_at_a_port", four, U, ("0.0.0.0", 48123), False)
if socket.has_ipv6:
    try:
        socket.socket(six, T).close()
    except OSError:
        raise SystemExit
    attempt("all_addresses_6", six, T, ("::", 0), True)
    attempt("no_address_at_all_6", six, T, None, True)
    attempt("mapped", six, T, ("::ffff:0.0.0.0", 48124), True)
"""


def results(run):
    return dict(line.split() for line in run.stdout.splitlines())


ALLOWED = ["loopback", "another_loopback", "datagrams_at_loopback", "datagrams_at_some_port",
           "local_name"]
plain = results(native("/usr/bin/python3", "-c", CHILD))
under = results(wary("/usr/bin/python3", "-c", CHILD, rules=RULES, options=["-q"]))
same(set(under), set(plain), "every attempt was made")
for name, result in plain.items():
    same(result, "done", f"{name}: natively")
    same(under.get(name), "done" if name in ALLOWED else "EACCES", f"{name}: under wary")
finish()
