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
  if (app.trace.views.length > 1) figures.push(viewChoice(view));
  if (!graph) {
    for (const name of totals.graphs > 0 ? ["graphs", "nodes", "edges", "blocks", "launches"] : ["blocks"]) {
      figures.push(figure(name, formatCount(totals[name])));
    }
    figures.push(...momentFigures());
  } else {
    figures.push(figure("nodes", formatCount(graph.nodes), kindsText(graph)), figure("edges", formatCount(graph.edges),
      `${formatCount(graph.cross_stream_edges)} between streams, ${formatCount(graph.programmatic_edges)} programmatic`),
      figure("longest path", `${formatCount(graph.critical_path_nodes)} nodes`,
        graph.critical_path_ns ? formatNanoseconds(graph.critical_path_ns) : "no durations were measured"),
      figure("blocks", formatCount(graph.blocks), `${formatBytes(graph.total_bytes)} in all`));
    figures.push(...memoryFigures(graph, view));
  }
  byId("figures").replaceChildren(...figures);
}

// What executables take, of a graph or of all.
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
  if (graph.blocks === 0) {
    return [...(graph.pinned_bytes ? [figure("memory from elsewhere", formatBytes(graph.pinned_bytes))] : []), ...execs];
  }
  const figures = [figure("peak live", formatBytes(graph.peak_live_bytes), "most bytes allocated and not yet freed"),
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

function viewChoice(view) {
  const choice = document.createElement("select");
  choice.id = "view";
  choice.setAttribute("aria-label", "Graph");
  app.trace.views.forEach((v, i) => {
    const option = element("option", "", v.title);
    option.value = i;
    option.selected = v === view;
    choice.append(option);
  });
  choice.addEventListener("change", () => showView(app.trace.views[choice.value]));
  const holder = element("div", "figure");
  holder.append(choice);
  return holder;
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
  parts.push(element("h3", "", "Peak memory reserved from the driver"), ...driverBill());
  if (graph && graph.blocks > 0) {
    parts.push(element("h3", "", `Memory of ${view.title}`), ...graphBars(graph, view), ...billTable(view));
  } else if (graph && graph.pinned_bytes > 0) {
    parts.push(element("h3", "", `Memory of ${view.title}`),
      element("p", "small", `Allocates nothing; touches ${counted(graph.pinned_blocks, "block")} from elsewhere, ${formatBytes(graph.pinned_bytes)}, kept as long as it may run.`));
  }
  if (!graph && app.trace.page.memory.length > 0) parts.push(...heldAtPeak(app.trace.page.memory[0]));
  panel.replaceChildren(...parts);
}

const HOLDERS = 10;  // shown

// Who held the peak in use of the device that had the most, and what is worth a look.
function heldAtPeak(memory) {
  const whole = memory.peak_in_use.in_use_bytes, table = tableOf([["line", ""], ["bytes", "num"], ["share", "num"], ["blocks", "num"]]);
  const kinds = {"no-stack": "no call stack", "before-recording": "allocated before recording began (no stack)"};
  for (const holder of memory.holders.slice(0, HOLDERS)) {
    const pool = holder.pool === null ? "" : app.trace.texts.pools[holder.pool];
    const row = element("tr", ""), name = [holder.place || pool || kinds[holder.kind], holder.operations.slice(0, 4).join(", ") || holder.function];
    row.append(element("td", "", name.filter(Boolean).join(" ")), element("td", "num", formatBytes(holder.bytes)),
      element("td", "num", `${(whole ? holder.bytes / whole * 100 : 0).toFixed(1)} %`), element("td", "num", formatCount(holder.blocks)));
    row.title = holder.file ? `${holder.file}:${holder.line}` : "";
    table.append(row);
  }
  const parts = [element("h3", "", `Who held the peak (${formatBytes(whole)})`), table];
  if (memory.holders.length > HOLDERS) parts.push(element("p", "small", `and ${formatCount(memory.holders.length - HOLDERS)} more, all smaller`));
  if (memory.worth_a_look.length > 0) parts.push(element("h3", "", "Worth a look"));
  for (const {text, advice} of memory.worth_a_look) {
    parts.push(element("p", "look", text));
    if (advice) parts.push(element("p", "advice", `→ ${advice}`));
  }
  return parts;
}

function driverBill() {
  const memory = app.trace.analyze.driver_memory, most = memory.asked_bytes;
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

// What asked for a view's memory: {lines: {name, blocks, bytes, reuse, block}, count}, most bytes first.
function billOf(view, by) {
  const reuse = new Map();
  for (const pair of view.reuse) reuse.set(pair.later, Math.max(pair.bytes, reuse.get(pair.later) || 0));
  const lines = by === "block" ? blockLines(view) : groupedLines(view, by);
  for (const line of lines.values()) {
    for (const i of line.items) {
      line.bytes += view.size[i];
      line.reuse += reuse.get(view.blocks[i]) || 0;
    }
  }
  const sorted = [...lines.values()].sort((a, b) => b.bytes - a.bytes || (a.name < b.name ? -1 : 1));
  return {lines: sorted.slice(0, BILL_LINES), count: by === "block" ? view.blocks.length : sorted.length};
}

function billLine(name, items) { return {name, items, bytes: 0, reuse: 0}; }

// The largest blocks alone: there may be a million.
function blockLines(view) {
  const sizes = Float64Array.from(view.size).sort(), least = sizes[Math.max(0, sizes.length - BILL_LINES)];
  const places = [...view.size.keys()], equal = places.filter((i) => view.size[i] === least);
  const chosen = places.filter((i) => view.size[i] > least).concat(equal.slice(0, BILL_LINES));
  return new Map(chosen.map((i) => [i, {...billLine(`block ${view.blocks[i]}`, [i]), block: view.blocks[i]}]));
}

function groupedLines(view, by) {
  const {trace} = app, column = trace.columns[`block.${by}`], names = new Map(), lines = new Map();
  const nameOf = {stack: (id) => (id && trace.texts.stack_titles[id - 1]) || "no call stack", stream: (id) => trace.stream(id),
    pool: (id) => id ? trace.texts.pools[id - 1] : "no pool"}[by];
  view.blocks.forEach((block, i) => {
    const id = column[block];
    if (!names.has(id)) names.set(id, nameOf(id));
    const name = names.get(id);
    if (!lines.has(name)) lines.set(name, billLine(name, []));
    lines.get(name).items.push(i);
  });
  return lines;
}

function billTable(view) {
  if (view.blocks.length === 0) return [];
  const choice = element("div", "choice"), holder = element("div", "");
  const show = (by) => {
    for (const button of choice.children) button.setAttribute("aria-pressed", String(button.textContent === by));
    holder.replaceChildren(...billRows(billOf(view, by), by));
  };
  for (const by of BILLS) {
    const button = element("button", "", by);
    button.addEventListener("click", () => show(by));
    choice.append(button);
  }
  show(billOf(view, "stack").lines.length > 1 ? "stack" : "block");
  return [element("h3", "", "Who asked for it"), choice, holder];
}

function tableOf(heads) {
  const table = element("table", "rows"), head = element("tr", "");
  for (const [text, className] of heads) head.append(element("th", className, text));
  table.append(head);
  return table;
}

function billRows({lines, count}, by) {
  const table = tableOf([[by, ""], ["bytes", "num"], ["blocks", "num"], ["could reuse", "num"]]);
  for (const {name, items, bytes, reuse, block} of lines) {
    const row = element("tr", block === undefined ? "" : "link");
    row.append(element("td", "", name), element("td", "num", formatBytes(bytes)), element("td", "num", formatCount(items.length)),
      element("td", "num", reuse ? formatBytes(reuse) : "–"));
    if (block !== undefined) row.addEventListener("click", () => goTo({block}));
    table.append(row);
  }
  const parts = [table];
  if (count > lines.length) parts.push(element("p", "small", `and ${formatCount(count - lines.length)} more, all smaller`));
  return parts;
}

const GRAPHS_AT_ONCE = 500;

function makeGraphs() {
  const panel = byId("graphs-panel"), {graphs} = app.trace.analyze;
  const table = tableOf([["graph", ""], ["nodes", "num"], ["peak live", "num"], ["deferred", "num"]]);
  for (const graph of graphs.slice(0, GRAPHS_AT_ONCE)) {
    const row = element("tr", "link"), embedded = app.trace.texts.parents[graph.id] !== null;
    row.dataset.graph = graph.id;
    const name = `${embedded ? "↳ " : ""}${app.trace.texts.graphs[graph.id]}`;
    row.append(element("td", "", name), element("td", "num", formatCount(graph.nodes)),
      element("td", "num", embedded ? "" : formatBytes(graph.peak_live_bytes)),
      element("td", "num", embedded ? "" : formatBytes(graph.deferred_bytes)));
    row.title = `${graph.origin}, ${kindsText(graph) || "no nodes"}`;
    row.addEventListener("click", () => showView(app.trace.views.find((v) => v.root === app.trace.texts.roots[graph.id])));
    table.append(row);
  }
  panel.replaceChildren(table);
  if (graphs.length > GRAPHS_AT_ONCE) panel.append(element("p", "small", `and ${formatCount(graphs.length - GRAPHS_AT_ONCE)} more: find them above`));
}

function markGraph(view) {
  for (const row of document.querySelectorAll("#graphs-panel tr")) row.classList.toggle("picked", row.dataset.graph === String(view.root));
}
