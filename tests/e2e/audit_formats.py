#!/usr/bin/env python3
"""`wary audit export` for other programs' schemas: what OCSF 1.6.0, ECS 8.17.0, CEF 0 and OTLP ask of
each event, written down here, holds for every row of a session and for every kind and class of row."""
import json
import os
import re
import socket
import subprocess
import threading

from export_stores import CLASSES, KINDS, kinds_store
from wary_test import BUILD, DB, TMP, WARY, audit, changed_copy, finish, has, ok, same, wary

HOSTILE = ["a=b|c\\d", "two\nlines", "tab\tand\x1b[31m", "k=v x=y", "|CEF:0|", '"},{"x":"', "bidi\u202eend", "ü€"]


class Wrong(Exception):
    pass


def need(holds, what):
    if not holds:
        raise Wrong(what)


def at(row, path):
    for name in path.split("."):
        if not isinstance(row, dict) or name not in row:
            return None
        row = row[name]
    return row


def typed(value, kind):
    return isinstance(value, kind) and (kind is not int or not isinstance(value, bool))


# ---- OCSF: what wary writes of it, checked against ocsf-schema v1.6.0, commit -------------------------------
# ---- d0cd8a0fef198bf93086044e33fda6d80c74b9ef: each class and object, its attributes and their types ---------

# Of an activity that has a name in the schema, activity_name is that.
ACTIVITIES = {1001: {1: "Create", 2: "Read", 3: "Update", 4: "Delete", 6: "Set Attributes", 8: "Get Attributes"},
              1003: {4: "Invoke"}, 1007: {1: "Launch", 2: "Terminate"},
              4001: {1: "Open", 4: "Fail", 5: "Refuse", 7: "Listen"}, 4003: {1: "Query"},
              6002: {1: "Install", 2: "Remove"}, 0: {}}
CLASS = {1001: "file_activity", 1003: "kernel_activity", 1007: "process_activity", 4001: "network_activity",
         4003: "dns_activity", 6002: "application_lifecycle", 0: "base_event"}
# Attributes by type: the type's name, or an object's; [x] is a list of x. Those that are required end in "!".
EVENT = {"integer": "severity_id! status_id action_id disposition_id category_uid! class_uid! activity_id!",
         "long": "type_uid! duration", "timestamp": "time!", "string": "message status_code activity_name",
         "metadata": "metadata!", "actor": "actor", "device": "device", "policy": "policy", "unmapped": "unmapped"}
ON_HOST = {**EVENT, "actor": "actor!", "device": "device!"}  # by the profile host
OCSF = {
    "file_activity": {**ON_HOST, "file": "file! file_result"}, "kernel_activity": {**ON_HOST, "kernel": "kernel!"},
    "process_activity": {**ON_HOST, "process": "process!", "integer": EVENT["integer"] + " exit_code"},
    "network_activity": {**EVENT, "network_endpoint": "src_endpoint dst_endpoint"},
    "dns_activity": {**EVENT, "network_endpoint": "src_endpoint dst_endpoint", "dns_query": "query"},
    "application_lifecycle": {**EVENT, "product": "app!"}, "base_event": EVENT,
    "metadata": {"string": "version! uid correlation_uid log_name event_code", "integer": "sequence",
                 "product": "product!", "[string]": "profiles"},
    "product": {"string": "name version vendor_name"}, "policy": {"string": "name desc"},
    "device": {"hostname": "hostname", "integer": "type_id!", "os": "os"},
    "os": {"string": "name! kernel_release", "integer": "type_id!"},
    "actor": {"process": "process", "user": "user"}, "user": {"string": "name uid"},
    # "tid" is deprecated since 1.6.0.
    "process": {"string": "name uid cmd_line working_directory", "integer": "pid", "long": "ptid", "file": "file",
                "user": "user", "process": "parent_process"},
    "file": {"string": "name! path", "integer": "type_id!", "[fingerprint]": "hashes"},
    "fingerprint": {"string": "algorithm", "integer": "algorithm_id!", "hash": "value!"},
    "kernel": {"string": "name!", "integer": "type_id!"}, "dns_query": {"hostname": "hostname!"},
    "network_endpoint": {"hostname": "hostname", "ip": "ip", "string": "name", "port": "port"}}
# One of these is there.
ONE_OF = {"network_activity": ["dst_endpoint", "src_endpoint"], "dns_activity": ["dst_endpoint", "src_endpoint"],
          "product": ["name"], "policy": ["name"], "device": ["hostname"], "actor": ["process", "user"],
          "user": ["name", "uid"], "process": ["pid", "uid"], "network_endpoint": ["ip", "name", "hostname"]}
OCSF_ENUM = {"severity_id": {0, 1, 2, 3, 4, 5, 6, 99}, "status_id": {0, 1, 2, 99}, "action_id": {0, 1, 2, 3, 4, 99},
             "disposition_id": set(range(28)) | {99}, "algorithm_id": set(range(18)) | {99}}
TYPE_ID = {"file": set(range(9)) | {99}, "kernel": {0, 1, 2, 99}, "device": set(range(16)) | {99},
           "os": {0, 100, 101, 200, 201, 300, 301, 302, 400, 401, 402, 99}}
OCSF_TYPE = {"integer": lambda v: typed(v, int) and -2**63 <= v < 2**63, "string": lambda v: typed(v, str),
             "long": lambda v: typed(v, int) and -2**63 <= v < 2**63, "ip": lambda v: typed(v, str) and is_ip(v),
             "timestamp": lambda v: typed(v, int) and 10**12 < v < 10**13,  # milliseconds
             "port": lambda v: typed(v, int) and 0 <= v <= 65535,
             "hostname": lambda v: typed(v, str) and re.fullmatch(r"[A-Za-z0-9_.-]{1,253}", v),
             "hash": lambda v: typed(v, str) and re.fullmatch(r"[a-fA-F0-9]+", v),
             # What OCSF has no name for: no rule but that it is an object.
             "unmapped": lambda v: isinstance(v, dict)}


def ocsf_value(kind, value, where):
    if kind.startswith("["):
        need(isinstance(value, list) and value, f"{where} is a list")
        for one in value:
            ocsf_value(kind[1:-1], one, where)
    elif kind in OCSF:
        ocsf_object(kind, value, where)
    else:
        need(OCSF_TYPE[kind](value), f"{where} is of the type {kind}: {value!r}")


def ocsf_object(kind, value, where):
    need(isinstance(value, dict) and value, f"{where} is an object")
    types = {name.rstrip("!"): one for one, names in OCSF[kind].items() for name in names.split()}
    for names in OCSF[kind].values():
        for name in names.split():
            need(not name.endswith("!") or name[:-1] in value, f"{where}.{name[:-1]} is required")
    need(kind not in ONE_OF or any(name in value for name in ONE_OF[kind]), f"{where} has one of {ONE_OF.get(kind)}")
    for name, one in value.items():
        need(name in types, f"{where} has no {name}")
        ocsf_value(types[name], one, f"{where}.{name}")
        allowed = TYPE_ID[kind] if name == "type_id" else OCSF_ENUM.get(name)
        need(allowed is None or one in allowed, f"{where}.{name}: {one} is no value of it")


def is_ip(text):
    for family in (socket.AF_INET, socket.AF_INET6):
        try:
            socket.inet_pton(family, text)
            return True
        except OSError:
            pass
    return False


def check_ocsf(row):
    uid = row["class_uid"]
    need(uid in CLASS, f"class {uid}")
    ocsf_object(CLASS[uid], row, CLASS[uid])
    need(row["category_uid"] == uid // 1000, "category")
    activity, name = row["activity_id"], row.get("activity_name")
    need(activity in ACTIVITIES[uid] or activity == 99, f"activity {activity} of {uid}")
    need(name and (name == ACTIVITIES[uid].get(activity) if activity != 99 else name not in ACTIVITIES[uid].values()),
         f"activity {activity} of {uid} is not {name}")
    need(row["type_uid"] == uid * 100 + activity, "type_uid")
    need(at(row, "metadata.version") == "1.6.0", "the schema's version")
    # Those whose attributes are used: action_id, disposition_id and policy; actor and device.
    need(at(row, "metadata.profiles") == ["host", "security_control"], "profiles")
    need("status_id" not in row or (row["status_id"] == 2) >= ("status_code" in row), "only what failed has a code")


# ---- ECS -------------------------------------------------------------------------------------------------

EXPECTED = {"api": "access admin allowed change creation deletion denied end info start user",
            "file": "access change creation deletion info", "process": "access change end info start",
            "network": "access allowed connection denied end info protocol start",
            "package": "access change deletion info installation start", "session": "start end info"}
ECS = {"@timestamp": "date", "ecs.version": "keyword", "message": "keyword", "event.kind": "keyword",
       "event.module": "keyword", "event.dataset": "keyword", "event.action": "keyword", "event.outcome": "keyword",
       "event.id": "keyword", "event.sequence": "long", "event.duration": "long", "event.code": "keyword",
       "event.category": "array", "event.type": "array", "error.code": "keyword", "host.hostname": "keyword",
       "host.os.type": "keyword", "host.os.kernel": "keyword", "observer.vendor": "keyword",
       "observer.product": "keyword", "observer.version": "keyword", "user.id": "keyword", "user.name": "keyword",
       "process.pid": "long", "process.thread.id": "long", "process.parent.pid": "long",
       "process.executable": "keyword", "process.name": "keyword", "process.command_line": "keyword",
       "process.working_directory": "keyword", "process.exit_code": "long", "process.hash.sha256": "keyword",
       "rule.name": "keyword", "rule.description": "keyword", "rule.ruleset": "keyword", "file.path": "keyword",
       "file.name": "keyword", "file.hash.sha256": "keyword", "destination.address": "keyword", "destination.ip": "ip",
       "destination.domain": "keyword", "destination.port": "long", "source.address": "keyword", "source.ip": "ip",
       "source.port": "long", "dns.question.name": "keyword", "package.name": "keyword", "package.type": "keyword",
       "package.version": "keyword", "package.checksum": "keyword", "package.path": "keyword"}
ECS_TYPE = {"keyword": lambda v: typed(v, str), "long": lambda v: typed(v, int), "ip": is_ip,
            "array": lambda v: isinstance(v, list) and v and all(typed(one, str) for one in v),
            "date": lambda v: re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", v)}


def flat(row, before=""):
    for name, value in row.items():
        if isinstance(value, dict):
            yield from flat(value, f"{before}{name}.")
        else:
            yield before + name, value


def check_ecs(row):
    for name in ("@timestamp", "ecs.version", "event.kind", "event.category", "event.type", "event.outcome"):
        need(at(row, name) is not None, f"{name} is there")
    for name, value in flat(row):
        if not name.startswith("wary."):
            need(name in ECS, f"{name} is a field of ECS")
            need(ECS_TYPE[ECS[name]](value), f"{name} is of type {ECS[name]}: {value!r}")
    event = row["event"]
    need(row["ecs"]["version"] == "8.17.0", "version")
    need(event["kind"] == "event", "kind")
    need(event["outcome"] in ("success", "failure", "unknown"), "outcome")
    need(set(event["category"]) <= set(EXPECTED), f"category {event['category']}")
    may = {word for one in event["category"] for word in EXPECTED[one].split()}
    need(set(event["type"]) <= may, f"type {event['type']} of {event['category']}")


# ---- CEF -------------------------------------------------------------------------------------------------

CEF_MAX = {"act": 63, "outcome": 63, "cat": 1023, "reason": 1023, "msg": 1023, "sproc": 1023, "suid": 1023,
           "fname": 1023, "filePath": 1023, "fileHash": 255, "dvchost": 100, "externalId": 40, "dhost": 1023,
           "shost": 1023, **{f"cs{n}": 4000 for n in range(1, 7)}, "flexString1": 1023, "flexString2": 1023}
CEF_INTEGER = {"oldFileSize"}  # of 32 bits
CEF_NUMBER = {"rt", *CEF_INTEGER, "spid", "dpt", "spt", "cn1", "cn2", "cn3", "externalId"}
CEF_LABELLED = {*(f"cs{n}" for n in range(1, 7)), "cn1", "cn2", "cn3", "flexString1", "flexString2", "c6a2", "c6a3"}


def cef_unescape(text, may):
    need(not re.search(r"\\(?![" + may + "])", text.replace("\\\\", "")), f"an escape that is none in {text!r}")
    return re.sub(r"\\(.)", r"\1", text)


def cef_of(line):
    """Reads a line as a receiver does: seven parts, then pairs."""
    parts = re.split(r"(?<!\\)(?:\\\\)*\|", line, maxsplit=7)
    need(len(parts) == 8, "seven bars end the header")
    need(parts[0] == "CEF:0" and parts[1:3] == ["wary", "wary"], "whose it is")
    need(parts[6].isdigit() and 0 <= int(parts[6]) <= 10, "severity")
    for part in parts[1:7]:
        cef_unescape(part, r"|")
    starts = list(re.finditer(r"(?:^| )([A-Za-z0-9_]+)(?<!\\)=", parts[7]))
    need(starts and starts[0].start() == 0, "pairs")
    pairs = {}
    for one, following in zip(starts, [*starts[1:], None]):
        value = parts[7][one.end():following.start() if following else None]
        need(one[1] not in pairs, f"{one[1]} is there once")
        need(not re.search(r"(?<!\\)(?:\\\\)*=", value), "no = in a value stands bare")
        pairs[one[1]] = cef_unescape(value, r"=nr")
    return pairs


def check_cef(line):
    pairs = cef_of(line)
    for key, value in pairs.items():
        base = key.removesuffix("Label")
        need(base in CEF_LABELLED or key in CEF_MAX or key in CEF_NUMBER or key in ("dst", "src"), f"key {key}")
        need(len(value.encode()) <= CEF_MAX.get(key, 1023), f"{key} has {len(value)} bytes")
        need(key not in CEF_NUMBER or re.fullmatch(r"-?\d+", value), f"{key} is a number: {value}")
        need(base not in CEF_LABELLED or base + "Label" in pairs, f"{key} has a label")
        need(key not in CEF_INTEGER or 0 <= int(value) < 2**31, f"{key} has 32 bits: {value}")
        need(key not in ("dst", "src") or re.fullmatch(r"[0-9.]+", value), f"{key} is IPv4")
    need(pairs["outcome"] in ("success", "failure", "unknown"), "outcome")
    need(all(c.isprintable() for c in line), "nothing that a terminal obeys")


# ---- OTLP ------------------------------------------------------------------------------------------------

def check_value(value):
    need(isinstance(value, dict) and len(value) == 1, "one value")
    (kind, what), = value.items()
    need(kind in ("stringValue", "intValue"), kind)
    need(typed(what, str), f"{kind} is a text")
    need(kind != "intValue" or re.fullmatch(r"-?\d+", what) and -2**63 <= int(what) < 2**63, f"intValue {what}")


def check_attributes(attributes):
    names = [one["key"] for one in attributes]
    need(len(set(names)) == len(names), "each attribute once")
    for one in attributes:
        need(set(one) == {"key", "value"} and one["key"], "key and value")
        check_value(one["value"])


def check_record(record):
    need(set(record) == {"timeUnixNano", "observedTimeUnixNano", "severityNumber", "severityText", "eventName", "body",
                         "attributes"}, f"fields {sorted(record)}")
    for name in ("timeUnixNano", "observedTimeUnixNano"):
        need(re.fullmatch(r"[1-9]\d{18}", record[name]), f"{name} {record[name]}")
    need(typed(record["severityNumber"], int) and 1 <= record["severityNumber"] <= 24, "severity")
    need(len(record["eventName"]) <= 256, "the event's name")
    check_value(record["body"])
    check_attributes(record["attributes"])


def otlp_records(line):
    data = json.loads(line)
    need(set(data) == {"resourceLogs"}, "ExportLogsServiceRequest")
    for resource in data["resourceLogs"]:
        need(set(resource) == {"resource", "scopeLogs", "schemaUrl"}, "ResourceLogs")
        check_attributes(resource["resource"]["attributes"])
        names = {one["key"] for one in resource["resource"]["attributes"]}
        need("service.name" in names, "of what")
        for scope in resource["scopeLogs"]:
            need(set(scope) == {"scope", "logRecords", "schemaUrl"}, "ScopeLogs")
            need(scope["scope"]["name"] == "wary.audit" and scope["logRecords"], "ScopeLogs")
            yield from scope["logRecords"]


# ---- the tests -------------------------------------------------------------------------------------------

def export(form, db=DB, words=()):
    done = subprocess.run([WARY, "audit", "export", "--db", str(db), "--format", form, *words], capture_output=True,
                          check=False, stdin=subprocess.DEVNULL)
    same((done.returncode, done.stderr), (0, b""), f"as {form}")
    text = done.stdout.decode()  # valid UTF-8
    return text.split("\n")[:-1]


def all_hold(rows, check, what):
    wrong = []
    for row in rows:
        try:
            check(row)
        except (Wrong, KeyError, TypeError) as error:
            wrong.append(f"{error!r}: {row}")
    same([len(wrong), *(one[:600] for one in wrong[:3])], [0], f"{what}: every one of {len(rows)} rows is valid")


def unprintable(text):
    return re.sub(r"\\(x([0-9a-f]{2})|u\{([0-9a-f]+)\}|[ntr\\])",
                  lambda m: (chr(int(m[2] or m[3], 16)) if m[2] or m[3] else
                             {"n": "\n", "t": "\t", "r": "\r", "\\": "\\"}[m[1]]), text)


def test_all(db, what):
    """Every format, on every row of a store; the rows as the export has them."""
    plain = [json.loads(line) for line in export("jsonl", db)]
    ocsf = [json.loads(line) for line in export("ocsf", db)]
    ecs = [json.loads(line) for line in export("ecs", db)]
    cef = export("cef", db)
    otlp = [record for line in export("otlp", db) for record in otlp_records(line)]
    all_hold(ocsf, check_ocsf, f"OCSF, {what}")
    all_hold(ecs, check_ecs, f"ECS, {what}")
    all_hold(cef, check_cef, f"CEF, {what}")
    all_hold(otlp, check_record, f"OTLP, {what}")
    ids = [str(row["id"]) for row in plain]
    same([row["metadata"]["uid"] for row in ocsf], ids, "OCSF has every row, in order")
    same([row["event"]["id"] for row in ecs], ids, "ECS too")
    same([cef_of(line)["externalId"] for line in cef], ids, "CEF too")
    same([attribute(row, "wary.id") for row in otlp], ids, "OTLP too")
    return plain, ocsf, ecs, cef, otlp


def attribute(record, name):
    for one in record["attributes"]:
        if one["key"] == name:
            return next(iter(one["value"].values()))
    return None


def work():
    folder = TMP / "work"
    folder.mkdir()
    for name in [*HOSTILE, "secret"]:
        (folder / name).write_text("x")
    with open(os.fsencode(folder) + b"/not\xffutf8", "w", encoding="utf8"):
        pass
    done = wary("sh", "-c", "cat ./* >/dev/null; mv '|CEF:0|' new; rm 'k=v x=y'; exit 3", cwd=folder,
                rules=f"default allow\ndeny read {folder}/secret\n")
    same(done.returncode, 3, "a session with odd names")


def test_session():
    plain, ocsf, ecs, cef, otlp = test_all(DB, "of a session")
    has("\n".join(export("otlp")), '{"key":"host.name","value":{"stringValue":', "OTLP: on which host")
    want = {*HOSTILE, "not\udcffutf8"}
    for form, names in (("OCSF", [at(row, "file.name") for row in ocsf]), ("ECS", [at(row, "file.name") for row in ecs]),
                        ("CEF", [cef_of(line).get("fname") for line in cef]),
                        ("OTLP", [attribute(row, "file.name") for row in otlp])):
        read = {unprintable(name) for name in names if name}
        same({name for name in want if "\udcff" not in name} - read, set(), f"{form}: names, read back")
        ok("not\\xffutf8" in names, f"{form}: a byte that is not UTF-8 is \\xff")
    refused = [n for n, row in enumerate(plain) if row["answer"] == "deny"]
    ok(refused, "something was refused")
    for n in refused:
        same((ocsf[n]["action_id"], ocsf[n]["disposition_id"], ocsf[n]["status_id"]), (2, 2, 2), "OCSF: denied")
        has(ecs[n]["event"]["type"], "denied", "ECS: denied")
        same((cef_of(cef[n])["act"], otlp[n]["severityText"]), ("deny", "WARN"), "CEF, OTLP: denied")
    ends = [row for row in ocsf if row["class_uid"] == 1007 and row["activity_id"] == 2]
    has([row.get("exit_code") for row in ends], 3, "a process's exit status")
    same(json.loads(export("ocsf", words=["class=exec", "and", "kind=process"])[0])["class_uid"], 1007, "an expression")
    return plain


def test_every_kind():
    """Rows of another kind and class each, with objects of all sorts."""
    plain, *others = test_all(kinds_store(), "of every kind and class")
    rows = dict(zip(("ocsf", "ecs", "cef", "otlp"), others))
    same({(row["kind"], row["class"]) for row in plain}, {(k, c) for k in KINDS for c in CLASSES}, "all of them")
    test_planted(rows)


def test_bare():
    """Rows of which next to nothing is known, of a session whose machine has no name."""
    kinds_store()
    with changed_copy(TMP / "kinds.db", TMP / "bare.db") as db:
        db.execute("UPDATE session SET host = '', user = '', kernel = '', argv = ''")
        db.execute("UPDATE actor SET pid = 0, ppid = 0, program = 0")
        db.execute("UPDATE act SET syscall = '', rule_file = 0, rule_line = 0")
        db.execute("UPDATE event SET object = 0, detail = 0")
    test_all(TMP / "bare.db", "of which little is known")


# ---- that what is wrong is found -------------------------------------------------------------------------

REMOVE = object()
# In which row of a session, where, and what. The row is the first that has the first part of the place.
PLANTED = {
    "ocsf": [
        ("file.extra", "x"), ("file.hostname", "x"), ("file.name", REMOVE), ("file.type_id", REMOVE), ("file.type_id", 42),
        ("file.type_id", "1"), ("file.path", 1), ("file", REMOVE), ("file", []), ("file", "x"), ("file_result", {}),
        ("extra", 1), ("time", REMOVE), ("time", 1700000000), ("time", "now"), ("duration", 1.5), ("duration", True),
        ("severity_id", 7), ("severity_id", REMOVE), ("status_id", 3), ("action_id", 5), ("disposition_id", 28),
        ("activity_id", 15), ("activity_id", 1), ("activity_name", "Look"), ("activity_name", REMOVE), ("type_uid", 100199),
        ("category_uid", 2), ("class_uid", 1002), ("class_uid", 1007), ("metadata.version", "1.5.0"), ("metadata.product", REMOVE),
        ("metadata.product.name", REMOVE), ("metadata.product.pid", 1), ("metadata.profiles", ["host"]),
        ("metadata.profiles", "host"), ("metadata.sequence", "1"), ("actor", REMOVE), ("actor", {}), ("actor.process.pid", REMOVE),
        ("actor.process.tid", 1), ("actor.process.ptid", "1"), ("actor.user", {}), ("actor.process.file.name", REMOVE),
        ("device", REMOVE), ("device.hostname", REMOVE), ("device.type_id", REMOVE), ("device.type_id", 16), ("device.os.name", REMOVE),
        ("device.os.type_id", 203), ("policy.name", REMOVE), ("policy.rule", "x"), ("unmapped", "x"), ("message", 1),
        ("process", REMOVE), ("process.pid", REMOVE), ("exit_code", "3"), ("process.parent_process.extra", 1),
        ("dst_endpoint", REMOVE), ("dst_endpoint.port", 65536), ("dst_endpoint.port", -1), ("dst_endpoint.ip", "10.0.0.256"),
        ("dst_endpoint.hostname", "a b"), ("app.pid", 1), ("app", REMOVE), ("app.name", REMOVE), ("kernel.type_id", 3),
        ("query.hostname", ""), ("query", {}), ("hashes", [{"algorithm_id": 3, "value": "x"}]),
        ("process.file.hashes", [{"algorithm_id": 3, "value": "xyz"}]), ("process.file.hashes", [{"value": "00"}]),
        ("process.file.hashes", {"algorithm_id": 3, "value": "00"}), ("process.file.hashes", [])],
    "ecs": [("extra", 1), ("file.extra", "x"), ("process.pid", "1"), ("process.pid", 1.5), ("event.category", "file"),
            ("event.category", ["filesystem"]), ("event.kind", "decision"), ("event.kind", REMOVE), ("event.type", ["installation"]),
            ("@timestamp", REMOVE), ("@timestamp", "yesterday"), ("ecs.version", "8.16.0"), ("event.outcome", "denied"),
            ("destination.ip", "x"), ("message", ["x"]), ("user.id", 0)],
    "otlp": [("extra", 1), ("timeUnixNano", 1), ("timeUnixNano", "1.5"), ("severityNumber", 25), ("severityNumber", "9"),
             ("eventName", "x" * 300), ("body", "x"), ("attributes", [{"key": "a", "value": {"intValue": 1}}]),
             ("attributes", [{"key": "a", "value": {"intValue": "x"}}]), ("attributes", [{"key": "a", "value": {"stringValue": 1}}]),
             ("attributes", [{"key": "a", "value": {"stringValue": "x", "intValue": "1"}}]), ("body", REMOVE),
             ("attributes", [{"key": "a", "value": {"stringValue": "x"}}] * 2), ("attributes", [{"key": ""}])]}
# Of a line of CEF: what is put in the place of what.
PLANTED_CEF = [("CEF:0|", "CEF:1|"), ("|wary|wary|", "|wary|"), ("|1|rt=", "|11|rt="), ("|1|rt=", "|x|rt="), (" act=", " action="),
               (" act=", " rt=1 act="), (" cs3Label=syscall", ""), (" outcome=success", " outcome=done"), (" outcome=success", ""),
               (" spid=", " spid=x"), (" cn1=", " cn1=0x"), (" fname=", " fname=a=b"), (" fname=", " fname=a\\b"),
               (" fname=", " fname=" + "x" * 1100), (" act=", " act=" + "x" * 70), (" fname=", " fname=\t"),
               (" fname=", " oldFileSize=2147483648 fname="), (" fname=", " oldFileSize=-1 fname="), (" fname=", " oldFileSize=1.5 fname=")]


def planted(document, where, what):
    new = json.loads(json.dumps(document))
    row, names = new, where.split(".")
    for name in names[:-1]:
        row = row.setdefault(name, {})
    if what is REMOVE:
        del row[names[-1]]
    else:
        row[names[-1]] = what
    return new


def is_found(check, row):
    try:
        check(row)
    except (Wrong, KeyError, TypeError, AttributeError, ValueError):
        return True
    return False


def test_planted(rows):
    for form, check in (("ocsf", check_ocsf), ("ecs", check_ecs), ("otlp", check_record)):
        for where, what in PLANTED[form]:
            has_it = [row for row in rows[form] if at(row, where if what is REMOVE else where.split(".")[0]) is not None]
            row = next(iter(has_it), rows[form][0])
            ok(not is_found(check, row) and is_found(check, planted(row, where, what)),
               f"{form}: {where} with {'nothing' if what is REMOVE else json.dumps(what)[:50]} is found")
    for old, new in PLANTED_CEF:
        line = next(line for line in rows["cef"] if old in line)
        ok(not is_found(check_cef, line) and is_found(check_cef, line.replace(old, new, 1)), f"cef: {new[:40]!r} for {old!r} is found")


def peak_kib(form, db):
    """The most memory that an export took."""
    child = subprocess.Popen([WARY, "audit", "export", "--db", str(db), "--format", form], stdout=subprocess.PIPE)
    lines = []
    drain = threading.Thread(target=lambda: lines.append(sum(block.count(b"\n")
                                                             for block in iter(lambda: child.stdout.read(65536), b""))))
    drain.start()
    _, status, usage = os.wait4(child.pid, 0)
    drain.join()
    child.returncode = status
    child.stdout.close()
    same(status, 0, f"{form}, {lines[0]} lines")
    return usage.ru_maxrss


def test_streams():
    few, many = TMP / "few.db", TMP / "many.db"
    for db, events in ((few, 500), (many, 20000)):
        subprocess.run([BUILD / "tests/lib/audit_session", db, str(events)], check=True, stdout=subprocess.DEVNULL)
    for form in ("ocsf", "otlp"):
        grown = peak_kib(form, many) - peak_kib(form, few)
        # 20,000 rows are more than 20 MiB.
        ok(grown < 8192, f"{form}: rows are not held: {grown} KiB more for forty times as many")


def test_words():
    done = audit("export", "--format", "xml")
    same((done.returncode, done.stdout), (2, ""), "a format that there is not")
    has(done.stderr, "jsonl, csv, ocsf, ecs, cef, otlp, cyclonedx", "those that there are")
    has(audit("export", "--help").stdout, "ocsf", "help names them")


work()
test_session()
test_every_kind()
test_bare()
test_streams()
test_words()
finish()
