#!/usr/bin/env python3
"""Sizes: functions of 60 lines, files of 600, headers of 150, nesting of 3,
lines of 100 columns. A table is not a function and may be long."""
import re
import sys

from ctext import code, sources

FUNCTION_LINES, FILE_LINES, HEADER_LINES, NESTING, COLUMNS = 60, 600, 150, 3, 100
NAME = re.compile(r"(\w+)\s*\([^()]*(?:\([^()]*\)[^()]*)*\)\s*(?:__attribute__.*)?$", re.S)


def functions(text):
    """(name, first line, last line, deepest nesting) of each function."""
    lines = text.split("\n")
    start, name, depth, deepest = None, "", 0, 0
    for number, line in enumerate(lines, 1):
        if start is None and line.startswith("{"):
            head = "\n".join(lines[max(0, number - 8):number - 1])
            head = head[head.rfind(";") + 1:]
            head = head[head.rfind("}") + 1:]
            found = NAME.search(head)
            start, name, depth, deepest = number, found.group(1) if found else "?", 0, 0
        if start is None:
            continue
        for char in line:
            if char == "{":
                depth += 1
                deepest = max(deepest, depth)
            elif char == "}":
                depth -= 1
        if depth == 0:
            yield name, start, number, deepest - 1
            start = None


def width(line):
    return len(line.expandtabs(8))


def findings(path, name):
    raw = path.read_text()
    lines = raw.count("\n")
    bound = HEADER_LINES if path.suffix == ".h" else FILE_LINES
    if lines > bound and name.startswith("src/"):
        yield f"{name}: {lines} lines, at most {bound}"
    for number, line in enumerate(raw.split("\n"), 1):
        if width(line) > COLUMNS:
            yield f"{name}:{number}: {width(line)} columns, at most {COLUMNS}"
        if line.rstrip() != line:
            yield f"{name}:{number}: blanks at the end of the line"
    for function, first, last, nesting in functions(code(raw)):
        if last - first - 1 > FUNCTION_LINES:
            yield f"{name}:{first}: {function}() has {last - first - 1} lines, at most {FUNCTION_LINES}"
        if nesting > NESTING:
            yield f"{name}:{first}: {function}() nests {nesting} deep, at most {NESTING}"


def main():
    wrong = [w for path, name in sources("src") for w in findings(path, name)]
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0


sys.exit(main())
