// The memory in use at a moment by call stack: the outermost frame on top, below it what it called, as wide as the
// bytes allocated there. Frames of libraries are left out unless asked for.
const ICICLE_ROW = 19;
const icicle = {root: null, zoomed: null, picked: null, boxes: [], libraries: false};

// One node for each frame that is called from the same frames: {frame, name, bytes, blocks, children, group}.
function icicleNode(name, parent, frame) {
  return {name, frame, parent, bytes: 0, blocks: 0, children: new Map(), group: undefined};
}

function makeTree(view, x, libraries) {
  const {columns, texts} = app.trace, stacks = columns["block.stack"], root = icicleNode(momentTitle(view, x), null, null), leaves = new Map();
  for (let i = 0, last = lowerBound(view.begin, x + 1); i < last; ++i) {
    if (view.end[i] <= x) continue;
    const stack = stacks[view.blocks[i]], key = stack || -1 - app.groups.of[i];
    if (!leaves.has(key)) leaves.set(key, {stack, group: app.groups.of[i], bytes: 0, blocks: 0});
    const leaf = leaves.get(key);
    if (leaf.group !== app.groups.of[i]) leaf.group = null;
    leaf.bytes += view.size[i];
    ++leaf.blocks;
  }
  for (const leaf of leaves.values()) addLeaf(root, leaf, texts, libraries);
  return root;
}

function addLeaf(root, {stack, group, bytes, blocks}, texts, libraries) {
  const name = nameOfStack(stack), own = name?.frame, path = [];
  const frames = stack ? texts.stacks[stack - 1] : [], upTo = own ? frames.indexOf(own) : 0, python = own && isPython(own);
  for (let k = frames.length - 1; k >= (libraries ? 0 : upTo); --k) {
    const shown = frames[k] === own || (!frames[k][3] && frames[k][2] > 0 && (!python || isPython(frames[k])));
    if (libraries || shown) path.push([frameText(frames[k]), frames[k]]);
  }
  if (name?.operation && !libraries) path.push([name.operation, null]);
  if (path.length === 0) path.push([group === null ? UNNAMED : app.groups.names[group], null]);
  let node = root;
  const count = (at) => {
    at.bytes += bytes;
    at.blocks += blocks;
    at.group = at.group === undefined || at.group === group ? group : null;
  };
  count(node);
  for (const [text, frame] of path) {
    if (!node.children.has(text)) node.children.set(text, icicleNode(text, node, frame));
    node = node.children.get(text);
    count(node);
  }
}

// A program in Python has native frames too, where they were recorded: between its own, those of the interpreter.
function isPython([, file]) { return /\.pyx?$|^<|ipykernel/.test(file); }

function momentTitle(view, x) {
  const place = x === view.peakX ? "the peak" : x >= view.width - 1 ? "the end" : momentText(view, x);
  return `in use at ${place}`;
}

function fillIcicle() {
  const {view} = app, path = pathOf(icicle.zoomed);
  icicle.root = makeTree(view, app.at, icicle.libraries);
  icicle.zoomed = path.reduce((node, name) => node?.children.get(name), icicle.root) || icicle.root;
  icicle.picked = null;
  byId("icicle-section").hidden = !Array.from(icicle.root.children.values()).some(({frame}) => frame);
  byId("icicle").style.minHeight = `${clamp(depthOf(icicle.zoomed) + pathOf(icicle.zoomed).length + 1, 5, 16) * ICICLE_ROW + 6}px`;
  byId("icicle").setAttribute("aria-label", `Call stacks of the ${formatBytes(icicle.root.bytes)} ${icicle.root.name}: arrows move, Enter zooms, Backspace zooms out`);
  byId("icicle-title").textContent = `Call stacks of the ${formatBytes(icicle.root.bytes)} ${icicle.root.name}`;
}

// The names of the nodes that lead to one, without the root's.
function pathOf(node) {
  const names = [];
  for (let at = node; at?.parent; at = at.parent) names.unshift(at.name);
  return names;
}

function depthOf(node) {
  let deepest = 0;
  const visit = (at, depth) => {
    deepest = Math.max(deepest, depth);
    if (depth < 200) for (const child of at.children.values()) visit(child, depth + 1);
  };
  visit(node, 1);
  return deepest;
}

function byBytes(node) { return [...node.children.values()].sort((a, b) => b.bytes - a.bytes); }

function makeIcicle(canvas) {
  const drawing = {canvas, draw: () => drawIcicle(canvas)};
  const find = (event) => icicle.boxes.slice().reverse().find(({x, y, w}) => event.offsetX >= x && event.offsetX < x + w && event.offsetY >= y && event.offsetY < y + ICICLE_ROW)?.node;
  canvas.addEventListener("pointermove", (event) => {
    const node = find(event);
    if (node) showLines(icicleLines(node), event.clientX, event.clientY); else hideTip();
  });
  canvas.addEventListener("pointerleave", hideTip);
  canvas.addEventListener("click", (event) => pickFrame(find(event)));
  canvas.addEventListener("dblclick", (event) => zoomIcicle(find(event)));
  canvas.addEventListener("keydown", icicleKey);
  canvas.addEventListener("focus", () => app.redraw());
  canvas.addEventListener("blur", () => app.redraw());
  byId("icicle-out").addEventListener("click", () => zoomIcicle(icicle.root));
  byId("icicle-libraries").addEventListener("click", () => {
    icicle.libraries = !icicle.libraries;
    byId("icicle-libraries").setAttribute("aria-pressed", String(icicle.libraries));
    fillIcicle();
    app.redraw();
  });
  return drawing;
}

function icicleLines(node) {
  const share = icicle.root.bytes ? formatPercent(node.bytes / icicle.root.bytes) : "";
  return [node.name, `${formatBytes(node.bytes)}, ${share}, in ${counted(node.blocks, "block")}`, node.frame ? `${node.frame[1]}${node.frame[2] ? `:${node.frame[2]}` : ""}` : ""].filter(Boolean);
}

function zoomIcicle(node) {
  if (!node) return;
  icicle.zoomed = node;
  byId("icicle").style.minHeight = `${clamp(depthOf(node) + pathOf(node).length + 1, 5, 16) * ICICLE_ROW + 6}px`;
  app.redraw();
}

// A click on a frame: its line is chosen where all its memory is of one, and its figures are shown.
function pickFrame(node) {
  if (!node) return;
  icicle.picked = node;
  if (node.group !== null && node.group !== undefined && node !== icicle.root) chooseGroup(node.group);
  showDetails({frame: node});
  showTab("details-panel");
  icicle.picked = node;
  app.redraw();
}

function icicleKey(event) {
  const at = icicle.picked || icicle.zoomed, row = at.parent ? byBytes(at.parent) : [at], i = row.indexOf(at);
  const steps = {ArrowDown: () => byBytes(at)[0], ArrowUp: () => at.parent, ArrowRight: () => row[i + 1], ArrowLeft: () => row[i - 1]};
  if (steps[event.key]) icicle.picked = steps[event.key]() || at;
  else if (event.key === "Enter" || event.key === " ") zoomIcicle(at);
  else if (event.key === "Backspace") zoomIcicle(icicle.zoomed.parent || icicle.root);
  else return;
  event.preventDefault();
  event.stopPropagation();
  if (steps[event.key]) pickFrame(icicle.picked);
}

function drawIcicle(canvas) {
  const {pen, width, height} = penOf(canvas), rows = Math.floor((height - 2) / ICICLE_ROW), above = [];
  icicle.boxes = [];
  if (!icicle.root) return;
  for (let at = icicle.zoomed.parent; at; at = at.parent) above.unshift(at);
  above.forEach((node, depth) => paintFrame(pen, node, 1, depth, width - 2, true));
  const paint = (node, x, depth, w) => {
    if (depth >= rows || w < .5) return;
    paintFrame(pen, node, x, depth, w, false);
    let left = x;
    for (const child of byBytes(node)) {
      const wide = node.bytes ? child.bytes / node.bytes * w : 0;
      paint(child, left, depth + 1, wide);
      left += wide;
    }
  };
  paint(icicle.zoomed, 1, above.length, width - 2);
}

function paintFrame(pen, node, x, depth, w, parent) {
  const {groups} = app, y = depth * ICICLE_ROW + 1, one = node.group !== null && node.group !== undefined && node !== icicle.root;
  const color = one ? groups.colorOf(groups.slot[node.group]) : theme.colors.soft;
  pen.globalAlpha = parent ? .55 : 1;
  pen.fillStyle = color;
  pen.fillRect(x, y, Math.max(w - 1, .5), ICICLE_ROW - 1);
  pen.globalAlpha = 1;
  icicle.boxes.push({node, x, y, w});
  const faded = one && groups.chosen >= 0 && groups.chosen !== node.group;
  if (w > 30) {
    pen.textAlign = "left";
    pen.fillStyle = one && !faded ? theme.colors["on-node"] : theme.colors.ink;
    const size = formatBytes(node.bytes), room = w - 10, text = node === icicle.root ? `${node.name}  ${size}` : `${frameLabel(node)}  ${size}`;
    pen.fillText(fitText(pen, text, room), x + 5, y + ICICLE_ROW / 2);
  }
  if (node === icicle.picked) outline(pen, {x, y, w: Math.max(w - 1, 2), h: ICICLE_ROW - 1}, theme.colors.pick, [], 2);
}

// "train step.py:21": the function first, the way a person knows it.
function frameLabel({frame, name}) { return frame ? `${frame[0] || "?"}  ${shortPlace(frame)}` : name; }
