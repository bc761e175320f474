#!/usr/bin/env python3
"""Installs are recognised from what really runs, judged package by package
before the manager has started, asked about once, and put on record.  The
managers are stand-ins that only say that they ran."""
import json
import os
import pathlib
import re
import shutil
import sqlite3


from wary_test import DB, TMP, WARY, Terminal, finish, has, has_not, note, ok, policy, same, wary

ROOT = pathlib.Path(TMP).resolve() / "w"
WORK, BIN = ROOT / "work", ROOT / "bin"
NPM = BIN / "node_modules/npm/bin/npm-cli.js"
HOME = ROOT / "home"
# Nothing of what this machine's own environment says of registries.
ENV = {"PATH": f"{BIN}:/usr/local/bin:/usr/bin:/bin", "HOME": str(HOME), "TMPDIR": str(TMP),
       "WARY_DB": str(DB), "LANG": "C", "TERM": "xterm"}
BASE = f"default allow\ndeny edit **\nallow edit {WORK}/** /dev/null /dev/tty\n"
ONLY_GOOD = BASE + """deny install *:*
allow install npm:good from registry:npm
allow install npm:good from good.example:8080
allow install pip:good
"""
STUB = '#!/usr/bin/env sh\necho RAN "$(basename "$0")" "$@"\n'


def stub(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(STUB)
    path.chmod(0o755)
    return path


def fresh():
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)


HOME.mkdir(parents=True)
fresh()
for tool in ("pip", "pip3", "pnpm", "yarn", "uv", "node", "python3"):
    stub(BIN / tool)
stub(NPM)
os.symlink(NPM, BIN / "npm")


def run(line, rules=ONLY_GOOD, env=None):
    return wary("sh", "-c", line, rules=rules, options=["-q"], cwd=WORK, env={**ENV, **(env or {})})


def runs(line, **more):
    r = run(line, **more)
    if not ok("RAN" in r.stdout, f"runs: {line}"):
        note(r.stdout + r.stderr)


def refused(line, **more):
    r = run(line, **more)
    if not ok("RAN" not in r.stdout and r.returncode != 125, f"refused: {line}"):
        note(r.stdout + r.stderr)


def project(dependencies, **more):
    fresh()
    (WORK / "package.json").write_text(json.dumps({"dependencies": dependencies, **more}))


def lock(packages):
    body = {"": {"dependencies": {"good": "*"}}}
    body.update({f"node_modules/{name}": entry for name, entry in packages.items()})
    (WORK / "package-lock.json").write_text(json.dumps({"lockfileVersion": 3, "packages": body}))


def test_spellings():
    project({})
    for line in ("npm install good", "npm i good", f"node {NPM} add good@1.0.0", "pip install good",
                 "python3 -m pip install good", "npm ls", "npm run install", "npm test",
                 "pip list", "pip show evil", "node -e 1 npm install evil", "npm --version",
                 "npm config get install"):
        runs(line)
    for line in ("npm install evil", "npm isntall evil", "npm --silent i good evil",
                 f"node {NPM} i evil", f"node --no-warnings {NPM} i evil", "npm exec evil",
                 "pip install evil", "pip3 -q install evil", "python3 -Im pip install evil",
                 "pnpm add evil", "yarn add evil", "uv pip install evil",
                 "bash -c 'exec -a harmless npm i evil'", "cp /bin/sh npm && env npm i evil"):
        refused(line)
    os.symlink(NPM, WORK / "harmless")
    refused("./harmless i evil")


def test_sources():
    project({})
    runs("npm i --registry http://good.example:8080 good")
    refused("npm i --registry http://evil.example good")
    refused("npm_config_registry=http://evil.example npm i good")
    refused("NPM_CONFIG_REGISTRY=http://evil.example npm i good")
    refused("HOME=$PWD/other; mkdir other; echo registry=http://evil.example >other/.npmrc; "
            "export HOME; npm i good")
    refused("npm i good@http://evil.example/good.tgz")
    refused("npm i github:evil/good")
    (WORK / ".npmrc").write_text("registry=http://evil.example\n")
    refused("npm i good")
    (WORK / ".npmrc").write_text("registry=http://good.example:8080\n")
    runs("npm i good")


def test_projects():
    project({"good": "*"})
    runs("npm install")
    project({"good": "*", "evil": "^1"})
    refused("npm install")
    refused("npm i good")
    refused("npm update")
    refused(f"cd / && npm --prefix {WORK} install")
    project({"good": "*"})
    (WORK / "below").mkdir()
    runs("cd below && npm i")
    lock({"good": {"version": "1.0.0", "dependencies": {"evil": "*"}},
          "evil": {"version": "2.0.0"}})
    refused("npm ci")
    rules = ONLY_GOOD + "allow install npm:good from registry:npm with dependencies\n"
    runs("npm ci", rules=rules)
    lock({"good": {"version": "1.0.0"}, "stray": {"version": "2.0.0"}})
    refused("npm ci", rules=rules)
    lock({"good": {"version": "1.0.0", "resolved": "http://evil.example/good.tgz"}})
    refused("npm ci", rules=rules)
    fresh()
    (WORK / "package.json").write_text("{")
    refused("npm ci")
    (WORK / "r.txt").write_text("good\n-r more.txt\n")
    (WORK / "more.txt").write_text("evil\n")
    refused("pip install -r r.txt")
    (WORK / "more.txt").write_text("good\n")
    runs("pip install -r r.txt")


def test_conditions():
    project({})
    rules = BASE + "deny install *:* when unpinned\nallow install npm:free\n"
    runs("npm i good@1.2.3", rules=rules)
    refused("npm i good@^1.2.3", rules=rules)
    refused("npm i good", rules=rules)
    runs("npm i free", rules=rules)
    rules = BASE + "deny install *:*\nallow install npm:good version \">=2\"\n"
    runs("npm i good@2.1.0", rules=rules)
    refused("npm i good@1.9.9", rules=rules)
    refused("npm i good", rules=rules)
    rules = BASE + f"deny read {WORK}/private under install:npm\n"
    (WORK / "private").write_text("MARK\n")
    stub(BIN / "node_modules/npm/bin/npm-cli.js").write_text(
        "#!/usr/bin/env sh\nsh -c 'cat private'\necho RAN\n")
    has_not(run("npm i good", rules=rules).stdout, "MARK", "under install:npm holds below npm")
    has(run("npm ls", rules=rules).stdout, "MARK", "and not where nothing is installed")
    has(run("cat private", rules=rules).stdout, "MARK", "nor elsewhere")
    stub(NPM)


def lifecycle(event, name, said=None, manifest=None):
    """A manager that starts what a package brings, as npm does."""
    manifest = manifest or f"{WORK}/node_modules/{name}/package.json"
    NPM.write_text(f"""#!/usr/bin/env sh
[ "$1" = i ] || exit 0
export npm_lifecycle_event={event} npm_package_json={manifest} npm_package_name={said or name}
sh -c 'echo SCRIPT; cat private'
echo RAN
""")


def test_scripts():
    project({})
    (WORK / "private").write_text("MARK\n")
    rules = BASE + "deny script npm:*\nallow script npm:fine @s/fine\n".replace(
        "@s", "npm:@s")
    for event, name, said, what in (
            ("postinstall", "evil", None, False), ("install", "evil", None, False),
            ("prepare", "@s/evil", None, False), ("postinstall", "fine", None, True),
            ("postinstall", "@s/fine", None, True), ("postinstall", "fine", "evil", False),
            ("postinstall", "evil", "fine", False), ("test", "evil", None, True)):
        lifecycle(event, name, said)
        out = run("npm i", rules=rules).stdout
        ok(("SCRIPT" in out) == what and "RAN" in out,
           f"{event} of {name}{' as ' + said if said else ''} {'runs' if what else 'is refused'}")
    lifecycle("postinstall", "evil", manifest=f"{WORK}/package.json")
    has(run("npm i", rules=rules).stdout, "SCRIPT", "the project's own scripts are its own")
    rules = BASE + f"deny read {WORK}/private under script:evil\n"
    lifecycle("postinstall", "evil")
    out = run("npm i", rules=rules).stdout
    ok("SCRIPT" in out and "MARK" not in out, "under script:NAME holds below it")
    lifecycle("postinstall", "fine")
    has(run("npm i", rules=rules).stdout, "MARK", "and not below another's")
    stub(NPM)


def test_record():
    DB.unlink(missing_ok=True)
    project({"good": "1.0.0"})
    run("npm i", rules=BASE)
    run("npm i evil")
    with sqlite3.connect(f"file:{DB}?mode=ro", uri=True) as db:
        rows = db.execute("SELECT object, object2 FROM packages").fetchall()
        same(rows, [("npm:good", "1.0.0")], "a package is on record once, with its version")
        rows = db.execute("SELECT object FROM decisions WHERE class = 'install' "
                          "AND answer = 'deny'").fetchall()
        same(set(rows), {("npm:evil",)}, "so is one that was refused")


def test_question():
    project({"first": "1.0.0", "second": "^2"})
    file = policy(BASE + "ask install npm:*\n")
    r = run("npm i", rules=BASE + "ask install npm:*\n")
    ok("RAN" not in r.stdout, "nobody to ask: refused")
    t = Terminal([WARY, "-q", "-p", file, "--", "sh", "-c", f"{BIN}/npm i third; echo over $?"], env=ENV,
                 cwd=WORK)
    box = t.until(b"no") or b""
    for name in (b"first", b"second", b"third"):
        ok(name in box, f"the question lists {name.decode()}")
    t.type("n")
    rest = t.until(b"over ") or b""
    ok(b"RAN" not in rest and b"wants to" not in rest, "a no stops it before it runs, asked once")
    t.end()


test_spellings()
test_sources()
test_projects()
test_conditions()
test_scripts()
test_record()
test_question()
finish()
