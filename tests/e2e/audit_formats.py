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
from wary_test import BUILD, DB, TMP, WARY, audit, finish, has, ok, same, wary

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


# ---- OCSF: class_uid -> category, activities, what must be there; checked against ocsf-schema v1.6.0, ----
# ---- commit d0cd8a0fef198bf93086044e33fda6d80c74b9ef ----------------------------------------------------

ACTIVITIES = {1001: {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 99}, 1003: {0, 1, 2, 3, 4, 99},
              1007: {0, 1, 2, 3, 4, 5, 99}, 4001: {0, 1, 2, 3, 4, 5, 6, 7, 99}, 4003: {0, 1, 2, 6, 99},
              6002: {0, 1, 2, 3, 4, 5, 6, 7, 8, 99}, 0: {0, 99}}
REQUIRED = {1001: ["actor", "device", "file"], 1003: ["actor", "device", "kernel"], 1007: ["actor", "device", "process"],
            4001: [], 4003: [], 6002: ["app"], 0: []}
# One of these is (constraints of the class). "tid" is deprecated since 1.6.0, and no attribute here.
ONE_OF = {4001: ["dst_endpoint", "src_endpoint"], 4003: ["dst_endpoint", "src_endpoint"]}
# Object -> what is required in it, and one of what.
OBJECT = {"file": (["name", "type_id"], []), "kernel": (["name", "type_id"], []), "device": (["type_id"], []),
          "os": (["name", "type_id"], []), "metadata": (["product", "version"], []), "query": (["hostname"], []),
          "process": ([], ["pid", "uid", "cpid"]), "parent_process": ([], ["pid", "uid", "cpid"]),
          "user": ([], ["account", "name", "uid"]), "actor": ([], ["process", "user", "session", "app_name"]),
          "dst_endpoint": ([], ["ip", "uid", "name", "hostname", "svc_name"]),
          "src_endpoint": ([], ["ip", "uid", "name", "hostname", "svc_name"]), "file_result": (["name", "type_id"], []),
          "app": ([], []), "product": ([], []), "policy": ([], []), "hashes": (["algorithm_id", "value"], [])}
OCSF_TYPES = {
    int: ["time", "duration", "severity_id", "status_id", "action_id", "disposition_id", "category_uid", "class_uid",
          "activity_id", "type_uid", "exit_code", "type_id", "pid", "ptid", "port", "sequence", "algorithm_id"],
    str: ["message", "status_code", "activity_name", "name", "path", "cmd_line", "working_directory", "hostname", "ip",
          "version", "vendor_name", "uid", "desc", "log_name", "correlation_uid", "event_code", "kernel_release",
          "algorithm", "value"],
}
OCSF_ENUM = {"severity_id": {0, 1, 2, 3, 4, 5, 6, 99}, "status_id": {0, 1, 2, 99}, "action_id": {0, 1, 2, 3, 4, 99},
             "disposition_id": set(range(28)) | {99}, "algorithm_id": set(range(8)) | {99}}
TYPE_ID = {"file": set(range(8)) | {99}, "file_result": set(range(8)) | {99}, "kernel": {0, 1, 2, 99},
           "os": {0, 100, 101, 200, 201, 300, 301, 302, 400, 401, 402, 99}, "device": set(range(16)) | {99}}


def ocsf_object(name, value):
    need(name in OBJECT, f"object {name} is not one of those expected")
    for one in value if isinstance(value, list) else [value]:
        need(isinstance(one, dict) and one or name == "app", f"{name} is an object")
        required, some = OBJECT[name]
        for key in required:
            need(key in one, f"{name}.{key} is required")
        need(not some or any(key in one for key in some), f"{name} has one of {some}")
        if name in TYPE_ID:
            need(one["type_id"] in TYPE_ID[name], f"{name}.type_id {one['type_id']}")
        ocsf_attributes(one)


def ocsf_attributes(row):
    types = {name: kind for kind, names in OCSF_TYPES.items() for name in names}
    for name, value in row.items():
        if name == "unmapped":
            continue
        if name == "profiles":
            need(value == ["host", "security_control"], "profiles")
        elif isinstance(value, (dict, list)):
            ocsf_object(name, value)
        else:
            need(name in types and typed(value, types[name]), f"{name}: {value!r}")
            need(name not in OCSF_ENUM or value in OCSF_ENUM[name], f"{name}: {value!r} is no value of it")
            need(name != "port" or 0 <= value <= 65535, "port")
            need(name != "ip" or is_ip(value), f"ip {value}")
            need(name != "hostname" or re.fullmatch(r"[A-Za-z0-9_.-]{1,253}", value), f"hostname {value}")


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
    need(uid in ACTIVITIES, f"class {uid}")
    need(row["category_uid"] == uid // 1000, "category")
    need(row["activity_id"] in ACTIVITIES[uid], f"activity {row['activity_id']} of {uid}")
    need(row["activity_id"] != 99 or row.get("activity_name"), "another activity has a name")
    need(row["type_uid"] == uid * 100 + row["activity_id"], "type_uid")
    for name in ["metadata", "severity_id", "time", *REQUIRED[uid]]:
        need(name in row, f"{name} is required of {uid}")
    need(uid not in ONE_OF or any(name in row for name in ONE_OF[uid]), f"{uid} has one of {ONE_OF.get(uid)}")
    need(at(row, "metadata.version") == "1.6.0", "the schema's version")
    need(10**12 < row["time"] < 10**13, "time is in milliseconds")
    ocsf_attributes(row)


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
        need({"service.name", "host.name"} <= names, "of what")
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
    plain = test_all(kinds_store(), "of every kind and class")[0]
    same({(row["kind"], row["class"]) for row in plain}, {(k, c) for k in KINDS for c in CLASSES}, "all of them")


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
test_streams()
test_words()
finish()
