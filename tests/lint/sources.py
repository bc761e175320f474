#!/usr/bin/env python3
"""Keeps src/sources.mk: every source of src/ is listed, in one of two libraries.

sources.py          fails when the list and src/ disagree
sources.py --write  writes the list anew
Run from anywhere; one source a line, sorted, so that merges stay easy.
"""
import pathlib
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
LIST = TOP / "src/sources.mk"
# Folders and files that make no system call: they link into libwarypure.a,
# for unit tests and fuzzers.
PURE_FOLDERS = {"call", "policy", "package"}
PURE_FILES = {
    "base/err.c", "base/buf.c", "base/text.c",
    "audit/record.c", "audit/chain.c", "audit/expr.c", "audit/merkle.c",
    "audit/anchor.c", "audit/decode.c", "audit/proof.c",
}
# Built by rules of their own.
APART = {"main.c"}
BUILD_TOOLS_FOLDER = "gen"


def wanted():
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

    def block(var, names):
        return var + " = \\\n\t" + " \\\n\t".join(names) + "\n"

    return ("# Written by tests/lint/sources.py --write.\n"
            + block("libwarypure_a_SOURCES", pure)
            + block("libwary_a_SOURCES", rest)
            + block("wary_headers", headers))


def main():
    text = wanted()
    if "--write" in sys.argv[1:]:
        LIST.write_text(text)
        return 0
    if not LIST.exists() or LIST.read_text() != text:
        print("src/sources.mk does not match src/: run tests/lint/sources.py --write")
        return 1
    return 0


sys.exit(main())
