#!/usr/bin/env python3
# wary-test: timeout=900
"""The page of wary audit report in a real browser: what it shows of a session
with hostile names, time line, filters, keyboard, themes, paper; and that a
million decisions open and answer. Counts are asserted, never times."""
import json
import re
import subprocess
import sys

from chromium import Chromium, chromium_find
from wary_test import TMP, audit, caller, finish, has, note, ok, same, skip, wary

SECRET = TMP / "secret.txt"
RULES = f"""default allow
deny read {SECRET}
ask connect *:*
"""
# Names that would be markup, script, or turn and hide what is beside them.
NAMES = ["<img src=x onerror=window.pwned=1>", "</script><script>window.pwned=2<\u2215script>", "<!--", "-->",
         '"onmouseover="window.pwned=3', "javascript:window.pwned=4", "&lt;b&gt;&amp;", "${window.pwned=5}",
         "@DATA@", "@SCRIPT@", "__proto__", "constructor", "a\u202egpj.exe", "\u2066x\u2069", "\u200bzero", "\ufeffbom",
         "line\u2028end\u2029", "new\nline", "tab\tx", "\x1b[31mred", "\x7f\x01", "back\\slash", "b" * 250, "漢字" * 30,
         "\udcff\udcfe<b>\udcc3"]
SHOWN = ["<img src=x onerror=window.pwned=1>", "<!--", "&lt;b&gt;&amp;", "a\\u{202e}gpj.exe", "\\u{2066}x\\u{2069}",
         "\\u{200b}zero", "\\u{feff}bom", "line\\u{2028}end\\u{2029}", "new\\nline", "tab\\tx", "\\x1b[31mred",
         "\\x7f\\x01", "back\\\\slash", "b" * 250, "漢字" * 30, "\\xff\\xfe<b>\\xc3", "__proto__"]
CHILD = """
import os, socket, subprocess, sys
folder, secret = sys.argv[1:3]
os.mkdir(folder)
for name in sys.stdin.buffer.read().split(b"\\0"):
    open(os.path.join(os.fsencode(folder), name.replace(b"/", b"-")), "wb").close()
with open(os.path.join(folder, "gone"), "w") as f:
    f.write("x" * 12345)
os.unlink(os.path.join(folder, "gone"))
for _ in range(3):
    try:
        open(secret)
    except OSError:
        pass
with socket.socket() as s:
    s.connect_ex(("10.1.2.3", 443))
subprocess.run(["/bin/sh", "-c", "exit 3", "<b>argument</b>"])
subprocess.run(["/bin/echo", "x" * 5000], stdout=subprocess.DEVNULL)
"""
TABS = ["Decisions", "Refusals", "Processes", "Files", "Network", "Packages", "Questions and secrets", "Policy"]
# The text of the panel that is shown, and of its table's rows.
PANEL = "document.querySelector('[role=tabpanel]:not([hidden])')"
ROWS = f"[...{PANEL}.querySelectorAll('tbody tr')].map(r => [...r.cells].map(c => c.textContent))"
TOTAL = "document.querySelector('#panel-0 .filters .dim').textContent"
RANGE = "document.getElementById('range').textContent"


def session():
    SECRET.write_text("secret")
    script = TMP / "child.py"
    script.write_text(CHILD)
    names = b"\0".join(n.replace("/", "-").encode(errors="surrogateescape") for n in NAMES)
    with open(TMP / "names", "wb") as f:
        f.write(names)
    with open(TMP / "names", "rb") as f:
        done = wary(sys.executable, script, TMP / "h", SECRET, "<script>window.pwned=6</script>\u202e", rules=RULES,
                    stdin=f)
    same(done.returncode, 0, f"the session ran {done.stderr[-300:]}")
    return re.search(r"wary audit show (\w+)", done.stderr).group(1)


def report(name, *db):
    path = TMP / f"{name}.html"
    done = audit("report", *db, name, "-o", str(path), timeout=600)
    same(done.returncode, 0, f"the page of {name} is written {done.stderr}")
    return path


def number(text):
    return int(re.match(r"[\d,]+", text).group().replace(",", ""))


def click(page, selector):
    """With the mouse, in the middle of an element."""
    x, y = page.eval(f"""(() => {{ const e = {selector}; e.scrollIntoView({{block: "center"}});
        const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; }})()""")
    for kind in ("mousePressed", "mouseReleased"):
        page.mouse(kind, x, y, button="left", clickCount=1)


def choose(page, index):
    click(page, f"document.querySelectorAll('[role=tab]')[{index}]")
    same(page.eval(f"{PANEL}.id"), f"panel-{index}", f"the tab {TABS[index]} shows its panel")


def quiet(page, path, what):
    same(page.errors, [], f"{what}: nothing is complained of")
    same(page.requests, [path.resolve().as_uri()], f"{what}: nothing but the file is asked for")
    same(page.eval("typeof window.pwned"), "undefined", f"{what}: nothing of the child's ran")


def test_text(page):
    """What the child chose is text, and seen as what it is."""
    same(page.eval("[...document.querySelectorAll('[role=tab]')].map(t => t.firstChild.data)"), TABS, "the views")
    has(page.eval("document.getElementById('command').textContent"), "$'<script>window.pwned=6</script>\\xe2\\x80\\xae'",
        "the command is shown as text")
    has(page.eval("document.getElementById('verified').textContent"), "intact", "that it verifies is said")
    seen = []
    for index in range(len(TABS)):
        choose(page, index)
        seen.append(page.eval(f"{PANEL}.textContent"))
    page.eval("document.querySelector('#panel-3 .scroll').scrollTop = 0")
    choose(page, 3)
    files = set()
    for _ in range(200):
        rows = page.eval(ROWS)
        files.update(row[0] for row in rows)
        more = page.eval("""(() => { const b = document.querySelector('#panel-3 .scroll'), was = b.scrollTop;
            b.scrollTop += b.clientHeight; return b.scrollTop > was; })()""")
        page.eval("new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)))")
        if not more:
            break
    for name in SHOWN:
        ok(any(f.endswith("/h/" + name) for f in files), f"a file is shown as {name[:40]!r}")
    odd = page.eval("[...document.body.children].filter(e => e.localName !== 'script').map(e => e.textContent).join('').match(/[\\p{Cf}\\p{Zl}\\p{Zp}\\p{Cs}\\x00-\\x08\\x0e-\\x1f\\x7f]/gu)")
    same([c for c in odd or [] if c], [], "no invisible or turning character is on the page")
    tags = set(page.eval("[...document.body.querySelectorAll('*')].map(e => e.localName)"))
    want = {"header", "h1", "h2", "div", "span", "b", "canvas", "button", "main", "section", "p", "input", "select",
            "option", "table", "colgroup", "col", "thead", "tbody", "tr", "th", "td", "dl", "pre", "noscript", "script"}
    same(tags - want - {"dt", "dd"}, set(), "no element but the page's own")
    same(page.eval("document.scripts.length"), 2, "two scripts: the data and the page's")
    same(page.eval("""[...document.querySelectorAll('*')].flatMap(e => e.getAttributeNames())
        .filter(n => n.startsWith('on') || n === 'href' || n === 'src')"""), [], "no handler and no address")
    return seen


def test_views(page, seen):
    has(seen[1], str(SECRET), "refusals: the file")
    has(seen[1], f"deny read {SECRET}", "refusals: the rule's text")
    has(seen[2], "/bin/sh -c 'exit 3' '<b>argument</b>'", "processes: arguments")
    has(seen[2], "exit 3", "processes: how one ended")
    has(seen[4], "10.1.2.3:443", "network: where to")
    has(seen[5], "No package was installed.", "packages: none")
    has(seen[6], "10.1.2.3:443", "questions: of what")
    has(seen[7], f"deny read {SECRET}", "policy: its text")
    same(page.eval("Object.keys(data.sizes).map(i => Object.fromEntries(about(Number(i))))"
                   ".map(d => [d.class, d['size before']])"), [["delete", "12,345 bytes, no name left"]],
         "what was taken away is in its row's details")
    choose(page, 1)
    row = [r for r in page.eval(ROWS) if str(SECRET) in r][0]
    same(row[4], "3", "three equal refusals are counted together")
    click(page, f"[...{PANEL}.querySelectorAll('tbody tr')].find(r => r.textContent.includes('secret.txt'))")
    pairs = page.eval(f"[...{PANEL}.querySelectorAll('dt')].map(t => [t.textContent, t.nextSibling.textContent])")
    pairs = dict(pairs)
    same(pairs.get("its text"), f"deny read {SECRET}", "a row that is clicked shows its rule")
    same(pairs.get("result"), "EACCES", "and its result")
    ok(re.fullmatch(r"test\.wary:3|.*/test\.wary:3", pairs.get("rule", "")), f"and where the rule is {pairs}")


def count(page, what, fewer_than=None, equal=None):
    page.eval("new Promise(r => setTimeout(r, 300))")  # the search waits for the typing to end
    n = number(page.eval(TOTAL))
    if equal is not None:
        same(n, equal, what)
    else:
        ok(0 < n < fewer_than, f"{what}: {n} of {fewer_than}")
    return n


def test_filters(page, total):
    choose(page, 0)
    same(number(page.eval(TOTAL)), total, "at first all events are shown")
    page.eval("document.querySelector('#panel-0 input').focus()")
    page.type("SECRET.txt")
    n = count(page, "search finds the file, whatever the case", fewer_than=total)
    ok(all("secret.txt" in " ".join(r) for r in page.eval(ROWS)), "and only rows with it")
    page.eval("document.querySelector('#panel-0 input').select()")
    page.type("deny read")
    same(count(page, "search finds rules' texts", fewer_than=total), 3, "three by that rule")
    page.eval("document.querySelector('#panel-0 input').select()")
    page.type("<img src=x")
    ok(count(page, "search finds markup", fewer_than=n + total), "as text")
    page.eval("(i => { i.value = ''; i.dispatchEvent(new Event('input')); })(document.querySelector('#panel-0 input'))")
    count(page, "without a search all are shown", equal=total)
    for label, value, column in (("every class", "connect", 3), ("every answer", "deny", 4)):
        pick = f"document.querySelector('#panel-0 select[aria-label=\"{label}\"]')"
        page.eval(f"(s => {{ s.value = '{value}'; s.dispatchEvent(new Event('change')); }})({pick})")
        count(page, f"filter {label}", fewer_than=total)
        same({r[column] for r in page.eval(ROWS)}, {value}, f"only {value} is left")
        page.eval(f"(s => {{ s.value = ''; s.dispatchEvent(new Event('change')); }})({pick})")
    count(page, "without filters all are shown", equal=total)


def test_time(page, total):
    """The time line by mouse and by keys; the views follow it."""
    box = page.eval("(r => [r.x, r.y, r.width, r.height])(document.getElementById('time').getBoundingClientRect())")
    page.eval("scrollTo(0, 0)")
    box = page.eval("(r => [r.x, r.y, r.width, r.height])(document.getElementById('time').getBoundingClientRect())")
    y = box[1] + box[3] / 2
    has(page.eval(RANGE), "The whole session", "at first the whole session")
    page.drag(box[0] + box[2] / 2, y, box[0] + box[2] + 5, y)
    late = count(page, "dragged over the second half", fewer_than=total)
    ok("The whole session" not in page.eval(RANGE), "the range is said")
    for kind, n in (("mousePressed", 1), ("mouseReleased", 1), ("mousePressed", 2), ("mouseReleased", 2)):
        page.mouse(kind, box[0] + 20, y, button="left", clickCount=n)
    count(page, "a double click shows all again", equal=total)
    page.drag(box[0], y, box[0] + box[2] / 2, y)
    early = count(page, "dragged over the first half", fewer_than=total)
    ok(abs(early + late - total) <= total / 10, f"the halves make the whole: {early} + {late}, {total}")
    page.eval("document.getElementById('time').focus()")
    page.key("0")
    count(page, "the key 0 shows all", equal=total)
    page.key("+")
    page.key("+")
    has(page.eval(RANGE), " from ", "plus looks closer")
    before = page.eval(RANGE)
    page.key("ArrowLeft")
    ok(page.eval(RANGE) != before, "an arrow moves")
    page.key("-")
    page.key("-")
    page.key("-")
    count(page, "minus looks from further away", equal=total)
    for name in ("in", "whole"):
        click(page, f"document.getElementById('{name}')")
    count(page, "the buttons do the same", equal=total)


def test_keys(page):
    """Everything by keyboard, from the top."""
    page.eval("document.activeElement.blur(); scrollTo(0, 0)")
    met = []
    for _ in range(14):
        page.key("Tab")
        met.append(page.eval("(e => e.id || e.getAttribute('aria-label') || e.localName)(document.activeElement)"))
    for name in ("time", "in", "tab-panel-0", "Find", "every class", "Decisions"):
        ok(name in met, f"Tab comes to {name}: {met}")
    page.eval("document.querySelector('#tab-panel-0').focus()")
    page.key("ArrowRight")
    same(page.eval(f"{PANEL}.id"), "panel-1", "an arrow chooses the next view")
    page.key("End")
    same(page.eval("document.activeElement.id"), "tab-panel-7", "End the last")
    page.key("ArrowRight")
    same(page.eval(f"{PANEL}.id"), "panel-0", "and after it the first")
    page.eval("document.querySelector('#panel-0 .scroll').focus()")
    for _ in range(3):
        page.key("ArrowDown")
    picked = "[...document.querySelectorAll('#panel-0 tr[aria-selected=true]')].map(r => r.ariaRowIndex)"
    same(page.eval(picked), ["4"], "arrows pick a row")
    has(page.eval("document.querySelector('#panel-0 dl').textContent"), "program", "whose details are shown")
    page.key("End")
    page.eval("new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)))")
    same(page.eval(picked), [page.eval("document.querySelector('#panel-0 table').ariaRowCount")], "End picks the last")
    same(page.eval("""(() => { const row = document.querySelector('#panel-0 tr[aria-selected=true]').getBoundingClientRect(),
        box = document.querySelector('#panel-0 .scroll').getBoundingClientRect();
        return row.top >= box.top && row.bottom <= box.bottom + 1; })()"""), True, "and it is in sight")


def luminance(colour):
    """Of WCAG 2, section 1.4.3."""
    parts = [int(v) / 255 for v in re.findall(r"\d+", colour)[:3]]
    parts = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in parts]
    return sum(a * b for a, b in zip(parts, (0.2126, 0.7152, 0.0722)))


def test_themes(page):
    grounds = []
    for scheme in ("light", "dark"):
        page.media(scheme, "")
        for width in (1280, 390):
            page.size(width, 900)
            for index in range(len(TABS)):
                page.eval(f"document.querySelectorAll('[role=tab]')[{index}].click()")
                wide = page.eval("document.documentElement.scrollWidth")
                ok(wide <= width, f"{scheme}, {width}: {TABS[index]} fits ({wide})")
        probe = """(() => { const p = document.createElement('span'); document.body.append(p); const out = {};
            for (const n of ['bg', 'fg', 'dim', 'allow', 'ask', 'deny']) {
              p.style.color = `var(--${n})`; out[n] = getComputedStyle(p).color; }
            p.remove(); return out; })()"""
        colours = page.eval(probe)
        ground = luminance(colours.pop("bg"))
        grounds.append(ground)
        for name, colour in colours.items():
            high, low = sorted((luminance(colour), ground), reverse=True)
            ok((high + 0.05) / (low + 0.05) >= 4.5, f"{scheme}: {name} can be read on the ground")
    ok(grounds[0] > 0.9 and grounds[1] < 0.1, "light is light and dark is dark")
    page.size(1280, 900)


def test_paper(page):
    """Print: every view, black on white, without what one clicks."""
    page.media("dark", "print")
    page.eval("dispatchEvent(new Event('beforeprint'))")
    same(page.eval("[...document.querySelectorAll('[role=tabpanel]')].map(p => getComputedStyle(p).display)"),
         ["block"] * len(TABS), "every view is on paper")
    same(page.eval("[getComputedStyle(document.getElementById('tabs')).display, getComputedStyle(document.body).backgroundColor]"),
         ["none", "rgb(255, 255, 255)"], "on white, without tabs")
    has(page.eval("document.querySelector('#panel-0 .scroll').nextSibling.textContent") or "… and", "… and",
        "what is left out is said")
    page.eval("dispatchEvent(new Event('afterprint'))")
    page.media("light", "")
    page.pdf(TMP / "page.pdf")
    same((TMP / "page.pdf").read_bytes()[:5], b"%PDF-", "and it prints")
    same(page.eval("document.documentElement.className"), "", "after which it is as before")


def test_locked(page):
    """Markup that came in all the same would be refused by the page itself."""
    said = page.eval("""(() => { try { document.body.insertAdjacentHTML("beforeend", "<img src=x onerror='window.pwned=7'>");
        return "taken"; } catch (e) { return e.name; } })()""")
    same(said, "TypeError", "text is not taken for markup")
    policy = page.eval("document.querySelector('meta[http-equiv]').content")
    has(policy, "script-src 'sha256-", "only the page's own script may run")
    has(policy, "default-src 'none'", "and nothing is loaded")


def test_million(browser):
    db = TMP / "million.db"
    made = subprocess.run([caller("lib/audit_session"), str(db), "1000000"], capture_output=True, text=True,
                          timeout=600, check=False)
    same(made.returncode, 0, f"a session of a million decisions {made.stderr}")
    path = report(made.stdout.strip(), "--db", str(db))
    page = browser.page()
    page.open(path)
    total = 1_000_000
    same(number(page.eval(TOTAL)), total, "a million are on the page")
    rows = page.eval("T.length")
    ok(0 < rows <= 130_000, f"counted together in {rows} rows")
    has(page.eval("document.getElementById('where').textContent"), "counted together", "which is said")
    same(page.eval("[...document.querySelectorAll('.card b')].map(b => b.textContent)"),
         ["1,000,000", "1,000", "0", "0", "0", "6,667"], "the cards")
    same(page.eval("meta.bars.map(list => list.reduce((a, b) => a + b))"), [999_000, 0, 1000], "the time line has them all")
    for index in range(len(TABS)):
        choose(page, index)
        ok(page.eval("document.querySelectorAll('*').length") < 6000, f"{TABS[index]}: only what is in sight is made")
    choose(page, 2)
    same(number(page.eval("document.querySelector('#tab-panel-2 span').textContent")), 6667, "all processes")
    choose(page, 1)
    same(page.eval(f"{ROWS}.reduce((n, r) => n + Number(r[4].replaceAll(',', '')), 0)"), 1000, "all refusals")
    choose(page, 0)
    page.eval("document.querySelector('#panel-0 input').focus()")
    page.type("id_ed25519")
    count(page, "search finds the refused file's events", equal=1000)
    page.eval("(i => { i.value = ''; i.dispatchEvent(new Event('input')); })(document.querySelector('#panel-0 input'))")
    page.eval("document.getElementById('time').focus()")
    page.key("+")
    count(page, "looking closer leaves fewer", fewer_than=total)
    page.key("0")
    count(page, "and all come back", equal=total)
    quiet(page, path, "a million")


def main():
    browser_path, why = chromium_find()
    if not browser_path:
        skip(why)
    name = session()
    path = report(name)
    total = int(json.loads(audit("sql", "--json", f"SELECT count(*) AS n FROM events WHERE session = '{name}'")
                           .stdout.splitlines()[0])["n"])
    note(f"{browser_path}, {total} events")
    with Chromium(TMP) as browser:
        page = browser.page()
        page.open(path)
        seen = test_text(page)
        test_views(page, seen)
        test_filters(page, total)
        test_time(page, total)
        test_keys(page)
        test_themes(page)
        test_paper(page)
        quiet(page, path, "hostile names")
        test_locked(page)
        page.close()
        test_million(browser)
    finish()


main()
