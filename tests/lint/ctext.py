"""C source as the lints see it: comments and literals blanked, lines kept."""
import pathlib
import re

TOP = pathlib.Path(__file__).resolve().parents[2]
_TOKEN = re.compile(
    r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def blank(match):
    text = match.group(0)
    if text[0] in "\"'":
        return text[0] + " " * (len(text) - 2) + text[-1]
    return re.sub(r"[^\n]", " ", text)


def code(text):
    """The text with comments and the insides of literals as blanks."""
    return _TOKEN.sub(blank, text)


def sources(*folders, suffixes=(".c", ".h")):
    """(path, name relative to the top) of every C file below the folders."""
    for folder in folders:
        for path in sorted((TOP / folder).rglob("*")):
            if path.suffix in suffixes and path.is_file():
                yield path, path.relative_to(TOP).as_posix()
