#!/usr/bin/python3
"""The first process of the machine that tests/kernel/old.py starts: mounts what
a Linux has, runs the jobs of /jobs.json, some at a time, and writes a line of JSON
for each to the second serial port. Then the machine is switched off."""
import ctypes
import fcntl
import json
import os
import signal
import socket
import struct
import subprocess
import threading
import time
import traceback

LIBC = ctypes.CDLL(None, use_errno=True)
MOUNTS = [("proc", "/proc", "proc", ""), ("sysfs", "/sys", "sysfs", ""),
          ("dev", "/dev", "devtmpfs", ""), ("devpts", "/dev/pts", "devpts", "ptmxmode=0666"),
          ("shm", "/dev/shm", "tmpfs", "mode=1777"), ("tmp", "/tmp", "tmpfs", "mode=1777"),
          ("run", "/run", "tmpfs", "mode=755"),
          ("cgroup", "/sys/fs/cgroup", "cgroup2", "")]
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1
POWER_OFF = 0x4321FEDC
SHOWN_BYTES = 6000
LANES = 2


def mount(source, target, kind, data):
    os.makedirs(target, exist_ok=True)
    if LIBC.mount(source.encode(), target.encode(), kind.encode(), 0, data.encode()) != 0:
        print(f"guest: mount {target}: {os.strerror(ctypes.get_errno())}", flush=True)


def set_up():
    for line in MOUNTS:
        mount(*line)
    for name, target in (("fd", "/proc/self/fd"), ("stdin", "/proc/self/fd/0"),
                         ("stdout", "/proc/self/fd/1"), ("stderr", "/proc/self/fd/2")):
        if not os.path.lexists("/dev/" + name):
            os.symlink(target, "/dev/" + name)
    for name in ("null", "zero", "full", "random", "urandom", "tty", "ptmx"):
        os.chmod("/dev/" + name, 0o666)
    with socket.socket() as s:
        name = struct.pack("16sh14x", b"lo", 0)
        flags = struct.unpack("16sh14x", fcntl.ioctl(s, SIOCGIFFLAGS, name))[1]
        fcntl.ioctl(s, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", flags | IFF_UP))
    socket.sethostname("guest")


def environment(job, base):
    env = {"PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "LANG": "C.UTF-8", "TERM": "xterm",
           "HOME": base + "/home", "TMPDIR": base + "/tmp", "USER": job["user"],
           "LOGNAME": job["user"], "PYTHONDONTWRITEBYTECODE": "1", "CI": "true"}
    env.update(job["env"])
    return env


def run_job(number, job):
    base = f"/var/tmp/t.{number}"
    for folder in (base, base + "/home", base + "/tmp"):
        os.mkdir(folder, 0o700)
        os.chown(folder, job["uid"], job["uid"])
    start = time.monotonic()
    with open(f"{base}/out", "w+b") as out:
        process = subprocess.Popen(job["argv"], cwd=base + "/tmp", env=environment(job, base),
                                   stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                                   start_new_session=True, user=job["uid"], group=job["uid"],
                                   extra_groups=[])
        try:
            status = process.wait(job["timeout"])
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            status = "timeout"
        out.seek(0)
        text = out.read()
    return {"name": job["name"], "status": status, "seconds": round(time.monotonic() - start, 1),
            "output": text[-SHOWN_BYTES:].decode(errors="replace"),
            "failed": text.count(b"\nnot ok") + text.startswith(b"not ok"),
            "passed": text.count(b"\nok ") + text.startswith(b"ok ")}


def run_jobs(jobs, say):
    lock = threading.Lock()
    queue = list(enumerate(jobs))

    def lane():
        while True:
            with lock:
                if not queue:
                    return
                number, job = queue.pop(0)
            try:
                result = run_job(number, job)
            except Exception:  # a fault of the frame: shown, never lost
                result = {"name": job["name"], "status": "frame", "seconds": 0, "passed": 0,
                          "failed": 1, "output": traceback.format_exc()}
            with lock:
                say(result)

    threads = [threading.Thread(target=lane) for _ in range(LANES)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def work():
    set_up()
    with open("/jobs.json", encoding="utf-8") as f:
        jobs = json.load(f)
    with open("/dev/ttyS1", "wb", buffering=0) as port:
        def say(what):
            port.write(json.dumps(what).encode() + b"\n")
        say({"up": os.uname().release})
        run_jobs(jobs, say)
        say({"end": True})


def main():
    """Nobody else reaps what the jobs leave behind."""
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            work()
            status = 0
        except BaseException:
            traceback.print_exc()
        os._exit(status)
    while True:
        try:
            if os.wait()[0] == pid:
                break
        except InterruptedError:
            continue
    LIBC.sync()
    LIBC.reboot(POWER_OFF)


if __name__ == "__main__":
    main()
