// The picked node or block, in full, with links to what it has to do with.
const LISTED = 40;

function showDetails(thing) {
  const panel = byId("details-panel");
  app.shown = thing;
  if (!thing) {
    const chosen = app.selection.finding !== undefined || app.selection.hint !== undefined;
    return panel.replaceChildren(element("p", "nothing", chosen ? "Click a node or a block of it to see all about that."
      : "Click a node or a block to see all about it, or a finding to see what it is about."));
  }
  const parts = thing.exec !== undefined ? execDetails(thing.exec, thing.version) : thing.frame ? frameDetails(thing.frame) : thing.deferred !== undefined ? deferredDetails(thing.deferred) : thing.node !== undefined ? nodeDetails(thing.node) : blockDetails(thing.block);
  panel.replaceChildren(...parts);
}

// Picks something, brings it into sight and shows its details.
function goTo(thing) {
  pick(thing.node !== undefined ? aroundNode(thing.node) : aroundBlock(thing.block), false);
  lookAt(thing.node !== undefined ? {nodes: new Set([thing.node]), blocks: new Set(), edges: new Set()}
    : {nodes: new Set(), blocks: new Set([thing.block]), edges: new Set()});
  chooseThing(thing);
  showDetails(thing);
  showTab("details-panel");
  app.redraw();
}

// A frame of the icicle: what was in use below it, and the frames from it outwards.
function frameDetails(node) {
  const callers = [];
  for (let at = node; at?.parent; at = at.parent) callers.push(at);
  const list = element("ul", "list mono");
  for (const at of callers) list.append(element("li", "", at.frame ? frameText(at.frame) : at.name));
  const called = byWeight(node).slice(0, LISTED).map((child) => [child.frame ? frameLabel(child) : child.name, formatBytes(child.weight)]);
  return [element("h3", "", node.frame ? node.frame[0] || node.name : node.name),
    pairs([["where", node.frame ? shortPlace(node.frame) : ""], [icicle.root.name, `${formatBytes(node.weight)}, ${formatPercent(icicle.root.weight ? node.weight / icicle.root.weight : 0)}`],
      ["blocks", formatCount(node.count)]]),
    ...(called.length > 0 ? [element("h3", "", "Allocated below it"), pairs(called)] : []), element("h3", "", "Called from"), list];
}

function pairs(entries) {
  const list = element("dl", "pairs");
  for (const [name, value] of entries) {
    if (value === "" || value === null || value === undefined) continue;
    list.append(element("dt", "", name), element("dd", "", value));
  }
  return list;
}

function linkTo(text, thing) {
  const link = element("button", "go", text);
  link.addEventListener("click", () => goTo(thing));
  return link;
}

function linkList(title, things) {
  if (things.length === 0) return [];
  const list = element("ul", "list");
  for (const [text, thing] of things.slice(0, LISTED)) {
    const item = element("li", "");
    item.append(linkTo(text, thing));
    list.append(item);
  }
  if (things.length > LISTED) list.append(element("li", "small", `and ${formatCount(things.length - LISTED)} more`));
  return [element("h3", "", `${title} (${formatCount(things.length)})`), list];
}

function stackPart(title, oneMore) {
  const frames = oneMore ? app.trace.texts.stacks[oneMore - 1] : [];
  return frames.length > 0 ? [element("h3", "", title), stackList(frames)] : [];
}

// The findings that name a node or one of some blocks: why a block is deferred, say.
function findingsAbout(node, blocks) {
  const wanted = new Set(blocks), about = [];
  app.trace.analyze.findings.forEach((finding, i) => {
    const things = thingsOf(finding);
    if (things.nodes.includes(node) || things.blocks.some((block) => wanted.has(block))) about.push([finding, i]);
  });
  if (about.length === 0) return [];
  const list = element("ul", "list");
  for (const [{check, message}, i] of about.slice(0, LISTED)) {
    const item = element("li", ""), link = element("button", "go", `${check}: ${message}`);
    link.addEventListener("click", () => pickFinding(i));
    item.append(link);
    list.append(item);
  }
  return [element("h3", "", `Findings (${formatCount(about.length)})`), list];
}

// The blocks that are freed and not yet usable again at x, and why.
function deferredDetails(x) {
  const {view, trace} = app, held = [...view.blocks.keys()].filter((i) => view.freed[i] <= x && x < view.end[i]);
  const bytes = held.reduce((sum, i) => sum + view.size[i], 0);
  return [element("h3", "", `Deferred, ${momentText(view, x)}: ${formatBytes(bytes)}`),
    ...linkList("Blocks", held.map((i) => [`${trace.blockTitle(view.blocks[i])}, ${stateOf(view.blocks[i])}`, {block: view.blocks[i]}])),
    ...findingsAbout(null, held.map((i) => view.blocks[i]))];
}

// The versions of an exec, each with its graph and its launches; a click selects one.
function versionList(exec, chosen) {
  const list = element("ul", "list"), {page, texts} = app.trace;
  page.execs[exec].forEach(([graph, launches], version) => {
    const item = element("li", version === chosen ? "picked" : ""), text = `${version > 0 ? "updated to" : "instantiated from"} ${graph === null ? "an unknown graph" : texts.graphs[graph]}`;
    const link = element("button", "go", `exec ${exec}: ${text}, ${formatCount(launches)} launch${launches === 1 ? "" : "es"}`);
    link.addEventListener("click", () => goToVersion(exec, version));
    item.append(link);
    list.append(item);
  });
  return list;
}

function execDetails(exec, version) {
  const [graph, launches] = app.trace.page.execs[exec][version], count = app.trace.page.execs[exec].length;
  return [element("h3", "", `exec ${exec}, version ${version + 1} of ${count}`),
    pairs([["graph", graph === null ? "unknown" : app.trace.texts.graphs[graph]], ["launches", formatCount(launches)], ["nodes", formatCount(nodesOfGraph(graph).length)]]),
    element("h3", "", "Versions"), versionList(exec, version)];
}

// The nodes of a graph and of those inside it, in the view that is shown.
function nodesOfGraph(graph) {
  const {columns, texts} = app.trace;
  return Array.from(app.view.nodes).filter((id) => columns["node.graph"][id] && texts.roots[columns["node.graph"][id] - 1] === graph);
}

// Shows the graph of an exec's version, with its nodes marked.
function goToVersion(exec, version) {
  const [graph] = app.trace.page.execs[exec][version], view = app.trace.views.find(({root}) => root === graph) || app.trace.views.find(({root}) => root === null);
  if (view && view !== app.view) showView(view);
  pick({nodes: nodesOfGraph(graph)}, true);
  app.selection = {exec: `${exec}.${version}`};
  remember();
  showDetails({exec, version});
  showTab("details-panel");
}

// The execs of a node's graph, where there is one that ran another graph, too, or several.
function execsOf(graph) {
  const root = graph ? app.trace.texts.roots[graph - 1] : null, found = [];
  app.trace.page.execs.forEach((versions, exec) => { if (root !== null && versions.some(([of]) => of === root)) found.push(exec); });
  if (found.length === 0) return [];
  return [element("h3", "", `Executables (${formatCount(found.length)})`), ...found.slice(0, LISTED).map((exec) => versionList(exec, -1)),
    ...(found.length > LISTED ? [element("p", "small", `and ${formatCount(found.length - LISTED)} more`)] : [])];
}

const EDGE_SORTS = ["", ", programmatic", ", launch completion"];
const MODES = ["touches", "reads", "writes", "updates"];

function nodeDetails(id) {
  const {trace} = app, {columns, texts} = trace, graph = columns["node.graph"][id];
  const duration = columns["node.duration"][id], full = trace.nodeFullName(id);
  const edge = (e, end) => [`${trace.nodeTitle(columns[end][e])}${EDGE_SORTS[columns["edge.sort"][e]]}`, {node: columns[end][e]}];
  const touched = [];
  for (let a = trace.accessFirst[id]; a < trace.accessFirst[id + 1]; ++a) {
    const block = columns["access.block"][a];
    if (block) touched.push([`${MODES[columns["access.mode"][a]]} ${trace.blockTitle(block - 1)}`, {block: block - 1}]);
  }
  return [element("h3", "", trace.nodeTitle(id)),
    pairs([["kind", trace.nodeKind(id)], ["name", full === trace.nodeKind(id) ? "" : full],
      ["graph", graph ? texts.graphs[graph - 1] : ""], ["stream", trace.stream(columns["node.stream"][id])],
      ["with", texts.details[columns["node.detail"][id]]], ["ran", duration ? formatNanoseconds(duration) : "not measured"]]),
    ...findingsAbout(id, []),
    ...execsOf(graph),
    ...linkList("Touches", touched),
    ...linkList("Depends on", [...trace.edgesIn.of(id)].map((e) => edge(e, "edge.from"))),
    ...linkList("Followed by", [...trace.edgesOut.of(id)].map((e) => edge(e, "edge.to"))),
    ...stackPart("Captured at", columns["node.stack"][id])];
}

function blockDetails(id) {
  const {trace} = app, {columns, texts} = trace, {view} = app, i = view.blockAt.get(id);
  const pool = columns["block.pool"][id], segment = columns["block.segment"][id], graph = columns["block.graph"][id];
  const placed = i === undefined ? -1 : view.policyOffsets[i], {policy} = trace.page;
  const touching = [...trace.touching(id)].map((a) => {
    const node = trace.accessNode[a];
    return [`${trace.nodeTitle(node)} ${MODES[columns["access.mode"][a]]}`, {node}];
  });
  const could = view.reuse.filter((pair) => pair.later === id).map((pair) => [`${formatBytes(pair.bytes)} of ${trace.blockTitle(pair.earlier)}`, {block: pair.earlier}]);
  const gives = view.reuse.filter((pair) => pair.earlier === id).map((pair) => [trace.blockTitle(pair.later), {block: pair.later}]);
  return [element("h3", "", trace.blockTitle(id)),
    pairs([["size", `${formatBytes(columns["block.size"][id])} (${formatCount(columns["block.size"][id])} B)`],
      ["address", `0x${columns["block.address"][id].toString(16)}`], ["pool", pool ? texts.pools[pool - 1] : "none"],
      ["segment", segment ? `segment ${segment - 1}` : ""], ["stream", trace.stream(columns["block.stream"][id])],
      ["graph", graph ? texts.graphs[graph - 1] : "outside captures"], ["life", stateOf(id)],
      [policy ? `with ${policy.name}` : "", placed >= 0 ? `at ${formatBytes(placed)}` : ""]].filter(([name]) => name)),
    ...findingsAbout(null, [id]),
    ...linkList("Could lie where this lay", could), ...linkList("Its memory would do for", gives),
    ...linkList("Touched by", touching),
    ...stackPart("Allocated at", columns["block.stack"][id]), ...stackPart("Freed at", columns["block.free_stack"][id])];
}
