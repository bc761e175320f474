#!/usr/bin/env python3
# wary-test: as=owner
"""Exports are valid by the public schemas themselves: CycloneDX's JSON schema, OTLP's protobuf messages,
the fields of ECS. The schemas and what validates by them come from npm, by a session that is exported then."""
import copy
import json
import os
import pathlib
import subprocess

import schemas
from export_stores import kinds_store, packages_store
from wary_test import DB, SRC, TMP, WARY, audit, finish, has, native, note, ok, same, wary

LINES = {"ecs": ("ecs_before", "ecs_after"), "otlp": ("otlp",)}


def work():
    """A session that installs packages of npm and pip; the schemas are fetched meanwhile."""
    schemas.npm_setup()
    fetch = schemas.fetch_start()
    served, venv = TMP / "served", TMP / "venv"
    for argv in ((SRC / "tests/lib/wheels.py", served), ("-m", "venv", "--without-pip", venv)):
        same(native("/usr/bin/python3", *argv).returncode, 0, f"Python: {argv[0]}")
    # The one that python3-venv would put there, run as it lies: half of the time of an environment.
    pip = next(pathlib.Path("/usr/share/python-wheels").glob("pip-*.whl"))
    done = wary("sh", "-c", 'npm install --ignore-scripts "$@" && "$VENV/bin/python" -m pip install --no-index --find-links'
                ' "$SERVED/simple/first" --find-links "$SERVED/simple/second" first', "sh", *schemas.VALIDATORS,
                cwd=schemas.MODULES, options=["-q"],
                env={**os.environ, "VENV": str(venv), "SERVED": str(served), "PIP_DISABLE_PIP_VERSION_CHECK": "1",
                     "PYTHONPATH": str(pip)})
    if not ok(done.returncode == 0, "packages are installed from the registry"):
        note(done.stdout + done.stderr)
    wrong = schemas.fetch_end(fetch)
    if not ok(not wrong, "the schemas' packages can be fetched"):
        note(wrong)
        finish()


def export(form, db, name, *words):
    """Into a file; its path."""
    path = TMP / f"{name}.{form}"
    with open(path, "wb") as file:
        done = subprocess.run([WARY, "audit", "export", "--db", str(db), "--format", form, *words], stdout=file,
                              stderr=subprocess.PIPE, check=False, stdin=subprocess.DEVNULL)
    same((done.returncode, done.stderr), (0, b""), f"{name} as {form}")
    return path


def exported():
    """Files by format: of the session, and of made rows of every kind."""
    session = json.loads(audit("sessions", "--json").stdout.splitlines()[0])["session"]
    made, of_made = packages_store()
    boms = [export("cyclonedx", DB, "session", "--session", session),
            export("cyclonedx", made, "made", "--session", of_made),
            export("cyclonedx", TMP / "plain.db", "empty", "--session", of_made)]
    packages = {one["purl"].split("@")[0] for one in json.loads(boms[0].read_text())["components"] if "purl" in one}
    same({"pkg:npm/ajv", "pkg:npm/protobufjs", "pkg:pypi/first", "pkg:pypi/second"} - packages, set(),
         "what was installed is in the session's bill of materials")
    kinds = kinds_store()
    files = {"cyclonedx": boms}
    for form, checks in LINES.items():
        for check in checks:
            files[check] = [export(form, DB, "session"), export(form, kinds, "kinds")]
    return files


def test_valid(files):
    found = schemas.validate(**files)
    for (form, path), one in found.items():
        same((one["lines"] > 0, one["wrong"][:3]), (True, []), f"{path.name} is valid by {form}: {one['lines']}")


# ---- that each validator finds what is wrong ----------------------------------------------------------------

REMOVE = object()
FIRST_RECORD = "resourceLogs.0.scopeLogs.0.logRecords.0."
ECS = [("extra", 1), ("event.extra", "x"), ("process.pid", "1"), ("process.pid", 1.5), ("event.category", "file"),
       ("event.category", ["filesystem"]), ("event.kind", "decision"), ("event.type", ["installation"]),
       ("@timestamp", REMOVE), ("@timestamp", "yesterday"), ("ecs.version", REMOVE), ("source.ip", "10.0.0.256"),
       ("message", ["x"]), ("user.id", 0), ("event.outcome", "denied"), ("geo", {"location": "1,1"})]
# What is put where, in a valid document: each must be found.
PLANTED = {
    "cyclonedx": [
        ("extra", 1), ("bomFormat", "SPDX"), ("specVersion", REMOVE), ("serialNumber", "urn:uuid:1"), ("version", 0),
        ("metadata.timestamp", "yesterday"), ("metadata.tools.components.0.type", "program"),
        ("components.0.name", REMOVE), ("components.0.type", "package"), ("components.0.extra", "x"),
        ("components.0.version", 1), ("components.0.hashes", [{"alg": "SHA-256", "content": "xy"}]),
        ("components.0.hashes", [{"alg": "TREE", "content": "00" * 32}]),
        ("components.0.externalReferences", [{"url": "a:b:c", "type": "distribution"}]),
        ("components.0.externalReferences", [{"url": "http://a/", "type": "origin"}]),
        ("components.0.properties", [{"value": "x", "more": "y"}]), ("components.0.purl", "pkg:npm/a b@1"),
        ("components.0.purl", "npm/a"), ("components.0.licenses", [{"license": {"id": "NO-SUCH"}}])],
    "otlp": [
        ("extra", 1), ("resourceLogs.0.extra", 1), ("resourceLogs.0.scopeLogs.0.scope.nam", "x"),
        ("resourceLogs.0.resource.attributes.0.value", {"stringvalue": "x"}),
        ("resourceLogs.0.resource.attributes.0.key", "service.nam"),
        (FIRST_RECORD + "extra", "x"), (FIRST_RECORD + "timeUnixNano", "soon"), (FIRST_RECORD + "timeUnixNano", "1.5"),
        (FIRST_RECORD + "timeUnixNano", "99999999999999999999"), (FIRST_RECORD + "severityNumber", 25),
        (FIRST_RECORD + "severityNumber", "loud"), (FIRST_RECORD + "severityText", 1), (FIRST_RECORD + "body", "text"),
        (FIRST_RECORD + "eventName", {}), (FIRST_RECORD + "attributes.0.value", {"intValue": "x"}),
        (FIRST_RECORD + "attributes.1", {"key": "wary.session", "value": {"stringValue": "twice"}}),
        (FIRST_RECORD + "attributes.0.key", "process.number"), (FIRST_RECORD + "traceId", "abcdef0123456789"),
        (FIRST_RECORD + "traceId", "0" * 32), (FIRST_RECORD + "spanId", "abcdef0123456789" * 2)],
    "ecs_before": ECS, "ecs_after": ECS}
RIGHT = {"otlp": [(FIRST_RECORD + "traceId", "0123456789abcdef" * 2), (FIRST_RECORD + "spanId", "0123456789abcdef")],
         "ecs_after": [("labels", {}), ("source.ip", "10.0.0.1")], "cyclonedx": [("components.0.description", "x")]}


def planted(document, where, what):
    """A copy of a document with something else in one place; what the place lies in is made where it is missing."""
    new = copy.deepcopy(document)
    at, names = new, [int(name) if name.isdigit() else name for name in where.split(".")]
    for name in names[:-1]:
        at = at[name] if isinstance(at, list) else at.setdefault(name, {})
    if what is REMOVE:
        del at[names[-1]]
    else:
        at[names[-1]] = what
    return new


def document_of(form, path):
    text = path.read_text()
    return json.loads(text) if form == "cyclonedx" else json.loads(text.split("\n")[0])


def test_planted(files):
    cases, asked = {}, {}
    for good, table in ((False, PLANTED), (True, RIGHT)):
        for form, changes in table.items():
            document = document_of(form, files[form][0])
            for n, (where, what) in enumerate(changes):
                path = TMP / f"{form}.{'right' if good else 'planted'}{n}"
                path.write_text(json.dumps(planted(document, where, what)) + "\n")
                cases[form, path] = (good, where, what)
                asked.setdefault(form, []).append(path)
    found = schemas.validate(**asked)
    for (form, path), (good, where, what) in cases.items():
        wrong = found[form, path]["wrong"]
        shown = "nothing" if what is REMOVE else json.dumps(what)[:60]
        if not ok(bool(wrong) != good, f"{form}: {where} with {shown} is {'valid' if good else 'found'}"):
            note(wrong)


work()
FILES = exported()
test_valid(FILES)
test_planted(FILES)
has(audit("verify").stdout, "intact", "the record of the session is intact")
finish()
