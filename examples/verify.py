#!/usr/bin/env python3
"""A second verifier of wary's record, written from docs/AUDIT.md alone.

    verify.py STORE MACHINE_PUBLIC_KEY_FILE_OR_HEX
    verify.py --proof FILE MACHINE_PUBLIC_KEY_FILE_OR_HEX

Reads committed rows only (a running session's journal is not looked at), with
nothing but Python's standard library.  Exit status: 0 intact, 1 not, 2 usage.
"""
import hashlib
import json
import pathlib
import sqlite3
import struct
import sys

# --- Ed25519 verification (RFC 8032), slow and plain -------------------------
P = 2**255 - 19
Q = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
ROOT = pow(2, (P - 1) // 4, P)


def add(a, b):
    (x1, y1, z1, t1), (x2, y2, z2, t2) = a, b
    e, f = (y1 - x1) * (y2 - x2) % P, (y1 + x1) * (y2 + x2) % P
    g, h = 2 * t1 * t2 * D % P, 2 * z1 * z2 % P
    e, f, g, h = f - e, h - g, h + g, f + e
    return e * f % P, g * h % P, f * g % P, e * h % P


def times(s, point):
    total = (0, 1, 1, 0)
    while s:
        if s & 1:
            total = add(total, point)
        point = add(point, point)
        s >>= 1
    return total


def decode(data):
    n = int.from_bytes(data, "little")
    y, sign = n & (2**255 - 1), n >> 255
    x2 = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(x2, (P + 3) // 8, P)
    if (x * x - x2) % P:
        x = x * ROOT % P
    if y >= P or (x * x - x2) % P or (x == 0 and sign):
        raise ValueError("not a point")
    if x & 1 != sign:
        x = P - x
    return x, y, 1, x * y % P


BASE = decode((4 * pow(5, P - 2, P) % P).to_bytes(32, "little"))


def signed(public, message, signature):
    try:
        a, r = decode(public), decode(signature[:32])
    except ValueError:
        return False
    s = int.from_bytes(signature[32:], "little")
    digest = hashlib.sha512(signature[:32] + public + message).digest()
    k = int.from_bytes(digest, "little") % Q
    left, right = times(s, BASE), add(r, times(k, a))
    return s < Q and all((left[i] * right[2] - right[i] * left[2]) % P == 0 for i in (0, 1))


# --- canonical bytes ---------------------------------------------------------
def H(data):
    return hashlib.blake2b(data, digest_size=32).digest()


def text(v):
    data = v if isinstance(v, bytes) else ("" if v is None else v).encode()
    return struct.pack("<I", len(data)) + data


def u32(*values):
    return b"".join(struct.pack("<I", v or 0) for v in values)


def u64(*values):
    return b"".join(struct.pack("<Q", v or 0) for v in values)


def i64(v):
    return struct.pack("<q", v or 0)


def merkle(leaves):
    if len(leaves) == 1:
        return leaves[0]
    half = 1 << (len(leaves) - 1).bit_length() - 1
    return H(b"\x01" + merkle(leaves[:half]) + merkle(leaves[half:]))


# What a store is made of, as docs/AUDIT.md has it, and H of how that was written.
TABLES = ("signer", "session", "session_source", "source", "string", "actor", "act", "detail", "event", "closing",
          "checkpoint", "tombstone")
VIEWS = ("sessions", "events", "decisions", "processes", "packages", "grants", "questions", "limits", "flows")
OBJECTS = {("table", t) for t in TABLES} | {("view", v) for v in VIEWS} | {
    ("trigger", f"{t}_{what}") for t in TABLES for what in ("update", "delete", "insert")} | {
    ("index", "checkpoint_session"), ("index", "session_name")}
SCHEMAS = {"96db5524d95646084d9abf647c4ba329f91e2d5f9c4693473ebe1ddc9f4ef79e": 2,
           "2a5b01a2deb3de6115d57740e4627ae19df109fcdfb3e17d54004af13d6a8ce6": 1,
           "39fb4306dee06c734e31780b2c88f9b1c18ba6ddfe5a24eca8a17ec3412f1629": 1}  # an earlier view flows
SIZES = {1: "NULL, NULL", 2: "size_before, links_left"}  # what version 1 does not know of an event


class Broken(Exception):
    pass


def check(ok, what):
    if not ok:
        raise Broken(what)


class Verifier:
    def __init__(self, db, machine):
        self.db = db
        self.machine = machine
        self.signers = {}
        self.trusted = set()  # the machine's keys, and those that they certified
        self.rows = 0
        self.sessions, self.actors = {}, {}
        self.gaps = {}
        self.removed = {}  # signer of a session that was removed: its uuid

    def all(self, sql, *args):
        return self.db.execute(sql, args).fetchall()

    def one(self, sql, *args):
        row = self.db.execute(sql, args).fetchone()
        check(row is not None, f"missing: {sql.split(' WHERE')[0]} {args}")
        return row

    def schema(self):
        """Only what a writer of a record makes: readers would believe an index, a trigger or a view as well."""
        rows = self.all("SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name")
        there = {row[:2] for row in rows}
        check(not there - OBJECTS, f"there is what no writer makes: {ascii(sorted(there - OBJECTS, key=repr))}")
        check(not OBJECTS - there, f"removed: {sorted(OBJECTS - there)}")
        check(all(isinstance(value, str) for row in rows for value in row), "the schema was changed")
        self.version = SCHEMAS.get(H(b"".join(text(value) for row in rows for value in row)).hex())
        check(self.version, "the schema was changed")
        check(self.one("PRAGMA user_version")[0] == self.version, "it says that it is of another version")

    def tombstones(self):
        """What was removed: by the first checkpoint of each gap, how many, and what is on both sides."""
        for session, uuid, data in self.all("SELECT session, uuid, bridges FROM tombstone"):
            while data:
                first, count, signer, prev, *ranges = struct.unpack_from("<3Q32s10Q", data)
                data = data[136 + 32 * count:]
                self.gaps[first] = [session, count, prev, ranges]
                self.removed[signer] = uuid

    def buried(self):
        """Tombstones are signed by a machine's key, and say what was removed."""
        for number, row in enumerate(self.all("SELECT id, session, name, uuid, at_us, reason, checkpoints, events,"
                                              " bridges, signer, signature FROM tombstone ORDER BY id"), 1):
            ident, session, name, uuid, at, reason, checkpoints, events, bridges, signer, signature = row
            check(ident == number, f"tombstone {number} is missing")
            public, role = self.signers[signer]
            message = (b"wary tombstone 1\0" + u64(ident, session) + uuid + text(name) + u64(at) + text(reason)
                       + u64(checkpoints, events) + text(bridges) + u64(signer) + public)
            check(role == "machine" and signed(public, message, signature), f"tombstone {ident} is false")
            check(not self.all("SELECT 1 FROM session WHERE id = ?", session), f"session {name} is here")
            data, sums = bridges, [0, 0]
            while data:
                first, count, _, _, *ranges = struct.unpack_from("<3Q32s10Q", data)
                self.gaps[first].append(data[136 + 32 * (count - 1):136 + 32 * count])
                sums = [sums[0] + count, sums[1] + ranges[9]]
                data = data[136 + 32 * count:]
            check(sums == [checkpoints, events], f"tombstone {ident} does not say what was removed")

    def cross(self, number, before, following):
        """Over the gap that begins with a checkpoint. Returns the number after it, and the hash before that."""
        _, count, prev, ranges, last = self.gaps.pop(number)
        check(prev == before, f"checkpoint {number}, which was removed, did not follow the one before it")
        for table, first, size in zip(("string", "actor", "act", "detail", "event"), ranges[::2], ranges[1::2]):
            check(first == following.get(table, 1), f"rows of {table} before {first} are missing")
            following[table] = first + size
            extra = self.one(f"SELECT count(*) FROM {table} WHERE id >= ? AND id < ?", first, first + size)[0]
            check(extra == 0, f"{extra} rows of {table} were put back")
        return number + count, last

    def keys(self):
        """Every signer is certified by one before it, the first by itself; all of them lead to the machine's.  A key
        that replaced another is certified by that, and vouches for it in the next row: so both ways are trusted."""
        roles = {"machine": 1, "session": 2, "recovery": 3}
        uuids = dict(self.all("SELECT signer, uuid FROM session"))
        above, after, back = {}, {}, set()
        for number, (ident, role, public, by, certificate, at) in enumerate(self.all(
                "SELECT id, role, public, certified_by, certificate, at_us FROM signer ORDER BY id"), 1):
            check(ident == number, f"signer {number} is missing")
            uuid = uuids.get(ident, bytes(16)) if role == "session" else bytes(16)
            if ident in self.removed and role != "machine":
                uuid = self.removed[ident]
            elif role == "recovery":
                uuid = self.one("SELECT s.uuid FROM checkpoint c JOIN session s ON s.id = c.session "
                                "WHERE c.signer = ? LIMIT 1", ident)[0]
            message = (b"wary certificate 1\0" + bytes([roles[role]]) + public + uuid + u64(at))
            check(by == 0 or self.signers.get(by, (0, 0))[1] == "machine",
                  f"signer {ident} is certified by one that is no machine key")
            check(signed(self.signers[by][0] if by else public, message, certificate),
                  f"signer {ident} has a false certificate")
            if role == "machine" and by and above[by] and self.signers[above[by]][0] == public:
                back.add(ident)
                after[ident] = by  # it is the former key still, which certifies nothing any more
            else:
                check(by not in after, f"signer {ident} is certified by a key that was replaced before")
            if role == "machine" and by and ident not in back:
                after[by] = ident
            above[ident] = by
            self.signers[ident] = (public, role)
        named = [i for i, (p, r) in self.signers.items() if r == "machine" and p == self.machine]
        check(named, "the store was not signed by this machine's key")
        for _ in range(2):
            for ident in sorted(above):
                if above[ident] in self.trusted or ident in named:
                    self.trusted.add(ident)
            for ident in sorted(back, reverse=True):
                if above[ident] in self.trusted:
                    self.trusted.add(above[above[ident]])
        for ident in above:
            check(ident in self.trusted, f"signer {ident} leads to another machine's key")

    def opening(self, session, prev):
        (ident, uuid, name, opened, mono, argv, cwd, user, host, kernel, version, uid,
         signer) = self.one("SELECT id, uuid, name, opened_us, mono_us, argv, cwd, user, host, kernel,"
                            " version, uid, signer FROM session WHERE id = ?", session)
        sources = self.all("SELECT name, path, sha256 FROM session_source WHERE session = ? "
                           "ORDER BY place", session)
        for _, _, digest in sources:
            stored = self.one("SELECT text FROM source WHERE sha256 = ?", digest)[0]
            data = stored if isinstance(stored, bytes) else stored.encode()
            check(hashlib.sha256(data).digest() == digest, "a policy's text was changed")
        body = uuid + u64(ident) + text(name) + u64(opened, mono)
        body += b"".join(text(v) for v in (argv, cwd, user, host, kernel, version)) + u32(uid)
        body += self.signers[signer][0] + u32(len(sources))
        body += b"".join(text(n) + text(p) + d for n, p, d in sources)
        return H(b"O" + prev + body)

    @staticmethod
    def event(r):
        """The byte before the result says by its bits whether that is known, and whether sizes follow."""
        known, sizes = r[6] is not None, r[7] is not None
        check(sizes == (r[8] is not None) and known >= sizes, "an event has half a size")
        return u64(*r[:6]) + bytes([known | sizes << 1]) + i64(r[6]) + (u64(*r[7:9]) if sizes else b"")

    def leaves(self, c, prev):
        """The leaves of one batch, in order; each row carries the mark of its own."""
        out = []

        def put(leaf, what, mark=None):
            out.append(leaf)
            check(mark is None or struct.unpack("<q", leaf[:8])[0] == mark, what + " was changed")
            self.rows += 1
            return leaf

        if c["kind"] & 8:  # from here on events only have actors from here on
            self.actors[c["session"]] = c["first_actor"]
        if c["kind"] & 1:
            prev = put(self.opening(c["session"], prev), "opening")
        tables = {
            "string": ("S", "prefix, text", lambda r: u64(r[0]) + text(r[1])),
            "actor": ("P", "pid, tid, ppid, uid, program", lambda r: u32(*r[:4]) + u64(r[4])),
            "act": ("A", "flags, rule_file, rule_line, rule_text, kind, class, syscall, answer, judge",
                    lambda r: u64(*r[:4]) + b"".join(text(v) for v in r[4:9])),
            "detail": ("D", "object2, cwd, argv, stack, reason, sha256",
                       lambda r: u64(*r[:4]) + i64(r[4])
                       + (b"\0" if r[5] is None else b"\1" + r[5])),
            "event": ("E", f"at_us, took_us, actor, act, object, detail, result, {SIZES[self.version]}", self.event),
        }
        for table, (tag, columns, fields) in tables.items():
            first, count = c["first_" + table], c[table + "s"]
            rows = self.all(f"SELECT id, mark, {columns} FROM {table} WHERE id >= ? AND id < ? "
                            "ORDER BY id", first, first + count)
            check(len(rows) == count, f"{count - len(rows)} rows of {table} are missing from "
                                      f"checkpoint {c['id']}")
            for row in rows:
                head = u64(row[0])
                if table == "event":
                    check(row[4] >= self.actors.get(c["session"], 0),
                          f"event {row[0]} has an actor from before")
                    head += u64(c["first_seq"] + row[0] - first)
                prev = put(H(tag.encode() + prev + head + fields(row[2:])),
                           f"{table} {row[0]}", row[1])
        if c["kind"] & 2:
            r = self.one("SELECT at_us, status, decisions, refused, asked, grants, dropped, reason, "
                         "mark FROM closing WHERE session = ?", c["session"])
            body = u64(c["session"], r[0]) + i64(r[1]) + u64(*r[2:7]) + text(r[7])
            put(H(b"C" + prev + body), "closing", r[8])
        return out

    def checkpoint(self, c, before):
        check(c["prev"] == before, f"checkpoint {c['id']} does not follow the one before it")
        uuid, signer = self.one("SELECT uuid, signer FROM session WHERE id = ?", c["session"])
        prev = self.sessions.get(c["session"], bytes(32))
        leaves = self.leaves(c, prev)
        check(not leaves or leaves[-1] == c["chain"], f"rows of checkpoint {c['id']} were changed")
        check(not leaves or merkle(leaves) == c["root"], f"checkpoint {c['id']} has another root")
        self.sessions[c["session"]] = c["chain"]
        public, role = self.signers[c["signer"]]
        check(role == "recovery" or (role == "session" and c["signer"] == signer),
              f"checkpoint {c['id']} is signed by another's key")
        names = [f"{p}{t}{s}" for t in ("string", "actor", "act", "detail", "event")
                 for p, s in (("first_", ""), ("", "s"))]
        message = (b"wary checkpoint 1\0" + c["prev"] + u64(c["id"], c["session"]) + uuid
                   + u32(c["kind"]) + u64(c["at_us"]) + i64(c["skew_us"])
                   + u64(*[c[n] for n in names], c["first_seq"], c["journal"])
                   + u32(c["kinds"], c["classes"], c["answers"]) + c["chain"] + c["root"]
                   + u64(c["signer"]) + public)
        check(signed(public, message, c["signature"]), f"checkpoint {c['id']} has a false signature")
        return H(message)

    def run(self):
        self.schema()
        # Readers find rows by their ids: the pages must lead to what is read here.
        for (said,) in self.db.execute("PRAGMA quick_check"):
            check(said == "ok", f"the database is damaged: {said}")
        self.tombstones()
        self.keys()
        self.buried()
        self.db.row_factory = sqlite3.Row
        points = self.all("SELECT * FROM checkpoint ORDER BY id")
        self.db.row_factory = None
        before, following = bytes(32), {}
        number = 0
        for c in points:
            number += 1
            while c["id"] != number and number in self.gaps:
                number, before = self.cross(number, before, following)
            check(c["id"] == number, f"checkpoint {number} is missing")
            for table in ("string", "actor", "act", "detail", "event"):
                expected = following.get(table, 1)
                check(c["first_" + table] == expected, f"rows of {table} before {expected} are missing")
                following[table] = expected + c[table + "s"]
            before = self.checkpoint(c, before)
        check(not self.gaps, "a tombstone is of checkpoints that are here, or after the end")
        for table, end in following.items():
            extra = self.one(f"SELECT count(*) FROM {table} WHERE id >= ? OR id < 1", end)[0]
            check(extra == 0, f"{extra} rows of {table} belong to no checkpoint")
        return len(points)


# --- proofs --------------------------------------------------------------------
class Fields:
    """Bytes that are read from the left, and must be read to their end."""

    def __init__(self, data):
        self.data = data

    def take(self, size):
        check(size <= len(self.data), "a row is not whole")
        head, self.data = self.data[:size], self.data[size:]
        return head

    def ints(self, form):
        values = struct.unpack("<" + form, self.take(struct.calcsize("<" + form)))
        return values if len(values) > 1 else values[0]

    def str(self):
        return self.take(self.ints("I"))


def point_of(message):
    f = Fields(message)
    check(f.take(18) == b"wary checkpoint 1\0", "a checkpoint is none")
    names = ("id", "session", "uuid", "kind", "at_us", "skew_us")
    c = dict(zip(names, (f.take(32), *f.ints("QQ16sIQq"))[1:]))
    ranges = f.ints("10Q")
    c["ranges"] = list(zip(ranges[::2], ranges[1::2]))
    c["first_seq"], _, _, _, _ = f.ints("QQIII")
    f.take(32)
    c["root"], _, c["public"] = f.take(32), f.ints("Q"), f.take(32)
    check(not f.data, "a checkpoint is not whole")
    return c


def row_of(data):
    f = Fields(data)
    tag = f.take(33)[:1].decode("ascii", "replace")
    row = {"tag": tag}
    if tag == "E":
        names = ("id", "seq", "at_us", "took_us", "actor", "act", "object", "detail", "bits", "result")
        row.update(zip(names, f.ints("8QBq")))
        check(row["bits"] in (0, 1, 3), "an event of no known kind")
        if row["bits"] & 2:
            row["size_before"], row["links_left"] = f.ints("QQ")
        row["refers"] = [("S", row["object"]), ("P", row["actor"]), ("A", row["act"]), ("D", row["detail"])]
    elif tag == "S":
        row["id"], prefix = f.ints("QQ")
        row["refers"], row["text"] = [("S", prefix)], f.str()
        row["prefix"] = prefix
    elif tag == "P":
        row["id"], row["pid"], _, _, _, program = f.ints("QIIIIQ")
        row["refers"] = [("S", program)]
    elif tag == "A":
        row["id"], row["flags"], file, row["line"], rule = f.ints("5Q")
        row["refers"] = [("S", file), ("S", rule)]
        row["words"] = [f.str() for _ in range(5)]
    elif tag == "D":
        row["id"], *refers = f.ints("5Q")
        row["refers"] = [("S", r) for r in refers]
        if f.ints("qB")[1]:
            f.take(32)
    else:
        check(tag == "O", "a row of no known kind")
        row["uuid"], row["id"] = f.ints("16sQ")
        row["name"], _, row["argv"] = f.str(), f.ints("QQ"), f.str()
        for _ in range(5):
            f.str()
        _, row["public"], sources = f.ints("I32sI")
        for _ in range(sources):
            f.str(), f.str(), f.take(32)
        row["refers"] = []
    check(not f.data, "a row is not whole")
    return row


def under(leaf, count, place, path, root):
    """Whether a path leads from a leaf to the root of a tree of so many."""
    right = []
    while count > 1:
        half = 1 << (count - 1).bit_length() - 1
        right.append(place >= half)
        place, count = (place - half, count - half) if place >= half else (place, half)
    check(len(path) == len(right), "a path is not as long as its tree is high")
    for sibling, is_right in zip(path, reversed(right)):
        leaf = H(b"\1" + (sibling + leaf if is_right else leaf + sibling))
    return leaf == root


def once(pairs):
    check(len(dict(pairs)) == len(pairs), "a member is there twice")
    return dict(pairs)


def form(value, kind):
    """That a value is of one form, and no other, all the way down; returns it with its hexadecimal as bytes."""
    if isinstance(kind, dict):
        check(type(value) is dict and value.keys() == kind.keys(), "other members than a proof has")
        return {name: form(value[name], kind[name]) for name in kind}
    if isinstance(kind, list):
        check(type(value) is list and (value or kind == [bytes]), "no list")
        return [form(one, kind[0]) for one in value]
    check(type(value) is (int if kind is int else str), "a value of another kind")
    if kind is bytes:
        check(not value.strip("0123456789abcdef"), "no hexadecimal")
        return bytes.fromhex(value)
    check(kind is str or 0 <= value < 1 << 63, "a number out of bounds")
    return value


FORM = {"wary_proof": int, "row": int,
        "rows": [{"bytes": bytes, "checkpoint": int, "place": int, "path": [bytes]}],
        "checkpoints": [{"message": bytes, "signature": bytes}],
        "keys": [{"role": str, "at_us": int, "public": bytes, "by": bytes, "certificate": bytes}]}


def prove(proof, machine):
    """Returns the event and its rows, or raises."""
    points = {}
    for entry in proof["checkpoints"]:
        message, signature = entry["message"], entry["signature"]
        c = point_of(message)
        check(len(signature) == 64 and signed(c["public"], message, signature), "a false signature")
        points[c["id"]] = c
    check(len({(c["session"], c["uuid"]) for c in points.values()}) == 1, "several sessions")
    uuid = next(iter(points.values()))["uuid"]
    trusted, signers = {}, {}
    for key in reversed(proof["keys"]):
        public, by = key["public"], key["by"]
        role = {"machine": 1, "session": 2, "recovery": 3}[key["role"]]
        message = (b"wary certificate 1\0" + bytes([role]) + public
                   + (bytes(16) if role == 1 else uuid) + u64(key["at_us"]))
        check(len(public) == 32 and len(key["certificate"]) == 64 and signed(by, message, key["certificate"]),
              "a false certificate")
        check(by in trusted or (role == 1 and by == public), "a key's certifier is missing")
        if role == 1:
            trusted[public] = public == machine or trusted.get(by, False)
        else:
            check(trusted[by], "signed by another machine")
            signers[public] = role
    rows = {}
    for entry in proof["rows"]:
        data, c = entry["bytes"], points[entry["checkpoint"]]
        row = row_of(data)
        table = "SPADE".find(row["tag"])
        before = [c["kind"] & 1]
        for _, size in c["ranges"]:
            before.append(before[-1] + size)
        first, size = c["ranges"][table] if table >= 0 else (row["id"], c["kind"] & 1)
        place = (before[table] if table >= 0 else 0) + row["id"] - first
        check(first <= row["id"] < first + size and place == entry["place"], "a row is not in its place")
        check(under(H(data), before[-1] + (c["kind"] >> 1 & 1), place,
                    entry["path"], c["root"]), "a row is not under its root")
        if row["tag"] == "E":
            check(row["seq"] == c["first_seq"] + row["id"] - first, "a false place in the session")
        rows[row["tag"], row["id"]] = row
    check(all(not i or (t, i) in rows for row in rows.values() for t, i in row["refers"]), "a row is missing")
    by_tag = "".join(sorted(t for t, _ in rows if t != "S"))
    check(by_tag in ("AEOP", "ADEOP") and len(rows) == len(proof["rows"]), "not the rows it needs")
    opening = next(r for (t, _), r in rows.items() if t == "O")
    check(opening["uuid"] == uuid and opening["id"] == next(iter(points.values()))["session"],
          "another session's opening")
    check(all(c["public"] in signers and (signers[c["public"]] == 3 or c["public"] == opening["public"])
              for c in points.values()), "a checkpoint is signed by another key")
    return rows["E", proof["row"]], rows, opening


def proven(path, machine):
    proof = form(json.loads(pathlib.Path(path).read_bytes().decode(), object_pairs_hook=once), FORM)
    check(proof["wary_proof"] == 1, "no proof that is known here")
    event, rows, opening = prove(proof, machine)

    def whole(ident):
        s = rows["S", ident] if ident else {"text": b"", "prefix": 0}
        return (rows["S", s["prefix"]]["text"] if s["prefix"] else b"") + s["text"]

    act = rows["A", event["act"]]
    words = [w.decode("utf-8", "replace") for w in act["words"]]
    print(f"row {event['id']} of session {opening['uuid'].hex()}, seq {event['seq']}: "
          f"{' '.join(words)} {ascii(whole(event['object']))}: proven")


def main(argv):
    as_proof = len(argv) == 4 and argv[1] == "--proof"
    if len(argv) != 3 and not as_proof:
        print(__doc__, file=sys.stderr)
        return 2
    key = pathlib.Path(argv[-1])
    machine = bytes.fromhex((key.read_text() if key.exists() else argv[-1]).split()[-1])
    if as_proof:
        try:
            proven(argv[2], machine)
        except (Broken, LookupError, ValueError, RecursionError, StopIteration, struct.error) as e:
            print(f"NOT PROVEN: {e}")
            return 1
        return 0
    db = sqlite3.connect(f"file:{argv[1]}?mode=ro", uri=True)
    db.text_factory = lambda raw: raw.decode("utf-8", "surrogateescape")
    verifier = Verifier(db, machine)
    try:
        points = verifier.run()
    except (Broken, sqlite3.Error) as e:
        print(f"NOT INTACT: {e}")
        return 1
    except (LookupError, struct.error, TypeError, ValueError, AttributeError, ArithmeticError) as e:
        # A value of another type or size than any writer of a record puts there.
        print(f"NOT INTACT: damaged: {e!r}")
        return 1
    print(f"{verifier.rows} rows, {points} checkpoints: intact")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
