/* The report's page. Text of the child enters the page only as textContent,
 * and what is invisible or would turn its direction only as an escape. */
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const { meta, actors, acts, details, events } = data;
const count = events.t.length;
const ROW_PX = 24, CELL_CHARS = 2000, DETAIL_CHARS = 100000, PRINT_ROWS = 1000;
const $ = (id) => document.getElementById(id);

function el(name, props = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(props)) {
    if (key === "text") node.textContent = value;
    else if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else node.setAttribute(key, value);
  }
  node.append(...children);
  return node;
}

/* As wary's commands print it: controls, bidirectional and invisible format
 * characters are escaped, and a backslash doubled. */
const hidden = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\\]/gu;
const escapes = { "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r" };
function escaped(c) {
  const code = c.codePointAt(0);
  const byte = code < 256 ? code : code >= 0xdc80 && code <= 0xdcff ? code - 0xdc00 : -1; /* of no UTF-8 */
  return escapes[c] || (byte < 0 ? "\\u{" + code.toString(16) + "}" : "\\x" + byte.toString(16).padStart(2, "0"));
}
function show(text, most = CELL_CHARS) {
  const cut = text.length > most ? text.slice(0, most) : text;
  return cut.replace(hidden, escaped) + (cut === text ? "" : "…");
}

/* Text that is ready to be shown: a command is on record quoted, and its
 * backslashes are the quotes' own. */
class Ready {
  constructor(text) { this.text = text; }
}
const ready = (text, most) => (text instanceof Ready ? text.text : show(text, most));
const command = (text, most = CELL_CHARS) => show(text, most).replaceAll("\\\\", "\\");

/* A string is stored as the place of its folder and the rest. */
const raw = (place) => (data.prefixes[place] ? data.strings[data.prefixes[place] - 1] : "") + data.strings[place];

/* Columns as typed arrays; t comes as differences. */
const T = Float64Array.from(events.t), A = Uint32Array.from(events.a), C = Uint32Array.from(events.c);
const O = Uint32Array.from(events.o), D = Uint32Array.from(events.d);
for (let i = 1; i < count; i++) T[i] += T[i - 1];
const N = events.n ? Uint32Array.from(events.n) : new Uint32Array(count).fill(1);

const fmt = new Intl.NumberFormat("en-US");
/* acts: kind, class, syscall, answer, judge, rule_file, rule_line, rule_text */
const KIND = 0, CLASS = 1, SYSCALL = 2, ANSWER = 3, JUDGE = 4, FILE = 5, LINE = 6, TEXT = 7;
/* details: object2, cwd, argv, stack, sha256, reason */
const OBJECT2 = 0, CWD = 1, ARGV = 2, STACK = 3, SHA256 = 4, REASON = 5;
const act = (i) => acts[C[i]];
const actor = (i) => actors[A[i]];
const program = (i) => raw(actor(i)[2]);
const extra = (i, field) => raw(details[D[i]][field]);
const pid = (i) => (actor(i)[0] ? String(actor(i)[0]) : "");
const base = (path) => path.slice(path.lastIndexOf("/") + 1) || path || "?";
const ASKED = 1, REFUSED = 2;
const colours = Uint8Array.from(acts, (a) =>
  (a[KIND] === "question" || a[JUDGE] === "human" || a[ANSWER] === "ask" ? ASKED : a[ANSWER] !== "allow" ? REFUSED : 0));
const refusing = acts.map((a) => a[ANSWER] !== "allow");
const refused = (i) => refusing[C[i]];
const rules = acts.map((a) => (a[JUDGE] === "human" ? "a person" :
  a[FILE] ? base(raw(a[FILE])) + (a[LINE] ? ":" + a[LINE] : "") : a[JUDGE]));
const rule = (i) => rules[C[i]];

function wall(us) {
  let skew = 0;
  for (const [from, by] of meta.skews) if (from <= us) skew = by;
  return meta.opened_us + us + skew;
}
const dayFormat = new Intl.DateTimeFormat("sv-SE", { dateStyle: "short", timeStyle: "medium" });
const clockFormat = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" });
const part = (us, digits) => "." + String(Math.floor(us % 1e6)).padStart(6, "0").slice(0, digits);
const clock = (us) => clockFormat.format(wall(us) / 1000) + part(wall(us), 3);
const moment = (us) => dayFormat.format(wall(us) / 1000) + part(wall(us), 6);

function span(us) {
  if (us < 1e3) return Math.round(us) + " µs";
  if (us < 1e6) return (us / 1e3).toFixed(1) + " ms";
  if (us < 6e7) return (us / 1e6).toFixed(1) + " s";
  if (us < 36e8) return Math.floor(us / 6e7) + " m " + Math.floor((us % 6e7) / 1e6) + " s";
  return Math.floor(us / 36e8) + " h " + Math.floor((us % 36e8) / 6e7) + " m";
}

function outcome(i) {
  const r = events.r[i];
  if (r === null) return "unknown";
  if (act(i)[KIND] === "process") return "";
  return r >= 0 ? "" : r <= -4096 ? "failed" : data.errnos[-r] || String(r);
}

/* ---- the time line ---- */
const view = { from: 0, to: Math.max(meta.length_us, 1) };
const canvas = $("time");
const isWhole = () => view.from === 0 && view.to >= meta.length_us;
/* Rows that are counted together stand at the first of their part of the session. */
const partOf = (us) => (meta.parts ? Math.floor((us * meta.parts) / (meta.length_us + 1)) * (meta.length_us + 1) / meta.parts : us);
const inView = () => [firstAt(Math.floor(partOf(view.from))), isWhole() ? count : firstAt(view.to)];

function firstAt(us) {
  let low = 0, high = count;
  while (low < high) {
    const mid = (low + high) >> 1;
    if (T[mid] < us) low = mid + 1; else high = mid;
  }
  return low;
}

function bars(most) {
  const wide = view.to - view.from, fine = meta.bars ? (meta.length_us + 1) / meta.bars[0].length : 0;
  const number = Math.max(1, Math.min(most, fine ? Math.floor(wide / fine) : most));
  const lists = [new Float64Array(number), new Float64Array(number), new Float64Array(number)];
  const add = (list, us, n) => { list[Math.max(0, Math.min(number - 1, Math.floor(((us - view.from) / wide) * number)))] += n; };
  if (fine) {
    const from = Math.floor(view.from / fine), to = Math.ceil(view.to / fine);
    meta.bars.forEach((list, k) => { for (let b = from; b < to && b < list.length; b++) if (list[b]) add(lists[k], (b + 0.5) * fine, list[b]); });
  } else {
    const [first, last] = inView();
    for (let i = first; i < last; i++) add(lists[colours[C[i]]], T[i], N[i]);
  }
  let highest = 0;
  for (let b = 0; b < number; b++) highest = Math.max(highest, lists[0][b] + lists[1][b] + lists[2][b]);
  return { lists, highest, each: wide / number, step: number };
}

function draw() {
  const scale = devicePixelRatio || 1;
  const width = Math.max(canvas.clientWidth, 10), height = canvas.clientHeight || 130;
  canvas.width = width * scale;
  canvas.height = height * scale;
  const pen = canvas.getContext("2d");
  pen.scale(scale, scale);
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(name).trim();
  const { lists, highest, each, step } = bars(Math.floor(width / 3));
  const px = width / step;
  const tall = (n) => (n ? Math.max(2, (Math.log1p(n) / Math.log1p(highest)) * (height - 24)) : 0);
  ["--allow", "--ask", "--deny"].forEach((name, k) => {
    pen.fillStyle = colour(name);
    for (let b = 0; b < lists[0].length; b++) {
      /* The whole bar's height is by the sum; its parts by their share, but seen. */
      const sum = lists[0][b] + lists[1][b] + lists[2][b];
      if (!lists[k][b]) continue;
      const below = lists.slice(0, k).reduce((n, list) => n + list[b], 0);
      const from = (tall(sum) * below) / sum, to = (tall(sum) * (below + lists[k][b])) / sum;
      const least = Math.max(to - from, 3);
      pen.fillRect(b * px, height - 16 - Math.max(to, least), px * 0.8, least);
    }
  });
  pen.fillStyle = colour("--dim");
  pen.font = "11px system-ui, sans-serif";
  pen.fillText(clock(view.from), 4, height - 4);
  const end = clock(view.to);
  pen.fillText(end, width - pen.measureText(end).width - 4, height - 4);
  if (brush) {
    pen.fillStyle = colour("--mark");
    pen.globalAlpha = 0.25;
    pen.fillRect(Math.min(brush.x, brush.to), 0, Math.abs(brush.to - brush.x), height);
  }
  $("range").textContent = (isWhole() ? "The whole session" : `${span(view.to - view.from)} from ${clock(view.from)}`) +
    `. A bar is ${span(each)}, the highest ${fmt.format(highest)} (logarithmic). ` +
    (isWhole() ? "Drag to look closer." : "Double click or 0 for all.");
}

function look(from, to) {
  const all = Math.max(meta.length_us, 1);
  const wide = Math.min(Math.max(to - from, 10), all);
  view.from = Math.min(Math.max(from, 0), all - wide);
  view.to = view.from + wide;
  draw();
  stale();
}

const zoom = (factor, at = (view.from + view.to) / 2) =>
  look(at - (at - view.from) * factor, at + (view.to - at) * factor);
const whole = () => look(0, meta.length_us);
const timeOf = (x) => view.from + (Math.min(Math.max(x, 0), canvas.clientWidth) / canvas.clientWidth) * (view.to - view.from);
let brush = null;
canvas.addEventListener("pointerdown", (e) => {
  brush = { x: e.offsetX, to: e.offsetX };
  canvas.setPointerCapture(e.pointerId);
});
canvas.addEventListener("pointermove", (e) => { if (brush) { brush.to = e.offsetX; draw(); } });
canvas.addEventListener("pointercancel", () => { brush = null; draw(); });
canvas.addEventListener("pointerup", (e) => {
  const from = brush ? brush.x : e.offsetX;
  brush = null;
  if (Math.abs(e.offsetX - from) > 5) look(timeOf(Math.min(from, e.offsetX)), timeOf(Math.max(from, e.offsetX)));
  else draw();
});
canvas.addEventListener("dblclick", whole);
canvas.addEventListener("wheel", (e) => {
  if (!e.ctrlKey && !e.shiftKey) return; /* the page scrolls */
  e.preventDefault();
  zoom((e.deltaY || e.deltaX) > 0 ? 1.25 : 0.8, timeOf(e.offsetX));
}, { passive: false });
canvas.addEventListener("keydown", (e) => {
  const step = (view.to - view.from) / 8;
  const keys = { "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), 0: whole, Home: () => look(0, view.to - view.from),
    ArrowLeft: () => look(view.from - step, view.to - step), ArrowRight: () => look(view.from + step, view.to + step) };
  if (Object.hasOwn(keys, e.key)) { e.preventDefault(); keys[e.key](); }
});
$("in").addEventListener("click", () => zoom(0.5));
$("out").addEventListener("click", () => zoom(2));
$("whole").addEventListener("click", whole);
addEventListener("resize", draw);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);

/* ---- tables, of which only the rows in sight are in the page ---- */

/* @columns: [head, width, class, value(row)]; @of: { title, detail(row) } */
function grid(columns, of) {
  const cells = (name, make) => columns.map((c) => el(name, { class: c[2] || "", ...make(c) }));
  const body = el("tbody"), before = el("div"), after = el("div"), detail = el("dl", { hidden: "" });
  const rest = el("p", { class: "dim" });
  const sheet = el("table", { role: "grid", "aria-label": of.title },
    el("colgroup", {}, ...columns.map((c) => {
      const col = el("col", { class: c[2] || "" });
      col.style.width = c[1];
      return col;
    })),
    el("thead", {}, el("tr", {}, ...cells("th", (c) => ({ text: c[0], scope: "col" })))), body);
  const box = el("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": of.title }, before, sheet, after);
  let rows = [], at = -1, paper = false;

  function line(row, index) {
    const tr = el("tr", { "aria-rowindex": index + 2, "aria-selected": index === at, onclick: () => { at = index; told(); } });
    for (const [, , kind, value] of columns) {
      const [text, mark] = [].concat(value(row));
      tr.append(el("td", { class: (kind || "") + " " + (mark || ""), text: ready(text) }));
    }
    return tr;
  }
  function paint() {
    const first = paper ? 0 : Math.max(0, Math.floor(box.scrollTop / ROW_PX) - 10);
    const last = Math.min(rows.length, paper ? PRINT_ROWS : first + Math.ceil((box.clientHeight || 600) / ROW_PX) + 20);
    before.style.height = first * ROW_PX + "px";
    after.style.height = (paper ? 0 : rows.length - last) * ROW_PX + "px";
    body.replaceChildren(...rows.slice(first, last).map((row, n) => line(row, first + n)));
    rest.textContent = paper && last < rows.length ?
      `… and ${fmt.format(rows.length - last)} more: in the page itself, or by wary audit log ${meta.name}` : "";
  }
  function told() {
    detail.replaceChildren();
    detail.hidden = at < 0 || !of.detail;
    if (!detail.hidden)
      for (const [name, text, mark] of of.detail(rows[at]))
        if (text !== "") detail.append(el("dt", { text: name }), el("dd", { class: "mono " + (mark || ""), text: text instanceof Ready ? text.text : show(String(text), DETAIL_CHARS) }));
    paint();
  }
  function go(to) {
    if (!rows.length) return;
    at = Math.min(Math.max(to, 0), rows.length - 1);
    if (at * ROW_PX < box.scrollTop) box.scrollTop = at * ROW_PX;
    else if ((at + 2) * ROW_PX > box.scrollTop + box.clientHeight) box.scrollTop = (at + 2) * ROW_PX - box.clientHeight;
    told();
  }
  box.addEventListener("keydown", (e) => {
    const page = Math.max(1, Math.floor(box.clientHeight / ROW_PX) - 2);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + page, PageUp: at - page, Home: 0, End: rows.length - 1 };
    if (!Object.hasOwn(to, e.key)) return;
    e.preventDefault();
    go(to[e.key]);
  });
  box.addEventListener("scroll", () => requestAnimationFrame(paint));
  const node = el("div", {}, box, rest, detail);
  return {
    node,
    set(list) {
      rows = list;
      at = -1;
      sheet.setAttribute("aria-rowcount", rows.length + 1);
      box.scrollTop = 0;
      told();
    },
    print(on) { paper = on; paint(); },
    paint,
  };
}

/* What a file had that was truncated, replaced or removed. */
function sizeBefore(i) {
  const [bytes, links, times] = data.sizes[i] || [];
  if (!times) return "";
  return fmt.format(BigInt(bytes)) + " bytes" + (times > 1 ? ` in ${fmt.format(times)} of them` :
    links === "0" ? ", no name left" : links === "1" ? ", one name left" : `, ${fmt.format(BigInt(links))} names left`);
}

/* Of an event: everything that is known. */
function about(i) {
  const a = act(i), argv = extra(i, ARGV), reason = details[D[i]][REASON];
  const other = actor(i)[0] === 0;
  return [["time", moment(T[i]) + ` (${span(T[i])} after the start)`], ["times", N[i] > 1 ? fmt.format(N[i]) : ""],
    ["process", other ? "several" : actor(i)[0] + (actor(i)[1] ? `, started by ${actor(i)[1]}` : "")], ["program", program(i)],
    ["kind", a[KIND] === "decision" ? "" : a[KIND]], ["class", a[CLASS]], ["call", a[SYSCALL]],
    ["object", raw(O[i])], ["and", extra(i, OBJECT2)], ["arguments", argv && new Ready(command(argv, DETAIL_CHARS))], ["in", extra(i, CWD)],
    ["answer", a[ANSWER], a[ANSWER]], ["decided by", a[JUDGE]],
    ["rule", raw(a[FILE]) + (a[LINE] ? ":" + a[LINE] : "")], ["its text", raw(a[TEXT])],
    ["result", outcome(i) || (events.r[i] ? events.r[i] : "")], ["size before", sizeBefore(i)], ["reason", reason || ""],
    ["sha256", details[D[i]][SHA256]], ["stack", extra(i, STACK)]];
}

/* ---- views ---- */
const views = [];

/* @make(panel) builds what stays; the function that it returns is called for
 * the part of the session that is looked at, and returns the tab's number. */
function tab(name, make) {
  const id = "panel-" + views.length;
  const panel = el("section", { role: "tabpanel", id, "aria-labelledby": "tab-" + id, hidden: "" },
    el("h2", { class: "title", text: name }));
  const number = el("span");
  const button = el("button", { role: "tab", id: "tab-" + id, "aria-controls": id, type: "button",
    onclick: () => choose(views.findIndex((p) => p.panel === panel)) }, name, number);
  views.push({ panel, button, number, make, fill: null, grids: [], fresh: false });
  $("tabs").append(button);
  $("panels").append(panel);
}

function build(v) {
  if (v.fresh) return;
  v.fresh = true;
  if (!v.fill) v.fill = v.make(v.panel, v.grids);
  const n = v.fill();
  v.number.textContent = n === undefined ? "" : fmt.format(n);
}

function stale() {
  for (const v of views) v.fresh = false;
  for (const v of views) if (!v.panel.hidden) build(v);
}

function choose(index) {
  views.forEach((v, i) => {
    v.panel.hidden = i !== index;
    v.button.setAttribute("aria-selected", i === index);
    v.button.tabIndex = i === index ? 0 : -1;
  });
  build(views[index]);
  for (const g of views[index].grids) g.paint();
}
$("tabs").addEventListener("keydown", (e) => {
  const now = views.findIndex((v) => v.button === document.activeElement);
  const to = { ArrowRight: now + 1, ArrowLeft: now - 1, Home: 0, End: views.length - 1 };
  if (!Object.hasOwn(to, e.key)) return;
  e.preventDefault();
  const next = (to[e.key] + views.length) % views.length;
  choose(next);
  views[next].button.focus();
});
function print(on) {
  document.documentElement.classList.toggle("paper", on);
  for (const v of views) {
    build(v);
    for (const g of v.grids) g.print(on);
  }
  draw();
}
addEventListener("beforeprint", () => print(true));
addEventListener("afterprint", () => print(false));

/* A view that is one table of what @rows finds; @empty is said without any. */
function tableTab(name, columns, rows, { empty, detail = about, before = () => "" }) {
  tab(name, (panel, grids) => {
    const g = grid(columns, { title: name, detail });
    const said = el("p", { class: "dim" });
    grids.push(g);
    panel.append(said, g.node);
    return () => {
      const [first, last] = inView();
      const list = rows(first, last);
      said.textContent = list.length ? before(list) : empty + (isWhole() ? "" : " in this part of the session") + ".";
      said.hidden = !said.textContent;
      g.node.hidden = !list.length;
      g.set(list);
      return list.length;
    };
  });
}

const eventsOf = (test) => (first, last) => {
  const wanted = acts.map(test), list = [];
  for (let i = first; i < last; i++) if (wanted[C[i]]) list.push(i);
  return list;
};
const TIME = ["TIME", "7.4rem", "wide", (i) => clock(T[i])], PID = ["PID", "4.6rem", "wide", pid];
const PROGRAM = ["PROGRAM", "7.5rem", "wide", (i) => base(program(i))];
const KINDS = ["CLASS", "5rem", "", (i) => act(i)[CLASS]];
const ANSWERS = ["ANSWER", "5.2rem", "", (i) => [act(i)[ANSWER], act(i)[ANSWER]]];
const RESULT = ["RESULT", "6.5rem", "wide", outcome], RULE = ["RULE", "9.5rem", "wide", rule];
const TIMES = events.n ? [["TIMES", "5rem", "number", (i) => fmt.format(N[i])]] : [];

function what(i) {
  const d = details[D[i]];
  return new Ready(show(raw(O[i])) + (d[OBJECT2] ? " → " + show(raw(d[OBJECT2])) : "") + (d[ARGV] ? "  " + command(raw(d[ARGV])) : ""));
}

tab("Decisions", (panel, grids) => {
  const words = (values) => [...new Set(values)].filter(Boolean).sort();
  const pick = (label, values) => el("select", { "aria-label": label },
    el("option", { value: "", text: label }), ...values.map((v) => el("option", { value: v, text: show(v, 200) })));
  const search = el("input", { type: "search", placeholder: "find in objects, programs and rules", "aria-label": "Find" });
  const byClass = pick("every class", words(acts.map((a) => a[CLASS])));
  const byAnswer = pick("every answer", words(acts.map((a) => a[ANSWER])));
  const byProgram = pick("every program", words(actors.map((a) => raw(a[2]))).slice(0, 2000));
  const total = el("span", { class: "dim", "aria-live": "polite" });
  const g = grid([TIME, PID, PROGRAM, KINDS, ANSWERS, ["OBJECT", "auto", "mono", what], RESULT, RULE, ...TIMES],
    { title: "Decisions", detail: about });
  grids.push(g);

  function fill() {
    const needle = search.value.toLowerCase(), [first, last] = inView(), list = [];
    const found = new Map();
    const has = (place) => {
      if (!found.has(place)) found.set(place, raw(place).toLowerCase().includes(needle));
      return found.get(place);
    };
    const inAct = acts.map((a, k) => (!byClass.value || a[CLASS] === byClass.value) && (!byAnswer.value || a[ANSWER] === byAnswer.value) &&
      (!needle || rules[k].toLowerCase().includes(needle) || has(a[TEXT]) ? 2 : 1));
    const inActor = actors.map((a) => (byProgram.value && raw(a[2]) !== byProgram.value ? 0 : !needle || has(a[2]) ? 2 : 1));
    for (let i = first; i < last; i++) {
      const byAct = inAct[C[i]], byActor = inActor[A[i]];
      if (byAct && byActor && (byAct + byActor > 2 || has(O[i]) || has(details[D[i]][OBJECT2]) || has(details[D[i]][ARGV]))) list.push(i);
    }
    const shown = list.reduce((n, i) => n + N[i], 0);
    total.textContent = fmt.format(shown) + (shown === 1 ? " event" : " events") + (events.n ? ` in ${fmt.format(list.length)} rows` : "");
    g.set(list);
  }
  let timer = 0;
  search.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(fill, 120); });
  for (const s of [byClass, byAnswer, byProgram]) s.addEventListener("change", fill);
  panel.append(el("div", { class: "filters" }, search, byClass, byAnswer, byProgram, total), g.node);
  return fill;
});

tableTab("Refusals", [TIME, ["PROGRAM", "9rem", "wide", (g) => base(program(g.i))], ["CLASS", "5rem", "", (g) => act(g.i)[CLASS]],
  ["OBJECT", "auto", "mono", (g) => raw(O[g.i])], ["TIMES", "4.5rem", "number", (g) => fmt.format(g.n)],
  ["RULE", "9.5rem", "wide", (g) => rule(g.i)], ["ITS TEXT", "30%", "mono wide", (g) => raw(act(g.i)[TEXT])]]
  .map((c) => (c === TIME ? ["FIRST", c[1], c[2], (g) => clock(T[g.i])] : c)), (first, last) => {
  const groups = new Map();
  for (let i = first; i < last; i++) {
    if (!refused(i) || act(i)[KIND] !== "decision") continue;
    const key = [actor(i)[2], C[i], O[i]].join();
    const g = groups.get(key);
    if (g) g.n += N[i]; else groups.set(key, { i, n: N[i] });
  }
  return [...groups.values()];
}, { empty: "Nothing was refused", detail: (g) => about(g.i) });

/* Processes: each below who started it; the whole session, whatever is looked at. */
function processes() {
  const nodes = [], living = new Map(), counts = new Map();
  for (const [number, , , n, no] of actors) {
    const c = counts.get(number) || { n: 0, no: 0 };
    counts.set(number, { n: c.n + n, no: c.no + no });
  }
  const add = (number, parent, i) => {
    const node = { i, pid: number, programs: [], kids: [], ended: -1, end: "", ...counts.get(number), again: false };
    node.parent = living.get(parent) || null;
    living.set(number, node);
    nodes.push(node);
    return node;
  };
  for (let i = 0; i < count; i++) {
    const [number, parent] = actor(i);
    if (act(i)[KIND] !== "process") continue;
    const said = extra(i, OBJECT2);
    let node = living.get(number);
    if (said === "started" || said === "forked") {
      if (!node || node.ended >= 0) node = add(number, parent, i);
      if (said === "started") node.programs.push(details[D[i]][ARGV] ? command(extra(i, ARGV)) : show(raw(O[i])));
    } else if (node && node.ended < 0) {
      node.ended = T[i];
      node.end = said === "exited" ? "exit " + events.r[i] : said === "ended" ? "ended" : said.replace("killed by ", "");
    }
  }
  /* A record made before processes were in it has their decisions alone. */
  for (let i = 0; i < count; i++)
    if (actor(i)[0] && !living.has(actor(i)[0])) add(actor(i)[0], actor(i)[1], i).programs.push(show(program(i)));
  const tops = [];
  for (const node of nodes) (node.parent && node.parent !== node ? node.parent.kids : tops).push(node);
  const list = [], stack = tops.reverse().map((node) => [node, 0]);
  while (stack.length) {
    const [node, depth] = stack.pop();
    list.push(Object.assign(node, { depth }));
    for (let k = node.kids.length; k-- > 0;) stack.push([node.kids[k], depth + 1]);
  }
  return list;
}
tableTab("Processes", [["PID", "4.6rem", "", (p) => String(p.pid)],
  ["COMMAND", "auto", "mono", (p) => new Ready("  ".repeat(Math.min(p.depth, 20)) + (p.programs.join(" ⇒ ") || "(forked)"))],
  ["END", "6rem", "wide", (p) => [p.end || "?", p.end === "exit 0" ? "dim" : p.end ? "deny" : "dim"]],
  ["TIME", "5.5rem", "number wide", (p) => (p.ended < 0 ? "" : span(p.ended - T[p.i]))],
  ["DECISIONS", "6rem", "number wide", (p) => fmt.format(p.n)], ["REFUSED", "5.5rem", "number", (p) => [p.no ? fmt.format(p.no) : "", "deny"]]],
  processes, { empty: "No process is on record",
    detail: (p) => [["process", `${p.pid}, started by ${p.parent ? p.parent.pid : actor(p.i)[1]}`], ["began", moment(T[p.i])],
      ...p.programs.map((text) => ["ran", new Ready(text)]), ["in", extra(p.i, CWD)], ["ended", p.ended < 0 ? "" : `${moment(p.ended)}, ${p.end}`],
      ["decisions", fmt.format(p.n)], ["refused", p.no ? fmt.format(p.no) : "", "deny"]] });

const FILE_CLASSES = ["read", "write", "create", "delete", "attr", "link", "stat"];
tableTab("Files", [["NAME", "auto", "mono", (f) => raw(f.o)], ...FILE_CLASSES.map((c, k) =>
  [c.toUpperCase(), "4.7rem", "number" + (k && k < 4 ? "" : " wide"), (f) => (f.n[k] ? fmt.format(f.n[k]) : "")])], (first, last) => {
  const files = new Map(), kinds = acts.map((a) => (a[KIND] === "decision" ? FILE_CLASSES.indexOf(a[CLASS]) : -1));
  for (let i = first; i < last; i++) {
    const c = kinds[C[i]];
    if (c < 0 || refused(i)) continue;
    let f = files.get(O[i]);
    if (!f) files.set(O[i], (f = { o: O[i], n: new Uint32Array(FILE_CLASSES.length), changed: 0 }));
    f.n[c] += N[i];
    f.changed += c > 0 && c < 6 ? N[i] : 0;
  }
  const names = new Map([...files.keys()].map((o) => [o, raw(o)]));
  return [...files.values()].sort((a, b) => b.changed - a.changed || (names.get(a.o) < names.get(b.o) ? -1 : 1));
}, { empty: "No file was opened or changed", before: () => "Those that changed most come first.",
  detail: (f) => [["name", raw(f.o)], ...FILE_CLASSES.map((c, k) => [c, f.n[k] ? fmt.format(f.n[k]) : ""])] });

tableTab("Network", [TIME, PID, PROGRAM, KINDS, ["ADDRESS", "auto", "mono", what], ANSWERS, RESULT, RULE, ...TIMES],
  eventsOf((a) => ["connect", "bind", "resolve"].includes(a[CLASS])), { empty: "Nothing was connected to" });

const STATES = ["asked for", "asked for", "installed", "link", "stray", "removed"];
tableTab("Packages", [TIME, PROGRAM, ["PACKAGE", "auto", "mono", (i) => raw(O[i])],
  ["VERSION", "7rem", "", (i) => extra(i, OBJECT2)], ["STATE", "6rem", "", (i) => STATES[details[D[i]][REASON]] || ""],
  ["SHA256", "9rem", "mono wide", (i) => details[D[i]][SHA256]], ANSWERS, RULE],
  eventsOf((a) => a[KIND] === "package" || a[CLASS] === "install"), { empty: "No package was installed" });

tableTab("Questions and secrets", [TIME, PROGRAM, ["KIND", "6rem", "", (i) => act(i)[KIND]], KINDS, ["OBJECT", "auto", "mono", (i) => raw(O[i])],
  ANSWERS, ["BY", "9rem", "", (i) => extra(i, OBJECT2)], RULE],
  eventsOf((a) => a[KIND] === "question" || a[KIND] === "grant"), { empty: "Nothing was asked, no secret was given" });

tab("Policy", (panel) => {
  for (const p of data.policies)
    panel.append(el("h2", { text: show(p.name) }), el("div", { class: "dim mono wrap", text: show(p.path) + "  sha256 " + p.sha256 }),
      el("pre", { text: p.text.replace(/[^\n\t]+/g, (line) => command(line, DETAIL_CHARS)) }));
  return () => data.policies.length;
});

/* ---- head ---- */
document.title = "wary " + meta.name + ": " + command(meta.command, 200);
$("command").textContent = command(meta.command);
$("where").textContent = show(`in ${meta.cwd} by ${meta.user}@${meta.host}, `) +
  `${moment(0).slice(0, 19)}, ${span(meta.length_us)}, ${meta.ended}` + (meta.together ? ` (${meta.together})` : "");
$("verified").textContent = meta.verified;
$("verified").className = meta.intact ? "allow" : "bad";
for (const [label, value, mark] of [
  ["decisions", meta.decisions], ["refused", meta.refused, meta.refused ? "deny" : ""],
  ["asked", meta.asked, meta.asked ? "ask" : ""], ["secrets given", meta.grants],
  ["dropped", meta.dropped, meta.dropped ? "deny" : ""], ["processes", new Set(actors.map((a) => a[0]).filter(Boolean)).size],
]) {
  $("cards").append(el("div", { class: "card" }, el("b", { text: fmt.format(value), class: mark || "" }),
    el("span", { class: "dim", text: label })));
}
choose(0);
draw();
