#!/usr/bin/env python3
"""`ask install npm:*` asks once, with the list of packages, before any of their
code has run; a no stops the install."""
import re

from wary_test import *

MENU = b"[i] more"
CODE = re.compile(rb"type  (\w{4})  ")
# Two local packages with install scripts: no registry is needed.
for name in ("alpha", "beta"):
    folder = TMP / name
    folder.mkdir()
    (folder / "package.json").write_text(
        '{"name":"%s","version":"1.0.0","scripts":{"postinstall":"touch %s/ran-%s"}}'
        % (name, TMP, name))
project = TMP / "project"
project.mkdir()
(project / "package.json").write_text('{"name":"p","version":"1.0.0"}')


def install(answer):
    file = policy("default allow\nask install npm:*\n")
    env = {**os.environ, "npm_config_audit": "false", "npm_config_fund": "false",
           "npm_config_update_notifier": "false", "npm_config_install_links": "true"}
    t = Terminal([WARY, "-p", file, "--", "npm", "install", "--no-save", TMP / "alpha",
                  TMP / "beta"], env=env, columns=100, cwd=project)
    shown = t.until(MENU, WAIT_S * 2)
    ok(shown is not None, f"the install asks ({answer})")
    has(shown or b"", b"alpha", "the first package is named")
    has(shown or b"", b"beta", "and the second")
    ran = list(TMP.glob("ran-*"))
    same(ran, [], "none of their code has run")
    t.type(answer)
    if answer == "y":
        code = t.until(CODE)
        t.type(code.group(1) if code else b"\x03")
    status = t.end(WAIT_S * 3)
    has_not(t.seen, MENU, "it asks once")
    return status


status = install("n")
ok(status is not None and status != 0, "after a no npm does not succeed")
same(sorted(p.name for p in TMP.glob("ran-*")), [], "and none of their code has ever run")
ok(not (project / "node_modules/alpha").exists(), "nor is anything installed")
status = install("y")
same(status, 0, "after a yes it does")
same(sorted(p.name for p in TMP.glob("ran-*")), ["ran-alpha", "ran-beta"], "scripts and all")

finish()
