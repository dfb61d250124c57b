// The figures of a graph, its memory bill, and the list of graphs.
function graphOf(view) { return view.root === null ? null : app.trace.summary(view.root); }

function figure(name, value, title, tone) {
  const made = element("div", "figure");
  made.append(element("div", "name", name), element("div", `value ${tone || ""}`, value));
  if (title) made.title = title;
  made.dataset.figure = name;
  return made;
}

function makeFigures(view) {
  const graph = graphOf(view), {totals} = app.trace.analyze, figures = [];
  byId("view").value = view.index;
  if (!graph) {
    const unknown = app.trace.analyze.unknown_memory;
    for (const name of totals.graphs > 0 ? ["graphs", "nodes", "edges", "blocks", "launches"] : ["blocks"]) {
      if (name !== "blocks" || !unknown) figures.push(figure(name, formatCount(totals[name])));
    }
    if (unknown) figures.push(figure("memory", "unknown", unknown));
    figures.push(...momentFigures());
  } else {
    figures.push(figure("nodes", formatCount(graph.nodes), kindsText(graph)), figure("edges", formatCount(graph.edges),
      `${formatCount(graph.cross_stream_edges)} between streams, ${formatCount(graph.programmatic_edges)} programmatic`),
      figure("longest path", `${formatCount(graph.critical_path_nodes)} nodes`,
        graph.critical_path_ns ? formatNanoseconds(graph.critical_path_ns) : "no durations were measured"));
    figures.push(...memoryFigures(graph, view));
  }
  byId("figure-list").replaceChildren(...figures);
}

// Memory of executables, of a graph or of all.
function execFigure(memory) {
  const simulated = memory.source !== "estimated" && app.trace.analyze.device === "soft" ? ", simulated" : "";
  return figure("executables", formatBytes(memory.bytes),
    `${formatBytes(memory.low)} to ${formatBytes(memory.high)}, ${memory.source}${simulated}; ${memory.execs_at_peak} at once`);
}

function momentFigures() {
  const moments = app.trace.analyze.memory_moments, execs = app.trace.analyze.exec_memory;
  return [...placeFigures(moments), ...(execs ? [execFigure(execs)] : [])];
}

function placeFigures(moments) {
  if (!moments) return [];
  const at = (moment) => `after record ${formatCount(moment.record)}`;
  return [figure("peak reserved", formatBytes(moments.peak_reserved.reserved_bytes), at(moments.peak_reserved)),
    figure("peak in use", formatBytes(moments.peak_in_use.in_use_bytes), at(moments.peak_in_use)),
    figure("in use at the end", formatBytes(moments.end.in_use_bytes), `of ${formatBytes(moments.end.reserved_bytes)} reserved`)];
}

function memoryFigures(graph, view) {
  const execs = graph.exec_memory ? [execFigure(graph.exec_memory)] : [];
  if (graph.unknown_memory) return [figure("memory", "unknown", graph.unknown_memory), ...execs];
  const blocks = figure("blocks", formatCount(graph.blocks), `${formatBytes(graph.total_bytes)} in all`);
  if (graph.blocks === 0) {
    return [blocks, ...(graph.pinned_bytes ? [figure("memory from elsewhere", formatBytes(graph.pinned_bytes))] : []), ...execs];
  }
  const figures = [blocks, figure("peak live", formatBytes(graph.peak_live_bytes), "most bytes allocated and not yet freed"),
    figure("deferred", formatBytes(graph.deferred_bytes), "most bytes freed that could not be used again yet",
      graph.deferred_bytes > 0 ? "bad" : ""),
    figure("address range", formatBytes(graph.recorded_extent_bytes), "as recorded"),
    figure("lower bound", formatBytes(graph.lower_bound_bytes), "no placement that is safe needs less")];
  const {policy} = app.trace.page;
  if (policy && view.policyBlocks.length > 0) {
    figures.push(figure(`with ${policy.name}`, formatBytes(view.policy_extent), "address range under the policy",
      view.policy_extent < graph.recorded_extent_bytes ? "good" : ""));
  }
  if (graph.never_freed_bytes > 0) figures.push(figure("never freed", formatBytes(graph.never_freed_bytes), "", "bad"));
  return [...figures, ...execs];
}

function kindsText(graph) {
  return Object.entries(graph.nodes_by_type).map(([kind, count]) => `${formatCount(count)} ${kind}`).join(", ");
}

// Once for a trace: it may have ten thousand graphs.
function fillViewChoice(views) {
  const choice = byId("view");
  choice.replaceChildren(...views.map((view) => new Option(view.title, view.index)));
  choice.onchange = () => showView(views[choice.value]);
  choice.parentElement.hidden = views.length < 2;
}

function bar(name, bytes, most, color, title) {
  const row = element("div", "bar"), track = element("div", "track"), fill = element("div", "fill");
  fill.style.width = `${most > 0 ? bytes / most * 100 : 0}%`;
  fill.style.background = color;
  fill.hidden = bytes === 0;
  track.append(fill);
  row.append(element("span", "name", name), track, element("span", "num", formatBytes(bytes)));
  row.title = title || "";
  return row;
}

function makeBill(view) {
  const panel = byId("bill-panel"), graph = graphOf(view), parts = [];
  const holders = element("div", "");
  holders.id = "holders";
  parts.push(holders, element("h3", "", "Peak memory reserved from the driver"), ...driverBill());
  if (graph && graph.blocks > 0) {
    parts.push(element("h3", "", `Memory of ${view.title}`), ...graphBars(graph, view));
  } else if (graph && graph.pinned_bytes > 0) {
    parts.push(element("h3", "", `Memory of ${view.title}`),
      element("p", "small", `Allocates nothing; touches ${counted(graph.pinned_blocks, "block")} from elsewhere, ${formatBytes(graph.pinned_bytes)}, kept as long as it may run.`));
  }
  const requested = element("div", "");  // below what is in sight at first, so it is made after the first drawing
  parts.push(requested);
  panel.replaceChildren(...parts);
  if (!graph || graph.blocks > 0) requestAnimationFrame(() => setTimeout(() => requested.replaceChildren(...billTable(view))));
}

const HOLDERS = 10;  // shown

// Who holds memory at the moment that is chosen, the most first, in the colours of the drawings.
function makeHolders(view) {
  const {groups} = app, box = byId("holders"), held = groups.heldAt(app.at), whole = held.reduce((sum, {bytes}) => sum + bytes, 0);
  if (held.length === 0) return box.replaceChildren();
  const columns = [{title: groups.by, value: ({group}) => groups.names[group]}, bytesColumn("bytes", ({bytes}) => bytes),
    {title: "share", value: ({bytes}) => whole ? bytes / whole : 0, text: formatPercent, className: "num"}, countColumn("blocks", ({blocks}) => blocks)];
  const fill = (row, {group}) => {
    linkRow(row, () => chooseGroup(groups.chosen === group ? -1 : group));
    row.cells[0].firstChild.prepend(swatch(groups.slot[group]));
    row.dataset.group = group;
    row.title = groups.names[group];
  };
  const at = app.at === view.peakX ? "the peak" : app.at >= view.width - 1 ? "the end" : momentText(view, app.at);
  const unused = unusedAt(view, Math.min(app.at, view.width - 1)), gaps = unused.bytes === 0 ? [] : [element("p", "small unused",
    `Gaps in the addresses of segments then: ${formatBytes(unused.bytes)} in ${formatCount(unused.gaps)}, the largest ${formatBytes(unused.largest)}.`)];
  box.replaceChildren(element("h3", "", `Held at ${at} (${formatBytes(whole)})`), ...gaps, ...sortableTable(columns, held, {most: HOLDERS, fill, sorted: 1}));
  markHolders();
}

function driverBill() {
  const memory = app.trace.analyze.driver_memory, most = memory.asked_bytes;
  if (most === null) return [element("p", "small", `Unknown: ${app.trace.analyze.unknown_memory}.`)];
  if (most === 0) return [element("p", "small", "Nothing was reserved from the driver in this trace.")];
  const rows = [["in use in segments", memory.segment_used_bytes, "live"], ["free in segments", memory.segment_free_bytes, "deferred"],
    ["graph nodes", memory.graph_node_bytes, "mem_alloc"], ["touched by graphs", memory.input_bytes, "memcpy"],
    ["not attributed", memory.not_attributed_bytes, "empty"]];
  const bars = rows.filter(([, bytes]) => bytes > 0).map(([name, bytes, color]) => bar(name, bytes, most, `var(--${color})`));
  return [...bars, bar("together", most, most, "var(--pale)")];
}

function graphBars(graph, view) {
  const most = Math.max(graph.recorded_extent_bytes, graph.peak_live_bytes, graph.deferred_bytes, view.policy_extent, graph.lower_bound_bytes);
  const bars = [bar("peak live", graph.peak_live_bytes, most, "var(--live)"),
    bar("deferred", graph.deferred_bytes, most, "var(--deferred)", "most bytes freed that could not be used again yet"),
    bar("never freed", graph.never_freed_bytes, most, "var(--kept)"),
    bar("reuse possible", graph.reuse_bytes, most, "var(--reuse)", "could share memory with an earlier block"),
    bar("address range", graph.recorded_extent_bytes, most, "var(--pale)", "as recorded")];
  const {policy} = app.trace.page;
  if (policy && view.policyBlocks.length > 0) bars.push(bar(`with ${policy.name}`, view.policy_extent, most, "var(--memcpy)"));
  bars.push(bar("lower bound", graph.lower_bound_bytes, most, "var(--memcpy)", "no placement that is safe needs less"));
  if (graph.pinned_bytes > 0) bars.push(bar("from elsewhere", graph.pinned_bytes, Math.max(most, graph.pinned_bytes), "var(--host)"));
  return bars;
}

const BILLS = ["stack", "stream", "pool", "block"];
const BILL_LINES = 100;  // shown of each

// Who requested a view's memory: {columns, rows} of a table.
function billOf(view, by) {
  const reuse = new Map();
  for (const pair of view.reuse) reuse.set(pair.later, Math.max(pair.bytes, reuse.get(pair.later) || 0));
  const reuseOf = (i) => reuse.get(view.blocks[i]) || 0, reuseColumn = (value) => ({title: "could reuse", value,
    text: (bytes) => bytes ? formatBytes(bytes) : "–", className: "num"});
  if (by === "block") {  // by their places in the view: there may be a million
    return {rows: [...view.size.keys()], columns: [{title: by, value: (i) => view.blocks[i], text: (id) => `block ${id}`},
      bytesColumn("bytes", (i) => view.size[i]), reuseColumn(reuseOf)]};
  }
  const lines = groupedLines(view, by);
  for (const line of lines) {
    for (const i of line.items) {
      line.bytes += view.size[i];
      line.reuse += reuseOf(i);
    }
  }
  return {rows: lines, columns: [{title: by, value: (line) => line.name}, bytesColumn("bytes", (line) => line.bytes),
    countColumn("blocks", (line) => line.items.length), reuseColumn((line) => line.reuse)]};
}

function groupedLines(view, by) {
  const {trace} = app, column = trace.columns[`block.${by}`], names = new Map(), lines = new Map();
  const nameOf = {stack: (id) => (id && trace.texts.stack_titles[id - 1]) || "no call stack", stream: (id) => trace.stream(id),
    pool: (id) => id ? trace.texts.pools[id - 1] : "no pool"}[by];
  view.blocks.forEach((block, i) => {
    const id = column[block];
    if (!names.has(id)) names.set(id, nameOf(id));
    const name = names.get(id);
    if (!lines.has(name)) lines.set(name, {name, items: [], bytes: 0, reuse: 0});
    lines.get(name).items.push(i);
  });
  return [...lines.values()];
}

function billTable(view) {
  if (view.blocks.length === 0) return [];
  const choice = element("div", "choice"), holder = element("div", "");
  const show = (by) => {
    for (const button of choice.children) button.setAttribute("aria-pressed", String(button.textContent === by));
    const {columns, rows} = billOf(view, by);
    const fill = (row, i) => linkRow(row, () => goTo({block: view.blocks[i]}));
    holder.replaceChildren(...sortableTable(columns, rows, {most: BILL_LINES, sorted: 1, fill: by === "block" ? fill : undefined}));
  };
  for (const by of BILLS) {
    const button = element("button", "", by);
    button.addEventListener("click", () => show(by));
    choice.append(button);
  }
  const stacks = app.trace.columns["block.stack"];
  show(view.blocks.some((id) => stacks[id] !== stacks[view.blocks[0]]) ? "stack" : "block");
  return [element("h3", "", "Requested by"), choice, holder];
}

const GRAPHS_AT_ONCE = 500;

function makeGraphs() {
  const {analyze, texts, views} = app.trace, {graphs} = analyze;
  const embedded = (graph) => texts.parents[graph.id] !== null;
  const ownBytes = (title, figure) => ({...bytesColumn(title, (graph) => embedded(graph) ? null : graph[figure]),
    text: (bytes, graph) => embedded(graph) ? "" : formatBytes(bytes)});
  const fill = (row, graph) => {
    linkRow(row, () => showView(views.find((v) => v.root === texts.roots[graph.id])));
    row.dataset.graph = graph.id;
    row.title = `${graph.origin}, ${kindsText(graph) || "no nodes"}`;
    row.classList.toggle("picked", app.view !== null && graph.id === app.view.root);
  };
  const columns = [{title: "graph", value: (graph) => `${embedded(graph) ? "↳ " : ""}${texts.graphs[graph.id]}`},
    countColumn("nodes", (graph) => graph.nodes), ownBytes("peak live", "peak_live_bytes"), ownBytes("deferred", "deferred_bytes")];
  byId("graphs-panel").replaceChildren(...sortableTable(columns, graphs, {most: GRAPHS_AT_ONCE, fill}));
}

function markGraph(view) {
  for (const row of every("#graphs-panel tr")) row.classList.toggle("picked", row.dataset.graph === String(view.root));
}
