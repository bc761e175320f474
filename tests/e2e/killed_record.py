#!/usr/bin/env python3
# wary-test: timeout=600
"""Law 7, end to end: wary is killed with -9 at random moments, from its very
start on. The tree is gone; after the next start every effect on the disk has
its intent on record, with its outcome or "unknown"; what the tree was told is
on record as it was told; `verify` is clean.

WARY_KILLS: how many kills; else as many as twenty seconds take."""
import collections
import errno
import os
import pathlib
import random
import re
import signal
import sqlite3
import subprocess
import time

from wary_test import DB, TMP, WAIT_S, WARY, audit, caller, finish, note, ok, policy, same

KILLS = int(os.environ.get("WARY_KILLS", "0"))
KILLS_MIN = 6
SECONDS = 20
ROUNDS_A_STORE = 10
LANES = 3
POLICY = policy()
MARK = f"wary-killed-record-{os.getpid()}"


def alive():
    found = []
    for entry in os.listdir("/proc"):
        try:
            if (entry.isdigit() and int(entry) != os.getpid()
                    and MARK.encode() in pathlib.Path(f"/proc/{entry}/environ").read_bytes()):
                found.append(int(entry))
        except OSError:
            pass
    return found


def wait_until_gone():
    end = time.monotonic() + WAIT_S
    while (left := alive()) and time.monotonic() < end:
        time.sleep(0.01)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    return not left


def kill_one(folder, report, early):
    """Runs the work and kills wary; says what wary said."""
    with open(TMP / "said", "wb") as said:
        process = subprocess.Popen(
            [WARY, "-q", "-p", POLICY, "--", caller("e2e/killed_work"), report, str(LANES)],
            cwd=folder, env={**os.environ, "MARK": MARK}, stdin=subprocess.DEVNULL,
            stdout=said, stderr=said, start_new_session=True)
    end = time.monotonic() + WAIT_S
    while not early and not report.stat().st_size and time.monotonic() < end:
        time.sleep(0.005)
    time.sleep(random.random() * (0.06 if early else 0.25))
    process.kill()
    process.wait()


def told(report):
    """What the tree was told: {(lane, op, number): result}. A last line may be half."""
    lines = report.read_text().split("\n")[:-1]
    return {tuple(line.split()[:3]): int(line.split()[3]) for line in lines}


def rows(folder):
    """{(class, name): [result, …]} of the folder's rows, all sessions."""
    found = collections.defaultdict(list)
    db = sqlite3.connect(f"file:{DB}?mode=ro", uri=True, timeout=WAIT_S)
    start = f"{folder}/"
    for word, name, result, answer in db.execute(
            "SELECT class, object, result, answer FROM decisions WHERE object >= ? AND object < ?",
            (start, start[:-1] + "0")):
        if answer == "allow":
            found[word, name[len(start):]].append(result)
    db.close()
    return found


def differences(folder, report):
    """Everything that is not on record as it is."""
    wrong = []
    found = rows(folder) if DB.exists() else {}
    here = set(os.listdir(folder))
    for (lane, op, number), result in told(report).items():
        name = f"{lane}.{'c' if op == 'u' else op}.{number}"
        got = found.get(("delete" if op == "u" else "create", name), [])
        # Without wary the kernel refuses all of it, until the tree has gone: also what wary
        # had done, and had on record, when it was killed before its answer left. Whether
        # the record is right about it the folder tells, below.
        if result == -errno.ENOSYS and len(got) <= 1:
            continue
        if len(got) != 1 or got[0] is None or (got[0] < 0) != (result < 0):
            wrong.append(f"{name}: told {op} {result}, on record {got}")
    for name in here:
        got = found.get(("create", name), [])
        if len(got) != 1 or (got[0] is not None and got[0] < 0):
            wrong.append(f"{name} is there, on record {got}")
    for (word, name), got in found.items():
        made = word == "create" and len(got) == 1 and got[0] is not None and got[0] >= 0
        removed = [r for r in found.get(("delete", name), []) if r is None or r >= 0]
        if made and name not in here and not removed:
            wrong.append(f"{name} is not there, on record {got}")
        if word == "delete" and name in here and got[0] is not None and got[0] >= 0:
            wrong.append(f"{name} is there, on record as removed")
    return wrong


def new_store():
    for old in [*DB.parent.glob(f"{DB.name}*"), *DB.parent.glob(f".{DB.name}.live/*")]:
        old.unlink()


def one_round(number):
    folder = TMP / f"round-{number}"
    folder.mkdir()
    report = TMP / f"report-{number}"
    report.touch()
    kill_one(folder, report, early=number % 3 == 0)
    if not ok(wait_until_gone(), f"round {number}: nothing is left of the tree"):
        return False
    early = (TMP / "said").read_text(errors="replace")
    done = subprocess.run([WARY, "-q", "-p", POLICY, "--", "true"], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=WAIT_S * 4, check=False)
    right = same((done.returncode, done.stderr), (0, ""), f"round {number}: wary starts again")
    wrong = differences(folder, report)
    right &= ok(not wrong, f"round {number}: {len(told(report))} answers, "
                f"{len(os.listdir(folder))} names: all on record")
    for line in wrong[:20]:
        note(line)
    done = audit("verify", timeout=WAIT_S * 4)
    right &= ok(done.returncode == 0 and re.search(r"intact", done.stdout),
                f"round {number}: the record is intact")
    if not right:
        note(early + done.stdout + done.stderr)
    return right


def main():
    end = time.monotonic() + SECONDS
    number = 0
    while number < KILLS or not KILLS and (number < KILLS_MIN or time.monotonic() < end):
        if number % ROUNDS_A_STORE == 0:
            new_store()
        if not one_round(number):
            break
        number += 1
    note(f"{number} kills")
    finish()


main()
