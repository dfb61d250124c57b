// Starts the page: unpacks the data, fills the panels, shows the graph with the most memory.
function legendEntry(text, paint) {
  const entry = element("span", ""), canvas = document.createElement("canvas");
  entry.append(canvas, text);
  app.samples.push(() => {
    const {pen, width, height} = penOf(canvas);
    paint(pen, width, height);
  });
  return entry;
}

// True for each state that occurs in a view: deferred, never freed, reusable.
function makeMemoryLegend(view) {
  const freed = app.trace.columns["block.freed"];
  const fill = (color) => (pen, w, h) => { pen.fillStyle = theme.colors[color]; pen.fillRect(0, 0, w, h); };
  const entries = [];
  if (view.blocks.some((_, i) => view.end[i] > view.freed[i])) {
    entries.push(legendEntry("deferred: freed, but not yet usable again", (pen, w, h) => { pen.fillStyle = hatch(pen); pen.fillRect(0, 0, w, h); }));
  }
  if (view.blocks.some((id) => !freed[id])) {
    entries.push(legendEntry(view.nodes.length > 0 ? "never freed" : "still allocated at the end", (pen, w, h) => { fill("rest")(pen, w, h); pen.fillStyle = theme.colors.kept; pen.fillRect(w - 4, 0, 4, h); }));
  }
  if (view.reuse.length > 0) {
    entries.push(legendEntry("could share memory with an earlier block: point at it to see which", (pen, w, h) =>
      outline(pen, {x: 1, y: 1, w: w - 2, h: h - 2}, theme.colors.reuse, [4, 2], 1.5)));
  }
  byId("memory-legend").replaceChildren(...entries);
}

const EDGE_NAMES = ["full edge", "programmatic edge: starts before the other ends", "launch completion edge: starts when the other has begun"];

function makeLanesLegend(view) {
  const {columns, texts} = app.trace;
  const kinds = new Set();
  for (const id of view.nodes) kinds.add(columns["node.kind"][id]);
  const entries = [...kinds].sort((a, b) => a - b).map((kind) => legendEntry(texts.kinds[kind].replaceAll("_", " "), (pen, w, h) => {
    pen.fillStyle = kindColor(texts.kinds[kind]);
    pen.beginPath();
    pen.roundRect(2, 1, w - 4, h - 2, 3);
    pen.fill();
  }));
  for (const sort of [...view.edgeSorts].sort()) entries.push(legendEntry(EDGE_NAMES[sort], (pen, w, h) => paintEdgeSample(pen, w, h, sort)));
  if (view.launches.length > 0) entries.push(legendEntry("launch", paintLaunchSample));
  byId("lanes-legend").replaceChildren(...entries);
}

function paintEdgeSample(pen, w, h, sort) {
  pen.strokeStyle = pen.fillStyle = theme.colors.edge;
  pen.setLineDash(EDGE_DASH[sort]);
  line(pen, 0, h / 2, w - 4, h / 2);
  pen.setLineDash([]);
  arrowHead(pen, w - 1, h / 2, 1, 0);
}

function paintLaunchSample(pen, w, h) {
  pen.fillStyle = theme.colors.accent;
  pen.beginPath();
  pen.moveTo(6, 1);
  pen.lineTo(15, h / 2);
  pen.lineTo(6, h - 1);
  pen.fill();
}

function caption(id, name, text) {
  byId(id).replaceChildren(element("b", "", name), `  ${text}`);
}

function showView(view) {
  if (!view) return;
  app.view = view;
  view.prepare();
  makeFigures(view);
  makeBill(view);
  markGraph(view);
  icicle.zoomed = null;
  sizeLanes(byId("lanes"));
  const {policy} = app.trace.page, drawn = policy !== null && view.policyBlocks.length > 0;
  byId("policy-figure").hidden = !drawn;
  byId("layout").hidden = !drawn;
  byId("overview-section").hidden = view.blocks.length === 0;
  byId("path").hidden = view.longestPath.length === 0;
  fillMemoryNote(view);
  app.samples = [];
  makeMemoryLegend(view);
  makeLanesLegend(view);
  caption("recorded-title", "As recorded", `${formatBytes(view.extent)} of addresses`);
  if (drawn) caption("policy-title", `With ${policy.name}`, `${formatBytes(view.policy_extent)}${policy.verified ? ", checked to be safe" : ""}`);
  setLayout(drawn && innerWidth >= 1200);
  app.show(view);
}

// Replaces the memory drawing of a graph that allocates nothing.
function fillMemoryNote(view) {
  const none = view.blocks.length === 0, graph = graphOf(view), {views} = app.trace;
  for (const id of ["memories", "memory-legend", "fit-addresses", "memory-hint"]) byId(id).hidden = none;
  byId("memory-note").hidden = !none;
  if (!none) return;
  const unknown = (graph || app.trace.analyze).unknown_memory;
  if (unknown) return byId("memory-note").replaceChildren(`Its memory is unknown: ${unknown}.`);
  const pinned = graph && graph.pinned_blocks > 0
    ? ` It touches ${counted(graph.pinned_blocks, "block")} from elsewhere, ${formatBytes(graph.pinned_bytes)}, kept as long as it may run.` : "";
  const link = element("button", "go", "show the memory of the whole program");
  link.addEventListener("click", () => showView(views.at(-1)));
  byId("memory-note").replaceChildren(`${view.root === null ? "The program" : view.title} allocates no memory.${pinned} `,
    ...(views.at(-1).blocks.length > 0 ? [link] : []));
}

// The graph with the most memory, then the one with the most nodes.
function firstView(views) {
  const weight = (view) => view.root === null ? -1 : view.extent + view.nodes.length / 1e9;
  return views.reduce((best, view) => weight(view) > weight(best) ? view : best);
}

function fillHead() {
  const {analyze, page} = app.trace, own = analyze.program || page.file;
  const place = ranks.report ? ` – ${rankPlace(ranks.drawn)}` : "", program = own + place;
  document.title = `${program} – graphkit report`;
  byId("program").textContent = `${own.slice(own.lastIndexOf("/") + 1)}${place}`;
  byId("program").title = program;
  const devices = {soft: "software device: simulated", imported: snapshotKind(), cuda: "recorded on a GPU"};
  byId("device").textContent = devices[analyze.device];
  byId("device").hidden = false;
  byId("device").classList.toggle("warn", analyze.device === "soft");
  byId("warning").textContent = `This trace is incomplete, and figures may be too small: ${analyze.incomplete_because.join("; ")}.`;
  byId("warning").hidden = analyze.complete;
}

function showEmpty(title, text, commands) {
  const box = byId("empty");
  box.replaceChildren(element("h1", "", title), element("p", "", text));
  if (commands) box.append(element("pre", "", commands));
  box.hidden = false;
}

function showNothingCaptured() {
  const why = app.trace.analyze.device === "imported" ? "" : "Either the program captured none, or it ended before it did. ";
  for (const id of ["searchbox", "help"]) byId(id).hidden = true;
  showEmpty("No graph to draw", `The file holds no node of a CUDA graph and no block of memory. ${why}Record the part of the program that captures, and write the report again:`,
    "graphkit trace -o trace.json ./app args…\ngraphkit report trace.json -o report.html\ngraphkit doctor        # when the program should have captured something");
}

function showsNothing(trace) { return trace.views.length === 0 || trace.nodeCount + trace.blockCount === 0; }

// Findings, where there are any; else who holds the memory.
function firstPanel() { return listProblems().length > 0 || app.trace.page.memory.length === 0 ? "findings-panel" : "bill-panel"; }

function snapshotKind() {
  return app.trace.analyze.graphs.length === 0 && app.trace.blockCount > 0 ? "PyTorch memory snapshot" : "imported";
}

// All that is about one trace.
function showTrace() {
  byId("lanes-section").hidden = app.trace.nodeCount === 0;
  fillHead();
  fillTabs();
  makeFindings();
  app.view = null;
  fillViewChoice(app.trace.views);
  makeGraphs();
  app.problem = undefined;
  showDetails(null);
  byId("search").value = "";
  showView(firstView(app.trace.views));
}

async function start() {
  const began = performance.now();
  await readRanks();
  const bytes = await inflate(byId("data").textContent.trim());
  app.trace = new Trace(readData(bytes));
  document.documentElement.dataset.theme = preferredTheme();
  readTheme();
  byId("theme").addEventListener("click", toggleTheme);
  if (showsNothing(app.trace)) {
    fillHead();
    return showNothingCaptured();
  }
  byId("main").hidden = false;
  startDrawings();
  makeRanks();
  makeTabs();
  makeSearch();
  makeKeys();
  showTrace();
  showTab(firstPanel());
  await followAddress();
  remember();
  addEventListener("hashchange", followAddress);
  app.draw();
  app.loadedIn = performance.now() - began;
  app.loadedAt = performance.now();
}

const FINDINGS_PRINTED = 6;

function toMoment(x) {
  showMoment(x);
  remember();
}

function startDrawings() {
  const drawings = [makeOverview(byId("overview")), makeMemory(byId("recorded"), false), makeMemory(byId("policy"), true), makeLanes(byId("lanes")),
    makeArea(byId("area")), makeStacks(byId("icicle"))];
  for (const drawing of drawings) {
    app.drawings.push(() => { if (drawing.canvas.clientWidth > 0) drawing.draw(); });
  }
  app.parts = drawings;
  byId("fit").addEventListener("click", () => app.fit());
  byId("fit-addresses").addEventListener("click", fitAddresses);
  byId("layout").addEventListener("click", toggleLayout);
  byId("path").addEventListener("click", togglePath);
  byId("to-peak").addEventListener("click", () => toMoment(app.view.peakX));
  byId("to-end").addEventListener("click", () => toMoment(app.view.width - 1));
  byId("help").addEventListener("click", showHelp);
  new ResizeObserver(() => app.redraw()).observe(byId("drawings"));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => setTheme(preferredTheme()));
  let before = "light";
  addEventListener("beforeprint", () => {
    document.body.classList.add("printing");
    byId("main").prepend(byId("side"));
    const left = listProblems().length - FINDINGS_PRINTED;
    byId("findings-panel").dataset.more = left > 0 ? `and ${formatCount(left)} more in the page` : "";
    before = document.documentElement.dataset.theme;
    document.documentElement.dataset.theme = "light";
    readTheme();
    app.changed = true;
    app.draw();
  });
  addEventListener("afterprint", () => {
    document.body.classList.remove("printing");
    byId("main").append(byId("side"));
    setTheme(before);
  });
}

start().catch((error) => {
  showEmpty("This report can't be shown", `Its data can't be read in this browser (${error.message}). A browser of 2023 or later is needed; graphkit analyze prints the same as text.`);
});
