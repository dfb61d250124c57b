// Finding things by their names: kernels, nodes, blocks, graphs, checks and hints, lines of code, functions and modules.
const SHOWN_HITS = 60;

// {hits: [{text, sort, go}], nodes: ids of all nodes whose name matches}.
function findAll(query) {
  const wanted = query.trim().toLowerCase(), hits = [];
  if (!wanted) return {hits, nodes: []};
  byNumber(wanted, hits);
  for (const problem of listProblems()) {
    if (problem.check.includes(wanted) || problem.message.toLowerCase().includes(wanted)) {
      hits.push({text: problem.message, sort: problem.check, go: () => pickProblem(problem)});
    }
  }
  app.trace.texts.graphs.forEach((title, i) => {
    if (!title.toLowerCase().includes(wanted)) return;
    const view = app.trace.views.find((v) => v.root === app.trace.texts.roots[i]);
    hits.push({text: title, sort: "graph", go: () => showView(view)});
  });
  byLine(wanted, hits);
  return {hits, nodes: byName(wanted, hits)};
}

// Lines that allocate and files that they are in choose their memory; functions, and lines that captured nodes, mark what
// they led to.
function byLine(wanted, hits) {
  const {trace} = app, view = app.view;
  for (const by of ["line", "module"]) {
    const groups = groupsOf(view, by);
    const held = groups.names.map((name, group) => ({name, group})).filter(({name, group}) => groups.known[group] && name.toLowerCase().includes(wanted));
    for (const {name, group} of held.slice(0, SHOWN_HITS)) {
      hits.push({text: name, sort: by === "line" ? "line that allocates" : "module that allocates", go: () => {
        if (app.groups.by !== by) groupBlocks(by);
        chooseGroup(app.groups.index.get(groups.keys[group]));
        showHolders();
      }});
    }
  }
  const functions = new Map(), lines = new Map();
  trace.texts.stacks.forEach((frames, i) => {
    const note = (found, text) => { if (text.toLowerCase().includes(wanted)) found.set(text, [...(found.get(text) || []), i + 1]); };
    for (const text of new Set(frames.filter(([name, , , library]) => name && !library).map(([name, file]) => `${name} in ${shortFile(file)}`))) note(functions, text);
    note(lines, stackTitle(i + 1));
  });
  for (const [found, sort] of [[functions, "function"], [lines, "line that captures"]]) {
    for (const [text, stacks] of [...found].slice(0, SHOWN_HITS)) addStacks(text, sort, new Set(stacks), hits);
  }
}

// A hit for all nodes and blocks of some stacks; lines whose blocks alone are found stand in the list already.
function addStacks(text, sort, stacks, hits) {
  const {trace} = app, of = (kind, count) => {
    const column = trace.columns[`${kind}.stack`], ids = [];
    for (let id = 0; id < count; ++id) if (stacks.has(column[id])) ids.push(id);
    return ids;
  };
  const nodes = of("node", trace.nodeCount), blocks = sort === "function" ? of("block", trace.blockCount) : [];
  if (nodes.length + blocks.length === 0) return;
  const what = [nodes.length ? counted(nodes.length, "node") : "", blocks.length ? counted(blocks.length, "block") : ""].filter(Boolean).join(", ");
  hits.push({text, sort: `${sort}, ${what}`, go: () => {
    if (nodes.length > 0) goTo({node: nodes[0]}); else goTo({block: blocks[0]});
    pick({nodes, blocks}, true);
  }});
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
  document.addEventListener("pointerdown", (event) => { if (!byId("searchbox").contains(/** @type {Node} */ (event.target))) list.hidden = true; });
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
