#!/usr/bin/env python3
"""Under any limit that whoever starts wary may have, the command runs as it does
natively, or wary says what is missing and exits 125, and nothing has run."""
import os
import resource
import shutil
import signal
import subprocess

from wary_test import HOME, TMP, WAIT_S, WARY, finish, note, ok, policy, same

MARK = TMP / "mark"
POLICY = policy()
# What limits a command sees is part of "as natively".
COMMAND = ["/bin/sh", "-c", f"ulimit -n; ulimit -Hn; ulimit -v; ulimit -d; ulimit -f; ulimit -s; ulimit -t; "
           f": >'{MARK}'; exit 7"]
MIB = 1 << 20
RUNS = 0


def run(argv, which, soft, hard):
    def limit():
        resource.setrlimit(which, (soft, hard))

    MARK.unlink(missing_ok=True)
    return subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=WAIT_S * 4, check=False, preexec_fn=limit), MARK.exists()


def try_limit(what, which, soft, hard):
    """What is wrong with a run under that limit; None: nothing."""
    global RUNS
    RUNS += 1
    try:
        r, ran = run([WARY, "-q", "-p", str(POLICY), "--", *COMMAND], which, soft, hard)
    except subprocess.TimeoutExpired:
        return f"{what}: does not end"
    said = r.stderr.strip()
    if ran:
        n, _ = run(COMMAND, which, soft, hard)
        got, want = (r.returncode, r.stdout, r.stderr), (n.returncode, n.stdout, n.stderr)
        return None if got == want else f"{what}: {got}, natively {want}"
    if r.returncode == 125 and said.startswith("wary: ") and "broken" not in said:
        return None
    # The kernel or the loader has not even started wary.
    if "error while loading shared libraries" in said and soft <= 16 * MIB:
        return None
    if (r.returncode, said) == (-signal.SIGSEGV, "") and (
            run(["/bin/true"], which, soft, hard)[0].returncode != 0):
        return None
    return f"{what}: status {r.returncode}, {said!r}"


def sweep(title, limits):
    wrong = [w for what, which, soft, hard in limits if (w := try_limit(what, which, soft, hard))]
    if not ok(not wrong, f"{title}: runs as natively, or 125 and nothing has run"):
        note("\n".join(wrong))


def pairs(name, values, soft_too=True):
    which = getattr(resource, "RLIMIT_" + name)
    _, hard = resource.getrlimit(which)
    for value in values:
        if hard != resource.RLIM_INFINITY and value > hard:
            continue
        yield f"{name} {value}", which, value, value
        if soft_too:
            yield f"{name} {value}, soft", which, value, hard


def has_said(what, value, words):
    which = getattr(resource, "RLIMIT_" + what)
    r, ran = run([WARY, "-q", "-p", str(POLICY), "--", *COMMAND], which, value, value)
    same((r.returncode, ran), (125, False), f"{what} {value}: 125, nothing has run")
    ok(words in r.stderr, f"and says what is too low: {r.stderr.strip()!r}")


def runs(what, value, command=("/bin/sh", "-c", "exit 7"), status=7):
    """A soft limit that wary itself does not meet."""
    which = getattr(resource, "RLIMIT_" + what)
    _, hard = resource.getrlimit(which)
    r, _ = run([WARY, "-q", "-p", str(POLICY), "--", *command], which, value, hard)
    same((r.returncode, r.stderr), (status, ""), f"soft {what} {value}: the command runs")


sweep("descriptors, hard", pairs("NOFILE", range(3, 65), soft_too=False))
sweep("descriptors, soft", (p for n in (4, 5, 7, 8, 12, 31) for p in pairs("NOFILE", [n])))
sweep("address space", pairs("AS", [n * MIB for n in (3, 8, 16, 24, 32, 40, 48, 56, 128)]))
sweep("data", pairs("DATA", [n * MIB for n in (4, 16, 32, 64)]))
sweep("size of a file", pairs("FSIZE", [0, 4096, MIB]))
sweep("stack", pairs("STACK", [4096, 16384, 65536]))
sweep("locked memory", pairs("MEMLOCK", [0, 4096]))
sweep("signals", pairs("SIGPENDING", [0]))
sweep("processor time", pairs("CPU", [60]))
if os.geteuid() != 0:  # root's are not counted
    sweep("processes", pairs("NPROC", [0, 1, 2, 4, *range(6, 24), 32, 64], soft_too=False))
    has_said("NPROC", 1, "1 processes of this user (ulimit -u)")
has_said("NOFILE", 26, "wary needs 64 of its own, and can open 23 (ulimit -Hn is 26)")
has_said("STACK", 16384, "too small a stack, so nothing was run: wary needs 512 KiB (ulimit -Hs is 16)")
has_said("AS", 40 * MIB, "40960 KiB of address space (ulimit -v)")
runs("NOFILE", 4, ("/bin/true",), 0)
runs("FSIZE", 0)
runs("AS", 40 * MIB)
note(f"{RUNS} runs, home {sorted(os.listdir(HOME))}")
shutil.rmtree(TMP / "state", ignore_errors=True)
finish()
