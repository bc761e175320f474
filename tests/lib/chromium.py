"""A headless Chromium, driven through its debugging pipe (no network, no port).

    with Chromium(folder) as browser:
        page = browser.page(path)
        page.eval("document.title")

What the page logs, throws or asks the network for is collected in page.errors
and page.requests."""
import base64
import json
import os
import pathlib
import select
import shutil
import subprocess
import time

NAMES = ("chromium", "chromium-headless-shell", "google-chrome-stable", "google-chrome")
# Generous: a machine may be twenty times slower than the one this was made on.
WAIT_S = 240


def chromium_find():
    """(path, why not): the browser, or None and why there is none to use."""
    for name in NAMES:
        path = shutil.which(name)
        if not path:
            continue
        # Ubuntu's package is a script that runs a snap, which sees no home but
        # its own and hands no descriptors on.
        if "/snap/" in os.path.realpath(path) or b"snap" in head_of(path):
            return None, f"{path} is a snap, which has no debugging pipe to us"
        return path, None
    return None, "no Chromium is installed"


def head_of(path):
    """The beginning of a script; nothing of a binary."""
    text = pathlib.Path(path).read_bytes()[:4096]
    return text if text.startswith(b"#!") and b"snap/bin" in text else b""


class Broken(Exception):
    """The browser did not answer, or answered with an error."""


class Chromium:
    """One browser process with a profile of its own below @folder."""

    def __init__(self, folder, *options):
        self.path, why = chromium_find()
        if not self.path:
            raise Broken(why)
        self.number, self.rest, self.pages = 0, b"", {}
        to_read, self.to = os.pipe()
        self.back, to_write = os.pipe()
        # The browser wants them as 3 and 4. The shell moves them there, by way
        # of numbers that are neither.
        argv = [self.path, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                "--no-first-run", "--disable-extensions", "--disable-background-networking",
                "--disable-component-update", "--disable-sync", "--mute-audio",
                "--hide-scrollbars", f"--user-data-dir={folder}/chromium", "--remote-debugging-pipe",
                *options, "about:blank"]
        move = f"exec 8<&{to_read} 9>&{to_write}; exec 3<&8 4>&9 8<&- 9>&-; exec \"$@\""
        self.log = open(f"{folder}/chromium.log", "wb")
        self.process = subprocess.Popen(
            ["bash", "-c", move, "bash", *argv], pass_fds=(to_read, to_write),
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log,
            env={**os.environ, "XDG_CONFIG_HOME": f"{folder}/config",
                 "XDG_CACHE_HOME": f"{folder}/cache"})
        os.close(to_read)
        os.close(to_write)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Ends the browser: by asking, else by force."""
        try:
            self.call("Browser.close")
            self.process.wait(30)
        except (Broken, OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self.to)
        os.close(self.back)
        self.log.close()

    def message(self, end):
        """The next message; it is bytes up to a NUL."""
        while b"\0" not in self.rest:
            if not select.select([self.back], [], [], max(0, end - time.monotonic()))[0]:
                raise Broken("Chromium does not answer")
            data = os.read(self.back, 1 << 20)
            if not data:
                raise Broken("Chromium has ended")
            self.rest += data
        one, self.rest = self.rest.split(b"\0", 1)
        return json.loads(one)

    def call(self, method, session=None, wait_s=WAIT_S, **params):
        """One command and its result; events on the way go to their pages."""
        self.number += 1
        asked = {"id": self.number, "method": method, "params": params}
        if session:
            asked["sessionId"] = session
        data = json.dumps(asked).encode() + b"\0"
        while data:
            data = data[os.write(self.to, data):]
        end = time.monotonic() + wait_s
        while True:
            got = self.message(end)
            if got.get("id") != self.number:
                self.event(got)
            elif "error" in got:
                raise Broken(f"{method}: {got['error']['message']}")
            else:
                return got["result"]

    def event(self, got):
        page = self.pages.get(got.get("sessionId"))
        if page:
            page.event(got["method"], got["params"])

    def page(self, **metrics):
        """A new tab."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = self.pages[session] = Page(self, target, session)
        for domain in ("Page", "Runtime", "Log", "Network", "DOM"):
            page.call(domain + ".enable")
        page.size(**metrics)
        return page


class Page:
    """A tab."""

    def __init__(self, browser, target, session):
        self.browser, self.target, self.session = browser, target, session
        self.errors, self.requests, self.loaded = [], [], False

    def call(self, method, **params):
        return self.browser.call(method, self.session, **params)

    def close(self):
        del self.browser.pages[self.session]
        self.browser.call("Target.closeTarget", targetId=self.target)

    def event(self, method, params):
        if method == "Runtime.exceptionThrown":
            self.errors.append(json.dumps(params["exceptionDetails"])[:500])
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning",
                                                                         "assert"):
            self.errors.append(json.dumps(params["args"])[:500])
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.errors.append(json.dumps(params["entry"])[:500])
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"][:500])
        elif method == "Page.loadEventFired":
            self.loaded = True

    def size(self, width=1280, height=800, scale=1):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=scale, mobile=False)

    def media(self, scheme="light", kind="screen"):
        self.call("Emulation.setEmulatedMedia", media=kind,
                  features=[{"name": "prefers-color-scheme", "value": scheme}])

    def open(self, path):
        """Loads a file, and returns when its scripts have run."""
        self.loaded = False
        self.call("Page.navigate", url=pathlib.Path(path).resolve().as_uri())
        end = time.monotonic() + WAIT_S
        while not self.loaded:
            self.browser.event(self.browser.message(end))

    def eval(self, expression):
        """The value of a JavaScript expression; a promise is waited for."""
        got = self.call("Runtime.evaluate", expression=expression, returnByValue=True,
                        awaitPromise=True)
        if "exceptionDetails" in got:
            raise Broken(f"{expression}: {json.dumps(got['exceptionDetails'])[:800]}")
        return got["result"].get("value")

    def key(self, key, code=None, modifiers=0):
        """A key as from a keyboard: Tab, Enter, ArrowLeft, or a character."""
        codes = {"Tab": 9, "Enter": 13, "Escape": 27, " ": 32, "End": 35, "Home": 36,
                 "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}
        more = {"text": "\r"} if key == "Enter" else {"text": key} if len(key) == 1 else {}
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=code or key,
                      windowsVirtualKeyCode=codes.get(key, ord(key[0].upper())),
                      modifiers=modifiers, **(more if kind == "keyDown" else {}))

    def type(self, text):
        """Text into what has the focus."""
        self.call("Input.insertText", text=text)

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def drag(self, x0, y0, x1, y1):
        self.mouse("mousePressed", x0, y0, button="left", buttons=1, clickCount=1)
        self.mouse("mouseMoved", (x0 + x1) / 2, (y0 + y1) / 2, button="left", buttons=1)
        self.mouse("mouseMoved", x1, y1, button="left", buttons=1)
        self.mouse("mouseReleased", x1, y1, button="left", clickCount=1)

    def screenshot(self, path, whole=False):
        got = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        pathlib.Path(path).write_bytes(base64.b64decode(got["data"]))

    def pdf(self, path):
        got = self.call("Page.printToPDF", printBackground=True)
        pathlib.Path(path).write_bytes(base64.b64decode(got["data"]))
