#!/usr/bin/env python3
"""Calls and words that have no place in src/, each with what to use instead.

A line may carry `/* lint: WORD: reason */` where one of them is right.
"""
import re
import sys

from ctext import code, sources

CALLS = {
    "strcpy": "buf_str or a checked memcpy", "strcat": "buf_str", "strncpy": "memcpy",
    "strncat": "buf_str", "stpcpy": "buf_str", "stpncpy": "buf_str",
    "sprintf": "snprintf or buf_fmt", "vsprintf": "vsnprintf or buf_fmt",
    "gets": "getline", "strtok": "strcspn", "alloca": "a bounded buffer",
    "atoi": "text_number", "atol": "text_number", "atoll": "text_number",
    "scanf": "getline",
    "system": "posix_spawn", "popen": "posix_spawn",
    "realpath": "place_resolve or openat2", "readlink": "readlinkat with a checked length",
    "canonicalize_file_name": "openat2", "mktemp": "mkostemp", "tmpnam": "mkostemp",
    "mkstemp": "mkostemp with O_CLOEXEC", "tempnam": "mkostemp",
    "signal": "sigaction", "pipe": "pipe2 with O_CLOEXEC",
    "accept": "accept4 with SOCK_CLOEXEC", "dup": "fcntl F_DUPFD_CLOEXEC",
    "creat": "open with O_CLOEXEC", "asctime": "strftime", "ctime": "strftime",
    "localtime": "localtime_r", "gmtime": "gmtime_r", "strerror": "strerrordesc_np",
    "rand": "randombytes_buf", "srand": "randombytes_buf",
}
ONLY_MAIN = {"exit": "return a status to main.c"}
CALL = re.compile(r"(?<![\w.>])(\w+)\s*\(")
OPENING = re.compile(r"\b(?:open|openat|socket|socketpair|memfd_create|epoll_create1|eventfd|"
                     r"signalfd|timerfd_create|inotify_init1|pipe2|accept4|dup3)\s*\(([^;{}]*)")
CLOEXEC = re.compile(r"CLOEXEC|\bflags\b|\bhow\b|_flags\b")
ALLOW = re.compile(r"/\* lint: (\w+): \S")


def logical_lines(text):
    return text.split("\n")


def opens_leaking(name, text):
    for match in OPENING.finditer(text):
        before = text[:match.start()].rsplit("\n", 1)[-1]
        if before.strip().startswith(("*", "#")) or re.match(r"\w[\w *]*$", before.lstrip()):
            if before and not before[0].isspace():
                continue  # a prototype or a definition
        if not CLOEXEC.search(match.group(1)):
            line = text.count("\n", 0, match.start()) + 1
            yield line, "cloexec", "descriptors are opened with O_CLOEXEC"


def findings(name, raw):
    text = code(raw)
    for match in CALL.finditer(text):
        word = match.group(1)
        line = text.count("\n", 0, match.start()) + 1
        if name.startswith("src/gen/") and word in ("exit", "strerror"):
            continue  # a program of its own, run while wary is built
        if word in CALLS:
            yield line, word, f"{word}() is banned: use {CALLS[word]}"
        elif word in ONLY_MAIN and name != "src/main.c":
            yield line, word, f"{word}() only in src/main.c: {ONLY_MAIN[word]}"
    yield from opens_leaking(name, text)
    for number, line in enumerate(text.split("\n"), 1):
        if re.match(r"\s*typedef\b", line):
            yield number, "typedef", "no typedefs"
        if re.search(r"\bfopen\s*\(", line) and not re.search(r'"[^"]*e[^"]*"\)', raw.split("\n")[number - 1]):
            yield number, "fopen", 'fopen with "e" (O_CLOEXEC)'
    for match in re.finditer(r"^[ \t]*#[ \t]*define\b(?:[^\n]*\\\n)*[^\n]*", text, re.M):
        if re.search(r"\breturn\b", match.group(0)):
            yield text.count("\n", 0, match.start()) + 1, "return", "no return in a macro"


def main():
    wrong = []
    for path, name in sources("src"):
        raw = path.read_text()
        lines = raw.split("\n")
        for line, word, why in findings(name, raw):
            allowed = ALLOW.search(lines[line - 1])
            if not allowed or allowed.group(1) != word:
                wrong.append(f"{name}:{line}: {why}")
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0


sys.exit(main())
