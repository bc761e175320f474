#!/usr/bin/env python3
"""A tree cannot starve wary: whatever it makes in numbers, wary's memory, threads
and descriptors stay bounded, and other callers of the tree are served meanwhile.
NUMBERS=full: ten times as much."""
import os
import pathlib
import re
import shutil
import subprocess
import time

from wary_test import TMP, WAIT_S, WARY, Lines, audit, caller, finish, note, ok, policy, same

FACTOR = 10 if os.environ.get("NUMBERS") == "full" else 1
MODES = {"nothing": 1, "fork_bomb": 300 * FACTOR, "threads": 1000 * FACTOR,
         "descriptors": 2000 * FACTOR, "storm": 8000 * FACTOR, "dying": 200 * FACTOR,
         "waiting": 300, "rights": 200 * FACTOR, "programs": 100 * FACTOR,
         "brief": 1500 * FACTOR}
# What a session may take at the most, however large the tree (docs/THREAT.md).
MEMORY_KIB = 64 * 1024
THREADS = 270
# For processes and threads that are known, and for what is being done.
DESCRIPTORS = 2 * 2048 + 1024
# More than what wary has anyhow may stay known of a calm tree; each thread of
# wary's has two.
STAYS = 40
# Threads that follow each other are let go of in time.
DESCRIPTORS_BRIEF = 800
# Where wary itself may have few, a quarter of them at the most is kept.
FEW = 600


def number(pid, name):
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.search(rf"^{name}:\s+(\d+)", text, re.M).group(1))


def descriptors(pid):
    try:
        return len(os.listdir(f"/proc/{pid}/fd"))
    except PermissionError:
        return None  # its owner cannot look into it either


def settles(pid, most):
    """Waits until a calm tree leaves no more than that open; returns how many are."""
    end = time.monotonic() + WAIT_S
    while (now := descriptors(pid)) > most and time.monotonic() < end:
        time.sleep(0.1)
    return now


def attack(mode, n, few=None):
    global before
    work = TMP / "work"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    argv = [WARY, "-q", "-p", policy(), "--", caller("e2e/attack_starve"), mode, str(n)]
    if few:
        argv = ["prlimit", f"--nofile={few}:{few}", "--"] + argv
        mode = f"{mode} with {few} descriptors"
    tree = subprocess.Popen(argv, cwd=work, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    line = Lines(tree.stdout).next(WAIT_S * 4) or ""
    found = re.fullmatch(r"made (\d+) served (\d+)", line)
    if ok(found, f"{mode}: ends ({line})"):
        ok(int(found.group(1)) >= n // 2, f"{mode}: {found.group(1)} attempts")
        same(int(found.group(2)), 100, f"{mode}: a process beside it was served")
    memory, threads = number(tree.pid, "VmHWM"), number(tree.pid, "Threads")
    ok(memory < MEMORY_KIB, f"{mode}: wary took {memory} KiB at the most")
    ok(threads <= THREADS, f"{mode}: {threads} threads")
    now = descriptors(tree.pid)
    if now is not None:
        most = few // 2 if few else DESCRIPTORS_BRIEF if mode == "brief" else DESCRIPTORS
        ok(now <= most, f"{mode}: {now} descriptors are left open")
        before = before or now
        most = before + STAYS + 2 * number(tree.pid, "Threads")
        now = settles(tree.pid, most)
        ok(now <= most, f"{mode}: {now} descriptors when the tree is calm, {before} at the start")
    tree.stdin.close()
    same(tree.wait(WAIT_S), 0, f"{mode}: the session ends")


before = 0  # descriptors of a session whose tree does nothing
for name, most in MODES.items():
    attack(name, most)
attack("threads", 1500, FEW)
attack("fork_bomb", 400, FEW)
attack("programs", 500, FEW)
verify = audit("verify")
if not same(verify.returncode, 0, "the record is intact"):
    note(verify.stdout[-800:])
finish()
