#!/usr/bin/env python3
"""`wary audit export --format cyclonedx`: a bill of materials (CycloneDX 1.6) of what a session left
installed, from rows as package managers make them, honest and not."""
import json
import re

from export_stores import INTEGRITY, SHA512, packages_store
from wary_test import TMP, audit, finish, has, ok, same

HASHES = {"SHA-256": 64, "SHA-512": 128, "SHA-384": 96, "SHA-1": 40}
COMPONENT = {"type", "bom-ref", "group", "name", "version", "hashes", "purl", "externalReferences", "properties"}


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


def test_spelling(bom):
    """Where a registry takes several spellings for one name its URL has one, the component what was said."""
    same(of(bom, "Asked_For.It").get("purl"), "pkg:pypi/asked-for.it", "a name of PyPI")
    same(of(bom, "Some_Name").get("purl"), "pkg:composer/vendor/some_name", "one of Composer")


def test_hostile(bom):
    one = next(o for o in bom["components"] if "evil" in o["name"])
    same(one.get("purl"), None, "an address is no package URL")
    one = next(o for o in bom["components"] if "bad" in o["name"])
    same(one["name"], 'bad\\xff\\n"name\\x1b', "a name that is not text")
    same(one.get("purl"), None, "has no URL, which is text")
    same((of(bom, "JSONStream").get("purl"), of(bom, "JSONStream").get("version")),
         ("pkg:npm/jsonstream", "1\\xff"), "nor has a version that is not text a place in one")
    one = next(o for o in bom["components"] if o["name"].endswith("up"))
    same((one.get("purl"), one.get("externalReferences")), (None, None), "a path is no name, a script no address")
    one = of(bom, "long")
    same((one.get("version"), one.get("purl")), (None, "pkg:npm/long"), "a version that is too long")
    same(prop(of(bom, "link"), "state"), ["link"], "a link says so")
    same(prop(of(bom, "strange"), "state"), ["stray"], "what nothing describes too")


def main():
    db, name = packages_store()
    done = audit("export", "--db", str(db), "--session", name, "--format", "cyclonedx")
    same((done.returncode, done.stderr), (0, ""), "a session's packages")
    bom = json.loads(done.stdout)
    check_bom(bom)
    same(len(bom["components"]), 15, "as many as there are")
    ok(all(c.isprintable() or c == "\n" for c in done.stdout), "nothing that a terminal obeys")
    test_packages(bom)
    test_spelling(bom)
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
