// The page of `slownet live`. Everything that names something is set as text, never as markup.

const $ = id => document.getElementById(id);
const STEPS = {
  rtt: [0, 1, 2, 5, 10, 15, 20, 25, 30, 40, 50, 60, 80, 100, 120, 150, 200, 250, 300, 400, 500, 600, 800, 1000],
  loss: [0, 0.1, 0.2, 0.5, 1, 1.5, 2, 3, 4, 5, 7, 10, 15, 20, 30, 50],
  rate: [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, null],
};
const COLOURS = ["#0b6bcb", "#c2410c", "#15803d", "#9333ea", "#be185d", "#0e7490", "#a16207", "#4d7c0f", "#6d28d9", "#b91c1c"];
const MOST_LINES = 20, MOST_LOG = 60;
const KINDS = {delay: ["rtt", "delay", "delay_up", "delay_down"], loss: ["loss", "loss_up", "loss_down"], rate: ["rate", "rate_up", "rate_down"]};

const state = {
  nodes: [], wires: [], shown: new Map(), pings: new Map(), playing: {}, chosen: "", window: 480, gesture: 0, busy: new Map(),
  watches: false, containers: [], watching: "", next: new Map(), times: [], lines: new Map(), hosts: new Map(), costs: new Map(), cost: "", ended: false, pages: [],
};
let socket, counter = 0, graph, charts = [], costChart;
const waiting = new Map();

function send(order) {
  const id = `q${++counter}`;
  if (state.watches && order.do !== "share") return id;
  if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify({id, ...order}));
  return id;
}
const element = (tag, text, properties = {}) => Object.assign(document.createElement(tag), {textContent: text}, properties);
function log(text, {bad = false, raw = ""} = {}) {
  const item = element("li", text, {className: bad ? "bad" : ""});
  if (raw) {
    const details = document.createElement("details");
    details.append(element("summary", "output"), element("pre", raw));
    item.append(details);
  }
  $("log").prepend(item);
  while ($("log").children.length > MOST_LOG) $("log").lastChild.remove();
}
const dark = matchMedia("(prefers-color-scheme: dark)");
const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// ---- the network ----

function draw() {
  if (!graph) {
    graph = cytoscape({container: $("graph"), maxZoom: 2.5, minZoom: 0.01, elements: []});
    graph.on("tap", "edge", event => choose(event.target.id()));
    graph.on("tap", "node", event => { $("gone").value = event.target.id(); chooseHost(event.target.id()); });
    graph.on("dragfree", "node", event => {
      const {x, y} = event.target.position();
      send({do: "move", name: event.target.id(), x: Math.round(x), y: Math.round(y)});
    });
    dark.addEventListener("change", style);
    let styling = false;
    graph.on("zoom", () => { if (!styling) { styling = true; requestAnimationFrame(() => { styling = false; style(); }); } });
    addEventListener("resize", () => { graph.resize(); fit(); });
  }
  const before = new Set(graph.elements().map(each => each.id()));
  const wanted = new Set([...state.nodes.map(each => each.name), ...state.wires.map(each => each.key)]);
  const same = state.nodes.filter(each => before.has(each.name)).length;
  graph.batch(() => {
    graph.elements().filter(each => !wanted.has(each.id())).remove();
    for (const each of state.nodes) {
      if (!before.has(each.name)) graph.add({group: "nodes", data: {id: each.name, kind: each.kind}});
      const node = graph.getElementById(each.name);
      node.data("kind", each.kind);
      if (each.x !== null && !node.grabbed()) node.position({x: each.x, y: each.y});
      if (state.watches) node.ungrabify();
    }
    for (const each of state.wires)
      if (!before.has(each.key)) graph.add({group: "edges", data: {id: each.key, source: each.first, target: each.second, words: ""}});
  });
  label();
  style();
  const free = state.nodes.filter(each => each.x === null && !before.has(each.name));
  if (free.length && same === 0) {
    // From a circle, so that the drawing of a network is always the same.
    if (state.nodes.length <= FEW) {
      graph.layout({name: "circle", animate: false, radius: 40 * Math.sqrt(state.nodes.length + 1)}).run();
      graph.layout({name: "cose", animate: false, randomize: false, nodeRepulsion: () => 60000, idealEdgeLength: () => 150, nodeOverlap: 20, gravity: 0.5}).run();
    } else spread();
  } else if (free.length) {
    const box = graph.extent();
    free.forEach((each, number) => graph.getElementById(each.name).position({x: (box.x1 + box.x2) / 2 + 60 * number, y: box.y2 - 40}));
  }
  if (before.size !== wanted.size || free.length) fit();
  $("graph").setAttribute("aria-label",
    `The network: ${state.nodes.length} nodes and ${state.wires.length} links. Choose a link in the list beside it.`);
}
// Hundreds of nodes: what ends in a node lies around it, single hosts as seeds do in a sunflower; what is left, on a circle.
const SEED = 56, GOLDEN = Math.PI * (3 - Math.sqrt(5));
function spread() {
  const left = new Map(state.nodes.map(each => [each.name, new Set()])), below = new Map(state.nodes.map(each => [each.name, []]));
  for (const {first, second} of state.wires) if (first !== second) { left.get(first)?.add(second); left.get(second)?.add(first); }
  for (let outer; (outer = [...left].filter(([, others]) => others.size < 2)).length && outer.length < left.size;)
    for (const [name, others] of outer) {
      for (const other of others) { left.get(other)?.delete(name); below.get(other).push(name); }
      left.delete(name);
    }
  const sizes = new Map(), rings = new Map();
  const circle = names => {
    const around = names.reduce((sum, each) => sum + 2 * measure(each), 0);
    return {around, radius: names.length > 1 ? Math.max(around / (2 * Math.PI), ...names.map(measure)) : 0};
  };
  const measure = name => {
    if (!sizes.has(name)) {
      const all = below.get(name), bare = all.filter(each => !below.get(each).length), rest = all.filter(each => below.get(each).length);
      const seeds = SEED * (Math.sqrt(bare.length + 1) + 1), ring = rest.length ? circle(rest) : null;
      if (ring) ring.radius = Math.max(ring.radius, seeds + Math.max(...rest.map(measure)));
      rings.set(name, {bare, rest, ring});
      sizes.set(name, ring ? ring.radius + Math.max(...rest.map(measure)) : seeds);
    }
    return sizes.get(name);
  };
  const stretch = Math.min(2, Math.max(1, graph.width() / graph.height()));
  const turned = (names, {around, radius}, x, y) => {
    let along = 0;
    for (const name of names) {
      const turn = 2 * Math.PI * (along + measure(name)) / around;
      along += 2 * measure(name);
      put(name, x + radius * Math.cos(turn), y + radius * Math.sin(turn));
    }
  };
  const put = (name, x, y) => {
    graph.getElementById(name).position({x: stretch * x, y});
    measure(name);
    const {bare, rest, ring} = rings.get(name);
    bare.forEach((each, at) => {
      const far = SEED * Math.sqrt(at + 1);
      put(each, x + far * Math.cos(at * GOLDEN), y + far * Math.sin(at * GOLDEN));
    });
    if (ring) turned(rest, ring, x, y);
  };
  const core = [...left.keys()];
  turned(core, circle(core), 0, 0);
}
function fit() {
  graph.fit(undefined, 45);
  if (graph.zoom() > 1.5) { graph.zoom(1.5); graph.center(); }
  style();
}
// Names of a network that can be overlooked have the same size, however small it is drawn; of a larger one they vanish.
const LEGIBLE = 60, FEW = 80;
const sized = size => state.nodes.length <= LEGIBLE ? size / Math.min(1, graph.zoom()) : size;
function style() {
  const many = state.nodes.length > FEW;
  graph.style([
    {selector: "node", style: {label: "data(id)", "font-size": sized(13), color: css("--ink"), "text-valign": "bottom", "text-margin-y": 4,
      "background-color": css(many ? "--accent" : "--panel"), "border-width": 2, "border-color": css("--accent"), width: 34, height: 34, "min-zoomed-font-size": 7,
      "text-background-color": css("--panel"), "text-background-opacity": many ? 0 : 0.9}},
    {selector: "node[kind='switch']", style: {shape: "round-rectangle", "border-color": css("--faint"), width: 64, height: 26,
      "text-background-opacity": 0, "text-valign": "center", "text-margin-y": 0}},
    {selector: "node[kind='router']", style: {shape: "diamond", width: 38, height: 38}},
    {selector: "edge", style: {width: 3, "line-color": css("--faint"), label: "data(words)", "font-size": sized(12), color: css("--ink"),
      "curve-style": many ? "haystack" : "bezier", "haystack-radius": 0, opacity: many ? 0.5 : 1,
      "text-rotation": "autorotate", "text-margin-y": -11, "min-zoomed-font-size": 7}},
    {selector: "edge.cut", style: {"line-style": "dashed", "line-color": css("--bad")}},
    {selector: "edge.chosen", style: {width: 6, opacity: 1, "line-color": css("--accent")}},
  ]);
}
function label() {
  for (const wire of state.wires) {
    const edge = graph.getElementById(wire.key), shown = state.shown.get(wire.key);
    const playing = state.playing[wire.key];
    edge.data("words", playing ? `plays ${playing}` : shown && shown.text !== "no condition" ? shown.text : "");
    edge.toggleClass("cut", wire.cut);
    edge.toggleClass("chosen", wire.key === state.chosen);
  }
}
function fill(select, values, chosen) {
  const before = chosen ?? select.value;
  const same = select.options.length === values.length && values.every((each, number) => select.options[number].value === each);
  if (!same) select.replaceChildren(...values.map(each => element("option", each, {value: each})));
  if (values.includes(before)) select.value = before;
}
function lists() {
  const hosts = state.nodes.filter(each => each.kind !== "switch").map(each => each.name), all = state.nodes.map(each => each.name);
  const first = !$("client").options.length;
  for (const id of ["client", "server"]) fill($(id), hosts);
  for (const id of ["end-a", "end-b", "gone"]) fill($(id), all);
  if (first || $("client").value === $("server").value) chooseEnds(hosts);
  const keys = state.wires.map(each => each.key);
  if (!keys.includes(state.chosen)) state.chosen = keys[0] ?? "";
  fill($("link"), keys, state.chosen);
  for (const key of [...state.shown.keys()]) if (!keys.includes(key)) state.shown.delete(key);
}
function chooseEnds(hosts) {
  const served = state.pages.map(each => new URL(each).hostname);
  const serving = state.nodes.find(each => served.includes(each.address.split("/")[0]))?.name;
  $("server").value = serving ?? hosts.find(each => each !== hosts[0]) ?? hosts[0];
  $("client").value = hosts.find(each => each === "client" && each !== $("server").value) ?? hosts.find(each => each !== $("server").value) ?? hosts[0];
}
function chooseHost(name) {
  if ([...$("client").options].some(each => each.value === name) && name !== $("server").value) $("client").value = name;
  offerInside();
}
const wire = () => state.wires.find(each => each.key === state.chosen);

function choose(key) {
  state.chosen = key;
  $("link").value = key;
  control();
  label();
  series();
}
function nearest(values, value) {
  if (value === null) return values.length - 1;
  let best = 0;
  values.forEach((each, number) => { if (each !== null && Math.abs(Math.log((each + .01) / (value + .01))) < Math.abs(Math.log((values[best] + .01) / (value + .01)))) best = number; });
  return best;
}
function control() {
  const shown = state.shown.get(state.chosen), now = wire();
  $("condition").textContent = state.playing[state.chosen] ? `plays ${state.playing[state.chosen]}: ${shown?.text ?? ""}` : shown?.text ?? "";
  $("cut").textContent = now?.cut ? "Restore" : "Cut";
  $("trace").value = state.playing[state.chosen] ?? "";
  $("named").value = now?.named ?? "";
  if (!shown) return;
  const values = {rtt: shown.rtt_ms, loss: shown.loss, rate: shown.rate};
  for (const [name, value] of Object.entries(values)) {
    const slider = $(name), number = $(`${name}-number`);
    const index = nearest(STEPS[name], value);
    slider.setAttribute("aria-valuetext", value === null ? "any" : `${value} ${{rtt: "ms", loss: "%", rate: "Mbit/s"}[name]}`);
    if (document.activeElement !== slider) slider.value = index;
    if (document.activeElement !== number) number.value = value === null ? "" : +value.toFixed(3);
  }
}
// One setting of a link is on its way at a time; the newest value waits for its answer, so that a slider never queues up.
function set(key, change) {
  const now = state.next.get(key) ?? state.wires.find(each => each.key === key);
  if (!now) return;
  const wanted = {key, named: now.named, fields: {...now.fields}, cut: now.cut, gesture: `g${state.gesture}`, ...change(now)};
  if (state.busy.has(key)) { state.next.set(key, wanted); return; }
  state.next.delete(key);
  const id = send({do: "set", ...wanted});
  state.busy.set(key, id);
  waiting.set(id, () => { state.busy.delete(key); const later = state.next.get(key); if (later) { state.next.delete(key); set(key, () => later); } });
}
function withField(name, value) {
  return now => {
    const shown = state.shown.get(now.key) ?? {rtt_ms: 0, loss: 0, rate: null};
    const group = {rtt: "delay", loss: "loss", rate: "rate"}[name];
    if (name === "rate" && value === null) {
      const fields = {...now.fields};
      for (const each of KINDS.rate) delete fields[each];
      if (!fields.rtt && !fields.delay && shown.rtt_ms) fields.rtt = `${shown.rtt_ms}ms`;
      if (!fields.loss && shown.loss) fields.loss = `${shown.loss}%`;
      return {named: "none", fields};
    }
    const fields = {...now.fields};
    for (const each of KINDS[group]) delete fields[each];
    fields[name] = {rtt: `${value}ms`, loss: `${value}%`, rate: `${value}Mbit`}[name];
    return {fields, cut: name === "loss" ? false : now.cut};
  };
}
for (const name of ["rtt", "loss", "rate"]) {
  const slider = $(name), number = $(`${name}-number`);
  Object.assign(slider, {min: 0, max: STEPS[name].length - 1, step: 1, value: name === "rate" ? STEPS.rate.length - 1 : 0});
  for (const begins of ["pointerdown", "focus"]) slider.addEventListener(begins, () => state.gesture++);
  slider.addEventListener("input", () => { performance.mark("moved"); set(state.chosen, withField(name, STEPS[name][slider.value])); });
  number.addEventListener("change", () => {
    state.gesture++;
    const value = number.value.trim() === "" ? (name === "rate" ? null : 0) : +number.value;
    if (value === null || (Number.isFinite(value) && value >= 0)) set(state.chosen, withField(name, value));
  });
}
$("link").addEventListener("change", () => choose($("link").value));
$("named").addEventListener("change", () => { state.gesture++; set(state.chosen, () => ({named: $("named").value, fields: {}, cut: false})); });
$("cut").addEventListener("click", () => { state.gesture++; set(state.chosen, now => ({cut: !now.cut})); });
$("trace").addEventListener("change", () => send({do: "play", key: state.chosen, trace: $("trace").value}));
$("undo").addEventListener("click", () => send({do: "undo"}));
addEventListener("keydown", event => {
  if ((event.ctrlKey || event.metaKey) && event.key === "z" && !event.target.closest?.("input[type=number], textarea, .xterm")) {
    event.preventDefault();
    send({do: "undo"});
  }
});
function middle() {
  const box = graph?.extent();
  return box ? {x: Math.round((box.x1 + box.x2) / 2 + 40 * Math.random()), y: Math.round((box.y1 + box.y2) / 2 + 60)} : {x: 0, y: 0};
}
for (const kind of ["host", "switch"])
  $(`add-${kind}`).addEventListener("click", () => { send({do: "add", kind, name: $("new-name").value.trim(), ...middle()}); $("new-name").value = ""; });
$("connect").addEventListener("click", () => send({do: "connect", first: $("end-a").value, second: $("end-b").value}));
$("remove").addEventListener("click", () => send({do: "remove", name: $("gone").value}));
$("disconnect").addEventListener("click", () => send({do: "disconnect", key: state.chosen}));
$("open").addEventListener("change", async () => {
  const file = $("open").files[0];
  $("open").value = "";
  if (!file) return;
  if (file.size > 1 << 20) log(`${file.name} is too large for a file of MiniEdit`, {bad: true});
  else send({do: "load", text: await file.text()});
});
$("recording").addEventListener("change", async () => {
  const file = $("recording").files[0];
  $("recording").value = "";
  if (!file) return;
  if (file.size > 1 << 20) { log(`${file.name} is larger than 1 MB: start slownet live with --trace ${file.name}`, {bad: true}); return; }
  let text = "";
  for (const byte of new Uint8Array(await file.arrayBuffer())) text += String.fromCharCode(byte);
  state.added = file.name.slice(-64);
  send({do: "trace", name: state.added, text: btoa(text)});
});
$("share").addEventListener("click", () => send({do: "share"}));
$("closed").addEventListener("click", () => $("dialog").close());
$("save").addEventListener("change", () => {
  const what = $("save").value;
  $("save").value = "";
  if (what) send({do: "save", what, key: state.chosen, client: $("client").value, server: $("server").value});
});

// ---- what runs on hosts ----

for (const button of document.querySelectorAll("[data-run]"))
  button.addEventListener("click", () => run(button, {what: button.dataset.run, key: "", operation: ""}));
$("cost").addEventListener("click", () => run($("cost"), {what: "cost", key: state.chosen, operation: $("operation").value}));
function run(button, order) {
  const id = send({do: "run", client: $("client").value, server: $("server").value, ...order});
  const pairs = `${$("client").value} to ${$("server").value}`;
  $("status").textContent = `${button.textContent.trim()}: ${pairs}...`;
  waiting.set(id, () => {});
}
function showCost(message) {
  const name = `${message.key}: ${message.operation}${message.under && message.under !== "no condition" ? `, ${message.under}` : ""}`;
  const found = state.costs.get(name) ?? {points: []};
  state.costs.delete(name);
  state.costs.set(name, {...message, points: [...found.points.filter(each => each.rtt_ms !== message.point.rtt_ms), message.point].slice(-100)});
  while (state.costs.size > 20) state.costs.delete(state.costs.keys().next().value);
  state.cost = name;
  drawCost();
}
const round = value => value >= 100 ? value.toFixed(0) : value.toPrecision(3);
function drawCost() {
  const cost = state.costs.get(state.cost);
  if (!cost) return;
  $("costs").hidden = false;
  const last = cost.points.at(-1), law = cost.t0_ms + cost.k * last.rtt_ms;
  $("law").textContent = `${state.cost}. Measured ${round(last.ms)} ms at +${last.rtt_ms} ms; the law T0 + k d says ${round(cost.t0_ms)} + ` +
    `${cost.k} x ${last.rtt_ms} = ${round(law)} ms (${cost.why}).`;
  const far = Math.max(20, ...cost.points.map(each => each.rtt_ms)) * 1.15;
  const points = new Map(cost.points.map(each => [each.rtt_ms, each.ms]));
  const xs = [...new Set([0, far, ...points.keys()])].sort((a, b) => a - b);
  const data = [xs, xs.map(x => cost.t0_ms + cost.k * x), xs.map(x => points.get(x) ?? null)];
  costChart?.destroy();
  const width = $("cost-chart").clientWidth || 600;
  costChart = new uPlot({
    width: Math.min(width, 900), height: 240, legend: {show: false}, cursor: {show: false}, scales: {x: {time: false}, y: {range: (_, low, high) => [0, high * 1.1 || 1]}},
    axes: [axis("added round trip in ms"), axis("ms")],
    series: [{}, {stroke: css("--faint"), width: 2, dash: [6, 4], points: {show: false}}, {stroke: COLOURS[1], paths: () => null, points: {show: true, size: 10, fill: COLOURS[1]}}],
  }, data, $("cost-chart"));
}

// ---- meters ----

const axis = name => ({stroke: css("--ink"), grid: {stroke: css("--line"), width: 1}, ticks: {stroke: css("--line")}, font: "12px system-ui", labelFont: "12px system-ui", label: name, labelSize: 18, size: name ? 46 : 26});
const HIGH = 170;
const PARTS = [
  {title: "Throughput in Mbit/s", of: "links", value: each => each.up + each.down},
  {title: "Ping in ms", of: "links", value: each => each.ping_ms},
  {title: "Queue in packets", of: "links", value: each => each.queue},
  {title: "Retransmitted segments a second", of: "hosts", value: each => each.retransmitted},
];
let seriesKeys = {links: [], hosts: []};

function followed(of) {
  const all = of === "links" ? state.wires.map(each => each.key) : state.nodes.filter(each => each.kind !== "switch").map(each => each.name);
  const first = all.slice(0, MOST_LINES);
  return of === "links" && state.chosen && !first.includes(state.chosen) ? [...first.slice(0, MOST_LINES - 1), state.chosen] : first;
}
const colour = (of, key) => COLOURS[Math.max(0, seriesKeys[of].indexOf(key)) % COLOURS.length];

function series() {
  if (typeof uPlot === "undefined") return;
  seriesKeys = {links: followed("links"), hosts: followed("hosts")};
  for (const part of PARTS) {
    part.kept ??= new Map();
    for (const key of [...part.kept.keys()]) if (!seriesKeys[part.of].includes(key)) part.kept.delete(key);
    for (const key of seriesKeys[part.of])
      if (!part.kept.has(key)) part.kept.set(key, state.times.map(() => null));
  }
  $("legend").replaceChildren(...seriesKeys.links.map(key => {
    const words = state.pings.get(key), item = element("span", words ? `${key} (ping ${words})` : key);
    item.style.setProperty("--of", colour("links", key));
    item.className = key === state.chosen ? "chosen" : "";
    return item;
  }));
  for (const each of charts) each.destroy();
  $("charts").replaceChildren();
  charts = PARTS.map(part => {
    const box = document.createElement("div");
    box.append(element("h3", part.title));
    $("charts").append(box);
    return new uPlot({
      width: Math.max(200, box.clientWidth), height: HIGH, legend: {show: false}, cursor: {show: false}, pxAlign: false,
      scales: {x: {time: false}, y: {range: (_, low, high) => [0, high > 0 ? high * 1.15 : 1]}},
      axes: [{...axis(""), values: (_, marks) => marks.map(each => `${each} s`)}, {...axis(""), size: 44}],
      series: [{}, ...seriesKeys[part.of].map(key => ({stroke: colour(part.of, key), width: key === state.chosen ? 3 : 1.5, points: {show: false}, spanGaps: false}))],
    }, [[], ...seriesKeys[part.of].map(() => [])], box);
  });
  repaint();
}
function keep(message) {
  state.times.push(message.at);
  for (const part of PARTS) {
    const now = new Map(message[part.of].map(each => [each.key ?? each.name, each]));
    for (const [key, values] of part.kept ?? []) values.push(now.has(key) ? part.value(now.get(key)) : null);
  }
  if (state.times.length > state.window) {
    state.times.shift();
    for (const part of PARTS) for (const values of (part.kept ?? new Map()).values()) values.shift();
  }
}
// One chart a frame, so that no frame is late.
const due = new Set();
function repaint() {
  if (!due.size) requestAnimationFrame(paint);
  charts.forEach((_, number) => due.add(number));
}
function paint() {
  const [number] = due;
  due.delete(number);
  const part = PARTS[number], last = state.times.at(-1) ?? 0;
  charts[number]?.setData([state.times.map(each => each - last), ...seriesKeys[part.of].map(key => part.kept.get(key))]);
  if (due.size) requestAnimationFrame(paint);
}
let resizing;
addEventListener("resize", () => { clearTimeout(resizing); resizing = setTimeout(() => { resized(); drawCost(); }, 150); });
// What is drawn stays: a new chart would be empty until its turn.
function resized() {
  for (const each of charts) each.root.hidden = true;
  const widths = charts.map(each => each.root.parentElement.clientWidth);
  charts.forEach((each, number) => {
    each.root.hidden = false;
    each.setSize({width: Math.max(200, widths[number]), height: HIGH});
  });
}

// ---- shells ----

const shells = new Map();
const encode = text => { let all = ""; for (const byte of new TextEncoder().encode(text)) all += String.fromCharCode(byte); return btoa(all); };
$("shell").addEventListener("click", () => openShell($("client").value, false));
$("inside").addEventListener("click", () => openShell($("client").value, true));
$("client").addEventListener("change", offerInside);
function offerInside() { $("inside").hidden = !state.containers.includes($("client").value); }

function openShell(host, inside) {
  const box = document.createElement("div"), tab = element("button", inside ? `${host}'s container` : host, {type: "button"});
  tab.setAttribute("role", "tab");
  const shut = element("button", "Close", {type: "button"});
  shut.setAttribute("aria-label", `Close the shell ${inside ? "in the container of" : "on"} ${host}`);
  $("shells").hidden = false;
  $("terminals").append(box);
  $("tabs").append(tab, shut);
  const terminal = new Terminal({fontSize: 14, cursorBlink: false, scrollback: 2000, screenReaderMode: true, convertEol: false}), fit = new FitAddon.FitAddon();
  terminal.loadAddon(fit);
  terminal.open(box);
  fit.fit();
  const id = send({do: "shell", name: host, inside, rows: Math.max(2, terminal.rows), columns: Math.max(2, terminal.cols)});
  shells.set(id, {box, tab, shut, terminal, fit});
  terminal.onData(text => { for (let at = 0; at < text.length; at += 1000) send({do: "type", name: id, text: encode(text.slice(at, at + 1000))}); });
  terminal.onResize(({rows, cols}) => send({do: "resize", name: id, rows: Math.max(2, rows), columns: Math.max(2, cols)}));
  tab.addEventListener("click", () => { showShell(id); terminal.focus(); });
  shut.addEventListener("click", () => { send({do: "close", name: id}); drop(id); });
  showShell(id);
  terminal.focus();
}
function showShell(id) {
  for (const [each, {box, tab}] of shells) { box.hidden = each !== id; tab.setAttribute("aria-selected", String(each === id)); }
  shells.get(id)?.fit.fit();
}
function drop(id) {
  const shell = shells.get(id);
  if (!shell) return;
  shells.delete(id);
  shell.terminal.dispose();
  for (const each of [shell.box, shell.tab, shell.shut]) each.remove();
  if (shells.size) showShell([...shells.keys()].at(-1));
  else { $("shells").hidden = true; $("shell").focus(); }
}

// ---- the clock ----

$("pause").addEventListener("click", () => send({do: $("pause").dataset.paused === "true" ? "resume" : "pause"}));
$("step").addEventListener("click", () => send({do: "step"}));
$("restart").addEventListener("click", () => send({do: "restart"}));
function paused(is) {
  $("pause").dataset.paused = String(is);
  $("pause").textContent = is ? "Go on" : "Pause";
}
function dead(line, restart) {
  $("dead").hidden = !line;
  $("dead").firstElementChild.textContent = line ? `The network has ended: ${line}. What was drawn is kept.` : "";
  $("restart").hidden = !restart;
  if (line) for (const id of [...shells.keys()]) drop(id);
}

// ---- what the server says ----

const heard = {
  hello(message) {
    $("title").textContent = message.title;
    document.title = `slownet live: ${message.title}`;
    state.window = message.window;
    fill($("named"), []);
    $("named").replaceChildren(element("option", "as in the topology", {value: ""}),
      ...message.conditions.map(each => element("option", each.name, {value: each.name, title: each.source})));
    state.watches = message.watches;
    state.watching = message.watching;
    traces(message.traces);
    if (!$("operation").options.length)
      $("operation").replaceChildren(...message.operations.map(([value, words]) => element("option", words, {value})));
    document.body.classList.toggle("watches", state.watches);
    $("clock").hidden = !message.virtual;
    paused(message.paused);
    dead(message.dead, message.can_restart);
    const shared = location.hash.startsWith("#state=") ? location.hash : "";
    if (shared) { history.replaceState(null, "", location.pathname); state.load = shared; }
  },
  scene(message) {
    const before = JSON.stringify([state.wires.map(each => each.key), state.nodes.map(each => each.name)]);
    Object.assign(state, {nodes: message.nodes, wires: message.wires, playing: message.playing, pages: message.pages ?? [], containers: message.containers ?? []});
    $("undo").disabled = !message.undo;
    $("undo").title = message.undo ? `Undo: ${message.undo.replace(/ g\d+$/, "")}` : "";
    if ($("status").textContent.startsWith("The network is being built")) $("status").textContent = "";
    lists();
    offerInside();
    draw();
    control();
    lock();
    if (before !== JSON.stringify([state.wires.map(each => each.key), state.nodes.map(each => each.name)])) series();
    if (state.load) { send({do: "load", text: state.load}); state.load = ""; }
  },
  conditions(message) {
    for (const each of message.links) state.shown.set(each.key, each);
    if (graph) label();
    control();
    performance.mark("set");
  },
  paths(message) {
    state.pings = new Map(message.pings.map(each => [each.key, each.words]));
    series();
  },
  past(message) {
    state.times = [];
    for (const part of PARTS) part.kept = undefined;
    series();
    for (const each of message.meters) keep(each);
    $("log").replaceChildren();
    for (const each of message.measured) heard[each.kind](each);
    series();
  },
  meters(message) {
    if (!charts.length) series();
    keep(message);
    const now = message.links.find(each => each.key === state.chosen);
    if (now && !document.querySelector("#status:focus"))
      $("status").textContent = `${message.at.toFixed(2)} s  ${now.key}: ${(now.up + now.down).toFixed(2)} Mbit/s, ping ${now.ping_ms === null ? (now.lost ? "lost" : "none yet") : `${now.ping_ms.toFixed(1)} ms`}`;
    if (!document.hidden) repaint();
  },
  traces(message) {
    traces(message.traces);
    if (state.added) { log(`${state.added} can be played on a link`); state.added = ""; }
    control();
  },
  played(message) {
    if (message.what) state.playing[message.key] = message.what; else delete state.playing[message.key];
    label();
    control();
  },
  taken(message) { waiting.get(message.id)?.(); waiting.delete(message.id); },
  failed(message) { heard.taken(message); log(message.line, {bad: true}); if (shells.has(message.id)) drop(message.id); control(); },
  refused(message) { heard.failed(message); },
  result(message) { log(`${message.title}: ${message.text}`, {raw: message.raw}); },
  cost(message) { showCost(message); log($("law").textContent); },
  note(message) { log(message.line); },
  shell(message) {
    const shell = shells.get(message.id);
    const data = Uint8Array.from(atob(message.data), each => each.charCodeAt(0));
    shell?.terminal.write(data, () => send({do: "took", name: message.id, count: data.length}));
  },
  closed(message) { drop(message.id); },
  shared(message) {
    $("shared").value = location.origin + location.pathname + message.text;
    $("watching").value = state.watching ? `${location.origin}/${state.watching}/` : location.href;
    $("command").value = `slownet live '${message.text}'`;
    $("dialog").showModal();
    $("shared").select();
  },
  file(message) {
    const link = element("a", "", {href: URL.createObjectURL(new Blob([message.text], {type: "text/x-python"})), download: message.name});
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    log(`${message.name} was saved`, {raw: message.text});
  },
  paused(message) { paused(message.paused); },
  dead(message) { dead(message.line, message.can_restart); },
  starting() { dead("", false); $("status").textContent = "The network is being built."; },
  ended() { state.ended = true; dead("slownet live was ended where it ran", false); },
};
const traces = names =>
  $("trace").replaceChildren(element("option", "nothing", {value: ""}), ...names.map(each => element("option", each, {value: each})));
const LOOKING = ["link", "share", "closed"];
// A page that only watches keeps the choice of what it looks at.
function lock() {
  if (!state.watches) return;
  for (const each of document.querySelectorAll("header button, header select, header input, main button, main select, main input, #restart"))
    each.disabled = !LOOKING.includes(each.id);
  $("title").textContent = `${document.title.replace(/^slownet live: /, "")} (this page only watches)`;
}
function connect() {
  socket = new WebSocket(`ws://${location.host}${location.pathname}ws`);
  socket.onmessage = event => { const message = JSON.parse(event.data); heard[message.kind]?.(message); };
  socket.onclose = () => {
    waiting.clear();
    state.busy.clear();
    state.next.clear();
    for (const id of [...shells.keys()]) drop(id);
    if (state.ended) return;
    $("dead").hidden = false;
    $("restart").hidden = true;
    $("dead").firstElementChild.textContent = "The page has lost slownet live, and tries again. What was drawn is kept there.";
    setTimeout(connect, 2000);
  };
}
connect();
globalThis.live = {state, send, get graph() { return graph; }};
