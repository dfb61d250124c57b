// Finding things by their names: kernels, nodes, blocks, graphs, findings, and lines of code.
const SHOWN_HITS = 60;

// {hits: [{text, sort, go}], nodes: ids of all nodes whose name matches}.
function findAll(query) {
  const wanted = query.trim().toLowerCase(), hits = [];
  if (!wanted) return {hits, nodes: []};
  byNumber(wanted, hits);
  app.trace.analyze.findings.forEach((finding, i) => {
    if (finding.check.includes(wanted) || finding.message.toLowerCase().includes(wanted)) {
      hits.push({text: finding.message, sort: finding.check, go: () => pickFinding(i)});
    }
  });
  app.trace.texts.graphs.forEach((title, i) => {
    if (!title.toLowerCase().includes(wanted)) return;
    const view = app.trace.views.find((v) => v.root === app.trace.texts.roots[i]);
    hits.push({text: title, sort: "graph", go: () => showView(view)});
  });
  byLine(wanted, hits);
  return {hits, nodes: byName(wanted, hits)};
}

// Lines of the program that captured nodes or allocated blocks: each with the first of them.
function byLine(wanted, hits) {
  const {trace} = app;
  const matches = trace.texts.stacks.map((frames, i) => {
    const line = stackTitle(i + 1);
    return line.toLowerCase().includes(wanted) ? line : "";
  });
  if (!matches.some(Boolean)) return;
  const lines = new Map();
  const collect = (kind, count) => {
    const stacks = trace.columns[`${kind}.stack`];
    for (let id = 0; id < count; ++id) {
      const line = stacks[id] ? matches[stacks[id] - 1] : "";
      if (!line) continue;
      if (!lines.has(line)) lines.set(line, {node: [], block: []});
      lines.get(line)[kind].push(id);
    }
  };
  collect("node", trace.nodeCount);
  collect("block", trace.blockCount);
  for (const [line, {node, block}] of lines) {
    const what = [node.length ? counted(node.length, "node") : "", block.length ? counted(block.length, "block") : ""];
    const go = () => {
      if (node.length === 0) return goTo({block: block[0]});
      goTo({node: node[0]});
      pick({nodes: node}, true);
    };
    hits.push({text: line, sort: what.filter(Boolean).join(", "), go});
  }
}

// "node 12", "block 5", "12".
function byNumber(wanted, hits) {
  const match = /^(node|block)?\s*#?(\d+)$/.exec(wanted), {trace} = app;
  if (!match) return;
  const id = Number(match[2]);
  if (match[1] !== "block" && id < trace.nodeCount) hits.push({text: trace.nodeTitle(id), sort: "node", go: () => goTo({node: id})});
  if (match[1] !== "node" && id < trace.blockCount) hits.push({text: trace.blockTitle(id), sort: "block", go: () => goTo({block: id})});
}

function byName(wanted, hits) {
  const {trace} = app, names = trace.columns["node.name"];
  const matches = trace.texts.names.map((name, i) =>
    name.toLowerCase().includes(wanted) || trace.texts.short_names[i].toLowerCase().includes(wanted));
  const nodes = [];
  for (let id = 0; id < trace.nodeCount; ++id) if (matches[names[id]]) nodes.push(id);
  if (nodes.length > 1) {
    hits.push({text: `all ${formatCount(nodes.length)} nodes that match`, sort: "highlight", go: () => pick({nodes}, true)});
  }
  for (const id of nodes.slice(0, SHOWN_HITS)) hits.push({text: trace.nodeTitle(id), sort: trace.stream(trace.columns["node.stream"][id]), go: () => goTo({node: id})});
  return nodes;
}

function makeSearch() {
  const input = byId("search"), list = byId("hits");
  let at = 0;
  const choose = (i) => {
    const buttons = [...list.querySelectorAll("button")];
    at = clamp(i, 0, buttons.length - 1);
    buttons.forEach((button, k) => button.setAttribute("aria-selected", String(k === at)));
    input.setAttribute("aria-activedescendant", buttons[at]?.id ?? "");
    if (buttons[at]) buttons[at].scrollIntoView({block: "nearest"});
  };
  input.addEventListener("input", () => {
    showHits(input.value, list);
    choose(0);
  });
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") choose(at + 1);
    else if (event.key === "ArrowUp") choose(at - 1);
    else if (event.key === "Enter") list.querySelectorAll("button")[at]?.click();
    else if (event.key === "Escape") { list.hidden = true; input.blur(); }
    else return;
    event.preventDefault();
  });
  input.addEventListener("focus", () => { if (input.value) list.hidden = false; });
  document.addEventListener("pointerdown", (event) => { if (!byId("searchbox").contains(event.target)) list.hidden = true; });
}

function showHits(query, list) {
  const {hits} = findAll(query);
  list.hidden = !query.trim();
  byId("search").setAttribute("aria-expanded", String(!list.hidden));
  const rows = [element("div", "count", hits.length === 0 ? "nothing found" : counted(hits.length, "hit"))];
  for (const hit of hits.slice(0, SHOWN_HITS)) {
    const row = element("button", "");
    row.role = "option";
    row.id = `hit${rows.length}`;
    row.append(element("span", "", hit.text), element("span", "", hit.sort));
    row.addEventListener("click", () => { list.hidden = true; hit.go(); });
    rows.push(row);
  }
  list.replaceChildren(...rows);
}
