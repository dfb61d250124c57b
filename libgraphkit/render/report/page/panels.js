// The panels at the side, the tip under the pointer, and what is picked.
function showTab(id) {
  const both = id === "findings-panel" && innerWidth > 1000 && app.trace.blockCount > 0;  // with room for who holds the memory
  byId("side").classList.toggle("both", both);
  for (const panel of every(".panel")) panel.hidden = panel.id !== id && !(both && panel.id === "bill-panel");
  for (const button of byId("tabs").children) button.setAttribute("aria-selected", String(button.dataset.panel === id));
}

function makeTabs() {
  for (const panel of every(".panel")) {
    const button = element("button", "", "");
    button.role = "tab";
    button.dataset.panel = panel.id;
    button.addEventListener("click", () => showTab(panel.id));
    byId("tabs").append(button);
  }
}

function fillTabs() {
  const counts = {"findings-panel": listProblems().length, "graphs-panel": app.trace.analyze.graphs.length,
    "ranks-panel": ranks.report?.traces.length};
  for (const button of byId("tabs").children) {
    const count = counts[button.dataset.panel];
    if (button.dataset.panel === "graphs-panel") button.hidden = count === 0;
    button.replaceChildren(byId(button.dataset.panel).dataset.title, ...(count === undefined ? [] : [element("small", "", formatCount(count))]));
  }
}

function tipLines(thing) {
  const {trace} = app, {columns} = trace;
  if (thing.node !== undefined) return nodeLines(thing.node);
  if (thing.moment !== undefined) return momentLines(thing);
  if (thing.block !== undefined) {
    const id = thing.block, pool = columns["block.pool"][id];
    return [trace.blockTitle(id), `allocated on ${trace.stream(columns["block.stream"][id])}`,
      pool ? trace.texts.pools[pool - 1] : "no pool", stateOf(id), stackTitle(columns["block.stack"][id]), "click: all about it, and the whole stack"].filter(Boolean);
  }
  if (thing.band) {
    const [pool, segment, , size] = thing.band;
    return [pool === null ? "no pool" : trace.texts.pools[pool],
      `${segment === null ? "driver memory" : `segment ${segment}`}, ${formatBytes(size)} used`];
  }
  if (thing.launch !== undefined) {
    const graph = trace.texts.launches[thing.launch];
    return [`launch ${thing.launch}`, graph === null ? "" : trace.texts.graphs[graph]].filter(Boolean);
  }
  return thing.lane === undefined ? [] : [app.view.lanes[thing.lane][0]];
}

function nodeLines(id) {
  const {trace} = app, {columns} = trace, detail = trace.texts.details[columns["node.detail"][id]];
  const full = trace.nodeFullName(id), name = full.length > 400 ? `${full.slice(0, 400)}…` : full;
  const duration = columns["node.duration"][id];
  return [trace.nodeTitle(id), trace.nodeKind(id) === "kernel" && name !== trace.nodeName(id) ? name : "",
    `${trace.nodeKind(id)} on ${trace.stream(columns["node.stream"][id])}`, detail,
    duration ? `ran ${formatNanoseconds(duration)}` : "", stackTitle(columns["node.stack"][id])].filter(Boolean);
}

// "llama/modeling_llama.py:216 silu", or the function where no operator is known.
function stackTitle(oneMore) {
  const name = nameOfStack(oneMore), frames = oneMore ? app.trace.texts.stacks[oneMore - 1] : [];
  if (name?.frame) return `${shortPlace(name.frame)} ${name.operation || name.frame[0]}`.trim();
  return name?.operation || (frames.length > 0 ? frameText(ownFrame(frames)) : "");
}

function momentLines({moment, slot, bytes}) {
  const {view, groups} = app, total = groups.sums.at(moment).reduce((a, b) => a + b, 0), where = momentText(view, moment);
  if (slot < 0) return [`${formatBytes(total)} in use`, where];
  return [groups.slotName(slot), `${formatBytes(bytes)} of ${formatBytes(total)} in use, ${formatPercent(total ? bytes / total : 0)}`, where];
}

// "live for 5 nodes, then deferred for 7".
function stateOf(id) {
  const {view} = app, i = view.blockAt.get(id);
  if (i === undefined) return "";
  const unit = view.nodes.length > 0 ? "node" : "event", places = unit === "node" ? view.nodeX : view.events;
  const nodes = (from, to) => lowerBound(places, to) - lowerBound(places, from);
  const live = places.length > 0 ? `live for ${counted(nodes(view.begin[i], view.freed[i]), unit)}` : "live";
  if (!app.trace.columns["block.freed"][id]) return `${live}, ${unit === "node" ? "never freed" : "still allocated at the end"}`;
  if (view.end[i] <= view.freed[i]) return live;
  return `${live}, then deferred for ${formatCount(nodes(view.freed[i], view.end[i]))}`;
}

function showTip(thing, x, y) { showLines(tipLines(thing), x, y); }

// Marks things in all drawings; with `look` brings them into sight.
function pick(things, look) {
  app.picked = {nodes: new Set(things.nodes || []), blocks: new Set(things.blocks || []), edges: new Set(things.edges || [])};
  if (app.picked.nodes.size + app.picked.blocks.size + app.picked.edges.size === 0) app.picked = null;
  if (look && app.picked) lookAt(app.picked);
  app.redraw();
}

function unpick() {
  app.picked = null;
  app.selection = {};
  icicle.picked = null;
  for (const marked of every(".picked")) marked.classList.remove("picked");
  showDetails(null);
  chooseGroup(-1);
}

// A click on a drawing.
function pickThing(thing) {
  if (thing?.moment !== undefined) return pickMoment(thing);
  if (!thing || (thing.node === undefined && thing.block === undefined)) return unpick();
  for (const marked of every(".picked")) marked.classList.remove("picked");
  pick(thing.node !== undefined ? aroundNode(thing.node) : aroundBlock(thing.block), false);
  chooseThing(thing);
  showDetails(thing);
  showTab("details-panel");
}

function chooseThing(thing) {
  app.selection = thing.node !== undefined ? {node: thing.node} : {block: thing.block};
  if (thing.block !== undefined) chooseGroupOf(thing.block); else remember();
}

// A click on the area: that moment, and the line that was hit.
function pickMoment({moment, slot}) {
  const {groups} = app;
  app.picked = null;
  app.selection = {};
  showMoment(moment);
  chooseGroup(slot >= 0 && slot < GROUP_COLORS ? groups.slots[slot] : slot === NO_STACK || slot === EARLIER ? groups.slot.indexOf(slot) : -1);
  if (slot !== DEFERRED) return showHolders();
  const {view} = app;
  pick({blocks: view.blocks.filter((_, i) => view.freed[i] <= moment && moment < view.end[i])}, false);
  showDetails({deferred: moment});
  showTab("details-panel");
}

function showHolders() { if (byId("bill-panel").hidden) showTab("bill-panel"); }

function aroundNode(id) {
  const {trace} = app, edges = [...trace.edgesIn.of(id), ...trace.edgesOut.of(id)];
  const blocks = trace.columns["access.block"].subarray(trace.accessFirst[id], trace.accessFirst[id + 1]);
  return {nodes: [id], blocks: [...blocks].filter(Boolean).map((block) => block - 1),
          edges: edges.map((e) => trace.columns["edge.id"][e])};
}

function aroundBlock(id) {
  return {blocks: [id], nodes: [...app.trace.touching(id)].map((access) => app.trace.accessNode[access])};
}

// Shows the view that has most of these, and zooms so that they are in sight.
function lookAt({nodes, blocks, edges}) {
  const all = new Set(nodes);
  for (const id of edges) {
    const e = app.trace.edgeIndex.get(id);
    if (e !== undefined) all.add(app.trace.columns["edge.from"][e]).add(app.trace.columns["edge.to"][e]);
  }
  const view = viewOf(all, blocks);
  if (view && view !== app.view) {
    const {picked} = app;
    showView(view);
    app.picked = picked;
  }
  byId(blocks.size > 0 ? "memory-section" : "lanes-section").scrollIntoView({block: "nearest"});
  const range = rangeOf(app.view, all, blocks);
  if (!range) return;
  const margin = Math.max((range.t1 - range.t0) * .15, 12);
  const inSight = range.t0 >= app.t0 && range.t1 <= app.t1 && range.t1 - range.t0 > (app.t1 - app.t0) * .02;
  if (!inSight) app.setTime(range.t0 - margin, range.t1 + margin);
  if (range.b1 > range.b0 && !(range.b0 >= app.b0 && range.b1 <= app.b1 && (range.b1 - range.b0) > (app.b1 - app.b0) * .02)) {
    const around = Math.max((range.b1 - range.b0) * .3, app.extent() * 1e-4);
    app.setBytes(range.b0 - around, range.b1 + around);
  }
}

function holds(view, nodes, blocks) {
  view.prepare();
  for (const id of nodes) if (view.nodeAt.has(id)) return true;
  for (const id of blocks) if (view.blockAt.has(id)) return true;
  return false;
}

function viewOf(nodes, blocks) {
  if (holds(app.view, nodes, blocks)) return app.view;
  const {columns, texts, views} = app.trace, first = (ids) => ids.values().next().value;
  const graph = nodes.size > 0 ? columns["node.graph"][first(nodes)] : columns["block.graph"][first(blocks)];
  const own = graph ? views.find((view) => view.root === texts.roots[graph - 1]) : null;
  return [own, views.at(-1)].find((view) => view && holds(view, nodes, blocks));
}

function rangeOf(view, nodes, blocks) {
  const range = {t0: Infinity, t1: -Infinity, b0: Infinity, b1: -Infinity};
  for (const id of nodes) {
    const i = view.nodeAt.get(id);
    if (i === undefined) continue;
    range.t0 = Math.min(range.t0, view.nodeX[i]);
    range.t1 = Math.max(range.t1, view.nodeX[i] + 4);
  }
  for (const id of blocks) {
    const i = view.blockAt.get(id);
    if (i === undefined) continue;
    range.t0 = Math.min(range.t0, view.begin[i]);
    range.t1 = Math.max(range.t1, view.freed[i]);
    range.b0 = Math.min(range.b0, view.offset[i]);
    range.b1 = Math.max(range.b1, view.offset[i] + view.size[i]);
  }
  return range.t1 > range.t0 ? range : null;
}
