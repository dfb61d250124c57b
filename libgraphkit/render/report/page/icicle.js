// A tree of call stacks: the outermost frame on top, below it what it called, as wide as its weight. What frames weigh,
// their colours, and what a click does are the page's: frameWeight, frameTexts, frameColor, isFaded, pickedFrame.
const ICICLE_ROW = 19;
const icicle = {root: null, zoomed: null, picked: null, boxes: [], libraries: false};

// One node for each frame that is called from the same frames: {frame, name, weight, count, children, group}.
function icicleNode(name, parent, frame) {
  return {name, frame, parent, weight: 0, count: 0, children: new Map(), group: undefined};
}

// The node's child of that name; made where there is none.
function icicleChild(node, name, frame) {
  if (!node.children.has(name)) node.children.set(name, icicleNode(name, node, frame));
  return node.children.get(name);
}

// Shows another tree, zoomed to the same frames where it has them.
function setIcicle(root, title) {
  const path = pathOf(icicle.zoomed), canvas = byId("icicle");
  icicle.root = root;
  icicle.zoomed = path.reduce((node, name) => node?.children.get(name), root) || root;
  icicle.picked = null;
  sizeIcicle();
  canvas.setAttribute("aria-label", `${title}: arrows move, Enter zooms, Backspace zooms out`);
  byId("icicle-title").textContent = title;
}

function sizeIcicle() {
  byId("icicle").style.minHeight = `${clamp(depthOf(icicle.zoomed) + pathOf(icicle.zoomed).length + 1, 5, 16) * ICICLE_ROW + 6}px`;
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

function byWeight(node) { return [...node.children.values()].sort((a, b) => b.weight - a.weight); }

function makeIcicle(canvas) {
  const drawing = {canvas, draw: () => drawIcicle(canvas)};
  const find = (event) => icicle.boxes.slice().reverse().find(({x, y, w}) => event.offsetX >= x && event.offsetX < x + w && event.offsetY >= y && event.offsetY < y + ICICLE_ROW)?.node;
  canvas.addEventListener("pointermove", (event) => {
    const node = find(event);
    if (node) showLines([node.name, ...frameTexts(node)], event.clientX, event.clientY); else hideTip();
  });
  canvas.addEventListener("pointerleave", hideTip);
  canvas.addEventListener("click", (event) => pickFrame(find(event)));
  canvas.addEventListener("dblclick", (event) => zoomIcicle(find(event)));
  canvas.addEventListener("keydown", icicleKey);
  canvas.addEventListener("focus", () => app.redraw());
  canvas.addEventListener("blur", () => app.redraw());
  byId("icicle-out").addEventListener("click", () => zoomIcicle(icicle.root));
  return drawing;
}

function zoomIcicle(node) {
  if (!node) return;
  icicle.zoomed = node;
  sizeIcicle();
  app.redraw();
}

function pickFrame(node) {
  if (!node) return;
  icicle.picked = node;
  pickedFrame(node);
  icicle.picked = node;
  app.redraw();
}

function icicleKey(event) {
  const at = icicle.picked || icicle.zoomed, row = at.parent ? byWeight(at.parent) : [at], i = row.indexOf(at);
  const steps = {ArrowDown: () => byWeight(at)[0], ArrowUp: () => at.parent, ArrowRight: () => row[i + 1], ArrowLeft: () => row[i - 1]};
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
    for (const child of byWeight(node)) {
      const wide = node.weight ? child.weight / node.weight * w : 0;
      paint(child, left, depth + 1, wide);
      left += wide;
    }
  };
  paint(icicle.zoomed, 1, above.length, width - 2);
}

function paintFrame(pen, node, x, depth, w, parent) {
  const y = depth * ICICLE_ROW + 1, color = node === icicle.root ? null : frameColor(node);
  pen.globalAlpha = parent ? .55 : 1;
  pen.fillStyle = color || theme.colors.soft;
  pen.fillRect(x, y, Math.max(w - 1, .5), ICICLE_ROW - 1);
  pen.globalAlpha = 1;
  icicle.boxes.push({node, x, y, w});
  if (w > 30) {
    pen.textAlign = "left";
    pen.fillStyle = color && !isFaded(node) ? theme.colors["on-node"] : theme.colors.ink;
    const size = frameWeight(node), room = w - 10, text = node === icicle.root ? `${node.name}  ${size}` : `${frameLabel(node)}  ${size}`;
    pen.fillText(fitText(pen, text, room), x + 5, y + ICICLE_ROW / 2);
  }
  if (node === icicle.picked) outline(pen, {x, y, w: Math.max(w - 1, 2), h: ICICLE_ROW - 1}, theme.colors.pick, [], 2);
}

// "train step.py:21": the function first, the way a person knows it.
function frameLabel({frame, name}) { return frame ? `${frame[0] || "?"}  ${shortPlace(frame)}` : name; }
