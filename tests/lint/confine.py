#!/usr/bin/env python3
"""What wary's own processes may do once a session runs (base/uses.h, trap/roles.def)
against what their objects can ask for.

Fails where a source of a role calls what it does not declare, or declares what it
does not call; where a role lacks a source that its objects refer to, or has one that
they do not; and where a function of libc is not in confine.libc. BUILD: a build tree."""
import os
import pathlib
import re
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
SRC = TOP / "src"
BUILD = pathlib.Path(os.environ["BUILD"])
# Functions of libraries, by the start of their names.
LIBRARIES = {"sqlite3_": "sqlite", "sodium_": "sodium", "crypto_": "sodium", "randombytes_": "sodium",
             "unw_": "unwind", "_U": "unwind"}
NOTHING = re.compile(r"json_|__(?:a|t|ub|l)san_|__sanitizer_")  # works on memory; a sanitizer's own
DECLARED = re.compile(r"^(USES|USED_BEFORE)\(([^)]*)\);", re.M)


def read_def(name, row):
    """The rows of a .def file: their arguments, as lists."""
    text = re.sub(r"/\*.*?\*/", "", (SRC / name).read_text(), flags=re.S)
    return [[w.strip() for w in args.split(",")]
            for args in re.findall(rf"^{row}\(([^()]*?)[,)]\s*(?:RULE|$)", text, re.M)]


def libc():
    """Function -> what it asks for: calls, and "@library"."""
    found = {}
    for line in (TOP / "tests/lint/confine.libc").read_text().splitlines():
        names, colon, calls = line.partition(":")
        if not colon or line.startswith("#"):
            continue
        for name in names.split():
            found[name] = [name] if calls.split() == ["="] else calls.split()
    return found


def symbols():
    """Source -> what its object needs, and what it gives (without the main programs)."""
    needs, gives, sources = {}, {}, {}
    for path in sorted((BUILD / "src").rglob("*.o")):
        source = path.relative_to(BUILD / "src").with_suffix(".c").as_posix()
        if (SRC / source).exists() and not source.startswith("gen/"):
            sources[str(path)] = source
            needs[source], gives[source] = set(), set()
    # One nm for all: starting it costs more than what it does for one object.
    out = subprocess.run(["nm", "-A", *sources], check=True, stdout=subprocess.PIPE, text=True).stdout \
        if sources else ""
    for path, kind, name in re.findall(r"^(.*?):[0-9a-f ]* ([UTDRBVC]) (\S+)$", out, re.M):
        (needs if kind == "U" else gives)[sources[path]].add(name)
    return needs, gives


def plain(symbol):
    """Of a function in its checked or large-file form: the function."""
    symbol = re.sub(r"^__(\w+)_chk$", r"\1", symbol)
    return re.sub(r"(?<=[a-z])64$", "", symbol)


class Roles:
    def __init__(self, needs, owner):
        self.names = [row[0] for row in read_def("trap/roles.def", "START")]
        self.start, self.parts, self.early, self.libraries = {}, {}, {}, {}
        for role, path in read_def("trap/roles.def", "START"):
            self.start[role], self.parts[role] = [path], {path}
            self.early[role], self.libraries[role] = set(), set()
        for role, path in read_def("trap/roles.def", "ALSO"):
            self.start[role].append(path)
            self.parts[role].add(path)
        for role, path in read_def("trap/roles.def", "PART"):
            self.parts[role] |= {s for s in needs if s == path or s.startswith(path + "/")}
        for role, path in read_def("trap/roles.def", "LESS"):
            self.parts[role].discard(path)
        for role, path in read_def("trap/roles.def", "EARLY"):
            self.early[role].add(path)
            self.parts[role].discard(path)
        for role, name in read_def("trap/roles.def", "LIBRARY"):
            self.libraries[role].add(name)
        self.found = {role: reach(self.start[role], self.early[role], needs, owner)
                      for role in self.names}


def reach(start, stop, needs, owner):
    """Sources that can be reached from these ones' objects, but through none of those."""
    seen, left = set(), list(start)
    while left:
        one = left.pop()
        if one in seen or one in stop:
            continue
        seen.add(one)
        left += [owner[s] for s in needs.get(one, ()) if s in owner]
    return seen


def asked(source, text, needs, owner, calls, wrong):
    """Calls that a source's functions make, and libraries they use."""
    made = set(re.findall(r"\bsyscall\(\s*(?:SYS|__NR)_(\w+)", text))
    used = set()
    for symbol in sorted(needs):
        if symbol in owner or NOTHING.match(symbol):
            continue
        library = next((v for k, v in LIBRARIES.items() if symbol.startswith(k)), None)
        name = symbol if symbol in calls else plain(symbol)
        if library:
            used.add(library)
        elif name not in calls:
            wrong.append(f"{source}: what does {symbol} call? (tests/lint/confine.libc)")
        for call in calls.get(name, ()):
            (used if call.startswith("@") else made).add(call.lstrip("@"))
    return made, used


def judge(source, text, made, forms, given):
    """What is wrong with a source's declarations: it calls what is in @made."""
    wrong, said = [], {"USES": set(), "USED_BEFORE": set()}
    for word, names in DECLARED.findall(text):
        said[word] |= {n.strip() for n in names.split(",")}
    declared = {forms.get(n, n) for names in said.values() for n in names}
    for name in sorted(made - declared - given):
        wrong.append(f"{source} calls {name}, and does not declare it (base/uses.h)")
    for name in sorted(n for names in said.values() for n in names):
        if forms.get(name, name) not in made:
            wrong.append(f"{source} declares {name}, and does not call it")
    for name in sorted(said["USES"] & said["USED_BEFORE"]):
        wrong.append(f"{source} declares {name} twice")
    return wrong


def check_planted(source, text, made, forms, given):
    """A declaration too many and one too few are found."""
    word, names = DECLARED.search(text).groups()
    all_names = re.findall(r"\w+", " ".join(n for _, n in DECLARED.findall(text)))
    name = min(re.findall(r"\w+", names),  # the only form of its call here
               key=lambda n: sum(forms.get(o, o) == forms.get(n, n) for o in all_names))
    few = text.replace(f"{word}({names})", f"{word}({names.replace(name, 'acct', 1)})", 1)
    found = "\n".join(judge(source, few, made, forms, given))
    return [] if re.search(r"declares acct,", found) and \
        f"calls {forms.get(name, name)}," in found else [f"{source}: a fault was planted and not found"]


def main():
    needs, gives = symbols()
    if len(needs) < 150:
        print("no objects yet: run make first")
        return 77
    owner = {s: source for source, names in gives.items() for s in names}
    forms = dict(row[:2] for row in read_def("trap/forms.def", "FORM"))
    needed = read_def("trap/library.def", "NEEDS")
    given = {forms.get(call, call) for library, call in needed if library == "base"}
    calls, roles, wrong = libc(), Roles(needs, owner), []
    in_role = set().union(*(roles.parts[r] & roles.found[r] for r in roles.names))
    if "--asked" in sys.argv[1:]:
        for source in sorted(in_role):
            made, used = asked(source, (SRC / source).read_text(), needs[source], owner, calls, wrong)
            print(source + ":", *sorted(made - given), *("@" + u for u in sorted(used)))
    libraries = {role: {"base"} for role in roles.names}
    planted = 0
    for source in sorted(needs):
        text = (SRC / source).read_text()
        if source not in in_role:
            if DECLARED.search(text) and not any(source in e for e in roles.early.values()):
                wrong.append(f"{source} declares what it uses, and is in no role (trap/roles.def)")
            continue
        made, used = asked(source, text, needs[source], owner, calls, wrong)
        faults = judge(source, text, made, forms, given)
        wrong += faults
        if not faults and DECLARED.search(text):
            wrong += check_planted(source, text, made, forms, given)
            planted += 1
        for role in roles.names:
            if source in roles.parts[role] & roles.found[role]:
                libraries[role] |= used
    for role in roles.names:
        found = roles.found[role]
        for source in sorted(found - roles.parts[role]):
            wrong.append(f"{source} can be reached in the {role}, and is not in its role")
        for source in sorted(s for s in roles.parts[role] - found
                             if DECLARED.search((SRC / s).read_text())):
            wrong.append(f"{source} is in the role of the {role}, and cannot be reached")
        for name in sorted(libraries[role] - roles.early[role] ^ roles.libraries[role]):
            wrong.append(f"the library {name} of the {role} is declared and not used, or the reverse")
    if not wrong and planted < 40:
        wrong.append(f"only {planted} sources declare what they use: not understood")
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
