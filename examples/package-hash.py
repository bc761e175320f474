#!/usr/bin/env python3
"""The tree hash of an installed package, as wary has it on record (docs/AUDIT.md,
"Installed packages"), in nothing but Python's standard library.

    package-hash.py node_modules/left-pad
    package-hash.py venv/lib/python3.11/site-packages/six-1.16.0.dist-info
"""
import csv
import hashlib
import os
import stat
import sys


def lines(folder, names, path=b""):
    """TYPE HASH PATH, for each name and what is below it, by their bytes."""
    for name in sorted(names):
        full, shown = os.path.join(folder, name), path + name
        mode = os.lstat(full).st_mode
        if stat.S_ISDIR(mode):
            yield b"d", b"-", shown
            yield from lines(full, os.listdir(full), shown + b"/")
        elif stat.S_ISLNK(mode):
            yield b"l", hashlib.sha256(os.readlink(full)).hexdigest().encode(), shown
        elif stat.S_ISREG(mode):
            with open(full, "rb") as file:
                content = hashlib.sha256(file.read()).hexdigest().encode()
            yield b"x" if mode & stat.S_IXUSR else b"f", content, shown
        else:
            yield b"o", b"-", shown


def parts(dist_info):
    """What a Python distribution has in site-packages: the first part of each name in RECORD."""
    site, own = os.path.split(dist_info)
    names = {own}
    with open(os.path.join(dist_info, b"RECORD"), newline="", encoding="utf-8",
              errors="surrogateescape") as file:
        for row in csv.reader(file):
            way = os.fsencode(row[0]).split(b"/") if row else []
            if way and way[0] not in (b"", b".", b"__pycache__") and b".." not in way:
                names.add(way[0])
    return site, [n for n in names if os.path.lexists(os.path.join(site, n))]


def tree_hash(path, compiled=True):
    """compiled=False: without what lies in folders named __pycache__ (`plain=`)."""
    path = os.fsencode(os.path.abspath(path))
    if path.endswith(b".dist-info") and os.path.isdir(path):
        folder, names = parts(path)
    elif os.path.isdir(path) and not os.path.islink(path):
        folder, names = path, [n for n in os.listdir(path) if n != b"node_modules"]
    else:
        folder, names = os.path.dirname(path), [os.path.basename(path)]
    whole = hashlib.sha256()
    for kind, content, shown in lines(folder, names):
        if compiled or b"__pycache__" not in shown.split(b"/")[:-1]:
            whole.update(kind + b" " + content + b" " + shown + b"\0")
    return whole.hexdigest()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    print(tree_hash(sys.argv[1]))
