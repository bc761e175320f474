/* The report's page. Text of the child enters the page only as textContent. */
const data = JSON.parse(document.getElementById("data").textContent);
const { meta, strings, actors, acts, details, events } = data;
const count = events.t.length;
const ROW_PX = 24;
const $ = (id) => document.getElementById(id);

function el(name, props = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(props)) {
    if (key === "text") node.textContent = value;
    else if (key === "class") node.className = value;
    else if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else node.setAttribute(key, value);
  }
  node.append(...children);
  return node;
}

const fmt = new Intl.NumberFormat("en-US");
const times = (i) => (events.n ? events.n[i] : 1);
const act = (i) => acts[events.c[i]];
const actor = (i) => actors[events.a[i]];
const object = (i) => strings[events.o[i]];
const detail = (i) => (events.d[i] ? details[events.d[i]] : null);
const program = (i) => strings[actor(i)[2]];
const base = (path) => path.slice(path.lastIndexOf("/") + 1) || path || "?";
/* acts: kind, class, syscall, answer, judge, rule_file, rule_line, rule_text */
const KIND = 0, CLASS = 1, SYSCALL = 2, ANSWER = 3, JUDGE = 4, FILE = 5, LINE = 6, TEXT = 7;
const refused = (i) => act(i)[ANSWER] !== "allow";

function rule(i) {
  const a = act(i);
  if (a[JUDGE] === "human") return "a person";
  return a[FILE] + (a[LINE] ? ":" + a[LINE] : "");
}

function clock(us) {
  const at = new Date((meta.opened_us + us) / 1000);
  return at.toLocaleTimeString("en-GB") + "." + String(Math.floor((us / 1000) % 1000)).padStart(3, "0");
}

function span(us) {
  if (us < 1e6) return (us / 1e3).toFixed(1) + " ms";
  if (us < 6e7) return (us / 1e6).toFixed(1) + " s";
  if (us < 36e8) return Math.floor(us / 6e7) + " m " + Math.round((us % 6e7) / 1e6) + " s";
  return Math.floor(us / 36e8) + " h " + Math.round((us % 36e8) / 6e7) + " m";
}

function outcome(i) {
  const r = events.r[i];
  if (r === null) return "unknown";
  return r < 0 ? (data.errnos[-r] || String(r)) : "";
}

/* ---- head ---- */
document.title = "wary " + meta.name + ": " + meta.command;
$("command").textContent = meta.command;
$("where").textContent = `in ${meta.cwd} by ${meta.user}@${meta.host}, ` +
  `${new Date(meta.opened_us / 1000).toLocaleString("en-GB")}, ${span(meta.length_us)}, ${meta.ended}` +
  (events.n ? " (equal decisions are counted together)" : "");
$("verified").textContent = meta.verified;
$("verified").className = meta.intact ? "allow" : "bad";
for (const [label, value, mark] of [
  ["decisions", meta.decisions], ["refused", meta.refused, meta.refused ? "deny" : ""],
  ["asked", meta.asked, meta.asked ? "ask" : ""], ["secrets given", meta.grants],
  ["dropped", meta.dropped, meta.dropped ? "deny" : ""], ["processes", new Set(actors.map((a) => a[0])).size],
]) {
  $("cards").append(el("div", { class: "card" }, el("b", { text: fmt.format(value), class: mark || "" }),
    el("span", { class: "dim", text: label })));
}

/* ---- the time line ---- */
const view = { from: 0, to: Math.max(meta.length_us, 1) };
const canvas = $("time");

function firstAt(us) {
  let low = 0, high = count;
  while (low < high) {
    const mid = (low + high) >> 1;
    if (events.t[mid] < us) low = mid + 1; else high = mid;
  }
  return low;
}

function draw() {
  const scale = devicePixelRatio || 1;
  const width = Math.max(canvas.clientWidth, 10), height = canvas.clientHeight || 130;
  canvas.width = width * scale;
  canvas.height = height * scale;
  const pen = canvas.getContext("2d");
  pen.scale(scale, scale);
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const bins = Math.floor(width / 3);
  const ok = new Float64Array(bins), no = new Float64Array(bins), asked = new Float64Array(bins);
  const perBin = (view.to - view.from) / bins;
  for (let i = firstAt(view.from); i < count && events.t[i] < view.to; i++) {
    const bin = Math.min(bins - 1, Math.floor((events.t[i] - view.from) / perBin));
    (act(i)[JUDGE] === "human" || act(i)[ANSWER] === "ask" ? asked : refused(i) ? no : ok)[bin] += times(i);
  }
  let most = 1;
  for (let b = 0; b < bins; b++) most = Math.max(most, ok[b] + no[b] + asked[b]);
  const tall = (n) => (n ? Math.max(2, (Math.log1p(n) / Math.log1p(most)) * (height - 24)) : 0);
  for (let b = 0; b < bins; b++) {
    let y = height - 16;
    for (const [list, name] of [[ok, "--allow"], [asked, "--ask"], [no, "--deny"]]) {
      const h = tall(list[b]);
      pen.fillStyle = colour(name);
      pen.fillRect(b * 3, y - h, 2.4, h);
      y -= list[b] ? h : 0;
    }
  }
  pen.fillStyle = colour("--dim");
  pen.font = "11px system-ui, sans-serif";
  pen.fillText(clock(view.from), 4, height - 4);
  const end = clock(view.to);
  pen.fillText(end, width - pen.measureText(end).width - 4, height - 4);
  const whole = view.from === 0 && view.to >= meta.length_us;
  $("range").textContent = whole ? "The whole session. Drag to look closer." :
    `${span(view.to - view.from)} from ${clock(view.from)}. Press 0 for all.`;
}

function look(from, to) {
  const least = 10, all = Math.max(meta.length_us, 1);
  const wide = Math.min(Math.max(to - from, least), all);
  view.from = Math.min(Math.max(from, 0), all - wide);
  view.to = view.from + wide;
  draw();
  refresh();
}

function zoom(factor, at = (view.from + view.to) / 2) {
  look(at - (at - view.from) * factor, at + (view.to - at) * factor);
}

const timeAt = (event) => view.from + (event.offsetX / canvas.clientWidth) * (view.to - view.from);
let dragged = null;
canvas.addEventListener("pointerdown", (e) => { dragged = timeAt(e); canvas.setPointerCapture(e.pointerId); });
canvas.addEventListener("pointerup", (e) => {
  const to = timeAt(e);
  if (dragged !== null && Math.abs(to - dragged) > (view.to - view.from) / 100)
    look(Math.min(dragged, to), Math.max(dragged, to));
  dragged = null;
});
canvas.addEventListener("dblclick", () => look(0, meta.length_us));
canvas.addEventListener("wheel", (e) => { e.preventDefault(); zoom(e.deltaY > 0 ? 1.25 : 0.8, timeAt(e)); },
  { passive: false });
canvas.addEventListener("keydown", (e) => {
  const step = (view.to - view.from) / 8;
  const keys = { "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), 0: () => look(0, meta.length_us),
    ArrowLeft: () => look(view.from - step, view.to - step), ArrowRight: () => look(view.from + step, view.to + step) };
  if (keys[e.key]) { e.preventDefault(); keys[e.key](); }
});
addEventListener("resize", draw);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);

/* ---- views ---- */
const panels = [];

function tab(name, build) {
  const id = "panel-" + panels.length;
  const panel = el("section", { role: "tabpanel", id, tabindex: "-1" });
  const button = el("button", { role: "tab", text: name, "aria-controls": id, type: "button",
    onclick: () => choose(panels.findIndex((p) => p.panel === panel)) });
  panels.push({ panel, button, build, built: false });
  $("tabs").append(button);
  $("panels").append(panel);
}

function build(p) {
  if (!p.built) { p.built = true; p.build(p.panel); }
}

function choose(index) {
  panels.forEach((p, i) => {
    p.panel.style.display = i === index ? "" : "none";
    p.button.setAttribute("aria-selected", i === index);
    p.button.tabIndex = i === index ? 0 : -1;
  });
  build(panels[index]);
  refresh();
}
$("tabs").addEventListener("keydown", (e) => {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
  if (!step) return;
  const now = panels.findIndex((p) => p.button === document.activeElement);
  const next = (now + step + panels.length) % panels.length;
  choose(next);
  panels[next].button.focus();
});
addEventListener("beforeprint", () => panels.forEach(build));

function table(heads, rows, classes = []) {
  const body = el("tbody");
  for (const row of rows)
    body.append(el("tr", {}, ...row.map((v, i) =>
      v instanceof Node ? el("td", {}, v) : el("td", { text: v, class: classes[i] || "" }))));
  return el("div", { class: "scroll", tabindex: "0" }, el("table", {},
    el("thead", {}, el("tr", {}, ...heads.map((h) => el("th", { text: h, scope: "col" })))), body));
}

const nothing = (text) => el("p", { class: "dim", text });

/* Decisions: only the rows in sight are in the page. */
let refresh = () => {};
tab("Decisions", (panel) => {
  const words = (values) => [...new Set(values)].filter(Boolean).sort();
  const pick = (label, values) => el("select", { "aria-label": label },
    el("option", { value: "", text: label }), ...values.map((v) => el("option", { value: v, text: v })));
  const search = el("input", { type: "search", placeholder: "find in objects, programs and rules",
    "aria-label": "Find" });
  const byClass = pick("every class", words(acts.map((a) => a[CLASS])));
  const byAnswer = pick("every answer", words(acts.map((a) => a[ANSWER])));
  const byProgram = pick("every program", words(actors.map((a) => strings[a[2]])));
  const total = el("span", { class: "dim", "aria-live": "polite" });
  const head = el("thead", {}, el("tr", {}, ...["TIME", "PID", "PROGRAM", "CLASS", "ANSWER", "OBJECT", "RESULT", "RULE"]
    .concat(events.n ? ["TIMES"] : []).map((h) => el("th", { text: h, scope: "col" }))));
  const body = el("tbody");
  const before = el("div"), after = el("div");
  const box = el("div", { class: "scroll virtual", tabindex: "0", id: "decisions" }, before,
    el("table", {}, head, body), after);
  let shown = [];

  function row(i) {
    const a = act(i), d = detail(i);
    const what = object(i) + (d && d[0] ? " → " + strings[d[0]] : "") + (d && d[2] ? "  " + strings[d[2]] : "");
    const cells = [clock(events.t[i]), String(actor(i)[0]), base(program(i)), a[CLASS], a[ANSWER], what,
      outcome(i), rule(i)].concat(events.n ? [fmt.format(times(i))] : []);
    const tr = el("tr", {}, ...cells.map((v, n) => el("td", { text: v, title: n === 5 ? what : n === 7 ? a[TEXT] : "",
      class: n === 4 ? a[ANSWER] : n === 5 ? "object" : "" })));
    return tr;
  }
  function paint() {
    const first = Math.max(0, Math.floor(box.scrollTop / ROW_PX) - 20);
    const last = Math.min(shown.length, first + Math.ceil(box.clientHeight / ROW_PX) + 40);
    before.style.height = first * ROW_PX + "px";
    after.style.height = (shown.length - last) * ROW_PX + "px";
    body.replaceChildren(...shown.slice(first, last).map(row));
  }
  refresh = () => {
    const needle = search.value.toLowerCase();
    const hit = new Map();
    const found = (index) => {
      if (!hit.has(index)) hit.set(index, strings[index].toLowerCase().includes(needle));
      return hit.get(index);
    };
    shown = [];
    for (let i = firstAt(view.from); i < count && events.t[i] <= view.to; i++) {
      const a = act(i);
      if (byClass.value && a[CLASS] !== byClass.value) continue;
      if (byAnswer.value && a[ANSWER] !== byAnswer.value) continue;
      if (byProgram.value && program(i) !== byProgram.value) continue;
      if (needle && !found(events.o[i]) && !found(actor(i)[2]) &&
          !rule(i).toLowerCase().includes(needle) && !a[TEXT].toLowerCase().includes(needle)) continue;
      shown.push(i);
    }
    total.textContent = fmt.format(shown.length) + (events.n ? " kinds of decision" : " decisions");
    box.scrollTop = 0;
    paint();
  };
  let timer = 0;
  search.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(refresh, 120); });
  for (const s of [byClass, byAnswer, byProgram]) s.addEventListener("change", () => refresh());
  box.addEventListener("scroll", () => requestAnimationFrame(paint));
  panel.append(el("div", { class: "filters" }, search, byClass, byAnswer, byProgram, total), box);
});

tab("Refusals", (panel) => {
  const groups = new Map();
  for (let i = 0; i < count; i++) {
    if (!refused(i) || act(i)[KIND] !== "decision") continue;
    const key = [program(i), act(i)[CLASS], object(i), rule(i)].join("\0");
    const g = groups.get(key) || { i, n: 0 };
    g.n += times(i);
    groups.set(key, g);
  }
  if (!groups.size) return panel.append(nothing("Nothing was refused."));
  panel.append(table(["FIRST", "PROGRAM", "CLASS", "OBJECT", "TIMES", "RULE", ""],
    [...groups.values()].map((g) => [clock(events.t[g.i]), program(g.i), act(g.i)[CLASS], object(g.i),
      fmt.format(g.n), rule(g.i), act(g.i)[TEXT]]), ["", "", "", "object", "", "", "mono"]));
});

tab("Processes", (panel) => {
  const nodes = new Map();
  for (let i = 0; i < count; i++) {
    const [pid, ppid] = actor(i);
    let node = nodes.get(pid);
    if (!node) nodes.set(pid, (node = { pid, ppid, programs: [], n: 0, no: 0, kids: [] }));
    node.n += times(i);
    node.no += refused(i) ? times(i) : 0;
    if (!node.ppid) node.ppid = ppid;
    const d = detail(i);
    const run = act(i)[CLASS] === "exec" && !refused(i) && d && d[2] ? strings[d[2]] : null;
    if (run) node.programs.push(run);
    else if (!node.programs.length) node.programs.push(base(program(i)));
  }
  const tops = [];
  for (const node of nodes.values()) {
    const parent = nodes.get(node.ppid);
    (parent && parent !== node ? parent.kids : tops).push(node);
  }
  const item = (node, depth) => {
    const label = [el("code", { text: node.pid + "  " }), el("span", { class: "mono", text: node.programs.join("  ⇒  ") }),
      el("span", { class: "dim", text: `  ${fmt.format(node.n)} decisions` }),
      ...(node.no ? [el("span", { class: "deny", text: `  ${fmt.format(node.no)} refused` })] : [])];
    if (!node.kids.length || depth > 200) return el("li", {}, ...label);
    return el("li", {}, el("details", depth < 3 ? { open: "" } : {}, el("summary", {}, ...label),
      el("ul", {}, ...node.kids.map((k) => item(k, depth + 1)))));
  };
  panel.append(el("ul", { class: "tree" }, ...tops.map((n) => item(n, 0))));
});

const FILE_CLASSES = ["read", "write", "create", "delete", "attr", "link", "stat"];
tab("Files", (panel) => {
  const files = new Map();
  for (let i = 0; i < count; i++) {
    const c = FILE_CLASSES.indexOf(act(i)[CLASS]);
    if (c < 0 || refused(i)) continue;
    let f = files.get(events.o[i]);
    if (!f) files.set(events.o[i], (f = new Uint32Array(FILE_CLASSES.length)));
    f[c] += times(i);
  }
  if (!files.size) return panel.append(nothing("No file was opened or changed."));
  const changed = (f) => f[1] + f[2] + f[3] + f[4] + f[5];
  const list = [...files.entries()].sort((a, b) => changed(b[1]) - changed(a[1]) ||
    (strings[a[0]] < strings[b[0]] ? -1 : 1));
  const MOST = 5000;
  panel.append(el("p", { class: "dim", text: `${fmt.format(list.length)} names; changed ones first` +
    (list.length > MOST ? `; the first ${fmt.format(MOST)}` : "") }),
    table(["NAME", ...FILE_CLASSES.map((c) => c.toUpperCase())],
      list.slice(0, MOST).map(([o, f]) => [strings[o], ...[...f].map((n) => (n ? fmt.format(n) : ""))]), ["object"]));
});

function eventTable(panel, test, empty, heads, cells, classes) {
  const rows = [];
  for (let i = 0; i < count && rows.length < 20000; i++) if (test(i)) rows.push(cells(i));
  panel.append(rows.length ? table(heads, rows, classes) : nothing(empty));
}

tab("Network", (panel) => eventTable(panel, (i) => ["connect", "bind", "resolve"].includes(act(i)[CLASS]),
  "Nothing was connected to.", ["TIME", "PID", "PROGRAM", "CLASS", "ADDRESS", "ANSWER", "RESULT", "RULE"],
  (i) => [clock(events.t[i]), String(actor(i)[0]), base(program(i)), act(i)[CLASS], object(i),
    el("span", { text: act(i)[ANSWER], class: act(i)[ANSWER] }), outcome(i), rule(i)]));

tab("Packages", (panel) => eventTable(panel, (i) => act(i)[KIND] === "package" || act(i)[CLASS] === "install",
  "No package was installed.", ["TIME", "PROGRAM", "PACKAGE", "", "ANSWER", "RULE"],
  (i) => [clock(events.t[i]), base(program(i)), object(i), detail(i) && detail(i)[0] ? strings[detail(i)[0]] : "",
    el("span", { text: act(i)[ANSWER], class: act(i)[ANSWER] }), rule(i)]));

tab("Questions and secrets", (panel) => eventTable(panel,
  (i) => act(i)[KIND] === "question" || act(i)[KIND] === "grant",
  "Nothing was asked, no secret was given.", ["TIME", "PROGRAM", "KIND", "CLASS", "OBJECT", "ANSWER", "BY", "RULE"],
  (i) => [clock(events.t[i]), base(program(i)), act(i)[KIND], act(i)[CLASS], object(i),
    el("span", { text: act(i)[ANSWER], class: act(i)[ANSWER] }),
    detail(i) && detail(i)[0] ? strings[detail(i)[0]] : "", act(i)[FILE] + ":" + act(i)[LINE]]));

tab("Policy", (panel) => {
  for (const p of data.policies)
    panel.append(el("h2", { text: p.name }), el("div", { class: "dim mono", text: `${p.path}  sha256 ${p.sha256}` }),
      el("pre", { text: p.text }));
});

choose(0);
draw();
