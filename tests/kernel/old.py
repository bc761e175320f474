#!/usr/bin/env python3
# wary-test: full serial as=owner timeout=900
"""The suite on an older kernel: Debian's own, started by qemu in software with an
initramfs that is made here (tests/lib/initramfs.py). A choice of the tests runs in
it, as root and as an ordinary user, and what that kernel lacks is said by `wary
doctor` and stands on the record.

old.py NAME…   runs only the jobs that have a NAME in theirs, and shows all output"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ["SRC"], "tests/lib"))
from initramfs import Initramfs
from wary_test import BUILD, SRC, TMP, WARY, finish, note, ok, same, skip

# Debian's, smallest first: the second is what a machine has that is not rented.
KERNELS = ["linux-image-cloud-amd64", "linux-image-amd64"]
QEMU = "qemu-system-x86_64"
# The whole of it; what is over that is a hang.
END_S = 840
JOB_S = 400
# What makes an emulated processor slow and decides nothing here is off.
COMMAND_LINE = ("console=ttyS0 quiet loglevel=3 panic=-1 mitigations=off nokaslr apparmor=0 "
                "audit=0 nowatchdog random.trust_cpu=on lsm=landlock,yama")
UID = 1000
PROGRAMS = """[ awk basename bash cat chgrp chmod chown cmp cp cut date dd df dirname du echo env
expr false find getent grep head hostname id kill ln ls mkdir mkfifo mknod mktemp mv nice nohup od
printenv printf ps pwd readlink realpath rm rmdir script sed seq setpriv setsid sh sha256sum sleep
sort sqlite3 stat stdbuf stty sync tail tar tee test timeout touch tr true truncate tty uname
uniq unlink wc whoami xargs yes flock id""".split()
# Of Python, what no test loads.
NOT_PYTHON = ("test", "idlelib", "tkinter", "lib2to3", "ensurepip", "pydoc_data", "turtledemo",
              "distutils", "dist-packages")
BOTH, ROOT, USER = ("root", "user"), ("root",), ("user",)
# In an order in which the long ones begin first. Names of tests: as tests/run has them.
JOBS = [
    ("e2e/same_files.py", BOTH, {}),
    ("race/flip_open.py open_name open_link create", USER, {"ROUNDS": "300"}),
    ("race/exec_takeover.py", USER, {"ROUNDS": "20", "PLANTED": "elsewhere"}),
    ("e2e/attack_self.py", BOTH, {}),
    ("e2e/attack_files.py", USER, {}),
    ("e2e/exec.py", BOTH, {}),
    ("e2e/same_sockets.py", USER, {}),
    ("e2e/boundary.py", BOTH, {}),
    ("e2e/inherit.py", USER, {}),
    ("e2e/confined.py", BOTH, {}),
    ("e2e/own_bind.py", USER, {}),
    ("unit/trap_filter", BOTH, {}),
    ("unit/trap_confine", BOTH, {}),
    ("unit/trap_kernel", BOTH, {}),
    ("unit/tracee_place", BOTH, {}),
    ("unit/tracee_mem", BOTH, {}),
    ("unit/tracee_lineage", USER, {}),
    ("unit/tracee_caller", BOTH, {}),
    ("unit/tracee_startup", BOTH, {}),
    ("unit/audit_session", USER, {}),
]


# --- the kernel -----------------------------------------------------------------

def run(argv, timeout=300, **more):
    return subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", timeout=timeout,
                          check=False, **more)


def package_of(meta):
    """The package that holds the kernel: what the release's own name for it needs."""
    out = run(["apt-cache", "depends", meta]).stdout
    found = re.search(r"Depends: (linux-image-\S+)", out)
    return found.group(1) if found else None


def download(package, folder):
    """The kernel of a package, unpacked; nothing is installed."""
    if run(["apt-get", "download", "-q", package], cwd=folder).returncode != 0:
        return None
    deb = next(pathlib.Path(folder).glob("*.deb"), None)
    if not deb or run(["dpkg-deb", "-x", str(deb), str(folder / "x")]).returncode != 0:
        return None
    return next((folder / "x/boot").glob("vmlinuz-*"), None)


def fetch_kernel():
    """Kept in the build's folder where that may be written."""
    kept = BUILD / "old-kernel"
    have = sorted(kept.glob("vmlinuz-*")) if kept.exists() else []
    if have:
        return have[-1]
    for again in (False, True):
        if again and (os.geteuid() != 0 or run(["apt-get", "-q", "update"]).returncode != 0):
            break
        for meta in KERNELS:
            folder = TMP / f"{meta}{again:d}"
            folder.mkdir()
            package = package_of(meta)
            found = download(package, folder) if package else None
            if found:
                return keep(found, kept)
    return None


def keep(kernel, folder):
    try:
        folder.mkdir(exist_ok=True)
        shutil.copyfile(kernel, folder / (kernel.name + ".new"))
        os.replace(folder / (kernel.name + ".new"), folder / kernel.name)
    except OSError:
        return kernel
    return folder / kernel.name


# --- the machine's disk ---------------------------------------------------------

def add_system(image):
    for name, mode in (("/proc", 0o555), ("/sys", 0o555), ("/dev", 0o755), ("/run", 0o755),
                       ("/tmp", 0o1777), ("/var/tmp", 0o1777), ("/root", 0o700)):
        image.folder(name, mode)
    image.device("/dev/console", 5, 1)
    image.device("/dev/null", 1, 3)
    image.text("/etc/passwd", "root:x:0:0:root:/root:/bin/sh\n"
               f"user:x:{UID}:{UID}:user:/home/user:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n")
    image.text("/etc/group", f"root:x:0:\nuser:x:{UID}:\nnogroup:x:65534:\n")
    image.text("/etc/hosts", "127.0.0.1 localhost guest\n")
    image.text("/etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n")
    for name in PROGRAMS:
        path = shutil.which(name, path="/usr/bin:/bin:/usr/sbin:/sbin")
        if path:
            image.program(path)


LIMITS = r"""/build/wary -q --db r.db -- true &&
/build/wary audit sql --db r.db "SELECT object, object2 FROM limits ORDER BY object" &&
/build/wary audit verify --db r.db"""


def add_python(image):
    """And what is loaded without being named: threads are cancelled by libgcc_s."""
    for library in pathlib.Path("/usr/lib/x86_64-linux-gnu").glob("libgcc_s.so.1"):
        image.file(library)
    for library in pathlib.Path("/lib/x86_64-linux-gnu").glob("libgcc_s.so.1"):
        image.file(library)
    image.program("/usr/bin/python3")
    real = os.path.realpath("/usr/bin/python3")
    image.tree("/usr/lib/" + os.path.basename(real), leave_out=NOT_PYTHON)


def add_wary(image):
    image.program(WARY, "/build/wary", strip=True)
    image.text("/build/config.status", "")
    image.link("/build/policy", "/src/policy")
    image.tree(SRC / "policy", "/src/policy")
    image.tree(SRC / "tests/lib", "/src/tests/lib", ("__pycache__",))
    for kind in ("e2e", "race"):
        image.tree(SRC / "tests" / kind, f"/src/tests/{kind}", ("__pycache__",))
    for kind in ("e2e", "race", "lib"):
        for program in sorted((BUILD / "tests" / kind).iterdir()):
            if program.suffix == "" and os.access(program, os.X_OK) and program.is_file():
                image.program(program, f"/build/tests/{kind}/{program.name}", strip=True)
    for name, _, _ in JOBS:
        if name.startswith("unit/"):
            image.program(BUILD / "tests" / name, "/build/tests/" + name, strip=True)


# Jobs that are no tests: what they say is looked at here.
OWN = {"doctor": ["/build/wary", "doctor"], "record": ["sh", "-c", LIMITS]}


def job(name, who, more):
    env = {"SRC": "/src", "BUILD": "/build", "WARY": "/build/wary", "CC": "cc",
           "PYTHONPATH": "/src/tests/lib"}
    env.update(more)
    place = "/build/tests/" if name.startswith("unit/") else "/src/tests/"
    argv = OWN.get(name) or (place + name).split()
    return {"name": f"{name} ({who})", "argv": argv, "timeout": JOB_S, "user": who,
            "uid": 0 if who == "root" else UID, "env": env}


def make_image(jobs):
    image = Initramfs()
    add_system(image)
    add_python(image)
    add_wary(image)
    image.file(SRC / "tests/kernel/guest.py", "/init")
    image.chmod("/init", 0o755)
    image.text("/jobs.json", json.dumps(jobs))
    path = TMP / "initramfs"
    image.write(path)
    return path


# --- the run --------------------------------------------------------------------

def boot(kernel, image):
    """(what the guest said, its console). Killed where it does not end."""
    argv = [QEMU, "-nodefaults", "-no-user-config", "-no-reboot", "-display", "none", "-m", "1536",
            "-smp", "2", "-accel", "tcg,thread=multi", "-cpu", "qemu64,+rdrand", "-kernel", kernel,
            "-initrd", image, "-append", COMMAND_LINE, "-serial", f"file:{TMP}/console",
            "-serial", f"file:{TMP}/results"]
    try:
        said = run([str(a) for a in argv], END_S)
        ok(said.returncode == 0, "the machine ran, and was switched off")
        if said.stdout.strip():
            note(said.stdout[-1000:])
    except subprocess.TimeoutExpired:
        ok(False, f"the machine ended within {END_S} s")
    lines = []
    for line in (TMP / "results").read_text(errors="replace").splitlines():
        if line.startswith("{") and line.endswith("}"):
            lines.append(json.loads(line))
    return lines, (TMP / "console").read_text(errors="replace")


def show(result, all_of_it):
    passed = result["status"] == 0 and not result["failed"]
    checks = result["passed"] + result["failed"]
    ok(passed, f"{result['name']}: {checks} checks, {result['seconds']} s"
       + ("" if passed else f", status {result['status']}"))
    if not passed or all_of_it:
        note(result["output"] if all_of_it else result["output"][-3000:])


def check_doctor(text):
    """What Linux 6.1 has, and what it says that it lacks."""
    note(text)
    for what, pattern in (
            ("wary works here", r"^kernel +6\.1\.\S* +user notification.* degraded$"),
            ("calls are lacking", r"^ +lacks, .* fchmodat2,.* AT_EXECVE_CHECK, PIDFD_THREAD\."),
            ("Landlock binds files", r"^second boundary +Landlock ABI 2: files +degraded$"),
            ("and not all of it", r"^ +held by wary alone: truncation, TCP, ioctl .*signals")):
        ok(re.search(pattern, text, re.M), "doctor: " + what)


def check_record(text):
    note(text)
    for what, pattern in (
            ("the kernel's calls", r"^kernel\b.*\bfchmodat2\b.*\bPIDFD_THREAD$"),
            ("the boundary", r"^second boundary\b.*\btruncation, TCP\b"),
            ("intact", r"\bintact\b")):
        ok(re.search(pattern, text, re.M), "the record: " + what)


def main():
    wanted = sys.argv[1:]
    if os.uname().machine != "x86_64":
        skip("only x86-64 has a kernel for this")
    if not shutil.which(QEMU) or not shutil.which("dpkg-deb"):
        skip(f"{QEMU} or dpkg-deb is missing")
    kernel = fetch_kernel()
    if not kernel:
        skip("no kernel of Debian's can be had here: " + " ".join(KERNELS))
    jobs = [job(name, "user", {}) for name in OWN]
    jobs += [job(name, who, more) for name, people, more in JOBS for who in people
             if not wanted or any(w in name for w in wanted)]
    said, console = boot(kernel, make_image(jobs))
    results = {line["name"]: line for line in said if "name" in line}
    release = next((line["up"] for line in said if "up" in line), None)
    if not ok(release, f"it is Linux {release} ({kernel.name})"):
        note(console[-3000:])
    same([j["name"] for j in jobs if j["name"] not in results], [], "each was run")
    for name, check in (("doctor (user)", check_doctor), ("record (user)", check_record)):
        check(results.pop(name, {}).get("output", ""))
    for result in results.values():
        show(result, bool(wanted))
    if wanted or re.search(r"BUG|Oops|panic", console):
        note(console[-3000:])
    finish()


main()
