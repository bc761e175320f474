#!/usr/bin/env python3
"""Keeps the generated lists: src/sources.mk and tests/tests.mk.

sources.py          fails when a list and the tree disagree
sources.py --write  writes them anew
Run from anywhere; one file a line, sorted, so that merges stay easy.
Every source of src/ is listed, in one of two libraries; every C file of a
test folder becomes a program (tests/README.md says which is what).
"""
import pathlib
import re
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
# Folders and files that make no system call: they link into libwarypure.a,
# for unit tests and fuzzers.
PURE_FOLDERS = {"call", "policy", "package"}
PURE_FILES = {
    "tracee/image.c", "tracee/ldso.c", "secret/redact.c",
    "base/err.c", "base/buf.c", "base/text.c",
    "audit/record.c", "audit/chain.c", "audit/expr.c", "audit/merkle.c",
    "audit/anchor.c", "audit/bridge.c", "audit/cursor.c", "audit/decode.c", "audit/proof.c",
    "audit/proof_check.c", "audit/lanes.c",
    "audit/ratchet.c",
    "net/addr.c", "net/cmsg.c", "net/dns.c", "net/config.c",
}
# Built by rules of their own.
APART = {"main.c", "audit/report_page.h"}
BUILD_TOOLS_FOLDER = "gen"
HEAD = "# Written by tests/lint/sources.py --write.\n"
# What a distribution carries besides the sources of programs.
DIST_FOLDERS = ["docs", "examples", "tests"]
# Frame of the C tests, not tests themselves.
TEST_FRAME = {"tests/unit/tap.c", "tests/fuzz/drive.c"}
# Helpers that are made of wary's own parts.
WITH_WARY = {"tests/lib/audit_session.c", "tests/bench/audit.c", "tests/bench/beside.c",
             "tests/bench/floor_start.c"}
# Folder -> libraries its programs link with (see Makefile.am).
TEST_KINDS = {
    "unit": "$(unit_libs)",
    "fault": "$(unit_libs)",
    "fuzz": "$(fuzz_libs)",
    "e2e": "$(caller_libs)",
    "race": "$(caller_libs)",
    "lib": "$(caller_libs)",
    "bench": "$(bench_libs)",
}


def block(var, names):
    if not names:
        return var + " =\n"
    return var + " = \\\n\t" + " \\\n\t".join(names) + "\n"


def src_lists():
    pure, rest, headers = [], [], []
    for path in sorted((TOP / "src").rglob("*")):
        rel = path.relative_to(TOP / "src").as_posix()
        if rel in APART or path.suffix not in {".c", ".h", ".def", ".sql", ".html", ".js", ".css"}:
            continue
        if rel.split("/")[0] == BUILD_TOOLS_FOLDER:
            continue
        name = "src/" + rel
        if path.suffix != ".c":
            headers.append(name)
        elif rel.split("/")[0] in PURE_FOLDERS or rel in PURE_FILES:
            pure.append(name)
        else:
            rest.append(name)
    return (HEAD
            + block("libwarypure_a_SOURCES", pure)
            + block("libwary_a_SOURCES", rest)
            + block("wary_headers", headers))


def canonical(name):
    return re.sub(r"[^A-Za-z0-9_@]", "_", name)


def test_lists():
    programs = {kind: [] for kind in TEST_KINDS}
    for kind in TEST_KINDS:
        for path in sorted((TOP / "tests" / kind).glob("*.c")):
            name = path.relative_to(TOP).as_posix()
            if name not in TEST_FRAME:
                programs[kind].append(name)
    out = [HEAD]
    sources = set(TEST_FRAME)
    for kind in TEST_KINDS:
        out.append(block(kind + "_programs", [n[:-2] for n in programs[kind]]))
        sources.update(programs[kind])
        for name in programs[kind]:
            var = canonical(name[:-2])
            libs = "$(unit_libs)" if name in WITH_WARY else TEST_KINDS[kind]
            more = " tests/fuzz/drive.c" if kind == "fuzz" else ""
            out.append(f"{var}_SOURCES = {name}{more}\n{var}_LDADD = {libs}\n")
            flags = "unit" if name in WITH_WARY else kind
            out.append(f"{var}_CFLAGS = $({flags}_cflags)\n{var}_LDFLAGS = $({flags}_ldflags)\n")
    extra = []
    for folder in DIST_FOLDERS:
        for path in sorted((TOP / folder).rglob("*")):
            name = path.relative_to(TOP).as_posix()
            if path.is_file() and name not in sources and "__pycache__" not in name \
                    and name != "tests/tests.mk":
                extra.append(name)
    out.append(block("dist_extra", extra))
    out.append(block("dist_policies", [p.relative_to(TOP).as_posix()
                                       for p in sorted((TOP / "policy").glob("*.wary"))]))
    out.append(block("dist_manuals", [p.relative_to(TOP).as_posix()
                                      for p in sorted((TOP / "man").glob("*.[1-8]"))]))
    return "".join(out)


def main():
    lists = {"src/sources.mk": src_lists(), "tests/tests.mk": test_lists()}
    if "--write" in sys.argv[1:]:
        for name, text in lists.items():
            (TOP / name).write_text(text)
        return 0
    wrong = [n for n, text in lists.items()
             if not (TOP / n).exists() or (TOP / n).read_text() != text]
    for name in wrong:
        print(f"{name} does not match the tree: run tests/lint/sources.py --write")
    return 1 if wrong else 0


sys.exit(main())
