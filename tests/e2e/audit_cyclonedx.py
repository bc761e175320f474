#!/usr/bin/env python3
"""`wary audit export --format cyclonedx`: a bill of materials (CycloneDX 1.6) of what a session left
installed, from rows as package managers make them, honest and not."""
import base64
import json
import re
import subprocess
import urllib.parse

from wary_test import BUILD, TMP, audit, changed_copy, finish, has, ok, same

SHA512 = bytes(range(64))
INTEGRITY = "sha512-" + base64.b64encode(SHA512).decode()
# object, object2, cwd, reason, argv, whether it has a tree hash: rows in order.
ROWS = [
    ("npm:@scope/name", "^1.2.0", None, 0, None, False),
    ("npm:@scope/name", "1.2.3", "/p/node_modules/@scope/name", 2,
     f"installed files=3 bytes=99 claimed-from=https://r.example.org/@scope/name/-/name-1.2.3.tgz "
     f"claimed-integrity={INTEGRITY} registry=r.example.org:443", True),
    ("npm:left-pad", "1.0.0", "/p/node_modules/left-pad", 2, "installed files=2 bytes=9", True),
    ("npm:left-pad", "1.3.0", "/p/node_modules/left-pad", 2, "installed files=2 bytes=9", True),
    ("npm:gone", "1.0.0", "/p/node_modules/gone", 2, "installed files=2 bytes=9", True),
    ("npm:gone", "1.0.0", "/p/node_modules/gone", 5, "removed", False),
    ("npm:left-pad", "0.0.1", "/p/node_modules/x/node_modules/left-pad", 2, "installed files=2 bytes=9", True),
    ("pip:my-pkg", "1.0+local", "/v/site-packages/my_pkg-1.0.dist-info", 2,
     f"installed files=1 bytes=1 claimed-from=https://h/my.whl claimed-integrity=sha256={'ab' * 32}", True),
    ("cargo:serde", "1", None, 0, None, False),
    ("go:example.org/a/b", "v1.0.0", None, 1, None, False),
    ("npm:https://evil.example.org/x.tgz", None, None, 0, None, False),
    (b"npm:bad\xff\n\"name\x1b", b"1\xff\n", b"/p/\xfe\n", 2, "installed why=$'no\\x1b\\n'", False),
    ("npm:../../up", "1", "/p/node_modules/up", 2, "installed 'claimed-from=javascript:alert(1)' claimed-integrity=sha512-AAAA",
     True),
    ("npm:long", "9" * 2000, "/p/node_modules/long", 2, "installed 'unclosed", True),
    ("npm:link", "", "/p/node_modules/link", 3, "link link=/elsewhere", True),
    ("strange", "1", "/p/node_modules/strange", 4, "stray =x Upper=y", True),
]

HASHES = {"SHA-256": 64, "SHA-512": 128, "SHA-384": 96, "SHA-1": 40}
COMPONENT = {"type", "bom-ref", "group", "name", "version", "hashes", "purl", "externalReferences", "properties"}


def made():
    path, out = TMP / "plain.db", TMP / "packages.db"
    done = subprocess.run([BUILD / "tests/lib/audit_session", path, str(len(ROWS))], check=True, capture_output=True,
                          text=True)
    with changed_copy(path, out) as db:
        first = {table: db.execute(f"SELECT max(id) + 1 FROM {table}").fetchone()[0]
                 for table in ("string", "act", "detail")}
        strings = {None: 0}

        def string(text):
            if text not in strings:
                strings[text] = first["string"] + len(strings)
                db.execute("INSERT INTO string VALUES (?, 0, ?, 0)", (strings[text], text))
            return strings[text]

        db.execute("INSERT INTO act VALUES (?, 'package', 'install', 'execve', 0, 'allow', 'rule', 0, 0, 0, 0)",
                   (first["act"],))
        for n, (object_, object2, cwd, reason, argv, hashed) in enumerate(ROWS):
            detail = 0 if object2 is None and not reason else first["detail"] + n
            if detail:
                db.execute("INSERT INTO detail VALUES (?, ?, ?, ?, 0, ?, ?, 0)",
                           (detail, string(object2), string(cwd), string(argv), bytes([n]) * 32 if hashed else None, reason))
            db.execute("UPDATE event SET act = ?, object = ?, detail = ?, result = 0"
                       " WHERE id = (SELECT id FROM event ORDER BY id LIMIT 1 OFFSET ?)",
                       (first["act"], string(object_), detail, n))
        db.execute("UPDATE checkpoint SET kinds = kinds | 4")
    return out, done.stdout.strip()


def check_hash(one):
    return set(one) == {"alg", "content"} and re.fullmatch("[0-9a-f]{%d}" % HASHES[one["alg"]], one["content"])


def check_component(one):
    """What of the schema a component does not fit."""
    wrong = set(one) - COMPONENT
    if not {"type", "name", "bom-ref"} <= set(one) or one["type"] != "library" or not one["name"]:
        wrong.add("required")
    if not all(isinstance(one.get(name, ""), str) for name in ("group", "name", "version", "purl", "bom-ref")):
        wrong.add("types")
    if len(one.get("version", "")) > 1024:
        wrong.add("version")
    if not all(check_hash(h) for h in one.get("hashes", [])):
        wrong.add("hashes")
    for ref in one.get("externalReferences", []):
        if set(ref) - {"url", "type", "comment", "hashes"} or ref["type"] != "distribution" or \
                not re.fullmatch(r"https?://[!-~]+", ref["url"]) or not all(check_hash(h) for h in ref.get("hashes", [])):
            wrong.add("externalReferences")
    for prop in one.get("properties", []):
        if set(prop) != {"name", "value"} or not re.fullmatch(r"wary:[a-z-]+", prop["name"]) or \
                not isinstance(prop["value"], str) or not prop["value"].isprintable():
            wrong.add(f"property {prop}")
    if "purl" in one and not re.fullmatch(r"pkg:[a-z]+/([A-Za-z0-9.\-_~%]+/)*[A-Za-z0-9.\-_~%]+(@[A-Za-z0-9.\-_~%]+)?",
                                          one["purl"]):
        wrong.add("purl")
    return wrong


def check_bom(bom):
    same(set(bom), {"$schema", "bomFormat", "specVersion", "serialNumber", "version", "metadata", "components"},
         "the members of a BOM")
    same((bom["bomFormat"], bom["specVersion"], bom["version"]), ("CycloneDX", "1.6", 1), "which format")
    ok(re.fullmatch(r"urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}",
                    bom["serialNumber"]), "a serial number")
    meta = bom["metadata"]
    same(set(meta), {"timestamp", "tools", "component", "properties"}, "its metadata")
    ok(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", meta["timestamp"]), "a time")
    same([(c["type"], c["name"]) for c in meta["tools"]["components"]], [("application", "wary")], "the tool")
    same([w for one in bom["components"] for w in check_component(one)], [], "every component fits the schema")
    refs = [one["bom-ref"] for one in bom["components"]] + [meta["component"]["bom-ref"]]
    same(len(set(refs)), len(refs), "each reference once")


def of(bom, name, **want):
    """The one component of a name."""
    found = [one for one in bom["components"] if one["name"] == name and
             all(one.get(key) == value for key, value in want.items())]
    return found[0] if len(found) == 1 else {"found": len(found)}


def prop(one, name):
    return [p["value"] for p in one.get("properties", []) if p["name"] == "wary:" + name]


def test_packages(bom):
    one = of(bom, "name", group="@scope")
    same((one.get("purl"), one.get("version")), ("pkg:npm/%40scope/name@1.2.3", "1.2.3"), "a scoped package of npm")
    same(one.get("hashes"), [{"alg": "SHA-256", "content": "01" * 32}], "its tree hash")
    same(prop(one, "hash"), ["tree"], "which says what it is of")
    same(one.get("externalReferences"), [{
        "type": "distribution", "url": "https://r.example.org/@scope/name/-/name-1.2.3.tgz",
        "comment": "as the package manager wrote it down", "hashes": [{"alg": "SHA-512", "content": SHA512.hex()}]}],
        "where it came from")
    same([o["version"] for o in bom["components"] if o["name"] == "left-pad"], ["1.3.0", "0.0.1"],
         "of a folder its last row, of two folders both")
    same(of(bom, "gone"), {"found": 0}, "what was removed is not there")
    one = of(bom, "my-pkg")
    same(one.get("purl"), "pkg:pypi/my-pkg@1.0%2Blocal", "a package of pip")
    same(one["externalReferences"][0]["hashes"], [{"alg": "SHA-256", "content": "ab" * 32}], "the hash of its wheel")
    one = of(bom, "serde")
    same((one.get("purl"), one.get("version"), prop(one, "state"), prop(one, "asked-version")),
         ("pkg:cargo/serde", None, ["asked"], ["1"]), "one that was only asked for, without a version")
    same(of(bom, "b").get("purl"), "pkg:golang/example.org/a/b", "a module of Go")


def test_hostile(bom):
    one = next(o for o in bom["components"] if "evil" in o["name"])
    same(one.get("purl"), None, "an address is no package URL")
    one = next(o for o in bom["components"] if "bad" in o["name"])
    same(one["name"], 'bad\\xff\\n"name\\x1b', "a name that is not text")
    same(urllib.parse.unquote_to_bytes(one["purl"].split("/", 1)[1]), b'bad\xff\n"name\x1b@1\xff\n', "its URL")
    one = next(o for o in bom["components"] if o["name"].endswith("up"))
    same((one.get("purl"), one.get("externalReferences")), (None, None), "a path is no name, a script no address")
    one = of(bom, "long")
    same((one.get("version"), one.get("purl")), (None, "pkg:npm/long"), "a version that is too long")
    same(prop(of(bom, "link"), "state"), ["link"], "a link says so")
    same(prop(of(bom, "strange"), "state"), ["stray"], "what nothing describes too")


def main():
    db, name = made()
    done = audit("export", "--db", str(db), "--session", name, "--format", "cyclonedx")
    same((done.returncode, done.stderr), (0, ""), "a session's packages")
    bom = json.loads(done.stdout)
    check_bom(bom)
    same(len(bom["components"]), 12, "as many as there are")
    ok(all(c.isprintable() or c == "\n" for c in done.stdout), "nothing that a terminal obeys")
    test_packages(bom)
    test_hostile(bom)
    done = audit("export", "--db", str(TMP / "plain.db"), "--session", name, "--format", "cyclonedx")
    empty = json.loads(done.stdout)
    check_bom(empty)
    same(empty["components"], [], "a session that installed nothing")
    ok(empty["serialNumber"] != bom["serialNumber"], "each has a number of its own")
    for words in ((), ("--session", name, "pid=1")):
        done = audit("export", "--db", str(db), "--format", "cyclonedx", *words)
        same((done.returncode, done.stdout), (2, ""), "of one session, all of it")
        has(done.stderr, "--session ID", "which is told")


main()
finish()
