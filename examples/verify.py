#!/usr/bin/env python3
"""A second verifier of wary's record, written from docs/AUDIT.md alone.

    verify.py STORE MACHINE_PUBLIC_KEY_FILE_OR_HEX

Reads committed rows only (a running session's journal is not looked at), with
nothing but Python's standard library.  Exit status: 0 intact, 1 not, 2 usage.
"""
import hashlib
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
        self.rows = 0
        self.sessions = {}

    def all(self, sql, *args):
        return self.db.execute(sql, args).fetchall()

    def one(self, sql, *args):
        row = self.db.execute(sql, args).fetchone()
        check(row is not None, f"missing: {sql.split(' WHERE')[0]} {args}")
        return row

    def keys(self):
        """Every signer is certified by one before it, the first by itself."""
        roles = {"machine": 1, "session": 2, "recovery": 3}
        uuids = dict(self.all("SELECT signer, uuid FROM session"))
        for ident, role, public, by, certificate, at in self.all(
                "SELECT id, role, public, certified_by, certificate, at_us FROM signer ORDER BY id"):
            uuid = uuids.get(ident, bytes(16)) if role == "session" else bytes(16)
            if role == "recovery":
                uuid = self.one("SELECT s.uuid FROM checkpoint c JOIN session s ON s.id = c.session "
                                "WHERE c.signer = ? LIMIT 1", ident)[0]
            message = (b"wary certificate 1\0" + bytes([roles[role]]) + public + uuid + u64(at))
            above = self.signers[by][0] if by else public
            check(by == 0 or self.signers.get(by, (0, 0))[1] == "machine",
                  f"signer {ident} is certified by one that is no machine key")
            check(signed(above, message, certificate), f"signer {ident} has a false certificate")
            self.signers[ident] = (public, role)
        check(any(r == "machine" and p == self.machine for p, r in self.signers.values()),
              "the store was not signed by this machine's key")

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

    def leaves(self, c, prev):
        """The leaves of one batch, in order; each row carries the mark of its own."""
        out = []

        def put(leaf, what, mark=None):
            out.append(leaf)
            check(mark is None or struct.unpack("<q", leaf[:8])[0] == mark, what + " was changed")
            self.rows += 1
            return leaf

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
            "event": ("E", "at_us, took_us, actor, act, object, detail, result",
                      lambda r: u64(*r[:6])
                      + (b"\0" if r[6] is None else b"\1") + i64(r[6])),
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
        uuid = self.one("SELECT uuid FROM session WHERE id = ?", c["session"])[0]
        prev = self.sessions.get(c["session"], bytes(32))
        leaves = self.leaves(c, prev)
        check(not leaves or leaves[-1] == c["chain"], f"rows of checkpoint {c['id']} were changed")
        check(not leaves or merkle(leaves) == c["root"], f"checkpoint {c['id']} has another root")
        self.sessions[c["session"]] = c["chain"]
        public = self.signers[c["signer"]][0]
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
        self.keys()
        self.db.row_factory = sqlite3.Row
        points = self.all("SELECT * FROM checkpoint ORDER BY id")
        self.db.row_factory = None
        before, following = bytes(32), {}
        for number, c in enumerate(points, 1):
            check(c["id"] == number, f"checkpoint {number} is missing")
            for table in ("string", "actor", "act", "detail", "event"):
                expected = following.get(table, 1)
                check(c["first_" + table] == expected, f"rows of {table} before {expected} are missing")
                following[table] = expected + c[table + "s"]
            before = self.checkpoint(c, before)
        for table, end in following.items():
            extra = self.one(f"SELECT count(*) FROM {table} WHERE id >= ? OR id < 1", end)[0]
            check(extra == 0, f"{extra} rows of {table} belong to no checkpoint")
        return len(points)


def main(argv):
    if len(argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    key = pathlib.Path(argv[2])
    machine = bytes.fromhex((key.read_text() if key.exists() else argv[2]).split()[-1])
    db = sqlite3.connect(f"file:{argv[1]}?mode=ro", uri=True)
    db.text_factory = lambda raw: raw.decode("utf-8", "surrogateescape")
    verifier = Verifier(db, machine)
    try:
        points = verifier.run()
    except (Broken, sqlite3.Error, KeyError, struct.error, UnicodeError) as e:
        print(f"NOT INTACT: {e}")
        return 1
    print(f"{verifier.rows} rows, {points} checkpoints: intact")
    return 0


sys.exit(main(sys.argv))
