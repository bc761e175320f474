#!/usr/bin/env python3
"""What wary audit shows of a real session: sessions, log with its filters,
show, verify; as text and as JSON; with names that would harm a terminal."""
import json
import os
import re
import shutil
import signal
import subprocess
import sys

from wary_test import DB, TMP, WAIT_S, WARY, audit, finish, has, has_not, ok, same, wary

SECRET = TMP / "secret.txt"
HOSTILE = TMP / os.fsdecode(b"a\x1b[31mred\nb\xe2\x80\xaec\xff")
RULES = f"""default allow
deny read {SECRET}
deny exec /usr/bin/env
"""


def lines(*argv):
    done = audit(*argv)
    same(done.returncode, 0, f"wary audit {' '.join(map(str, argv))} {done.stderr}")
    return done.stdout.splitlines()


def rows(*argv):
    return [json.loads(line) for line in lines("log", *argv, "--json")]


def run():
    SECRET.write_text("secret")
    script = ('cat "$1" 2>/dev/null; env true 2>/dev/null; cat "$2" 2>/dev/null;'
              ' echo x > "$3"; exit 7')
    done = wary("sh", "-c", script, "sh", SECRET, HOSTILE, TMP / "made.txt", rules=RULES)
    same(done.returncode, 7, f"the command's own status {done.stderr}")
    name = re.search(r"wary audit show (\w+)", done.stderr)
    ok(name, "the summary names the session")
    return name.group(1)


def check_sessions(name):
    head, *found = lines("sessions")
    same(head.split()[:4], ["ID", "STARTED", "FOR", "COMMAND"], "titles")
    ours = [line for line in found if line.startswith(name + " ")]
    same(len(ours), 1, "the session is listed")
    has(ours[0], "sh -c", "with its command")
    ok(ours[0].split()[-1] == "7", "and its status")
    one = json.loads(lines("sessions", "--json")[0])
    same(one["session"], name, "as JSON")
    same((one["status"] >> 8, one["reason"], one["dropped"]), (7, "exited", 0), "how it ended")


def check_log(name):
    refused = rows("--session", name, "--verdict", "deny")
    objects = {(r["class"], r["object"]) for r in refused}
    ok(("read", str(SECRET)) in objects, "the refused read")
    ok(("exec", "/usr/bin/env") in objects, "the refused program")
    ok(all(r["rule_file"] == "test.wary" and r["rule_line"] > 1 for r in refused),
       "each with its rule")
    ok(all(r["result"] < 0 for r in refused), "and what the caller got")
    head, *found = lines("log", "--session", name, "--verdict", "deny")
    same(head.split(), ["TIME", "PID", "PROGRAM", "CLASS", "OBJECT", "RULE"], "titles")
    same(len(found), len(refused), "a line for each")
    ok(any(re.match(r"\d\d:\d\d:\d\d\.\d{3} +\d+ +cat +read ", line)
           and line.endswith("test.wary:3") for line in found), f"the refused read {found}")
    made = rows(name, "--class", "create", "--path", str(TMP / "made.txt"))
    same([(r["answer"], r["result"] >= 0) for r in made], [("allow", True)], "--class, --path")
    below = rows(name, "--path", f"{TMP}/**")
    ok({r["object"] for r in below} >= {str(SECRET), str(TMP / "made.txt")}, "a pattern")
    everything = rows(name)
    same([r["seq"] for r in everything], sorted(r["seq"] for r in everything), "in order")
    same(rows(name, "--last", "2"), everything[-2:], "--last")
    same(rows(name, "--since", "1d"), everything, "--since")
    same(rows(name, "--since", "999999999w"), everything, "--since before there was time")
    same(rows(name, "--since", "2100-01-01"), [], "--since a time to come")
    execs = [r for r in everything if r["class"] == "exec" and r["answer"] == "allow"]
    ok(any(r["argv"] and r["argv"].startswith("sh -c ") and r["cwd"] for r in execs),
       "exec has its arguments and folder")


def check_hostile(name):
    found = [r for r in rows(name) if r["object"] and r["object"].endswith("\udcff")]
    same([r["object"] for r in found][:1], [str(HOSTILE)], "a hostile name is recorded exactly")
    for argv in (("log", name), ("show", name), ("sessions",)):
        text = "\n".join(lines(*argv))
        for part in ("\x1b", "\u202e"):
            has_not(text, part, f"{argv[0]} shows no {part!r}")
    has("\n".join(lines("log", name)), "a\\x1b[31mred\\nb\\u{202e}c\\xff", "but what it was")


def check_anew():
    """A name through a link is judged, found to lead elsewhere, and judged anew: said so."""
    (TMP / "real").mkdir()
    (TMP / "real/f").write_text("")
    (TMP / "linked").symlink_to("real")
    done = wary("cat", TMP / "linked/f", rules="default allow\n")
    name = re.search(r"wary audit show (\w+)", done.stderr).group(1)
    found = lines("log", name, "--path", str(TMP / "linked/f"))[1:]
    same([" judged anew " in line for line in found], [True], f"the attempt {found}")
    found = lines("log", name, "--path", str(TMP / "real/f"))[1:]
    same([" judged anew " in line for line in found], [False], f"what it led to {found}")


def check_show(name):
    text = "\n".join(lines("show", name))
    for part in ("exit 7", "policy     test.wary (sha256 ", "programs   ", "secrets    none given",
                 "refused    ", f"read {SECRET}", "run /usr/bin/env",
                 "record     complete (0 dropped); "):
        has(text, part, f"show has {part!r}")


def check_follow(name):
    follow = subprocess.Popen([WARY, "audit", "log", name, "-f", "--json"], text=True,
                              stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
    out, _ = follow.communicate(timeout=WAIT_S)
    same(len(out.splitlines()), len(rows(name)), "following a session ends with it")
    for sig in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, None):
        follow = subprocess.Popen([WARY, "audit", "log", "-f", "--json"], text=True, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
        ok(follow.stdout.readline(), "what is there comes first")
        if sig:
            follow.send_signal(sig)
            follow.stdout.read()
        else:
            follow.stdout.close()
        why = sig.name if sig else "nobody reads on"
        same(follow.wait(timeout=WAIT_S), 0, f"it ends with status 0: {why}")
        has(follow.stderr.read(), f"not followed any more: {why}", "and says why")


def check_words():
    for argv, part in ((("log", "--verdict", "dney"), 'unknown verdict "dney"'),
                       (("log", "--class", "raed"), 'unknown class "raed"'),
                       (("log", "--since", "soon"), 'no time "soon"'),
                       (("show", "zzzz"), 'there is no session "zzzz"'),
                       (("verfy",), 'did you mean "verify"?'),
                       (("sessions", "--db", str(TMP / "none.db")), "none.db")):
        done = audit(*argv)
        same(done.returncode, 2, f"wary audit {' '.join(argv)}: status 2")
        has(done.stderr, part, f"says {part!r}")
    for command in ("sessions", "log", "show", "verify"):
        done = audit(command, "--help")
        same(done.returncode, 0, f"{command} --help")
        has(done.stdout, f"usage: wary audit {command}", "how it is used")
    for option in ("--session", "--verdict", "--class", "--path", "--since", "--last", "--all", "--json", "-f"):
        has(audit("log", "--help").stdout, f"[{option}", f"log says that it takes {option}")


def check_read_only():
    """A copy where nothing may be made: alone it is read, as it is; with its log it is said what to do."""
    folder = TMP / "readonly"
    folder.mkdir()
    shutil.copy(DB, folder / "copy.db")
    os.chmod(folder / "copy.db", 0o400)
    for log in (False, True):
        if log:
            (folder / "copy.db-wal").touch()
        os.chmod(folder, 0o500)
        for command in ("sessions", "log", "verify"):
            done = audit(command, "--db", folder / "copy.db")
            text = done.stdout + done.stderr
            if os.access(folder, os.W_OK):
                ok(done.returncode != 2, f"{command}: root may write everywhere {text}")
            elif not log:
                same(done.returncode, 0, f"{command} of a copy in a folder that cannot be written")
                has(text, "nobody writes to", "says what it is taken for")
            else:
                same(done.returncode, 2, f"{command} of one that has a log")
                has(text, "copy it, with its -wal, to a folder of yours", "says what to do")
            has_not(text, "-o FILE", "and nothing of a session's options")
        os.chmod(folder, 0o700)


def main():
    open(HOSTILE, "w").close()
    name = run()
    ok(DB.exists(), "the store is where WARY_DB says")
    check_sessions(name)
    check_log(name)
    check_hostile(name)
    check_show(name)
    check_follow(name)
    check_words()
    check_anew()
    check_read_only()
    done = audit("verify")
    same(done.returncode, 0, "verify")
    has(done.stdout, ": intact, signed by key ", "says so")
    os.unlink(HOSTILE)
    finish()


if __name__ == "__main__":
    sys.exit(main())
