#!/usr/bin/env python3
"""The table of system calls against kernel headers, tests and documents.

syscalls.py          fails where a number of the installed headers has no row or
                     another number, where a row is wrong in itself, and where
                     docs/SYSCALLS.md is not what the table says
syscalls.py --write  writes docs/SYSCALLS.md anew
A test names the rows that it attacks in a line "rows: openat unlinkat".
"""
import pathlib
import re
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
TABLE = TOP / "src/call/table.def"
SCALAR = TOP / "src/call/scalar.def"
DOC = TOP / "docs/SYSCALLS.md"
HEADERS = {"x86": ["/usr/include/x86_64-linux-gnu/asm/unistd_64.h", "/usr/include/asm/unistd_64.h"],
           "arm": ["/usr/include/asm-generic/unistd.h"]}
# Of the generic list, what aarch64 does not take or what is no call.
NOT_ON_ARM = {"arch_specific_syscall", "syscalls", "sync_file_range2"}
MEANS = {"ALLOW": "allowed", "SCALARS": "registers", "EMULATE": "emulated", "STAT": "stat class",
         "VERIFY": "verified after", "CONTINUE": "continued", "REFUSE": "refused",
         "ABSENT": "absent"}
KINDS = {"PASS": "ALLOW", "SHUT": "REFUSE", "GONE": "ABSENT"}

INTRO = """# Every system call, and what wary does with it

Made from `src/call/table.def` and `src/call/scalar.def` by `tests/lint/syscalls.py --write`.

| means | what happens | why no race is left |
|---|---|---|
| allowed | the filter lets it run | it decides nothing: the reason is in its row |
| registers | the filter decides on register scalars (rules at the end of this page) | BPF sees registers, which no other thread can change; never what a descriptor, pid or pointer refers to |
| emulated | notified; wary copies each argument once, decides, and acts itself on the objects that it judged | nothing is looked at twice |
| stat class | allowed while no rule speaks of `stat` or `file`, else emulated | it changes nothing |
| verified after | continued under ptrace; what was loaded is inspected before the first instruction | another image than was judged is killed |
| continued | notified, recorded by wary where it matters, and run as it stands | what can still change decides nothing: the reason is in its row |
| refused | notified, recorded, answered with the errno | nothing runs |
| absent | ENOSYS by the filter | nothing runs |

A number that is not here, and every call of another architecture (i386 by `int 0x80`, x32), gets ENOSYS.
"""


def rows():
    """Rows in order, with section headings between: ("#", text) or a dict."""
    text = TABLE.read_text()
    pattern = re.compile(r"^/\* ([^\n]+?)\. \*/$|^(PASS|SHUT|GONE|ROW)\(([^\"]*?)((?:\"(?:[^\"\\]|\\.)*\"\s*)+)\)",
                         re.M)
    for m in pattern.finditer(text):
        heading, kind, head, why = m.groups()
        if heading:
            yield "#", heading
            continue
        cells = [c.strip() for c in head.split(",") if c.strip()]
        row = {"name": cells[0], "x86": int(cells[1]), "arm": int(cells[2]), "errno": "",
               "roles": [], "family": "",
               "why": "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', why)).replace('\\"', '"')}
        row["means"] = KINDS.get(kind) or cells[3]
        if kind == "SHUT":
            row["errno"] = cells[3]
        if kind == "ROW":
            row["family"], row["roles"] = cells[4], [r for r in cells[6:12] if r != "_"]
            row["errno"] = "" if cells[12] == "0" else cells[12]
        yield "row", row


def scalar_rules():
    """name -> list of (what, conditions as text)."""
    found = {}
    for block in re.findall(r"^SCALAR\((.*?)\)\)$", SCALAR.read_text(), re.S | re.M):
        name, rest = block.split(",", 1)
        rules = []
        for rule in re.findall(r"RULE\((\w+)((?:, *\w+\((?:[^()]|\([^()]*\))*\))*)", re.sub(r"\n\s+", " ", rest)):
            rules.append((rule[0], conditions(rule[1])))
        found[name.strip()] = rules
    return found


def conditions(text):
    parts = []
    for kind, inner in re.findall(r"(LOW|BITS|WIDE)\(((?:[^()]|\([^()]*\))*)\)", text):
        note = re.search(r"/\* (.*?) \*/", inner)
        cells = [c.strip() for c in re.sub(r"/\*.*?\*/", "", inner).split(",")]
        if kind == "BITS":
            value = f"{cells[0]} & {cells[1]} is {cells[2]}"
        else:
            value = f"{cells[0]} is {cells[1]}" + (" (all 64 bits)" if kind == "WIDE" else "")
        parts.append("argument " + value + (f" ({note.group(1)})" if note else ""))
    return " and ".join(parts) or "always"


def header_numbers(which):
    for path in HEADERS[which]:
        if pathlib.Path(path).exists():
            text = pathlib.Path(path).read_text()
            if which == "x86":
                return {n: int(v) for n, v in re.findall(r"#define __NR_(\w+) (\d+)", text)}
            numbers = {n: int(v) for n, v in re.findall(r"#define __NR(?:3264)?_(\w+) (\d+)", text)}
            # 403 to 423 are for 32 bits only.
            return {n: v for n, v in numbers.items()
                    if n not in NOT_ON_ARM and not 403 <= v <= 423}
    return {}


def tests_of():
    """row -> sorted names of the tests that say they attack it."""
    found = {}
    for path in sorted((TOP / "tests").rglob("*")):
        if path.suffix not in {".c", ".py", ".sh"} or path.parent.name == "lint":
            continue
        for line in re.findall(r"\brows: ([\w ,]+)", path.read_text(errors="replace")):
            for name in re.split(r"[ ,]+", line.strip()):
                found.setdefault(name, set()).add(f"{path.parent.name}/{path.stem}")
    return {k: sorted(v) for k, v in found.items()}


def number(n):
    return "–" if n < 0 else str(n)


def document():
    out, tests, rules = [INTRO], tests_of(), scalar_rules()
    for kind, row in rows():
        if kind == "#":
            out.append(f"\n## {row}\n\n| call | x86-64 | aarch64 | means | errno | why it is safe | attacked by |\n"
                       "|---|---|---|---|---|---|---|\n")
            continue
        means = MEANS[row["means"]] + ("" if row["name"] not in rules or row["means"] == "SCALARS"
                                       else ", by registers")
        out.append(f"| {row['name']} | {number(row['x86'])} | {number(row['arm'])} | {means} | "
                   f"{row['errno']} | {row['why']} | {' '.join(tests.get(row['name'], []))} |\n")
    out.append("\n## What registers decide\n\nThe first rule that holds decides. Arguments are counted from 0; "
               "their low 32 bits are meant.\n")
    words = {"ALLOW": "runs", "STAT": "runs while no rule speaks of `stat`", "NOTIFY": "is decided by wary",
             "REFUSE": "is refused", "ZERO": "is answered 0 and not done"}
    for name, list_ in rules.items():
        out.append(f"\n### {name}\n\n")
        out += [f"- {words[what]}: {when}\n" for what, when in list_]
    return "".join(out)


def wrong(table):
    names = [r["name"] for r in table]
    for twice in sorted({n for n in names if names.count(n) > 1}):
        yield f"{twice} has two rows"
    rules = scalar_rules()
    for row in table:
        if not row["why"] or len(row["why"]) < 8:
            yield f"{row['name']}: says no reason"
        if row["means"] == "SCALARS" and row["name"] not in rules:
            yield f"{row['name']}: is to be decided by registers and has no rule"
        if row["means"] == "REFUSE" and not row["errno"]:
            yield f"{row['name']}: is refused without an errno"
        if any(what == "REFUSE" for what, _ in rules.get(row["name"], [])) and not row["errno"]:
            yield f"{row['name']}: a rule refuses it and the row has no errno"
    for name in rules:
        if name not in names:
            yield f"scalar.def: {name} has no row"
        elif rules[name][-1][1] != "always":
            yield f"scalar.def: the last rule of {name} does not hold always"
    for name, where in tests_of().items():
        if name not in names:
            yield f"{where[0]}: names a row that is not there: {name}"
    for which in HEADERS:
        here = {r["name"]: r[which] for r in table}
        numbers = [n for n in here.values() if n >= 0]
        for twice in sorted({n for n in numbers if numbers.count(n) > 1}):
            yield f"{which}: number {twice} has two rows"
        for name, nr in header_numbers(which).items():
            if here.get(name, -1) != nr and nr not in numbers:
                yield f"{which}: {name} ({nr}) of the kernel's headers has no row"
            elif name in here and here[name] != nr:
                yield f"{which}: {name} is {nr} in the kernel's headers, {here[name]} in the table"


def main():
    table = [row for kind, row in rows() if kind == "row"]
    macros = len(re.findall(r"^(?:PASS|SHUT|GONE|ROW)\(", TABLE.read_text(), re.M))
    if "--write" in sys.argv[1:]:
        DOC.parent.mkdir(exist_ok=True)
        DOC.write_text(document())
        return 0
    found = list(wrong(table))
    if macros != len(table) or macros < 300:
        found.append(f"{macros} rows in the table, {len(table)} understood")
    if not DOC.exists() or DOC.read_text() != document():
        found.append("docs/SYSCALLS.md is not what the table says: run tests/lint/syscalls.py --write")
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


sys.exit(main())
