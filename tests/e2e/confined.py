#!/usr/bin/env python3
"""Once a session runs, wary, its guardian and its asker are confined: a filter
of their own on every thread, no new privileges, no capability that they do not
need, no core."""
import os
import pathlib
import re

from wary_test import WARY, Terminal, finish, ok, policy, same

# linux/capability.h: what none of them has; wary and asker may trace.
SYS_MODULE, SYS_RAWIO, SYS_PTRACE, SYS_ADMIN, SYS_BOOT, NET_ADMIN = 16, 17, 19, 21, 22, 12
KILL = 5


def field(status, name, base=10):
    return int(re.search(rf"^{name}:\s+(\w+)", status, re.M).group(1), base)


def children(pid):
    found = []
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        found += [int(word) for word in (task / "children").read_text().split()]
    return found


def name_of(pid):
    return pathlib.Path(f"/proc/{pid}/comm").read_text().strip()


t = Terminal([WARY, "-q", "-p", policy(), "--", "sh", "-c", "echo UP; read -r line; echo END"])
ok(t.until(b"UP") is not None, "a session runs")
people = {"wary": t.pid}
for child in children(t.pid):
    people[name_of(child)] = child
same(set(people), {"wary", "wary-guardian", "wary-ask"}, "three processes of wary's")
for who, pid in people.items():
    threads = [(task / "status").read_text() for task in pathlib.Path(f"/proc/{pid}/task").iterdir()]
    ok(len(threads) > (3 if who == "wary" else 0), f"{who}: {len(threads)} threads")
    same({field(s, "Seccomp") for s in threads}, {2}, f"{who}: each is under a filter")
    same({field(s, "NoNewPrivs") for s in threads}, {1}, f"{who}: none gains privileges")
    worn = 0
    for s in threads:
        worn |= field(s, "CapEff", 16) | field(s, "CapPrm", 16)
    for name, bit in (("SYS_MODULE", SYS_MODULE), ("SYS_RAWIO", SYS_RAWIO), ("SYS_ADMIN", SYS_ADMIN),
                      ("SYS_BOOT", SYS_BOOT), ("NET_ADMIN", NET_ADMIN)):
        ok(not worn >> bit & 1, f"{who}: without CAP_{name}")
    if who != "wary":
        same(worn & ~(1 << KILL | 1 << SYS_PTRACE), 0, f"{who}: nothing but to signal, and to see")
    limits = pathlib.Path(f"/proc/{pid}/limits").read_text()
    ok(re.search(r"^Max core file size\s+0\s+0\s", limits, re.M), f"{who}: no core")
    # Of who may not be looked into, /proc belongs to root.
    if os.getuid() != 0:
        same(os.stat(f"/proc/{pid}/mem").st_uid, 0, f"{who}: its memory is hidden")
t.type("go\n")
ok(t.until(b"END") is not None, "the session goes on")
same(t.end(), 0, "to its end")
finish()
