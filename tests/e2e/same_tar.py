#!/usr/bin/env python3
"""tar out and in of a tree with links, odd modes and names that are not UTF-8:
the same archive and the same tree as natively."""
from wary_test import *

top = TMP / "odd"
top.mkdir()
base = os.fsencode(top)
for name in (b"plain", b"with blank", b"new\nline", b"\xff\xfe not utf-8", b"\xc3\xbc", b"back\\slash",
             b"-dash", b"quote'\"", b"*", b"n" * 255):
    with open(os.path.join(base, name), "wb") as f:
        f.write(name * 3)
os.link(base + b"/plain", base + b"/hard")
os.link(base + b"/plain", base + b"/harder")
os.symlink(b"plain", base + b"/soft")
os.symlink(b"/does/not/exist", base + b"/dangling")
os.symlink(b"../odd/./soft", base + b"/chain")
os.symlink(b"\xff", base + b"/\xfe")
os.mkfifo(base + b"/fifo", 0o640)
deep = base
for i in range(30):
    deep += b"/" + b"d" * 100
    os.mkdir(deep)
with open(deep + b"/end", "wb") as f:
    f.write(b"deep")
with open(base + b"/sparse", "wb") as f:
    f.truncate(1 << 20)
    f.seek(1 << 19)
    f.write(b"x")
for mode in (0o600, 0o644, 0o755, 0o4755, 0o2755, 0o1777, 0o444, 0o200, 0o000):
    path = base + b"/mode%o" % mode
    with open(path, "wb") as f:
        f.write(b"m")
    # As an ordinary user what cannot be read cannot be archived.
    os.chmod(path, mode if os.geteuid() == 0 or mode & 0o400 else mode | 0o400)
os.mkdir(base + b"/sticky")
os.chmod(base + b"/sticky", 0o1777)
os.mkdir(base + b"/closed")
os.chmod(base + b"/closed", 0o555)


def tree(folder):
    return native("/usr/bin/python3", SRC / "tests/lib/tree.py", folder).stdout


def compare(what, argv, rules="default allow\n", **more):
    n = native(*[a.replace("SIDE", "native") for a in argv], cwd=TMP, **more)
    w = wary(*[a.replace("SIDE", "wary") for a in argv], rules=rules, options=("-q",), cwd=TMP, **more)
    same(w.returncode, n.returncode, f"{what}: exit status")
    same(w.stdout.replace("wary", "native"), n.stdout, f"{what}: output")
    same(w.stderr.replace("wary", "native"), n.stderr, f"{what}: messages")


compare("tar out", ["tar", "--sort=name", "-cf", "SIDE.tar", "odd"])
same((TMP / "wary.tar").read_bytes() == (TMP / "native.tar").read_bytes(), True,
     "the archives are the same, byte for byte")
for flags in ("-xf", "-xpf"):
    for side in ("native", "wary"):
        native("rm", "-rf", f"{side}{flags}", cwd=TMP)
        (TMP / f"{side}{flags}").mkdir()
    compare(f"tar {flags}", ["tar", "-C", f"SIDE{flags}", flags, "native.tar"])
    before = tree(TMP / f"native{flags}")
    same(tree(TMP / f"wary{flags}"), before, f"tar {flags}: the same tree")
    ok(before.count("\n") > 50, "which is not an empty one")
compare("cp -a", ["cp", "-a", "odd", "SIDE-copy"])
same(tree(TMP / "wary-copy"), tree(TMP / "native-copy"), "cp -a: the same tree")
compare("rm -r", ["rm", "-rf", "SIDE-copy"])
same((TMP / "wary-copy").exists(), False, "rm -r: it is gone")

finish()
