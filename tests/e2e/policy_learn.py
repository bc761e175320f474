#!/usr/bin/env python3
# wary-test: full timeout=1500
"""Real work learned, its policy suggested, and run again clean under it: npm and
pip install, a coding agent's command line.  (git and make: policy_suggest.py.)"""
import os
import shutil
import subprocess

from learn import APP, drop, learned, run
from wary_test import HOME, SRC, finish, has, has_not, ok, same

AGENT = "@qwen-code/qwen-code"
REGISTRY = os.environ.get("NPM_REGISTRY", "https://registry.npmjs.org/")


def prepare():
    APP.mkdir()
    (HOME / ".npmrc").write_text(f"registry={REGISTRY}\naudit=false\nfund=false\nupdate-notifier=false\n")
    (APP / "package.json").write_text('{ "name": "app", "version": "1.0.0", "private": true }\n')
    run("git", "init", "-q", ".")


def npm():
    text = learned("npm", ["npm", "install", "express"], drop("node_modules", "package-lock.json"))
    ok((APP / "node_modules/express/package.json").exists(), "npm: it was installed")
    has(text, "install", "npm: packages are named")
    has(text, "npm:express", "npm: by manager and name")
    has_not(text, "node_modules/express/", "npm: no file of a package is")


def pip():
    served = HOME / "served"
    subprocess.run(["/usr/bin/python3", SRC / "tests/lib/wheels.py", served], check=True)
    same(run("/usr/bin/python3", "-m", "venv", "venv").returncode, 0, "pip: a venv")
    links = [f"--find-links={served}/simple/{name}" for name in ("first", "second")]
    site = APP / "venv/lib"

    def reset():
        for path in list(site.glob("python*/site-packages/first*")) + \
                list(site.glob("python*/site-packages/second*")):
            shutil.rmtree(path)
        for tool in ("first-tool", "second-tool"):
            (APP / "venv/bin" / tool).unlink(missing_ok=True)

    text = learned("pip", ["venv/bin/pip", "install", "-q", "--no-index", "--disable-pip-version-check",
                           *links, "first"], reset)
    ok(len(list(site.glob("python*/site-packages/second/__init__.py"))) == 1, "pip: it was installed")
    has(text, "pip:first", "pip: by manager and name")


def agent():
    """Installed by npm alone: what it does is the matter."""
    out = run("npm", "install", "--no-progress", AGENT)
    same(out.returncode, 0, f"agent: {AGENT} {out.stderr[-300:]}")
    for option in "--version", "--help":
        argv = ["node_modules/.bin/qwen", option]
        plain = run(*argv)
        same(plain.returncode, 0, f"agent {option}: runs")
        learned(f"agent {option}".replace(" ", ""), argv, drop())


prepare()
npm()
pip()
agent()
finish()
