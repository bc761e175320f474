"""Learn a command, suggest its policy, run it again under that: the workloads of
the tests of `wary policy suggest`."""
import os
import shutil
import sqlite3
import subprocess

from wary_test import DB, HOME, TMP, WARY, has, note, same

APP = HOME / "app"
ENV = dict(os.environ, GIT_CONFIG_GLOBAL="/dev/null", GIT_AUTHOR_NAME="t", GIT_AUTHOR_EMAIL="t@t",
           GIT_COMMITTER_NAME="t", GIT_COMMITTER_EMAIL="t@t")
CLEAN = b" 0 refused, 0 asked"


def run(*argv, **how):
    return subprocess.run(argv, cwd=APP, env=ENV, capture_output=True, timeout=600,
                          stdin=subprocess.DEVNULL, **how)


def last_session():
    db = sqlite3.connect(f"file:{DB}?mode=ro", uri=True)
    row = db.execute("SELECT session FROM sessions ORDER BY started_us DESC LIMIT 1").fetchone()
    db.close()
    return row[0]


def suggest(name, session):
    out = run(WARY, "policy", "suggest", session)
    same(out.returncode, 0, f"{name}: suggest")
    return out.stdout.decode()


def learned(name, argv, reset):
    """One workload; returns the suggested text."""
    reset()
    out = run(WARY, "--learn", *argv)
    same(out.returncode, 0, f"{name}: learned")
    session = last_session()
    text = suggest(name, session)
    same(suggest(name, session), text, f"{name}: the same again, byte for byte")
    policy = TMP / f"{name}.wary"
    policy.write_text(text)
    out = run(WARY, "policy", "check", str(policy))
    same((out.returncode, out.stdout), (0, b""), f"{name}: it is clean")
    reset()
    out = run(WARY, "-p", str(policy), *argv)
    same(out.returncode, 0, f"{name}: run again under it")
    has(out.stderr, CLEAN, f"{name}: nothing is refused or asked")
    if CLEAN not in out.stderr:
        note(out.stderr.decode(errors="replace"))
    return text


def drop(*names):
    """What makes the project as it was before a workload made @names."""
    def reset():
        for name in names:
            path = APP / name
            if path.is_dir():
                shutil.rmtree(path)
            elif path.exists():
                path.unlink()
    return reset
