// The page of `graphkit attribute --format html`: the time of a replay by call stack, and the nodes that ran.
const LISTED_NODES = 200;

const app = {
  trace: null, view: null, groups: null, at: 0, t0: 0, t1: 1, cursor: null, changed: false, pending: false,
  page: null,  // the data
  size: 0,     // the batch size that is shown, by its place
  apart: false,  // layers and other modules of one class have frames of their own
  rows: [],    // its nodes: {graph, number, kernel, place, ns, count, leaf}

  redraw() {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      drawIcicle(byId("icicle"));
    });
  },
};

function eachTime(ns) { return formatNanoseconds(Math.round(ns / Math.max(app.page.sizes[app.size].replays, 1))); }

function frameWeight({weight}) { return eachTime(weight); }

function frameTexts(node) {
  return [`${frameWeight(node)} a replay, ${formatPercent(node.weight / Math.max(icicle.root.weight, 1))}, ${counted(node.count, "node")}`];
}

// Kernels have a colour of their own, their stacks the other one.
function frameColor({children}) { return children.size === 0 ? theme.colors.kernel : null; }

function isFaded(_node) { return false; }

// The nodes below the frame.
function pickedFrame(node) {
  const below = (leaf) => {
    for (let at = leaf; at; at = at.parent) if (at === node) return true;
    return false;
  };
  fillNodes(node, app.rows.filter(({leaf}) => below(leaf)));
}

function fillNodes(node, rows) {
  byId("nodes-title").textContent = node === icicle.root ? "Nodes" : `Nodes of ${node.name}`;
  const columns = [{title: "graph", value: ({graph}) => graph}, {title: "node", value: ({number}) => number, className: "num"},
    {title: "kernel", value: ({kernel}) => kernel, className: "mono"}, {title: "line", value: ({line}) => line, className: "mono"},
    {title: "time a replay", value: ({ns}) => ns, text: eachTime, className: "num"}, countColumn("runs", ({count}) => count)];
  const fill = (row, {leaf}) => {
    linkRow(row, () => showLeaf(leaf));
    row.classList.toggle("on", leaf === node);
  };
  byId("nodes").replaceChildren(...sortableTable(columns.slice(app.page.graphs.length > 1 ? 0 : 1), rows, {most: LISTED_NODES, fill}));
}

// Brings the frames of a node into sight.
function showLeaf(leaf) {
  icicle.picked = leaf;
  icicle.zoomed = icicle.root;
  sizeIcicle();
  byId("icicle").scrollIntoView({block: "nearest"});
  app.redraw();
}

// How many frames all stacks begin with.
function commonFrames(stacks) {
  const [first = []] = stacks, other = (name, i) => stacks.some((stack) => stack[i] !== name), found = first.findIndex(other);
  return found < 0 ? first.length : found;
}

// "Qwen3DecoderLayer_7" as "Qwen3DecoderLayer".
function frameName(name) { return app.apart ? name : name.replace(/^([A-Za-z]\w*)_\d+$/, "$1"); }

function showSize(size) {
  const {page} = app, root = icicleNode(page.sizes[size].name, null, null), nodes = page.nodes.filter((node) => node[3] === size);
  const common = commonFrames([...new Set(nodes.map((node) => node[2]))].map((stack) => page.stacks[stack]));
  app.size = size;
  app.rows = nodes.map(([graph, number, stack, , kernel, line, ns, count]) => {
    let leaf = root;
    for (const name of [...page.stacks[stack].slice(Math.max(common - 1, 0)).map(frameName), page.names[kernel]]) {
      leaf.weight += ns;
      ++leaf.count;
      leaf = icicleChild(leaf, name, null);
    }
    leaf.weight += ns;
    ++leaf.count;
    return {graph: page.graphs[graph], number, kernel: page.names[kernel], line: page.names[line], ns, count, leaf};
  });
  setIcicle(root, `Time of a replay by call stack: ${eachTime(root.weight)}`);
  fillNodes(root, app.rows);
  app.redraw();
}

function sizeChoice(sizes) {
  const choice = element("select", ""), label = element("label", "", "of ");
  choice.setAttribute("aria-label", "Batch size");
  choice.replaceChildren(...sizes.map(({name}, i) => new Option(name, String(i))));
  choice.addEventListener("change", () => showSize(Number(choice.value)));
  label.append(choice);
  label.hidden = sizes.length < 2;
  return label;
}

function layersChoice() {
  const choice = element("button", "", "layers apart");
  choice.id = "layers-apart";
  choice.setAttribute("aria-pressed", "false");
  choice.addEventListener("click", () => {
    app.apart = !app.apart;
    choice.setAttribute("aria-pressed", String(app.apart));
    showSize(app.size);
  });
  return choice;
}

async function showAttribution(page) {
  app.page = page;
  document.title = `${page.replay} – graphkit attribute`;
  byId("program").textContent = page.replay;
  byId("verdict").textContent = page.summary[0];
  const icicleCanvas = element("canvas", ""), tools = element("span", "tools"), out = element("button", "", "zoom out"), nodes = element("div", "");
  icicleCanvas.id = "icicle";
  icicleCanvas.tabIndex = 0;
  icicleCanvas.setAttribute("role", "img");
  out.id = "icicle-out";
  nodes.id = "nodes";
  tools.append(sizeChoice(page.sizes), layersChoice(), out);
  const stacks = section("", icicleCanvas), listed = section("Nodes", nodes), title = element("span", "");
  title.id = "icicle-title";
  stacks.firstChild.append(title, element("span", "hint", "click shows the nodes, double-click zooms"), tools);
  listed.firstChild.id = "nodes-title";
  byId("attribute").append(element("p", "small", page.summary.slice(1).join("; ")), stacks, listed);
  readTheme();
  makeIcicle(icicleCanvas);
  new ResizeObserver(() => app.redraw()).observe(icicleCanvas);
  if (page.sizes.length > 0) showSize(0);
}

startPage("attribute", showAttribution);
