#!/usr/bin/env python3
# wary-test: full
"""The record against the truth: the same work is done once under strace and once
under wary, and each call that wary decides is on record as often as strace saw it,
with the same names and the same result.  (Both at once cannot be had: a process
has one tracer.)"""
import collections
import errno
import gzip
import io
import json
import os
import pathlib
import re
import shutil
import sqlite3
import sys
import tarfile

from wary_test import DB, TMP, finish, native, note, ok, skip, wary

ROOT = pathlib.Path(TMP).resolve()
WORK = ROOT / "work"

# Of each call: where the folder's descriptor and the name stand among its arguments
# (None: it begins at the working folder), and whether a link at its end is followed.
ONE, AT = [(None, 0)], [(0, 1)]
FOLLOWED = {"open": ONE, "openat": AT, "openat2": AT, "creat": ONE, "chmod": ONE, "chown": ONE,
            "truncate": ONE, "utime": ONE, "utimes": ONE, "fchmodat": AT, "execve": ONE,
            "setxattr": ONE, "removexattr": ONE, "utimensat": AT, "fchownat": AT, "stat": ONE,
            "newfstatat": AT, "statx": AT, "statfs": ONE, "access": ONE, "faccessat": AT,
            "faccessat2": AT, "chdir": ONE, "getxattr": ONE}
HELD = {"unlink": ONE, "unlinkat": AT, "rmdir": ONE, "mkdir": ONE, "mkdirat": AT, "mknod": ONE,
        "mknodat": AT, "lchown": ONE, "lstat": ONE,
        "readlink": ONE, "readlinkat": AT, "lgetxattr": ONE, "symlink": [(None, 1)], "symlinkat": [(1, 2)],
        "rename": [(None, 0), (None, 1)], "renameat": [(0, 1), (2, 3)],
        "renameat2": [(0, 1), (2, 3)], "link": [(None, 0), (None, 1)], "linkat": [(0, 1), (2, 3)]}
BY_DESCRIPTOR = ("fchmod", "fchown", "fsetxattr", "fremovexattr")
ADDRESSES = ("connect", "bind")
# Their second one on record is what strace does not see, or lacks where they fail.
ONE_NAME = ("execve", "link", "linkat")
CALLS = {**FOLLOWED, **HELD, **{name: [] for name in BY_DESCRIPTOR + ADDRESSES}}

# Looks are decided only where a rule speaks of them.
RULES = "default allow\ndeny stat /no/such/thing/at/all\n"
# An attempt that was judged anew, since a name led elsewhere; the next row has the end.
AGAIN = -10022

TEXT = re.compile(r'"((?:\\x[0-9a-f]{2})*)"')
HELD_BY = re.compile(r"<((?:\\x[0-9a-f]{2})*)(\(deleted\))?>")


def plain(text):
    """Of \\x61\\x62."""
    return os.fsdecode(bytes.fromhex(text.replace("\\x", "")))


def canonical(path, follow, absent=False):
    """The name without links, as wary writes it; of one that goes up again behind what
    does not exist, where the kernel gave up, as far as there."""
    parts = [part for part in path.split("/") if part]
    for i in range(1, len(parts) + 1 if absent else 0):
        here = os.path.realpath("/" + "/".join(parts[:i]))
        if not os.path.exists(here) and ".." in parts[i:]:
            return os.path.join(here, *parts[i:i + parts[i:].index("..")])
    if follow or not parts or parts[-1] in (".", ".."):
        return os.path.realpath(path)
    return os.path.join(os.path.realpath("/" + "/".join(parts[:-1])), parts[-1])


def arguments(text):
    """Split at the commas outside of brackets; texts have none, they are in hexadecimal."""
    out, depth, word = [], 0, ""
    for c in text:
        depth += (c in "[{(") - (c in "]})")
        if c == "," and not depth:
            out.append(word.strip())
            word = ""
        else:
            word += c
    return out + [word.strip()]


class Process:
    """One of strace's files: the calls of one process, and of those that it started."""

    def __init__(self, prefix, pid, folder, calls):
        self.folder = folder
        for line in pathlib.Path(f"{prefix}.{pid}").read_text().splitlines():
            child = re.match(r"(?:v?fork|clone3?)\(.*\) += (\d+)$", line)
            if child:
                Process(prefix, child.group(1), self.folder, calls)
            else:
                calls += filter(None, [self.call(line)])

    def named(self, words, at, follow, result):
        base, name = at
        text = TEXT.search(words[name])
        held = HELD_BY.search(words[base]) if base is not None else None
        start = plain(held.group(1)) if held else self.folder
        if not text or not text.group(1) or not start.startswith("/"):
            return start
        path = os.path.join(start, plain(text.group(1)))
        return canonical(path, follow, result == -errno.ENOENT)

    def call(self, line):
        """(call, object, second object, result), or None."""
        m = re.match(r"(\w+)\((.*)\)\s+= (-?\d+)(<[^>]*>)?(?: (E\w+))?", line)
        if not m:
            return None
        name, words, got = m.group(1), arguments(m.group(2)), int(m.group(3))
        here = re.search(r"AT_FDCWD" + HELD_BY.pattern, m.group(2))
        if here:
            self.folder = plain(here.group(1))
        if name == "fchdir" and got == 0:
            self.folder = plain(HELD_BY.search(words[0]).group(1))
        if name not in CALLS:
            return None
        if "AF_NETLINK" in m.group(2) or "htons(53)" in m.group(2):
            return None  # no rule speaks of it; wary's guard answers for name servers
        if got >= 0 and "O_PATH" in m.group(2):
            got = 0  # the kernel goes on with it: which number it gave is not on record
        result = -getattr(errno, m.group(5)) if m.group(5) else got
        if name in BY_DESCRIPTOR:
            names = [plain(HELD_BY.search(words[0]).group(1))]
        elif name in ADDRESSES:
            names = [address(words[1])]
        else:
            nofollow = "NOFOLLOW" in m.group(2)
            names = [self.named(words, at, name in FOLLOWED and not nofollow, result)
                     for at in CALLS[name]]
        if m.group(4) and name.startswith("open"):
            names = [plain(m.group(4)[1:-1])]
        if name == "chdir" and got == 0:
            self.folder = names[0]
        second = names[1] if len(names) > 1 and name not in ONE_NAME else None
        return name, names[0], second, result


def address(text):
    path = re.search(r"sun_path=(@?)" + TEXT.pattern, text)
    if path:
        return "@" + plain(path.group(2)) if path.group(1) else canonical(plain(path.group(2)), True)
    port = re.search(r"sin6?_port=htons\((\d+)\)", text)
    inet = re.search(r"inet_addr\(" + TEXT.pattern, text) or re.search(TEXT.pattern, text)
    return f"{plain(inet.group(1))}:{port.group(1)}" if port and inet else text


def straced(argv, cwd):
    prefix = ROOT / "strace"
    run = native("strace", "-ff", "-y", "-xx", "-s", "10000", "-e", "quiet=all", "-o", prefix, "-e",
                 "trace=fchdir,fork,vfork,clone,clone3," + ",".join(CALLS), *argv, cwd=cwd)
    files = sorted(ROOT.glob("strace.*"), key=lambda f: int(f.suffix[1:]))
    calls = []
    Process(prefix, files[0].suffix[1:], str(cwd), calls)
    for file in files:
        file.unlink()
    return run, calls


def recorded(argv, cwd):
    run = wary(*argv, rules=RULES, options=["-q"], cwd=cwd)
    db = sqlite3.connect(f"file:{DB}?mode=ro", uri=True)
    db.text_factory = os.fsdecode
    rows = db.execute("SELECT syscall, object, object2, result FROM decisions WHERE session = "
                      "(SELECT name FROM session ORDER BY id DESC LIMIT 1)").fetchall()
    db.close()
    return run, [(name, first.removeprefix("unix:"), None if name in ONE_NAME else second, result)
                 for name, first, second, result in rows if name in CALLS and result != AGAIN]


def normal(calls, usual, numbers):
    """How often each call was made. usual: writes what differs from run to run alike.
    numbers: whether a descriptor's number is the same in each run."""
    def texts(*names):
        return (t and usual(re.sub(r"(/proc/|pipe:.|socket:.)\d+", r"\1N", t)) for t in names)
    return collections.Counter((name, *texts(first, second), result if numbers else min(result, 1))
                               for name, first, second, result in calls)


def compare(argv, prepare, usual, numbers):
    """What strace saw and what is on record, of two runs that began alike."""
    seen = []
    for way in (straced, recorded):
        shutil.rmtree(WORK, ignore_errors=True)
        WORK.mkdir()
        prepare(WORK)
        run, calls = way([str(a) for a in argv], WORK)
        if run.returncode:
            note(run.stdout + run.stderr)
            return None
        seen.append(normal(calls, usual, numbers))
    return seen


def same_calls(what, argv, prepare, usual=lambda text: text, tries=1):
    """tries: more than one for what is not always done in the same way."""
    for _ in range(tries):
        seen = compare(argv, prepare, usual, tries == 1)
        if seen and seen[0] == seen[1]:
            break
    if not ok(seen, f"{what}: is done"):
        return
    truth, rows = seen
    for title, left in (("not on record", truth - rows), ("on record only", rows - truth)):
        for call, n in sorted(left.items(), key=str)[:30]:
            note(f"{title}: {n} x {call}")
    ok(truth == rows and sum(truth.values()) > 100,
       f"{what}: {sum(truth.values())} calls, each on record once")


SUITE = '''
import os, shutil, socket, subprocess, unittest
class Files(unittest.TestCase):
    def setUp(self):
        os.mkdir("d")
        os.chdir("d")
    def tearDown(self):
        os.chdir("..")
        shutil.rmtree("d")
    def test_make(self):
        with open("a", "w") as f:
            f.write("x")
        os.chmod("a", 0o600)
        os.rename("a", "b")
        os.link("b", "c")
        os.symlink("c", "to-c")
        self.assertEqual(open("to-c").read(), "x")
        os.utime("b", (1, 1))
        os.truncate("b", 0)
        os.mkfifo("fifo")
    def test_fail(self):
        for wrong in (lambda: open("absent"), lambda: open("absent/x", "w"), lambda: os.unlink("absent"),
                      lambda: os.rmdir(".."), lambda: os.mkdir("/"), lambda: os.rename("absent", "b"),
                      lambda: os.open("/", os.O_WRONLY), lambda: os.link("absent", "b"),
                      lambda: os.chmod("absent", 0), lambda: os.symlink("x", "/proc")):
            self.assertRaises(OSError, wrong)
    def test_at(self):
        fd = os.open(".", os.O_RDONLY)
        os.mkdir("in", dir_fd=fd)
        os.close(os.open("in/file", os.O_CREAT | os.O_EXCL | os.O_WRONLY, dir_fd=fd))
        os.rename("in/file", "file", src_dir_fd=fd, dst_dir_fd=fd)
        os.unlink("file", dir_fd=fd)
        os.fchmod(fd, 0o700)
        os.close(fd)
    def test_copy(self):
        os.makedirs("from/x/y")
        for i in range(10):
            open(f"from/x/y/{i}", "w").close()
        shutil.copytree("from", "to")
        shutil.move("to", "away")
        os.makedirs("a name with spaces/\\u00e4\\n")
        open(b"not utf-8 \\xff", "w").close()
    def test_run(self):
        subprocess.run(["/bin/sh", "-c", "echo x > out; cat out; exec ls -l"], check=True,
                       stdout=subprocess.DEVNULL)
        subprocess.run(["true"], check=True)
        with open("script", "w") as f:
            f.write("#!/bin/sh\\necho y\\n")
        os.chmod("script", 0o755)
        subprocess.run(["./script"], check=True, stdout=subprocess.DEVNULL)
        self.assertRaises(OSError, subprocess.run, ["./absent"])
    def test_socket(self):
        with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as client:
            self.assertRaises(OSError, client.connect, os.path.abspath("sock"))
            server.bind(os.path.abspath("sock"))
            server.listen()
            client.connect(os.path.abspath("sock"))
        with socket.socket() as server, socket.socket() as client:
            server.bind(("127.0.0.1", 0))
            server.listen()
            client.connect(server.getsockname())
'''


def make_suite(folder):
    (folder / "suite.py").write_text(SUITE)


def make_sources(folder):
    for name in "abc":
        (folder / f"{name}.c").write_text(f"#include <stdio.h>\nint {name}(void) {{ return puts(\"{name}\"); }}\n")
    (folder / "main.c").write_text("int a(void);\nint main(void) { return a() < 0; }\n")
    (folder / "Makefile").write_text(
        "all: prog\n\t./prog\nprog: main.o lib.a\n\t$(CC) -o $@ main.o lib.a\n"
        "lib.a: a.o b.o c.o\n\tar rc $@ a.o b.o c.o\n\tranlib $@\n"
        "install: prog\n\tmkdir -p out/bin\n\tinstall -m 755 prog out/bin\n\tln -s prog out/bin/p\n")


def make_packages(folder):
    """Archives of packages of two files each, one that depends on the other."""
    for name, needs in (("one", {"two": f"file:{folder}/two.tgz"}), ("two", {})):
        with gzip.GzipFile(folder / f"{name}.tgz", "wb", mtime=0) as packed, \
                tarfile.open(fileobj=packed, mode="w") as archive:
            for file, text in (("package.json", json.dumps({"name": name, "version": "1.0.0",
                                                            "bin": "cli.js", "dependencies": needs})),
                               ("cli.js", "#!/usr/bin/env node\n"), ("lib/a.js", "1\n")):
                entry = tarfile.TarInfo(f"package/{file}")
                entry.size = len(text)
                entry.mode = 0o644
                archive.addfile(entry, io.BytesIO(text.encode()))
    (folder / "package.json").write_text('{"name": "p", "version": "1.0.0"}')
    shutil.rmtree(pathlib.Path.home() / ".npm", ignore_errors=True)


if not shutil.which("strace") or native("strace", "-o", "/dev/null", "true").returncode:
    skip("strace cannot trace here")
same_calls("a suite of Python", [sys.executable, "-S", "-m", "unittest", "-q", "suite"], make_suite,
           lambda t: re.sub(r"^127\.0\.0\.1:(?!0$)\d+", "127.0.0.1:N", t))
same_calls("a build", ["/usr/bin/make", "all", "install"], make_sources,
           lambda t: re.sub(r"/(cc|st|lib)[A-Za-z0-9]{6}(?=\.|$)", r"/\1XXXXXX", t))
# One thread for its files, so that it nearly always goes in the same order.
os.environ["UV_THREADPOOL_SIZE"] = "1"
same_calls("npm install", [shutil.which("npm"), "install", "--offline", "--no-audit", "--no-fund",
                           WORK / "one.tgz"], make_packages,
           lambda t: re.sub(r"(_cacache/tmp/|_logs/)[^/]+", r"\1X", t), tries=3)
finish()
