"""For tests of installed packages: what the last session has on record of them."""
import importlib.util
import json
import sqlite3
import sys

from wary_test import DB, SRC, audit, note, same

def load_example():
    spec = importlib.util.spec_from_file_location("package_hash", SRC / "examples/package-hash.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


sys.dont_write_bytecode = True
EXAMPLE = load_example()


def session():
    """The last one's name."""
    db = sqlite3.connect(f"file:{DB}?mode=ro", uri=True)
    name = db.execute("SELECT name FROM session ORDER BY id DESC LIMIT 1").fetchone()[0]
    db.close()
    return name


def rows(sql):
    db = sqlite3.connect(f"file:{DB}?mode=ro", uri=True)
    found = db.execute(sql).fetchall()
    db.close()
    return found


def packages(check=True):
    """What the last session installed: {name: row}; each is as it was, and as the example hashes it."""
    done = audit("packages", "--json", *(["--check"] if check else []), session())
    found = [json.loads(line) for line in done.stdout.splitlines()]
    if check:
        for p in found:
            if p["now"] not in ("same", "unknown"):
                note(p)
        same((done.returncode, {p["now"] for p in found} - {"same", "unknown"}),
             (0 if all(p["now"] == "same" for p in found) else 1, set()), "nothing has changed since")
        for p in found:
            if "sha256" in p:
                same(EXAMPLE.tree_hash(p["folder"]), p["sha256"], f"{p['name']}: its hash, made in Python")
            if "plain" in p:
                same(EXAMPLE.tree_hash(p["folder"], compiled=False), p["plain"], "and the plain one")
    return {p["name"]: p for p in found}


def states(found):
    return {name: (p["state"], p.get("version")) for name, p in found.items()}
