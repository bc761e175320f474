#!/usr/bin/env python3
"""Which folder of src/ may include which: the stages meet only in supervise.c.

Prints each include that points the wrong way, and exits 1 if there is one.
"""
import re
import sys

from ctext import sources

PURE = ["base", "call", "policy"]
KERNEL = PURE + ["package"]
# Folder (or file) -> folders (or files) it may include, besides its own.
MAY = {
    "base": [],
    "call": ["base"],
    "policy": ["base", "call"],
    "package": PURE,
    "tracee": KERNEL,
    "net": KERNEL + ["tracee"],
    "trap": KERNEL + ["tracee", "audit"],
    "audit": KERNEL,
    "limit": KERNEL + ["tracee", "audit"],
    "secret": KERNEL + ["tracee", "net", "trap", "audit"],
    "ask": KERNEL + ["tracee", "trap", "audit"],
    "answer": KERNEL + ["tracee", "net", "trap", "audit", "secret", "supervise.h"],
    "supervise.h": KERNEL + ["tracee", "net", "trap", "audit", "secret", "ask", "limit"],
    "supervise.c": KERNEL + ["tracee", "net", "trap", "audit", "secret", "ask", "limit",
                             "answer", "supervise.h"],
    "cmd": KERNEL + ["tracee", "net", "trap", "audit", "secret", "ask", "limit",
                     "answer", "supervise.h"],
    "main.c": ["base", "cmd"],
    "gen": KERNEL + ["trap"],  # programs that run while wary is built
}
# The record and its proof know neither descriptors nor the rest of the audit.
PURE_AUDIT = {"record", "chain", "expr", "merkle", "anchor", "bridge", "decode", "proof", "proof_check", "ratchet",
              "lanes"}
# System headers that a pure folder has no business with.
IMPURE = re.compile(r"^(fcntl|unistd|signal|poll|pthread|sqlite3|seccomp)\.h$|^(sys|linux)/")
PURE_SYSTEM = {"sys/types.h", "sys/socket.h", "sys/un.h", "netinet/in.h", "arpa/inet.h",
               "sys/syscall.h", "linux/audit.h", "linux/seccomp.h"}
INCLUDE = re.compile(r'^\s*#\s*include\s+(?:"([^"]+)"|<([^>]+)>)', re.M)


def part(name):
    """The layer a path below src/ belongs to."""
    head = name.split("/")[0]
    if head in MAY:
        return head
    if head.startswith(("supervise", "pool", "lookup")):
        return "supervise.h" if head.endswith(".h") else "supervise.c"
    return None


def wrong_includes(name, text):
    rel = name[len("src/"):]
    layer = part(rel)
    if layer is None:
        yield f"{name}: folder {rel.split('/')[0]}/ is in no layer: add it to tests/lint/layers.py"
        return
    stem = rel.split("/")[-1].split(".")[0]
    pure = layer in ("call", "policy", "package") or (layer == "audit" and stem in PURE_AUDIT)
    for match in INCLUDE.finditer(text):
        own, system = match.groups()
        line = text.count("\n", 0, match.start()) + 1
        if system:
            if pure and IMPURE.search(system) and system not in PURE_SYSTEM:
                yield f"{name}:{line}: a pure file includes <{system}>"
            continue
        target = part(own)
        if "/" not in own and target is None:
            yield f'{name}:{line}: write "{own}" as "folder/{own}"'
        elif target is None:
            yield f'{name}:{line}: "{own}" is in no layer'
        elif target != layer and target not in MAY[layer]:
            yield f'{name}:{line}: {layer} must not include {target} ("{own}")'


def main():
    wrong = [w for path, name in sources("src", suffixes=(".c", ".h", ".def"))
             for w in wrong_includes(name, path.read_text())]
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0


sys.exit(main())
