"""Stores whose exports are hard: rows of every kind and class, and of packages, honest and not."""
import base64
import subprocess

from wary_test import BUILD, TMP, changed_copy

KINDS = ["decision", "process", "package", "grant", "question", "limit", "session"]
CLASSES = ["read", "write", "create", "delete", "attr", "link", "stat", "exec", "connect", "bind", "resolve",
           "install", "script", "secret", "ipc", "syscall"]
OBJECTS = [b"/home/ana/x|y=z\\w", b"/", b"", b"registry.example.org:443", b"10.0.0.1:80", b"[2001:db8::1]:53",
           b"unix:/run/a b", b"unix:@", b"family 16", b"bad host..x:1", b"-x:99999", b"npm:@scope/pkg", b"\xff\xfe/\n",
           b"example.org", b":", b"a:b:c", b"x" * 5000, "ü\u202e€".encode() * 700]

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
    ("pip:Asked_For.It", "1", None, 0, None, False),
    ("composer:Vendor/Some_Name", "1", None, 0, None, False),
    ("npm:JSONStream", b"1\xff", "/p/node_modules/JSONStream", 2, "installed files=2 bytes=9", True),
]


def kinds_store():
    """A store in which each row is of another kind and class, with objects of all sorts."""
    path = TMP / "made.db"
    made = len(KINDS) * len(CLASSES) * 2
    subprocess.run([BUILD / "tests/lib/audit_session", path, str(made)], check=True, stdout=subprocess.DEVNULL)
    path2 = TMP / "kinds.db"
    with changed_copy(path, path2) as db:
        first = db.execute("SELECT max(id) + 1 FROM string").fetchone()[0]
        for n, text in enumerate(OBJECTS):
            try:
                value = text.decode()
            except UnicodeDecodeError:
                value = text
            db.execute("INSERT INTO string VALUES (?, 0, ?, 0)", (first + n, value))
        act = db.execute("SELECT max(id) + 1 FROM act").fetchone()[0]
        detail = db.execute("SELECT max(id) + 1 FROM detail").fetchone()[0]
        for n, (row,) in enumerate(db.execute("SELECT id FROM event ORDER BY id").fetchall()):
            kind, klass = KINDS[n // len(CLASSES) % len(KINDS)], CLASSES[n % len(CLASSES)]
            answer = ["allow", "deny", "ask", "kill", "later"][n % 5]
            what = first + (n * 7) % len(OBJECTS)
            db.execute("INSERT INTO act VALUES (?,?,?,'call=|x',1,?,'human',?,3,?,0)",
                       (act + n, kind, klass, answer, what, what))
            db.execute("INSERT INTO detail VALUES (?,?,?,?,?,?,?,0)",
                       (detail + n, first + (n * 5) % len(OBJECTS), what, what, what, bytes(32), n % 3 - 1))
            sizes = [(None, None), (0, 0), (2**31 - 1, 1), (2**31, 2), (2**63 - 1, 2**63 - 1)][n // 5 % 5]
            db.execute("UPDATE event SET act = ?, object = ?, detail = ?, result = ?, size_before = ?, links_left = ?"
                       " WHERE id = ?", (act + n, what, detail + n, [0, 7, -13, -99999, None][n % 5], *sizes, row))
    return path2


def packages_store():
    """The store, and the name of its one session."""
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
