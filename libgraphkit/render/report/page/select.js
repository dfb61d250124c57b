// The selection: the same in all drawings and tables, and kept in the address of the page, so that a link or a
// reload shows it again: #graph=1, #node=12, #block=5, #finding=0, #hint=0, #exec=1.0, #line=model.py:39, with #by=module&at=120
// &axis=seconds.
function chooseGroup(group) {
  const {groups} = app;
  if (groups.chosen !== group) groups.choose(group);
  const name = group < 0 ? null : groups.names[group];
  if (name !== null && app.shown === null && app.picked === null) app.selection = {};
  makeGroupLegend(app.view);
  markHolders();
  app.redraw();
  remember();
}

function markHolders() {
  const {groups} = app, slot = groups.chosen < 0 ? -1 : groups.slot[groups.chosen];
  for (const row of every("#holders tr[data-group]")) row.classList.toggle("picked", Number(row.dataset.group) === groups.chosen);
  for (const entry of every("#group-legend .entry")) entry.setAttribute("aria-pressed", String(Number(entry.dataset.slot) === slot));
}

// The group of a block, in the view that is shown.
function chooseGroupOf(block) {
  const i = app.view.blockAt.get(block);
  if (i !== undefined) chooseGroup(app.groups.of[i]);
}

// Shows who holds memory at x.
function showMoment(x) {
  const {view} = app;
  app.at = clamp(Math.round(x), Math.max(recordedFrom(view) - 1, 0), Math.max(view.width - 1, 0));
  fillIcicle();
  makeHolders(view);
  for (const id of ["to-peak", "to-end"]) byId(id).setAttribute("aria-pressed", String(app.at === (id === "to-peak" ? view.peakX : view.width - 1)));
  app.redraw();
}

// To the next moment at which memory was allocated or freed.
function stepMoment(by) {
  const {view} = app, {first} = sortedChanges(view);
  let x = app.at + by;
  while (x > 0 && x < view.width - 1 && first[x] === first[x + 1]) x += by;
  showMoment(x);
  remember();
}

function remember() {
  if (!app.view || app.following) return;
  const {view, trace, groups, selection} = app, parts = [];
  if (ranks.report && ranks.drawn !== ranks.report.worst) parts.push(["trace", ranks.drawn]);
  const [chosen] = Object.entries(selection);
  if (view !== firstView(trace.views) && !chosen) parts.push(["graph", view.root ?? "all"]);
  if (groups.by !== firstGrouping(view)) parts.push(["by", groups.by]);
  if (view.place) parts.push(["axis", "seconds"]);
  if (app.at !== view.peakX) parts.push(["at", view.orderOf(app.at)]);
  if (chosen) parts.push(chosen);
  if (groups.chosen >= 0 && !("block" in selection)) parts.push(["line", groups.keys[groups.chosen]]);
  const hash = parts.map(([key, value]) => `${key}=${encodeURIComponent(value)}`).join("&");
  history.replaceState(null, "", location.href.split("#")[0] + (hash ? `#${hash}` : ""));
  if (location.protocol === "blob:") parent.postMessage({place: hash}, "*");  // the page that shows any file
}

async function followAddress() {
  const wanted = new URLSearchParams(location.hash.slice(1)), number = (key) => wanted.has(key) ? Number(wanted.get(key)) : NaN;
  app.following = true;
  if (wanted.has("trace")) await drawTrace(number("trace"));
  const {trace} = app, {views, texts} = trace;
  if (wanted.has("graph")) showView(views.find((view) => view.root === (wanted.get("graph") === "all" ? null : texts.roots[number("graph")])));
  app.setAxis(wanted.get("axis") === "seconds");
  if (GROUPINGS.includes(wanted.get("by"))) groupBlocks(wanted.get("by"));
  if (number("node") < trace.nodeCount) goTo({node: number("node")});
  if (number("block") < trace.blockCount) goTo({block: number("block")});
  if (wanted.has("finding")) pickFinding(number("finding"));
  if (wanted.has("hint")) pickHint(number("hint"));
  const [exec, version] = (wanted.get("exec") || "").split(".").map(Number);
  if (app.trace.page.execs[exec]?.[version]) goToVersion(exec, version);
  if (number("at") >= 0) showMoment(app.view.shownAt(number("at")));
  if (app.groups?.index.has(wanted.get("line"))) {
    chooseGroup(app.groups.index.get(wanted.get("line")));
    if (![..."node block finding hint exec".split(" ")].some((key) => wanted.has(key))) showHolders();
  }
  app.following = false;
}
