#!/usr/bin/env python3
"""Package managers that lie, leave traps, are killed or leave something running:
what lies there after them is on record all the same.  They are stand-ins."""
import json
import os
import pathlib
import shutil

from installed_rows import packages, rows, session, states
from wary_test import TMP, audit, finish, has, note, ok, same, wary

ROOT = pathlib.Path(TMP).resolve() / "w"
APP, BIN = ROOT / "app", ROOT / "bin"
PYTHON = os.path.realpath("/usr/bin/python3")


def stub_npm():
    path = BIN / "node_modules/npm/bin/npm-cli.js"
    path.parent.mkdir(parents=True)
    path.write_text(f"#!{PYTHON} -S\nimport json, os, pathlib, sys\nexec(os.environ['STEPS'])\n")
    path.chmod(0o755)
    os.symlink(path, BIN / "npm")


HEAD = """
modules = pathlib.Path('node_modules')
def put(place, version='1.0.0', name=None):
    folder = modules / place
    folder.mkdir(parents=True, exist_ok=True)
    (folder / 'package.json').write_text(json.dumps({'name': name or place, 'version': version}))
    return folder
"""


def lie(steps, status=0, check=True):
    """Runs a manager that does this, in an empty project; what is on record of it."""
    shutil.rmtree(APP, ignore_errors=True)
    APP.mkdir(parents=True)
    done = wary("npm", "install", "x", cwd=APP, options=["-q"],
                env={**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}", "STEPS": HEAD + steps})
    if not ok(done.returncode == status, "the manager has run"):
        note(f"{done.returncode} {done.stdout} {done.stderr}")
    return packages(check)


def test_liars():
    found = lie("""
put('a')
(modules / '.package-lock.json').write_text(json.dumps({'packages': {'node_modules/a': {
    'version': '1.0.0', 'resolved': 'https://me:token@h.example/a.tgz', 'integrity': 'sha512-AA=='}}}))
put('a', '9.9.9').joinpath('evil.js').write_text('evil')
(modules / 'loose.js').write_text('evil')
put('alias', name='real')
(modules / 'nothing').mkdir()
put('scratch')
import shutil
shutil.rmtree(modules / 'scratch')
""")
    same(states(found), {"a": ("installed", "9.9.9"), "loose.js": ("stray", None), "alias": ("installed", "1.0.0"),
                         "nothing": ("stray", None), "scratch": ("removed", None)}, "what is there is on record")
    same([found["a"].get(k) for k in ("claimed-version", "claimed-from", "claimed-integrity")],
         ["1.0.0", "https://h.example/a.tgz", "sha512-AA=="], "claims are apart, without who asked")
    same(found["alias"].get("own-name"), "real", "a name of its own is told")
    stored = rows("SELECT argv FROM packages WHERE reason = 2")
    ok(not any("token" in r[0] for r in stored), "no password is on record")


def test_traps():
    outside = ROOT / "outside"
    outside.mkdir()
    (outside / "package.json").write_text('{"name": "outside", "version": "6.6.6"}')
    found = lie(f"""
modules.mkdir()
os.symlink({str(outside)!r}, modules / 'linked')
os.symlink({str(outside)!r}, modules / '@scope')
os.mkfifo(put('fifo') / 'pipe')
os.mkfifo(put('said') / 'x')
os.unlink(modules / 'said/package.json')
os.mkfifo(modules / 'said/package.json')
os.symlink('/etc', put('inner') / 'etc')
with open(put('large') / 'hole', 'wb') as f:
    f.truncate(1 << 31)
deep = put('deep')
for _ in range(70):
    deep = deep / 'd'
    deep.mkdir()
""")
    same(states(found), {"linked": ("link", None), "fifo": ("installed", "1.0.0"), "said": ("stray", None),
                         "inner": ("installed", "1.0.0"), "large": ("installed", "1.0.0"),
                         "deep": ("installed", "1.0.0")}, "each trap is on record as what it is")
    same(found["linked"].get("link"), str(outside), "a link is named, not followed")
    same([(n, found[n].get("why")) for n in ("large", "deep") if "sha256" not in found[n]],
         [("large", "it has too many bytes"), ("deep", "its folders are too deep")], "bounds are said")
    same(sorted(r[0] for r in rows(f"SELECT result FROM packages WHERE result < 0 AND session = '{session()}'")),
         [-7, -7], "as E2BIG")
    has(audit("show", session()).stdout, "2 without a hash", "on the screen as well")


def test_hidden():
    found = lie("""
put('unseen')
os.rename('node_modules', 'apart')
os.symlink('apart', 'node_modules')
""", check=False)
    same((states(found), found["unseen"].get("why")),
         ({"unseen": ("stray", None)}, "the folder that it is in is a link"), "what is behind a link is not gone")
    found = lie("put('shut')\nmodules.chmod(0o311)\n", check=False)
    want = "installed" if os.access(APP / "node_modules", os.R_OK) else "stray"
    same(found["shut"]["state"], want, "nor is what is in a folder that cannot be listed")
    if want == "stray":
        same(found["shut"].get("why"), "the folder that it is in cannot be read", "and it is said why")
    (APP / "node_modules").chmod(0o755)
    lie("put('grows').joinpath('x').write_text('x')\n")
    os.truncate(APP / "node_modules/grows/x", 1 << 42)
    done = audit("packages", "--json", "--check", session())
    same((done.returncode, json.loads(done.stdout)["now"]), (1, "changed"), "what has grown has changed")


def test_ends():
    found = lie("put('k')\nos.kill(os.getpid(), 9)\n", status=-9)
    same(states(found), {"k": ("installed", "1.0.0")}, "a manager that was killed")
    found = lie("""
first = put('late')
me = os.getpid()
if os.fork() == 0:
    while os.getppid() == me:
        pass
    (first / 'later.js').write_text('later')
    os._exit(0)
""")
    same(states(found), {"late": ("installed", "1.0.0")}, "what is written after its end")
    same(found["late"].get("files"), 2, "is in the last row")
    found = lie("""
apart = pathlib.Path('apart')
modules, kept = apart, modules
put('moved')
modules = apart / 'moved/node_modules'
put('with-it')
modules = apart / 'moved/node_modules/@s'
put('scoped')
kept.mkdir()
os.rename('apart/moved', kept / 'moved')
""")
    same(states(found), {"moved": ("installed", "1.0.0"), "with-it": ("installed", "1.0.0"),
                         "@s/scoped": ("installed", "1.0.0")}, "what was moved there whole")
    found = lie("""
if sys.argv[1:] == ['install', 'x']:
    put('outer')
    os.spawnv(os.P_WAIT, sys.argv[0], [sys.argv[0], 'install', 'y'])
else:
    put('inner')
""")
    same(states(found), {"outer": ("installed", "1.0.0"), "inner": ("installed", "1.0.0")},
         "a manager that a manager starts")
    done = wary("sh", "-c", "mkdir -p node_modules/b; echo x >node_modules/b/x", cwd=APP, options=["-q"])
    same((done.returncode, packages()), (0, {}), "what no manager did is no install")


def test_usage():
    same(audit("packages").returncode, 2, "a session must be named")
    same(audit("package-hash", str(ROOT / "no-such")).returncode, 2, "a folder must be there")
    same(audit("package-hash", "--help").returncode, 0, "help")
    same(audit("verify").returncode, 0, "the record is intact")


stub_npm()
test_liars()
test_traps()
test_hidden()
test_ends()
test_usage()
finish()
