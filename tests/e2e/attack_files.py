#!/usr/bin/env python3
"""A hostile program of the tree, under a policy that allows everything, cannot
read, change, move or replace wary's own files, whatever way it names them, nor
speak to the control socket."""
import json
import os
import pathlib
import subprocess

from wary_test import HOME, TMP, WAIT_S, WARY, Lines, finish, ok, policy, same

CHILD = r"""
import ctypes, errno, json, os, socket, sys
print("up", flush=True)
given = json.load(sys.stdin)
libc = ctypes.CDLL(None, use_errno=True)
def attempt(name, f, *a):
    try:
        f(*a)
        print(name, "DONE", flush=True)
    except OSError as e:
        print(name, errno.errorcode.get(e.errno, e.errno), flush=True)
def opened(path, flags, mode=0o600):
    os.close(os.open(path, flags, mode))
def by_call(nr, *a):
    if libc.syscall(nr, *a) < 0:
        raise OSError(ctypes.get_errno(), "")
def by_link(path, flags):
    os.symlink(path, "way")
    try: opened("way", flags)
    finally: os.unlink("way")
def by_folder(path, flags):
    fd = os.open(os.path.dirname(path), os.O_PATH)
    try: os.close(os.open(os.path.basename(path), flags, dir_fd=fd))
    finally: os.close(fd)
def by_cwd(path, flags):
    here = os.getcwd()
    os.chdir(os.path.dirname(path))
    try: opened("./" + os.path.basename(path), flags)
    finally: os.chdir(here)
def by_handle(path, flags):
    fd = os.open(path, os.O_PATH)
    try: opened("/proc/self/fd/%d" % fd, flags)
    finally: os.close(fd)
def by_second_name(path, flags):
    os.link(path, "second")
    try: opened("second", flags)
    finally: os.unlink("second")
ways = {"plain": opened, "link": by_link, "folder": by_folder, "cwd": by_cwd, "handle": by_handle,
        "second_name": by_second_name,
        "proc_root": lambda p, f: opened("/proc/self/root" + p, f),
        "dots": lambda p, f: opened(os.path.dirname(p) + "/../" + os.path.basename(os.path.dirname(p))
                                    + "//./" + os.path.basename(p), f)}
for label, path in given["files"].items():
    read_too = label != "policy"
    for way, f in ways.items():
        attempt(f"{label}.write.{way}", f, path, os.O_WRONLY)
        attempt(f"{label}.append.{way}", f, path, os.O_WRONLY | os.O_APPEND)
        if read_too:
            attempt(f"{label}.read.{way}", f, path, os.O_RDONLY)
    attempt(f"{label}.truncate", os.truncate, path, 0)
    attempt(f"{label}.empty", opened, path, os.O_RDONLY | os.O_TRUNC)
    attempt(f"{label}.chmod", os.chmod, path, 0o777)
    attempt(f"{label}.chown", os.chown, path, os.getuid(), os.getgid())
    attempt(f"{label}.utime", os.utime, path, (1, 1))
    attempt(f"{label}.setxattr", os.setxattr, path, "user.x", b"x")
    attempt(f"{label}.link", os.link, path, "stolen")
    attempt(f"{label}.rename", os.rename, path, "moved")
    open("mine", "w").close()
    attempt(f"{label}.replace", os.rename, "mine", path)
    attempt(f"{label}.exchange", by_call, 316, -100, b"mine", -100, os.fsencode(path), 2)
    attempt(f"{label}.unlink", os.unlink, path)
for label, path in given["folders"].items():
    attempt(f"{label}.list", os.listdir, path)
    attempt(f"{label}.create", opened, path + "/new", os.O_CREAT | os.O_WRONLY)
    attempt(f"{label}.mkdir", os.mkdir, path + "/new.d")
    attempt(f"{label}.chmod", os.chmod, path, 0o777)
    attempt(f"{label}.symlink", os.symlink, "/tmp", path + "/new.l")
    above = path
    for n in range(given["depth"]):
        attempt(f"{label}.rename_{n}_above", os.rename, above, above + ".moved")
        above = os.path.dirname(above)
for path in given["sockets"]:
    s = socket.socket(socket.AF_UNIX)
    attempt("socket.connect", s.connect, path)
for path in given["freeze"]:
    attempt("cgroup.freeze", opened, path, os.O_WRONLY)
"""


def own_cgroup():
    """Files by which whoever may write them stops, moves or starves wary."""
    found = []
    for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        name = controllers.split(",")[0].rpartition("=")[2]
        folder = pathlib.Path("/sys/fs/cgroup") / name / path.lstrip("/")
        found += [str(folder / n) for n in ("cgroup.procs", "cgroup.freeze", "cgroup.kill", "tasks",
                                            "freezer.state", "memory.max", "pids.max",
                                            "memory.limit_in_bytes") if (folder / n).exists()]
    return found


def run(store, options, env):
    """A session whose child attacks its own session's files. Returns its lines."""
    work = TMP / "work"
    work.mkdir(exist_ok=True)
    rules = policy()
    before = subprocess.run([WARY, *options, "-q", "-p", rules, "--", "true"], env=env, check=False,
                            stdin=subprocess.DEVNULL, timeout=WAIT_S)
    same(before.returncode, 0, "a session before")
    tree = subprocess.Popen([WARY, *options, "-q", "-p", rules, "--", "/usr/bin/python3", "-c", CHILD],
                            cwd=work, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            text=True)
    lines = Lines(tree.stdout)
    same(lines.next(), "up", "the tree runs")
    state = store.parent
    files, folders = {"policy": str(rules)}, {"store": str(state)}
    for path in sorted(state.rglob("*")):
        label = "state/" + str(path.relative_to(state)).replace(" ", "_")
        if path.is_file():
            files[label] = str(path)
        elif path.is_dir():
            folders[label] = str(path)
    sockets = [str(p) for p in state.rglob("*") if p.is_socket()]
    sockets += [str(p) for p in pathlib.Path(env["XDG_RUNTIME_DIR"]).rglob("*") if p.is_socket()]
    ok(len(files) >= 4, f"files that are attacked: {' '.join(files)}")
    ok(sockets, f"sockets: {' '.join(sockets)}")
    text = json.dumps({"files": files, "folders": folders, "sockets": sockets, "depth": 3,
                       "freeze": own_cgroup()})
    tree.stdin.write(text)
    tree.stdin.close()
    results = []
    while True:
        line = lines.next()
        if line is None:
            break
        results.append(line.split())
    same(tree.wait(WAIT_S), 0, "the attack was made to its end")
    return results


env = {**os.environ, "XDG_RUNTIME_DIR": str(TMP / "run"), "XDG_STATE_HOME": str(HOME / "states")}
(TMP / "run").mkdir(mode=0o700)
env.pop("WARY_DB")
# The store where it is by default, and one that lies among other files.
(TMP / "odd").mkdir()
for store, options in ((HOME / "states/wary/wary.db", []), (TMP / "odd/s.db", ["-o", TMP / "odd/s.db"])):
    results = run(store, options, env)
    ok(len(results) > 100, f"{len(results)} attempts")
    same([name for name, result in results if result == "DONE"
          and not (name.startswith("store.") and store.name == "s.db")], [], "none was done")
    moved = [name for name, result in results if result == "DONE" and ".rename_" in name]
    same(moved, [], "no folder above the store was moved away")
    verify = subprocess.run([WARY, "audit", "verify", "--db", store], env=env, capture_output=True,
                            text=True, check=False, stdin=subprocess.DEVNULL, timeout=WAIT_S)
    same(verify.returncode, 0, "the record is intact")


def by_links():
    """Policy and store named through links: who replaces one of those chooses what
    the next session obeys, or where it writes."""
    place = TMP / "links"
    (place / "work").mkdir(parents=True)
    (place / "real/parts").mkdir(parents=True)
    (place / "stores").mkdir()
    (place / "real/main.wary").write_text('wary 1\ndefault allow\ninclude "./part.wary"\n')
    (place / "real/parts/part.wary").write_text("wary 1\n")
    (place / "real/part.wary").symlink_to("parts/part.wary")
    (place / "work/main.wary").symlink_to("../way/main.wary")
    (place / "way").symlink_to("real")
    (place / "store").symlink_to("stores")
    links = ["work/main.wary", "way", "real/part.wary", "store"]
    tries = ('rm -f "$l"; mv "$l" "$l.moved"; mv mine "$l"; ln -sfn /tmp "$l"; '
             'mv -T --exchange mine "$l"')
    run = subprocess.run(
        [WARY, "-q", "-p", "./main.wary", "-o", place / "store/s.db", "--", "sh", "-c",
         f'for l; do : >mine; {tries}; done 2>/dev/null; echo made', "sh",
         *[str(place / link) for link in links]],
        cwd=place / "work", env=env, capture_output=True, text=True, check=False,
        stdin=subprocess.DEVNULL, timeout=WAIT_S)
    same((run.returncode, run.stdout), (0, "made\n"), "links on the way are attacked")
    for link in links:
        ok((place / link).is_symlink(), f"{link} is the link that it was")
    same([os.readlink(place / link) for link in links],
         ["../way/main.wary", "real", "parts/part.wary", "stores"], "and lead where they led")


by_links()
finish()
