#!/usr/bin/env python3
"""Retention by policy: `audit keep` and `audit max-size` of the user's own policy are applied
when a session has ended, by a process of its own; each removal is on record with the
statement; nothing that a project or a tree can write removes anything."""
import contextlib
import fcntl
import os
import pathlib
import signal
import sqlite3
import subprocess
import sys
import time

from wary_test import (BUILD, DB, HOME, SRC, TMP, WAIT_S, WARY, change_store, finish, has, has_not, note, ok, same)

DAY = 86400
OWN = HOME / ".config/wary/policy.wary"
LIVE = DB.with_name(f".{DB.name}.live")
STATE = LIVE / "retention"
KEY = HOME / ".local/state/wary/keys/machine.pub"
ENV = {k: v for k, v in os.environ.items() if not k.startswith("XDG_")}


def own_policy(text, path=OWN):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("wary 1\ndefault allow\n" + text)
    return path


def made(events, ago_days, seed=1, mode="-", db=DB, **more):
    """A session that was made so long ago; its name."""
    argv = [BUILD / "tests/lib/audit_session", db, events, seed, mode, int(ago_days * DAY)]
    done = subprocess.run([*map(str, argv)], env=ENV, capture_output=True, text=True, timeout=WAIT_S * 4, check=False,
                          stdin=subprocess.DEVNULL, **more)
    return done.stdout.strip()


def run(*argv, options=()):
    return subprocess.run([WARY, *options, "--", *argv], env=ENV, capture_output=True, text=True, timeout=WAIT_S * 4,
                          check=False, stdin=subprocess.DEVNULL)


def audit(*argv):
    done = subprocess.run([WARY, "audit", *map(str, argv)], env=ENV, capture_output=True, text=True,
                          timeout=WAIT_S * 4, check=False, stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout + done.stderr


def rows(sql):
    with contextlib.closing(sqlite3.connect(f"file:{DB}?mode=ro", uri=True, timeout=WAIT_S)) as connection:
        return connection.execute(sql).fetchall()


def there():
    return [name for (name,) in rows("SELECT name FROM session ORDER BY id")]


def due():
    """An hour has passed since somebody looked."""
    if STATE.exists():
        STATE.write_text("")


def looked():
    """What the process that looks has left behind; it has gone then."""
    end = time.monotonic() + WAIT_S * 4
    while time.monotonic() < end:
        with contextlib.suppress(OSError):
            text = STATE.read_text().strip()
            if text and text != "began":
                return text
        time.sleep(0.02)
    return "nobody has looked"


def kept(text, *argv, status=0):
    """A session under that policy; what became of the record."""
    own_policy(text)
    due()
    done = run(*(argv or ("true",)))
    if not same(done.returncode, status, f"a session ends as its command does: {text.strip()}"):
        note(done.stderr)
    return looked()


def intact(what):
    status, text = audit("verify")
    if not same(status, 0, f"{what}: the record verifies"):
        note(text)
    done = subprocess.run([sys.executable, SRC / "examples/verify.py", DB, KEY], capture_output=True, text=True,
                          timeout=WAIT_S * 4, check=False)
    if not same(done.returncode, 0, f"{what}: to the second verifier too"):
        note(done.stdout + done.stderr)
    return text


def check_age():
    old, held, young = made(60, 100), made(60, 100), made(60, 2)
    died = made(60, 100, mode="die")
    running = subprocess.Popen([*map(str, (BUILD / "tests/lib/audit_session", DB, 40, 1, "pause", 100 * DAY))], env=ENV,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    open_one = running.stdout.readline().strip()
    same(running.stdout.readline(), "half\n", "one is running")
    same(audit("hold", held)[0], 0, "one is held")
    same(kept("audit keep 90d\n"), "removed 2", "two sessions go")
    left = there()
    same([n for n in (old, died) if n in left], [], "the old ones, also the one that died and was recovered then")
    same([n for n in (held, young, open_one) if n in left], [held, young, open_one],
         "not what is held, young, or running")
    same(rows("SELECT name, reason FROM tombstone"),
         [(name, "retention: policy.wary:3 audit keep 90d") for name in (old, died)],
         "their tombstones say by which statement")
    same(rows("SELECT judge, rule_file, rule_line, rule_text, result FROM events WHERE object = 'prune'"),
         2 * [("rule", "policy.wary", 3, "audit keep 90d", 0)], "and so do the rows of the removals")
    same(rows("SELECT DISTINCT s.command FROM sessions s JOIN events e ON e.session = s.session"
              " WHERE e.object = 'prune'"), [("wary audit prune",)], "which are of a session of their own")
    has(intact("two removed"), f"session {old} was removed by retention: policy.wary:3 audit keep 90d on ",
        "verify says it too")
    running.communicate("\n\n", timeout=WAIT_S * 4)
    same(running.returncode, 0, "the running one comes to its end")
    return held, young, open_one


def check_hour(held, young, open_one):
    own_policy("audit keep 90d\n")
    same(run("true").returncode, 0, "another session within the hour")
    ok(open_one in there(), "removes nothing")
    same(audit("prune", "--dry-run")[0], 0, "by hand the policy holds at once")
    has(audit("prune", "--dry-run")[1], f"session {open_one} (", "what would go is said")
    status, text = audit("prune")
    same(status, 0, f"wary audit prune without a word removes it {text}")
    has(text, "stays: it is held", "and says what stays")
    same([n for n in (held, young, open_one) if n in there()], [held, young], "it has gone")
    own_policy("")
    status, text = audit("prune")
    same(status, 2, "without a statement it wants to be told")
    has(text, "--keep SPAN", "which")
    intact("by hand")


def check_several():
    """Sessions that end at once: what goes goes once."""
    names = [made(30, 100, n) for n in range(4)]
    own_policy("audit keep 90d\n")
    due()
    runs = [subprocess.Popen([WARY, "--", "cat"], env=ENV, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE) for _ in range(3)]
    for one in runs:
        one.stdin.write(b"x\n")
        one.stdin.flush()
        same(one.stdout.readline(), b"x\n", "one runs")
    for one in runs:
        one.stdin.close()
    for one in runs:
        same(one.wait(WAIT_S * 4), 0, "all end well")
        one.stdout.close()
        one.stderr.close()
    same(looked(), "removed 4", "one of them has looked")
    same([n for n in names if n in there()], [], "all four are gone")
    same(rows("SELECT count(DISTINCT object2) = count(*) FROM events WHERE object = 'prune'"), [(1,)], "each once")
    intact("several at once")


def check_size():
    old = [made(9000, days, days) for days in (30, 20, 10)]
    young = made(9000, 3)
    same(kept("audit max-size 1M\n"), f"removed {len(old)}", "too large: what is older than a week goes")
    left = there()
    same([n for n in old if n in left], [], "all of it")
    ok(young in left, "and no more, though it is still too large")
    has(rows("SELECT reason FROM tombstone ORDER BY id DESC LIMIT 1")[0][0], "policy.wary:3 audit max-size 1M",
        "by its statement")
    intact("by size")


def refused(what, text, *argv, options=()):
    done = run(*(argv or ("true",)), options=options)
    same(done.returncode, 125, f"{what}: nothing is run")
    has(done.stderr, text, f"{what}: why")


def check_sources():
    """Only from where no tree writes."""
    victim = made(30, 100)
    due()
    counts = "counts only in files of ~/.config/wary"
    elsewhere = own_policy("audit keep 1d\n", TMP / "project.wary")
    refused("a file that is named", counts, options=("-p", str(elsewhere)))
    own_policy("")
    refused("the command line", counts, options=("-r", "audit keep 1d"))
    OWN.write_text(f'wary 1\ndefault allow\ninclude "{elsewhere}"\n')
    refused("what is included", counts)
    OWN.unlink()
    OWN.symlink_to(elsewhere)
    refused("a link", counts)
    OWN.unlink()
    for text in ("audit keep 1s\n", "audit keep 23h\n", "audit max-size 1\n"):
        own_policy(text)
        refused(text.strip(), "at least")
    own_policy("")
    project = TMP / "work"
    (project / ".wary").mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    (project / ".wary/policy.wary").write_text("wary 1\naudit keep 1d\n")
    done = subprocess.run([WARY, "policy", "trust", "--yes", ".wary/policy.wary"], cwd=project, env=ENV, text=True,
                          capture_output=True, timeout=WAIT_S, check=False, stdin=subprocess.DEVNULL)
    has(done.stdout + done.stderr, "a project's policy has no", "a project's policy has no such statement")
    # The tree itself cannot make it count either: the folder is the floor's.
    own_policy("audit keep 400d\n")
    due()
    shell = f"echo 'audit keep 1d' >>{OWN}; echo 'wary 1' >{OWN.parent}/x.wary; rm -f {STATE}; echo x >{STATE}"
    run("sh", "-c", shell)
    same(looked(), "removed 0", "a tree that tries to change the policy removes nothing")
    same(OWN.read_text(), "wary 1\ndefault allow\naudit keep 400d\n", "which is as it was")
    ok(victim in there(), "nothing of that removes the session")
    part = own_policy("audit keep 90d\n", OWN.parent / "team.wary")
    OWN.write_text('wary 1\ninclude "./team.wary"\n')
    due()
    same(run("true").returncode, 0, "a file beside the user's own counts")
    same(looked(), "removed 1", "it is applied")
    has(rows("SELECT reason FROM tombstone ORDER BY id DESC LIMIT 1")[0][0], "team.wary:3", "under its name")
    part.unlink()
    own_policy("audit keep 90d\naudit max-size 2G\n")
    done = subprocess.run([WARY, "policy", "show"], env=ENV, capture_output=True, text=True, timeout=WAIT_S,
                          check=False, stdin=subprocess.DEVNULL)
    for line in ("policy.wary:3          audit keep 90d", "policy.wary:4          audit max-size 2G"):
        has(done.stdout, line, "wary policy show has it")
    done = subprocess.run([WARY, "policy", "show", "--json"], env=ENV, capture_output=True, text=True,
                          timeout=WAIT_S, check=False, stdin=subprocess.DEVNULL)
    has(done.stdout, '"amount": 7776000', "in JSON too")


def keepers(parent):
    """Processes that wait to look, below one."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            fields = (path / "stat").read_text().rsplit(")", 1)
            if fields[0].endswith("(wary-keep") and int(fields[1].split()[1]) == parent and fields[1].split()[0] != "Z":
                found.append(int(path.name))
    return found


def await_keepers(parent, some):
    """Those of keepers(), once there are some, or none."""
    end = time.monotonic() + WAIT_S
    while bool(found := keepers(parent)) != some and time.monotonic() < end:
        time.sleep(0.02)
    return found


def check_killed():
    """wary is killed: its record has no end, so nobody looks."""
    victim = made(30, 100)
    own_policy("audit keep 90d\n")
    due()
    one = subprocess.Popen([WARY, "--", "cat"], env=ENV, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                           stderr=subprocess.DEVNULL)
    one.stdin.write(b"x\n")
    one.stdin.flush()
    one.stdout.readline()
    waiting = await_keepers(one.pid, True)
    same(len(waiting), 1, "one waits beside the session")
    if os.geteuid() == 0:
        held, end = [], time.monotonic() + WAIT_S
        while held != ["0", "1", "2", "3"] and time.monotonic() < end:
            held = sorted(os.listdir(f"/proc/{waiting[0]}/fd"))
            time.sleep(0.02)
        same(held, ["0", "1", "2", "3"], "with nothing but its pipe")
    same(os.getpriority(os.PRIO_PROCESS, waiting[0]), os.getpriority(os.PRIO_PROCESS, 0),
         "at wary's own priority: it will hold what running sessions wait for")
    one.send_signal(signal.SIGKILL)
    one.wait(WAIT_S)
    one.stdin.close()
    one.stdout.close()
    end = time.monotonic() + WAIT_S
    while time.monotonic() < end and any(pathlib.Path(f"/proc/{pid}").exists() for pid in waiting):
        time.sleep(0.02)
    ok(not any(pathlib.Path(f"/proc/{pid}").exists() for pid in waiting), "it ends too")
    ok(victim in there(), "and has removed nothing")
    return victim


def check_gone(victim):
    """The process that was to look is killed before it does, or while it does."""
    one = subprocess.Popen([WARY, "--", "cat"], env=ENV, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, text=True)
    one.stdin.write("x\n")
    one.stdin.flush()
    one.stdout.readline()
    for pid in await_keepers(one.pid, True):
        os.kill(pid, signal.SIGKILL)
    await_keepers(one.pid, False)
    _, said = one.communicate(timeout=WAIT_S * 4)
    same(one.returncode, 0, "killed before: the session ends as its command does")
    has(said, "the policy's retention could not be applied after this session: the process that was to do it has"
        " ended", "and says that nobody will look")
    STATE.write_text("began\n")
    os.utime(STATE, (0, 0))
    with open(STATE, "rb") as busy:
        fcntl.flock(busy, fcntl.LOCK_EX)
        has_not(run("true").stderr, "retention", "while one looks nobody else does, and nothing is said")
    os.utime(STATE)
    has(audit("sessions")[1], "last time: the process that did it ended before it was done", "killed meanwhile: told")
    STATE.unlink()
    ok(victim in there(), "nothing was removed")


def check_trouble(victim):
    """What cannot be done fails no session, and is told."""
    STATE.unlink(missing_ok=True)
    STATE.mkdir()
    blocked = f"the policy's retention could not be applied: {STATE}: not a file"
    done = run("sh", "-c", "exit 3")
    same(done.returncode, 3, "its own file cannot be written: the session does not care")
    has(done.stderr, blocked, "and says so")
    ok(victim in there(), "nothing is removed")
    STATE.rmdir()
    os.mkfifo(STATE)
    done = run("sh", "-c", "exit 3")
    same(done.returncode, 3, "nor where it is a FIFO that nobody writes to")
    has(done.stderr, blocked, "and says so")
    has(audit("sessions")[1], blocked, "so does the list of sessions")
    ok(victim in there(), "nothing is removed either")
    STATE.unlink()
    mine = STATE.with_name("mine")
    mine.write_text("mine")
    os.link(mine, STATE)
    os.utime(STATE, (0, 0))
    done = run("sh", "-c", "exit 3")
    same(done.returncode, 3, "nor where it is another file by a second name")
    has(done.stderr, f"{STATE}: it has a second name (hard link)", "and says so")
    same(mine.read_text(), "mine", "that file is left as it was")
    mine.unlink()
    STATE.unlink()
    check_gone(victim)
    change_store(DB, f"UPDATE event SET took_us = took_us + 1 WHERE id = (SELECT first_event FROM checkpoint WHERE"
                 f" events > 0 AND session = (SELECT id FROM session WHERE name = '{victim}') LIMIT 1)")
    has(kept("audit keep 90d\n"), "failed: nothing was removed: the record is not intact", "a changed session stays")
    ok(victim in there(), "all of it")
    has_not(run("true").stderr, "could not be applied", "that is not said each time")
    has(audit("sessions")[1], "last time: nothing was removed: the record is not intact", "but where sessions are listed")
    os.utime(STATE, (0, 0))
    done = run("sh", "-c", "exit 4")
    same(done.returncode, 4, "the next time nothing fails either")
    has(done.stderr, "the policy's retention could not be applied last time: nothing was removed", "but it is said")


def main():
    check_hour(*check_age())
    check_several()
    check_size()
    check_sources()
    check_trouble(check_killed())
    finish()


if __name__ == "__main__":
    main()
