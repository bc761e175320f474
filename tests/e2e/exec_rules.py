#!/usr/bin/env python3
"""Exec rules hold however a program is named or started: links, copies, scripts
and their interpreters, loaders, descriptors, files without a name."""
import hashlib
import os
import pathlib
import shutil
import struct
import sys

sys.path.insert(0, os.path.join(os.environ["SRC"], "tests/lib"))
from wary_test import TMP, audit, finish, note, ok, same, skip, wary

ROOT = pathlib.Path(TMP).resolve() / "w"
WORK, BIN = ROOT / "work", ROOT / "bin"
for folder in (WORK, BIN):
    folder.mkdir(parents=True)
echo = pathlib.Path("/bin/echo").resolve()
BAD, GOOD = BIN / "bad", BIN / "good"
shutil.copy(echo, BAD)
shutil.copy(echo, GOOD)

RULES = f"""default allow
deny exec {WORK}/** {BAD} /memfd:*
allow exec {WORK}/scripts/**
deny edit {BIN}/**
deny exec {GOOD} when has evil
"""
if not shutil.which("python3"):
    skip("no python3")


def run(*argv, rules=RULES, **more):
    return wary(*argv, rules=rules, options=["-q"], cwd=WORK, **more)


def never(what, *argv, **more):
    """That the program does not run: nothing of what it would print is seen."""
    r = run(*argv, **more)
    if not ok("MARK" not in r.stdout and r.returncode != 125, f"does not run: {what}"):
        note(f"status {r.returncode}\n{r.stdout}\n{r.stderr}")
    return r


def runs(what, *argv, **more):
    r = run(*argv, **more)
    if not ok("MARK" in r.stdout, f"runs: {what}"):
        note(f"status {r.returncode}\n{r.stdout}\n{r.stderr}")
    return r


def python(what, code, check=never):
    return check(what, sys.executable, "-c", code)


def test_names():
    os.symlink(BAD, WORK / "link")
    os.symlink(BIN, WORK / "binlink")
    shutil.copy(BAD, WORK / "copy")
    os.link(BAD, WORK / "hard")
    runs("another program", GOOD, "MARK")
    never("by its name", BAD, "MARK")
    never("by a link", "./link", "MARK")
    never("by a link on the way", "binlink/bad", "MARK")
    never("by dots", f"{BIN}/../bin/./bad", "MARK")
    never("by /proc/self/root", f"/proc/self/root{BAD}", "MARK")
    never("by PATH", "sh", "-c", f"PATH={BIN} bad MARK")
    never("by env", "env", BAD, "MARK")
    never("under another argv[0]", "bash", "-c", f"exec -a good {BAD} MARK")
    never("by a hard link", "./hard", "MARK")
    never("by a copy", "./copy", "MARK")
    never("by a move", "sh", "-c", "mv copy moved; ./moved MARK")
    python("by a descriptor", f"import os; f = os.open('{BAD}', os.O_RDONLY); "
           "os.execve(f, ['good', 'MARK'], {})")
    python("by a path descriptor", f"import os; f = os.open('{BAD}', os.O_PATH); "
           "os.execve(f, ['good', 'MARK'], {})")
    python("by /dev/fd", f"import os; f = os.open('{BAD}', os.O_PATH); "
           "os.set_inheritable(f, True); os.execv(f'/dev/fd/{f}', ['good', 'MARK'])")
    python("as a memfd", f"import os; f = os.memfd_create('good'); "
           f"os.write(f, open('{GOOD}', 'rb').read()); os.execve(f, ['good', 'MARK'], {{}})")
    python("as a deleted file", "import os, shutil; shutil.copy('copy', 'gone'); "
           "f = os.open('gone', os.O_RDONLY); os.unlink('gone'); "
           "os.execve(f, ['good', 'MARK'], {})")
    python("from a thread", f"import os, threading; t = threading.Thread(target=os.execv, "
           f"args=('{BAD}', ['bad', 'MARK'])); t.start(); t.join()")
    python("spawned", f"import os; os.posix_spawn('{BAD}', ['bad', 'MARK'], {{}})")
    runs("with other arguments", GOOD, "MARK", "fine")
    never("with a refused argument", GOOD, "MARK", "evil")


def script(name, text):
    path = WORK / "scripts" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def test_scripts():
    runs("a script", script("fine", f"#!{GOOD} MARK\n"))
    never("as an interpreter", script("a", f"#!{BAD} MARK\n"))
    never("as an interpreter of an interpreter", script("b", f"#!{WORK}/scripts/a\n"))
    never("as a relative interpreter", script("c", "#!../bin/bad MARK\n"))
    never("by env", script("d", "#!/usr/bin/env bad\n"), "MARK",
          env={**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}"})
    never("by a link as an interpreter", script("e", f"#!{WORK}/link MARK\n"))
    never("an interpreter with a refused argument", script("f", f"#!{GOOD} MARK\n"), "evil")
    never("a script that may not be started", "./s", "MARK")


def loader():
    """The loader that /bin/echo names."""
    data = echo.read_bytes()
    at, size, count = struct.unpack_from("<Q", data, 32)[0], *struct.unpack_from("<HH", data, 54)
    for i in range(count):
        kind, _, offset, _, _, length = struct.unpack_from("<IIQQQQ", data, at + i * size)
        if kind == 3:
            return data[offset:offset + length - 1].decode()
    return None


def test_loaders():
    ld = loader()
    if not ld:
        note("/bin/echo has no loader")
        return
    runs("a program through its loader", ld, GOOD, "MARK")
    never("through its loader", ld, BAD, "MARK")
    never("through its loader, with options", ld, "--library-path", "/x", "--argv0", "y", BAD,
          "MARK")
    never("through its loader, by a relative name", ld, "../bin/bad", "MARK")
    never("through a loader with an option that is not known", ld, "--no-such", BAD, "MARK")
    never("through a loader that looks for it", ld, "bad", "MARK",
          env={**os.environ, "LD_LIBRARY_PATH": str(BIN)})
    same(run(ld, "--version").returncode, 0, "a loader may say its version")
    # A program whose own loader is another program.
    strange = WORK / "scripts" / "strange"
    data = bytearray(GOOD.read_bytes())
    where = data.find(ld.encode() + b"\0")
    name = b"../bin/bad\0"
    data[where:where + len(name)] = name
    strange.write_bytes(data)
    strange.chmod(0o755)
    never("as the loader of a program", strange, "MARK")


def test_foreign():
    small = WORK / "scripts" / "small"
    data = bytearray(GOOD.read_bytes())
    data[4] = 1
    small.write_bytes(data)
    small.chmod(0o755)
    r = run(sys.executable, "-c", f"import os\ntry: os.execv('{small}', ['x'])\n"
            "except OSError as e: print(e.errno)")
    same(r.stdout.strip(), "8", "an image of another word size is no program (ENOEXEC)")


def test_unreadable():
    """What its user may not read would make the process opaque."""
    shut = WORK / "scripts" / "shut"
    shutil.copy(GOOD, shut)
    shut.chmod(0o111)
    if os.access(shut, os.R_OK):
        note("root reads everything")
        return
    r = run(sys.executable, "-c", f"import os\ntry: os.execv('{shut}', ['x', 'MARK'])\n"
            "except OSError as e: print(e.errno)")
    same(r.stdout.strip(), "13", "a program that cannot be read is refused")


def test_hashes():
    """Rules by a program's hash: what was decided on is what runs."""
    twin = WORK / "scripts" / "twin"
    shutil.copy(GOOD, twin)
    twin.chmod(0o755)
    digest = hashlib.sha256(GOOD.read_bytes()).hexdigest()
    base = f"default allow\ndeny edit **\nallow edit {WORK}/** /dev/null /dev/tty\n"
    rules = base + f"deny exec {WORK}/** {BIN}/**\nallow exec {GOOD} sha256 {digest}\n"
    runs("a program by its hash", GOOD, "MARK", rules=rules)
    never("another program", BAD, "MARK", rules=rules.replace(str(GOOD), str(BAD)).replace(
        digest, "0" * 64))
    rules = base + f"deny exec ** sha256 {digest}\n"
    never("a copy, by its hash", twin, "MARK", rules=rules)
    with open(twin, "ab") as f:
        f.write(b"x")
    runs("a copy with one more byte", twin, "MARK", rules=rules)


TRY = """import ctypes, errno, os, sys
libc = ctypes.CDLL(None, use_errno=True)
argv = (ctypes.c_char_p * 2)(b"x", None)
for name in sys.argv[1:]:
    # A list that cannot be read keeps what may run from running.
    bad = name.startswith("+")
    at = ctypes.cast(1, ctypes.POINTER(ctypes.c_char_p)) if bad else argv
    libc.execve(os.fsencode(name.lstrip("+")), at, (ctypes.c_char_p * 1)())
    print(errno.errorcode[ctypes.get_errno()], end=" ")
"""


def test_hidden():
    """What an exec that starts nothing says of a file is a look at it."""
    hidden, seen = WORK / "hidden", WORK / "seen"
    for folder in (hidden, seen):
        folder.mkdir()
        (folder / "text").write_text("text\n")
        (folder / "empty").write_text("")
        (folder / "script").write_text(f"#!{folder}/interpreter\n")
        shutil.copy(GOOD, folder / "good")
        (folder / "middle").write_text(f"#!{WORK}/nowhere\n")
        for name in ("empty", "script", "middle"):
            (folder / name).chmod(0o755)
        (WORK / f"outer-{folder.name}").write_text(f"#!{folder}/middle\n")
        (WORK / f"outer-{folder.name}").chmod(0o755)
    os.symlink(seen, WORK / "to-seen")
    os.symlink(hidden, WORK / "to-hidden")
    names = ("absent", "text", "empty", "script", "text/below", "+good", "+absent")

    def tried(folder, rules):
        paths = [("+" if n[0] == "+" else "") + f"{folder}/{n.lstrip('+')}" for n in names]
        r = run(sys.executable, "-c", TRY, *paths, rules=rules)
        return r.stdout.split() or r.stderr

    rules = f"default allow\ndeny stat {hidden}/**\n"
    natively = ["ENOENT", "EACCES", "ENOEXEC", "ENOENT", "ENOTDIR", "EFAULT", "ENOENT"]
    for place in (seen, WORK / "to-seen"):
        got = tried(place, rules)
        ok(got == natively, f"{place.name}: as the kernel says ({got})")
    for place in (hidden, WORK / "to-hidden"):
        got = tried(place, rules)
        ok(got == ["EACCES"] * len(names), f"{place.name}: nothing is told ({got})")
    for folder, what in ((seen, "ENOENT"), (hidden, "EACCES")):
        got = run(sys.executable, "-c", TRY, str(WORK / f"outer-{folder.name}"), rules=rules)
        ok(got.stdout.split() == [what],
           f"{folder.name}: nor by what its own interpreter lacks ({got.stdout})")
    got = tried(WORK, f"default allow\ndeny stat {seen}/**\n")
    rows = audit("sql", f"SELECT DISTINCT object FROM decisions WHERE syscall = 'execve' AND "
                        f"class = 'stat' AND result = -2 AND object = '{WORK}/absent'").stdout
    ok(got[0] == "ENOENT" and f"{WORK}/absent" in rows, f"what was not found is on record ({rows})")


test_names()
test_hidden()
test_scripts()
test_loaders()
test_foreign()
test_hashes()
test_unreadable()
finish()
