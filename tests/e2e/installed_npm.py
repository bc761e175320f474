#!/usr/bin/env python3
"""What npm puts on the disk is on record when it has ended: from a registry on
loopback, with dependencies, an upgrade and what it removes."""
import base64
import hashlib
import http.server
import io
import json
import pathlib
import shutil
import tarfile
import threading

from installed_rows import packages, session, states
from wary_test import HOME, TMP, audit, finish, has, note, ok, same, skip, wary

APP = pathlib.Path(TMP).resolve() / "app"
NODE = APP / "node_modules"


def tarball(name, version, files):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz", compresslevel=1) as tar:
        for path, text in files.items():
            info = tarfile.TarInfo("package/" + path)
            info.size, info.mode, info.mtime = len(text), 0o644, 499162500
            tar.addfile(info, io.BytesIO(text.encode()))
    return out.getvalue()


class Registry(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        self.names, self.files = {}, {}
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def add(self, name, version, needs=None, scripts=None, **files):
        manifest = {"name": name, "version": version, "dependencies": needs or {}, "scripts": scripts or {}}
        body = tarball(name, version, {"package.json": json.dumps(manifest), "index.js": f"// {name} {version}\n",
                                       **{k.replace("_", "."): v for k, v in files.items()}})
        path = f"/{name}/-/{version}.tgz"
        digest = base64.b64encode(hashlib.sha512(body).digest()).decode()
        self.files[path] = body
        # As npm has it: a dist-tag, and each version with its tarball.
        entry = self.names.setdefault(name, {"name": name, "versions": {}})
        entry["dist-tags"] = {"latest": version}
        entry["versions"][version] = {**manifest, "dist": {
            "tarball": self.url + path, "integrity": f"sha512-{digest}"},
            **({"hasInstallScript": True} if scripts else {})}


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        name = self.path[1:].replace("%2f", "/").replace("%2F", "/")
        body = self.server.files.get(self.path)
        if body is None and name in self.server.names:
            body = json.dumps(self.server.names[name]).encode()
        self.send_response(404 if body is None else 200)
        self.send_header("Content-Length", str(len(body or b"")))
        self.end_headers()
        self.wfile.write(body or b"")

    def log_message(self, *_):
        pass


def npm(*words):
    done = wary("npm", *words, cwd=APP, options=["-q"])
    if not ok(done.returncode == 0, f"npm {' '.join(words)}"):
        note(done.stdout + done.stderr)


def test_npm():
    registry = Registry()
    registry.add("@corp/deep", "1.0.0")
    registry.add("top", "1.0.0", {"@corp/deep": "^1.0.0"})
    (HOME / ".npmrc").write_text(f"registry={registry.url}\naudit=false\nfund=false\nupdate-notifier=false\n")
    APP.mkdir(parents=True)
    (APP / "package.json").write_text('{"name": "app", "version": "1.0.0"}\n')
    npm("install", "top")
    found = packages()
    same(states(found), {"top": ("installed", "1.0.0"), "@corp/deep": ("installed", "1.0.0")},
         "what was asked for and what that needs")
    deep = found.get("@corp/deep", {})
    same(deep.get("claimed-from"), f"{registry.url}/@corp/deep/-/1.0.0.tgz", "where npm says that it is from")
    same((deep.get("claimed-version"), deep.get("claimed-integrity")),
         ("1.0.0", registry.names["@corp/deep"]["versions"]["1.0.0"]["dist"]["integrity"]), "as what")
    same((deep.get("manager"), deep.get("folder")), ("npm", str(NODE / "@corp/deep")), "by whom and where")
    if not ok(deep.get("registry"), "where it was to come from by wary's reading"):
        note(found)
        note(audit("query", "kind = package").stdout)
    old = found.get("top", {}).get("sha256")
    screen = audit("show", session()).stdout
    has(screen, "2 installed: npm:@corp/deep 1.0.0, npm:top 1.0.0", "wary audit show has them")
    has(screen, "asked for  npm:top", "and what was asked for")
    first = session()

    registry.add("top", "2.0.0")
    npm("install", "top@2.0.0")
    found = packages()
    same(states(found), {"top": ("installed", "2.0.0"), "@corp/deep": ("removed", None)},
         "an upgrade, and what is needed no more")
    ok(found["top"].get("sha256") not in (None, old), "another content has another hash")
    done = audit("packages", "--json", "--check", first)
    same((done.returncode, {(p["name"], p["now"]) for p in map(json.loads, done.stdout.splitlines())}),
         (1, {("top", "changed"), ("@corp/deep", "gone")}), "the session before says what has changed since")
    npm("ls")
    same(packages(), {}, "a command that installs nothing has none")
    registry.shutdown()
    registry.server_close()


if not shutil.which("npm"):
    skip("npm is not installed")
test_npm()
same(audit("verify").returncode, 0, "the record is intact")
finish()
