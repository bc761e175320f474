#!/usr/bin/env python3
"""What pip puts on the disk is on record when it has ended: from wheels, with
dependencies and an upgrade."""
import base64
import hashlib
import os
import pathlib
import zipfile

from installed_rows import packages, rows, session, states
from wary_test import TMP, audit, finish, has, native, note, ok, same, skip, wary

ROOT = pathlib.Path(TMP).resolve() / "w"
PYTHON = os.path.realpath("/usr/bin/python3")


def wheel(folder, name, version, needs=(), files=None):
    info = f"{name}-{version}.dist-info"
    files = {f"{name}/__init__.py": f"NAME = {name!r}\n", **(files or {}),
             f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
                                 + "".join(f"Requires-Dist: {n}\n" for n in needs),
             f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"}
    record = ""
    for path, text in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode().rstrip("=")
        record += f"{path},sha256={digest},{len(text)}\n"
    files[f"{info}/RECORD"] = record + f"{info}/RECORD,,\n"
    path = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as z:
        for file, text in files.items():
            z.writestr(zipfile.ZipInfo(file), text)
    return path


def pip(venv, *words):
    done = wary(venv / "bin/python", "-m", "pip", "--disable-pip-version-check", "install", "--no-index",
                *words, options=["-q"], cwd=ROOT)
    if not ok(done.returncode == 0, f"pip install {' '.join(map(str, words))}"):
        note(done.stdout + done.stderr)


def test_pip():
    wheels, venv = ROOT / "wheels", ROOT / "venv"
    wheels.mkdir(parents=True, exist_ok=True)
    made = native(PYTHON, "-m", "venv", venv)
    if made.returncode:
        skip("python3-venv is not installed")
    wheel(wheels, "First", "1.0", ["second"], {"single.py": "X = 1\n"})
    wheel(wheels, "second", "1.0")
    direct = wheel(wheels, "second", "2.0")
    pip(venv, "--find-links", wheels, "First", "second==1.0")
    found = packages()
    same({n: s for n, s in states(found).items() if n != "__pycache__"},
         {"first": ("installed", "1.0"), "second": ("installed", "1.0")}, "distributions, dependencies too")
    same(found.get("__pycache__", {}).get("state"), "stray", "what modules share is on its own")
    ok("plain" in found["first"], "compiled Python is told apart")
    has(audit("query", "--session", session(), "kind=package and object=pip:second and reason=2").stdout,
        "pip:second", "wary audit query finds one")
    pip(venv, direct)
    found = packages()
    # Both have the name, in two folders.
    got = rows("SELECT object2, reason, argv FROM packages WHERE reason > 1 AND object = 'pip:second'"
               f" AND session = '{session()}' ORDER BY object2")
    same([(r[0], r[1]) for r in got], [("1.0", 5), ("2.0", 2)], "an upgrade: the old removed, the new there")
    has(got[-1][2] if got else "", f"claimed-from=file://{direct}", "pip says where it is from")


test_pip()
same(audit("verify").returncode, 0, "the record is intact")
finish()
