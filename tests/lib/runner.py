"""Builds wary and runs its tests: the part of tests/run that is not shell.

Every step is a Task: builds, lints, unit tests, end-to-end tests.  Tasks of
one stage run in lanes; those that must be alone on the machine have the last
one, of one lane.  What a test may count on is in tests/README.md.
"""
import argparse
import fnmatch
import functools
import os
import pathlib
import pwd
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

TOP = pathlib.Path(__file__).resolve().parents[2]
TIMEOUT_S = 300
STEP_TIMEOUT_S = 2400  # builds and lints, of which three may run at once
SHOWN_LINES = 60
STRICT = os.environ.get("CI", "") not in ("", "0", "false")
# Kinds that may be run once more, alone, where they failed: they depend on a
# terminal's, a disk's and other programs' timing, and are named as unsteady. A
# lost race is never repeated.
REPEATABLE = {"e2e", "fault"}
TEST_USER = "wary-test"


class Who:
    """An identity that tests run as."""

    def __init__(self, name, prefix, src, builds, scratch):
        self.name, self.prefix = name, prefix
        self.src, self.builds, self.scratch = src, builds, scratch


class Result:
    def __init__(self):
        self.passed = self.failed = self.skipped = 0
        self.output = ""
        self.seconds = 0.0
        self.busy_s = 0.0
        self.reason = ""


class Task:
    """One line of the report. `run(task, log)` returns an exit status."""

    def __init__(self, name, run, kind="step", label="", timeout=TIMEOUT_S):
        self.name, self.run, self.kind, self.label = name, run, kind, label
        self.timeout = timeout
        self.busy_s = 0.0  # of processors, by it and what it waited for
        self.result = None
        self.steady = False  # what it found is not undone by a second run


class Report:
    """Prints one line a task, and remembers."""

    def __init__(self):
        self.lock = threading.Lock()
        self.tasks = []

    def done(self, task):
        r = task.result
        with self.lock:
            self.tasks.append(task)
            word = "FAIL" if r.failed else "skip" if r.skipped and not r.passed else "ok"
            count = r.passed + r.failed + r.skipped
            extra = f"  {r.reason}" if r.reason else ""
            print(f"{word:<4} {task.name:<44} {task.label:<9} {count:>5}  {r.seconds:6.1f} s"
                  f"{r.busy_s:7.1f} busy{extra}", flush=True)
            if r.failed:
                lines = r.output.rstrip().split("\n")
                if len(lines) > SHOWN_LINES:
                    print(f"     … {len(lines) - SHOWN_LINES} lines before; failed in them:")
                    for i, line in enumerate(lines[:-SHOWN_LINES]):
                        if line.startswith("not ok"):
                            print("     " + "\n     ".join(lines[i:i + 5]))
                for line in lines[-SHOWN_LINES:]:
                    print("     " + line)
                sys.stdout.flush()

    def forget(self, task):
        with self.lock:
            self.tasks.remove(task)

    def totals(self):
        results = [t.result for t in self.tasks]
        return tuple(sum(getattr(r, key) for r in results)
                     for key in ("passed", "failed", "skipped"))


def count_tap(output, result):
    """Fills the counts from TAP lines; returns whether there were any."""
    planned = None
    seen = 0
    for line in output.split("\n"):
        plan = re.match(r"1\.\.(\d+)", line)
        check = re.match(r"(not )?ok\b\s*\d*(.*)", line)
        if plan:
            planned = int(plan.group(1))
        elif check:
            seen += 1
            if re.search(r"#\s*skip", check.group(2), re.I):
                result.skipped += 1
            elif check.group(1):
                result.failed += 1
            else:
                result.passed += 1
    if not seen and planned is None:
        return False
    if planned != seen:
        result.failed += 1
        result.output += f"\n# planned {planned} checks, saw {seen}\n"
    return True


def judge(task, status, output, seconds):
    result = Result()
    result.output, result.seconds = output, seconds
    last = output.rstrip().split("\n")[-1] if output.strip() else ""
    if status == 77:
        result.skipped, result.reason = 1, last[:100]
        if STRICT and task.kind in ("e2e", "race", "fault"):
            result.skipped, result.failed = 0, 1
            result.output += "\n# a skip counts as a failure here\n"
    else:
        has_tap = task.kind != "step" and count_tap(output, result)
        if status != 0 and not result.failed:
            result.failed += 1
            result.output += f"\n# exit status {status}\n"
        elif status == 0 and not has_tap:
            result.passed += 1
        if STRICT and result.skipped and task.kind in ("e2e", "race", "fault"):
            result.failed += result.skipped
            result.skipped = 0
            result.output += "\n# skipped checks count as failures here\n"
    return result


def run_task(task, report):
    start = time.monotonic()
    with tempfile.TemporaryFile() as log:
        try:
            status = task.run(task, log)
        except Exception as error:  # a fault of the frame: shown, never lost
            status = 1
            log.write(f"\nrunner: {error!r}\n".encode())
        log.seek(0)
        output = log.read().decode(errors="replace")
    task.result = judge(task, status, output, time.monotonic() - start)
    task.result.busy_s = task.busy_s
    report.done(task)


def run_stage(tasks, report, lanes):
    queue = list(tasks)
    lock = threading.Lock()

    def lane():
        while True:
            with lock:
                if not queue:
                    return
                task = queue.pop(0)
            run_task(task, report)

    threads = [threading.Thread(target=lane) for _ in range(min(lanes, len(queue)) or 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def finish(process, timeout):
    """Waits; kills the process group at the timeout. Returns the status, and what
    processors spent on it and on all that was waited for in it."""
    ended = os.pidfd_open(process.pid)
    try:
        in_time = bool(select.select([ended], [], [], timeout)[0])
        if not in_time:
            kill_group(process)
            select.select([ended], [], [])
        stat = pathlib.Path(f"/proc/{process.pid}/stat").read_text()
    finally:
        os.close(ended)
    ticks = stat[stat.rindex(")") + 2:].split()[11:15]
    busy_s = sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")
    status = process.wait()
    return status if in_time else "timeout", busy_s


def kill_group(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except PermissionError:
        subprocess.run(["sudo", "-n", "kill", "-KILL", "--", f"-{process.pid}"], check=False,
                       stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    except ProcessLookupError:
        pass


def run_command(task, argv, log, timeout, cwd=None, env=None):
    process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                               cwd=cwd, env=env, start_new_session=True)
    status, task.busy_s = finish(process, timeout)
    if status == "timeout":
        log.write(f"\nrunner: killed after {timeout} s\n".encode())
    return status


def command_task(name, argv, cwd=None, timeout=STEP_TIMEOUT_S, env=None, label="", kind="step"):
    def run(task, log):
        return run_command(task, argv, log, timeout, cwd, env)
    return Task(name, run, kind, label, timeout)


# --- builds ---------------------------------------------------------------

class Build:
    def __init__(self, name, cc, flags, target="tests-build", cflags="-O2 -g"):
        self.name, self.cc, self.flags = name, cc, flags
        self.target, self.cflags = target, cflags
        self.folder = TOP / "build" / name

    def tasks(self, jobs):
        """Configure where needed, then build wary and all test programs."""
        script = f"""
            set -e
            mkdir -p '{self.folder}' && cd '{self.folder}'
            if [ ! -f config.status ] || [ '{TOP}/configure' -nt config.status ]; then
                '{TOP}/configure' -q --enable-werror {self.flags} CC='{self.cc}' CFLAGS='{self.cflags}'
            fi
            make -j{jobs} {self.target}
        """
        return [command_task(f"build/{self.name}", ["sh", "-c", script])]


BUILDS = [
    Build("gcc", "gcc", "", cflags="-O2 -g1"),
    # Not optimised: in half the time, and what is wrong is not optimised away.
    Build("clang-sanitize", "clang", "--enable-sanitize", "tests-units", "-O0 -gline-tables-only"),
    # Wary alone, for THREAD_TESTS. By gcc: clang's needs a program to name functions,
    # and wary starts none. Other warnings come of other flags.
    Build("thread-sanitize", "gcc", "--disable-werror --enable-sanitize=thread", "all", "-O1 -g1"),
]
# What e2e/same_make.sh finds in the build of gcc.
NATIVE_MAKE = BUILDS[0].folder / "tests/e2e/same_make.native"
# Where wary's threads meet: the pool, exec stops, questions, the writer, the end.
THREAD_TESTS = ["e2e/exec.py", "e2e/ask_terminal.py", "e2e/jobs.py",
                "e2e/killed.py"]
# Reports go to files, which the runner reads: exit statuses stay as tests want them.
TSAN_OPTIONS = "exitcode=0:die_after_fork=0:report_signal_unsafe=0:log_path="


def native_make_task():
    """The make of wary that e2e/same_make.sh compares with, once for all identities."""
    folder = TOP / "build/native-make"
    env = {k: os.environ[k] for k in ("PATH", "HOME", "LANG", "LC_ALL") if k in os.environ}
    env.setdefault("LANG", "C.UTF-8")
    env.update(SRC=str(TOP), CC=BUILDS[0].cc)
    script = 'rm -rf -- "$1" && sh "$SRC/tests/lib/make_wary.sh" "$1" "$2" && rm -rf -- "$1"'
    return command_task("build/native make", ["sh", "-c", script, "sh", str(folder), str(NATIVE_MAKE)],
                        env=env)


def bootstrap_needed():
    configure = TOP / "configure"
    sources = [TOP / "configure.ac", TOP / "Makefile.am", TOP / "src/sources.mk",
               TOP / "tests/tests.mk"]
    if not (TOP / "Makefile.in").exists() or not configure.exists():
        return True
    oldest = min(configure.stat().st_mtime, (TOP / "Makefile.in").stat().st_mtime)
    return any(s.stat().st_mtime > oldest for s in sources)


# --- tests ----------------------------------------------------------------

def settings(path):
    """Words after `wary-test:` in a test's first lines: as=root, as=user,
    as=owner (who owns sources and builds), serial, full (not with --quick),
    beside=PATH (only where that is beside the checkout), timeout=SECONDS."""
    head = path.read_text(errors="replace")[:1500]
    found = re.search(r"wary-test:\s*([^\n*]*)", head)
    words = found.group(1).split() if found else []
    return dict(word.partition("=")[::2] for word in words)


def find_tests(kind):
    """(name, path of the script or C file) of every test of a kind. In e2e/ and
    race/ a program is what a script runs, natively and under wary: no test."""
    folder = TOP / "tests" / kind
    scripts = {p.stem: p for p in folder.glob("*") if p.suffix in (".sh", ".py")
               and os.access(p, os.X_OK)}
    programs = {p.stem: p for p in folder.glob("*.c")
                if kind == "fault" and p.stem not in scripts}
    return sorted([(f"{kind}/{p.name}", p) for p in scripts.values()]
                  + [(f"{kind}/{p.name}", p) for p in programs.values()])


def leftovers(mark):
    """Processes that still have the test's mark in their environment."""
    found = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/environ", "rb") as f:
                if mark in f.read():
                    found.append(int(entry))
        except OSError:
            continue
    return found


def kill_leftovers(mark, log):
    for pid in leftovers(mark):
        try:
            name = pathlib.Path(f"/proc/{pid}/comm").read_text().strip()
            os.kill(pid, signal.SIGKILL)
            log.write(f"\nrunner: left behind and killed: {pid} ({name})\n".encode())
        except OSError:
            pass


@functools.lru_cache(maxsize=None)
def npm_registry():
    """The registry that this machine is set up with; tests have no home of ours."""
    try:
        out = subprocess.run(["npm", "config", "get", "registry"], stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, check=False)
        return out.stdout.decode().strip() or "https://registry.npmjs.org/"
    except OSError:
        return "https://registry.npmjs.org/"


def test_environment(who, build, home, tmp, cc):
    keep = {k: v for k, v in os.environ.items()
            if k in ("PATH", "LANG", "LC_ALL", "CI", "BENCH_ROUNDS")
            or k.lower().startswith(("npm_config_", "pip_"))
            or k.lower() in ("http_proxy", "https_proxy", "no_proxy")}
    keep.update({
        "HOME": str(home), "TMPDIR": str(tmp), "SRC": str(who.src),
        "BUILD": str(who.builds[build]), "WARY": str(who.builds[build] / "wary"), "CC": cc,
        "PYTHONPATH": str(who.src / "tests/lib"), "PYTHONDONTWRITEBYTECODE": "1",
        "TERM": "xterm", "USER": who.name, "LOGNAME": who.name,
        "WARY_TEST": f"{os.getpid()}-{home.parent.name}",
    })
    keep.setdefault("LANG", "C.UTF-8")
    keep["NPM_REGISTRY"] = npm_registry()
    return keep


def scratch_folder(who):
    """A folder of the test's own, with home/ and tmp/, that `who` owns."""
    if not who.prefix:
        base = pathlib.Path(tempfile.mkdtemp(prefix="t.", dir=who.scratch))
        for name in ("home", "tmp"):
            (base / name).mkdir(mode=0o700)
        return base

    def made(argv):
        return subprocess.run(who.prefix + argv, check=True, stdout=subprocess.PIPE,
                              stdin=subprocess.DEVNULL).stdout.decode().strip()
    base = pathlib.Path(made(["mktemp", "-d", f"{who.scratch}/t.XXXXXX"]))
    made(["mkdir", "-m", "700", f"{base}/home", f"{base}/tmp"])
    return base


def remove_folder(who, base):
    if not who.prefix:
        shutil.rmtree(base, ignore_errors=True)
        if not base.exists():
            return
    argv = ["sh", "-c", 'chmod -R u+rwX "$1" 2>/dev/null; rm -rf -- "$1"', "sh", str(base)]
    subprocess.run(who.prefix + argv, check=False, stdin=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)


def take_races(base, log):
    """Whether ThreadSanitizer reported something; puts it into the log."""
    reports = sorted(base.glob("race.*"))
    for report in reports:
        log.write(b"\n" + report.read_bytes())
    return bool(reports)


def test_task(name, path, who, build, cc, threads=None):
    """threads: the build whose wary is run, for what ThreadSanitizer says of it."""
    words = settings(path)
    timeout = int(words.get("timeout", TIMEOUT_S))
    kind = name.split("/")[0]

    def run(task, log):
        base = scratch_folder(who)
        try:
            env = test_environment(who, build, base / "home", base / "tmp", cc)
            if path.suffix == ".c":
                argv = [str(who.builds[build] / "tests" / kind / path.stem)]
            else:
                argv = [str(who.src / path.relative_to(TOP))]
            if threads:
                env["WARY"] = str(who.builds[threads] / "wary")
                env["TSAN_OPTIONS"] = f"{TSAN_OPTIONS}{base}/race"
            # `env -i` after the prefix: sudo and setpriv change the environment.
            words_ = ["env", "-i", "-C", str(base / "tmp")] + [f"{k}={v}" for k, v in env.items()]
            status = run_command(task, who.prefix + words_ + argv, log, timeout)
            kill_leftovers(f"WARY_TEST={env['WARY_TEST']}".encode(), log)
            if threads and take_races(base, log):
                task.steady = True
                return "ThreadSanitizer reports a race"
            return status
        finally:
            remove_folder(who, base)

    return Task(name, run, kind, "threads" if threads else who.name, timeout), words


# --- who tests run as -------------------------------------------------------

def readable_copy(target, user):
    """A copy of sources and builds that an ordinary user can read."""
    names = [d for d in ("gcc", "clang-sanitize") if (TOP / "build" / d / "wary").exists()]
    subprocess.run(["chmod", "755", str(target)], check=True)
    src = target / "src"
    src.mkdir()
    archive = subprocess.Popen(
        ["tar", "-C", str(TOP), "--exclude=./build", "--exclude=./.git", "-cf", "-", "."],
        stdout=subprocess.PIPE)
    subprocess.run(["tar", "-C", str(src), "--no-same-owner", "-xf", "-"],
                   stdin=archive.stdout, check=True)
    archive.wait()
    builds = {}
    for name in names:
        builds[name] = target / "build" / name
        builds[name].mkdir(parents=True)
        # config.status: by which wary knows that it runs from a build tree.
        for file in ("wary", "config.status"):
            shutil.copy2(TOP / "build" / name / file, builds[name] / file)
        (builds[name] / "policy").symlink_to(src / "policy")
        for folder in ("e2e", "race", "fault", "lib", "bench"):
            source = TOP / "build" / name / "tests" / folder
            if source.exists():
                shutil.copytree(source, builds[name] / "tests" / folder, symlinks=True,
                                ignore=shutil.ignore_patterns("*.o", ".deps", ".dirstamp"))
    subprocess.run(["chmod", "-R", "go+rX,go-w", str(target)], check=True)
    shared = TOP.parent / "shared"
    if shared.is_dir():
        shutil.copytree(shared, target / "shared", symlinks=True)
        subprocess.run(["chmod", "-R", "u+w,go+rX,go-w", str(target / "shared")], check=True)
    scratch = target / "scratch"
    scratch.mkdir()
    os.chown(scratch, user.pw_uid, user.pw_gid)
    os.chmod(scratch, 0o700)
    return src, builds, scratch


def ordinary_user(name):
    """The ordinary user's entry; made where root runs this and it is missing."""
    try:
        return pwd.getpwnam(name)
    except KeyError:
        print(f"making the user {name} for the tests", flush=True)
        subprocess.run(["useradd", "--create-home", "--shell", "/bin/sh", name], check=True,
                       stdin=subprocess.DEVNULL)
        return pwd.getpwnam(name)


def set_ids(user):
    groups = os.getgrouplist(user.pw_name, user.pw_gid)
    return ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}",
            "--groups", ",".join(str(g) for g in groups)]


def can_sudo():
    if not shutil.which("sudo"):
        return False
    ask = [] if sys.stdin.isatty() else ["-n"]
    return subprocess.run(["sudo", *ask, "true"], stderr=subprocess.DEVNULL,
                          check=False).returncode == 0


def identities(options, made):
    """Root and an ordinary user, whoever runs this; `made` gets the folders to
    remove at the end."""
    builds = {b.name: b.folder for b in BUILDS}
    own = pathlib.Path(tempfile.mkdtemp(prefix="wary-tests.", dir="/var/tmp"))
    made.append((None, own))
    if os.geteuid() == 0:
        found = [Who("root", [], TOP, builds, own)]
        if not options.quick:
            user = ordinary_user(options.user)
            target = pathlib.Path(tempfile.mkdtemp(prefix="wary-tests.", dir=user.pw_dir))
            made.append((None, target))
            src, copies, scratch = readable_copy(target, user)
            found.append(Who(user.pw_name, set_ids(user), src, copies, scratch))
        return found
    me = pwd.getpwuid(os.geteuid())
    found = [Who(me.pw_name, [], TOP, builds, own)]
    if not options.quick and can_sudo():
        prefix = ["sudo", "-n"]
        base = subprocess.run(prefix + ["mktemp", "-d", "/var/tmp/wary-tests.XXXXXX"], check=True,
                              stdout=subprocess.PIPE).stdout.decode().strip()
        made.append((prefix, pathlib.Path(base)))
        found.append(Who("root", prefix, TOP, builds, base))
    elif not options.quick:
        print("no sudo: nothing is tested as root", flush=True)
    return found


def clean_up(made):
    for prefix, folder in made:
        subprocess.run((prefix or []) + ["rm", "-rf", "--", str(folder)], check=False,
                       stdin=subprocess.DEVNULL)


# --- the plan ---------------------------------------------------------------

LINTS_QUICK = ["sources.py", "layers.py", "banned.py", "sizes.py", "headers", "globals",
               "needs", "syscalls.py", "confine.py"]
LINTS_SLOW = ["format", "shell", "man", "aarch64", "cppcheck", "tidy"]


def make_variable(build, name):
    """What a variable of the build's Makefile holds; nothing before there is one."""
    if not (build.folder / "Makefile").exists():
        return ""
    out = subprocess.run(["make", "-s", "-f", "Makefile", "-f", "-", "print-it"], cwd=build.folder,
                         input=f"print-it:\n\t@echo '$({name})'\n".encode(), check=True,
                         stdout=subprocess.PIPE)
    return out.stdout.decode().strip()


def lint_tasks(quick):
    build = BUILDS[0]
    flags = make_variable(build, "AM_CPPFLAGS").replace("'\"", "\"").replace("\"'", "\"")
    env = dict(os.environ, SRC=str(TOP), BUILD=str(build.folder), CC=build.cc, LINT_STRICT="1",
               LINT_LANES="1", CPPFLAGS=flags)
    names = LINTS_QUICK + ([] if quick else LINTS_SLOW)
    return [command_task(f"lint/{n}", [str(TOP / "tests/lint" / n)], cwd=TOP, env=env, kind="lint")
            for n in names if (TOP / "tests/lint" / n).exists()]


def unit_tasks(build, who):
    tasks = []
    for path in sorted((TOP / "tests/unit").glob("*.c")):
        if path.stem != "tap":
            task, _ = test_task(f"unit/{path.name}", path, who, build.name, build.cc)
            task.label = build.name
            tasks.append(task)
    return tasks


def fuzz_tasks(build):
    tasks = []
    for path in sorted((TOP / "tests/fuzz").glob("*.c")):
        if path.stem != "drive":
            argv = [str(build.folder / "tests/fuzz" / path.stem),
                    str(TOP / "tests/fuzz/corpus" / path.stem)]
            tasks.append(command_task(f"fuzz/{path.stem}", argv, timeout=TIMEOUT_S,
                                      label=build.name))
    return tasks


def is_wanted(words, who, people, quick):
    wanted, beside = words.get("as"), words.get("beside")
    if quick and "full" in words or beside and not (TOP.parent / beside).exists():
        return False
    if wanted == "owner":
        return who is people[0]
    return wanted is None or wanted == ("root" if who.name == "root" else "user")


def tree_tasks(kinds, people, quick):
    """(tasks for lanes, tasks to be alone) of tests that supervise a tree."""
    lanes, alone = [], []
    for kind in kinds:
        for name, path in find_tests(kind):
            for who in people:
                task, words = test_task(name, path, who, "gcc", "gcc")
                if not is_wanted(words, who, people, quick):
                    continue
                serial = kind == "race" or "serial" in words
                (alone if serial else lanes).append(task)
    return lanes, alone


# That a race is seen and reported where the tests look for it.
RACE = r"""
cat >race.c <<'END'
#include <pthread.h>
static int n;
static void *add(void *arg) { for (int i = 0; i < 1000; i++) n++; return arg; }
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, add, 0);
	add(0);
	pthread_join(t, 0);
	return 0;
}
END
gcc -g -fsanitize=thread -o race race.c -lpthread
TSAN_OPTIONS="$1$PWD/race" ./race
grep -q 'data race' race.*[0-9]
"""


def race_task():
    def run(task, log):
        with tempfile.TemporaryDirectory() as folder:
            return run_command(task, ["sh", "-e", "-c", RACE, "sh", TSAN_OPTIONS], log, TIMEOUT_S, folder)
    return Task("a planted race is reported", run, label="threads")


def thread_tasks(who):
    return [race_task()] + [test_task(name, TOP / "tests" / name, who, "gcc", "gcc", "thread-sanitize")[0]
            for name in THREAD_TESTS]


def matches(task, pattern):
    return not pattern or pattern in task.name or fnmatch.fnmatch(task.name, pattern)


def repeat_failed(report):
    """Failed tests of a repeatable kind run once more, alone: steady ones fail
    again. Those that pass now are named."""
    unsteady = []
    for task in [t for t in report.tasks if t.result.failed and not t.steady
                 and t.kind in REPEATABLE]:
        report.forget(task)
        print(f"once more, alone: {task.name} ({task.label})", flush=True)
        run_task(task, report)
        if not task.result.failed:
            unsteady.append(f"{task.name} ({task.label})")
    return unsteady


def parse_options():
    parser = argparse.ArgumentParser(prog="tests/run")
    parser.add_argument("--only", default="", metavar="PATTERN")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--user", default=TEST_USER, metavar="NAME")
    parser.add_argument("--list", action="store_true")
    return parser.parse_args()


def build_stage(options, report):
    jobs = os.cpu_count() or 1
    if bootstrap_needed():
        run_stage([command_task("bootstrap", [str(TOP / "bootstrap")])], report, 1)
    builds = BUILDS[:1] if options.quick or options.only else BUILDS
    # Side by side: while one is configured, or links, others compile.
    tasks = [t for b in builds for t in b.tasks(jobs)]
    NATIVE_MAKE.unlink(missing_ok=True)
    if len(builds) > 1:
        tasks.append(native_make_task())
    run_stage(tasks, report, 3)
    return not any(t.result.failed for t in report.tasks)


def test_stages(options, people):
    """The stages in order: (tasks, lanes). One lane more than there are processors:
    many tests wait, for a disk, a network, another process. Those that may take
    long begin first, so that none is left over at the end."""
    lanes = 1 + min(4, os.cpu_count() or 1)
    plain, sanitized = BUILDS[0], BUILDS[1]
    full = not options.quick and not options.only
    lints = lint_tasks(options.quick)
    small = unit_tasks(plain, people[0])
    if full:
        small += unit_tasks(sanitized, people[0])
    small += fuzz_tasks(sanitized if full else plain)
    together, alone = tree_tasks(["e2e", "fault", "race", "kernel"], people, options.quick)
    if full:
        together += thread_tasks(people[0])
        lints.append(command_task(
            # Quickly compiled, once, and packed: the builds have looked for warnings.
            "distcheck", ["make", "distcheck", "XZ_OPT=-0", "AM_DISTCHECK_CONFIGURE_FLAGS="
                          "CFLAGS=-O0 --disable-dependency-tracking"], cwd=plain.folder))
    long_first = sorted(together, key=lambda task: -task.timeout)
    tasks = lints[::-1] + long_first + small if full else lints + small + together
    return [(tasks, lanes), (alone, 1)]


def plain_path():
    """PATH without version managers' shims, each of them a shell script that takes a
    second to find the program, and more where it is supervised; with them where
    something is to be had by them alone."""
    path = os.environ.get("PATH", os.defpath)
    plain = ":".join(p for p in path.split(":") if os.path.basename(p.rstrip("/")) != "shims")
    lost = [tool for tool in ("python3", "node", "npm", "npx", "git")
            if shutil.which(tool, path=path) and not shutil.which(tool, path=plain)]
    return path if lost else plain


def unignore():
    """What a shell's `&` and nohup ignore would be ignored in every test; what is
    handled is reset by exec."""
    for nr in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
        if signal.getsignal(nr) == signal.SIG_IGN:
            signal.signal(nr, lambda *_: None)


def main():
    options = parse_options()
    unignore()
    os.environ["PATH"] = plain_path()
    os.umask(0o022)
    (TOP / "build").mkdir(exist_ok=True)
    report, made = Report(), []
    start = time.monotonic()
    unsteady = []
    try:
        if options.list or build_stage(options, report):
            people = identities(options, made)
            for tasks, lanes in test_stages(options, people):
                tasks = [t for t in tasks if matches(t, options.only)]
                if options.list:
                    for task in tasks:
                        print(task.name, task.label)
                else:
                    run_stage(tasks, report, lanes)
            unsteady = repeat_failed(report)
    finally:
        clean_up(made)
    for name in unsteady:
        print(f"unsteady: {name} failed, and passed when run alone")
    passed, failed, skipped = report.totals()
    print(f"took {time.monotonic() - start:.0f} s")
    print(f"{passed} passed, {failed} failed, {skipped} skipped", flush=True)
    return 1 if failed or not passed else 0


sys.exit(main())
