// Streams as lanes: nodes in capture order, dependencies as arrows. Where nodes are narrower than a
// few pixels, a lane shows which kinds lie where, and only edges from lane to lane are drawn.
const LANE = {height: 30, box: 18, most: 460};
const MOST_NODES = 2500;  // drawn one by one in a frame

function makeLanes(canvas) {
  const lanes = {canvas, bytes: false};
  lanes.plot = () => plotOf(canvas.clientWidth, canvas.clientHeight, 18);
  lanes.hit = (x, y) => hitNode(lanes.plot(), x, y);
  lanes.click = (thing) => pickThing(thing);
  lanes.draw = () => drawLanes(lanes);
  listen(canvas, lanes);
  return lanes;
}

function laneHeight(plot) {
  return clamp(plot.height / Math.max(app.view.lanes.length, 1), 22, 44);
}

function laneY(plot, lane) { return plot.top + (lane + .5) * laneHeight(plot) - app.laneScroll; }

function boxHeight(plot) { return laneHeight(plot) * .62; }

function sizeLanes(canvas) {
  canvas.style.height = `${clamp(app.view.lanes.length * LANE.height + 26, 110, LANE.most)}px`;
}

function hitNode(plot, x, y) {
  const {view} = app, lane = Math.floor((y - plot.top + app.laneScroll) / laneHeight(plot));
  if (lane < 0 || lane >= view.lanes.length || y > plot.top + plot.height) return null;
  if (x < plot.left) return {lane};
  const t = timeAt(plot, x), launch = view.launchX.findIndex((at, i) => view.launchLane[i] === lane && at <= t && t < at + 4);
  if (launch >= 0) return {launch: view.launches[launch]};
  const {items, x: places} = view.byLane[lane], slack = 3 * (app.t1 - app.t0) / plot.width;
  const i = lowerBound(places, t - 4 - slack);
  let best = null, distance = Infinity;
  for (let k = i; k < items.length && places[k] <= t + slack; ++k) {
    const away = Math.abs(places[k] + 2 - t);
    if (away < distance) [best, distance] = [items[k], away];
  }
  return best === null ? null : {node: view.nodes[best]};
}

function drawLanes(lanes) {
  const {pen, width, height} = penOf(lanes.canvas), plot = plotOf(width, height, 18), {view} = app;
  app.laneScroll = clamp(app.laneScroll, 0, Math.max(view.lanes.length * laneHeight(plot) - plot.height, 0));
  drawTimeAxis(pen, plot, true);
  if (view.nodes.length === 0) {
    drawNothing(pen, plot, "this graph has no nodes");
    if (view.launches.length === 0) return;
  }
  drawLaneTitles(pen, plot);
  clipTo(pen, plot);
  const first = lowerBound(view.nodeX, app.t0 - 4), last = lowerBound(view.nodeX, app.t1);
  const one = plot.width / (app.t1 - app.t0) * 4;
  lanes.single = last - first <= MOST_NODES && one >= 2.5;
  pen.globalAlpha = app.picked || app.showPath ? .3 : 1;
  if (lanes.single) {
    drawEdges(pen, plot, first, last);
    drawNodes(pen, plot, first, last);
  } else {
    drawCrossings(pen, plot);
    drawDensity(pen, plot);
  }
  pen.globalAlpha = 1;
  drawLaunches(pen, plot);
  if (app.showPath) drawPath(pen, plot, lanes.single);
  drawPickedNodes(pen, plot, lanes.single);
  lanes.missing = lanes.single ? drawMissingEdge(pen, plot) : null;
  drawCursor(pen, plot);
  pen.restore();
}

// 'stream 2 "copy"' as '2 "copy"'.
function shortLaneTitle(title) { return title.replace(/^stream (\d+ ".+")$/, "$1"); }

function drawLaneTitles(pen, plot) {
  const {view} = app, high = laneHeight(plot);
  pen.textAlign = "right";
  view.lanes.forEach(([title], lane) => {
    const y = laneY(plot, lane);
    if (y < plot.top - high || y > plot.top + plot.height) return;
    pen.fillStyle = theme.colors.pale;
    if (y > plot.top && y < plot.top + plot.height - 4) pen.fillText(fitText(pen, shortLaneTitle(title), GUTTER - 14), plot.left - 8, y);
    pen.strokeStyle = theme.colors.soft;
    if (y > plot.top && y < plot.top + plot.height) line(pen, plot.left, y, plot.left + plot.width, y);
  });
}

// Where a node is drawn. Its place is `end` wide; a box is wider where its name needs that and the lane has room.
function nodeBox(plot, i) {
  const {view} = app, high = boxHeight(plot), x = xOf(plot, view.nodeX[i] + .4);
  const natural = Math.max(xOf(plot, view.nodeX[i] + 3.6) - x, 1.5);
  const box = {x, y: laneY(plot, view.nodeLane[i]) - high / 2, w: Math.min(natural, 170), h: high, end: natural};
  if (natural < 20 || natural > 120) return box;
  const room = Math.min(xOf(plot, Math.min(view.nextX[i], view.width + 8)) - x - 14, 120);
  box.w = Math.max(box.w, Math.min(nameWidth(view.nodes[i]) + 12, room));
  return box;
}

const nameWidths = new Map();

function nameWidth(id) {
  const name = app.view.trace.nodeName(id);
  if (!nameWidths.has(name)) {
    const pen = byId("lanes").getContext("2d");
    nameWidths.set(name, pen.measureText(name).width);
  }
  return nameWidths.get(name);
}

function drawNodes(pen, plot, first, last) {
  const {view} = app, labels = [];
  for (let i = first; i < last; ++i) {
    const box = nodeBox(plot, i);
    paintNode(pen, i, box);
    if (box.w >= 34) labels.push([i, box]);
  }
  labelNodes(pen, labels);
}

function paintNode(pen, i, box) {
  pen.fillStyle = kindColor(app.view.trace.nodeKind(app.view.nodes[i]));
  if (box.w < 8) return pen.fillRect(box.x, box.y, box.w, box.h);
  pen.beginPath();
  pen.roundRect(box.x, box.y, box.w, box.h, 3);
  pen.fill();
}

function labelNodes(pen, labels) {
  pen.fillStyle = theme.colors["on-node"];
  pen.textAlign = "center";
  for (const [i, box] of labels) {
    const text = fitText(pen, app.view.trace.nodeName(app.view.nodes[i]), box.w - 8);
    if (text) pen.fillText(text, box.x + box.w / 2, box.y + box.h / 2);
  }
}

const EDGE_DASH = [[], [5, 3], [1.5, 3]];  // full, programmatic, launch completion

// On a lane from the end of one box to the start of another; to another lane from the box's edge.
// Programmatic ones leave where the node starts.
function edgePoints(plot, from, to, sort) {
  const a = nodeBox(plot, from), b = nodeBox(plot, to), same = app.view.nodeLane[from] === app.view.nodeLane[to];
  const p = {x1: b.x, y1: b.y + b.h / 2, same};
  if (same) return {...p, x0: a.x + a.w, y0: a.y + a.h / 2};
  const down = b.y > a.y, leave = Math.min(a.end, a.w) * (sort === 0 ? .7 : .2);
  return {...p, x0: a.x + leave, y0: down ? a.y + a.h : a.y};
}

function traceEdge(pen, p) {
  pen.moveTo(p.x0, p.y0);
  if (p.same && p.x1 >= p.x0 && p.x1 - p.x0 < 260) return pen.lineTo(p.x1, p.y1);
  if (p.same) return pen.quadraticCurveTo((p.x0 + p.x1) / 2, p.y0 - 22, p.x1, p.y1);
  const wide = Math.abs(p.x1 - p.x0), high = (p.y1 - p.y0) * .8;
  pen.bezierCurveTo(p.x0 + Math.min(wide * .2, 20), p.y0 + high, p.x1 - clamp(wide * .5, 10, 60), p.y1, p.x1, p.y1);
}

function arrowHead(pen, x, y, dx, dy) {
  const angle = Math.atan2(dy, dx), size = 5;
  pen.beginPath();
  pen.moveTo(x, y);
  pen.lineTo(x - size * Math.cos(angle - .45), y - size * Math.sin(angle - .45));
  pen.lineTo(x - size * Math.cos(angle + .45), y - size * Math.sin(angle + .45));
  pen.fill();
}

function drawEdgeList(pen, plot, edges, color, width) {
  const {view} = app, {columns} = view.trace;
  pen.strokeStyle = pen.fillStyle = color;
  pen.lineWidth = width;
  const heads = [];
  for (let sort = 0; sort < 3; ++sort) {
    pen.setLineDash(EDGE_DASH[sort]);
    pen.beginPath();
    for (const e of edges) {
      if (columns["edge.sort"][e] !== sort) continue;
      const from = view.nodeAt.get(columns["edge.from"][e]), to = view.nodeAt.get(columns["edge.to"][e]);
      if (from === undefined || to === undefined) continue;
      const p = edgePoints(plot, from, to, sort);
      traceEdge(pen, p);
      heads.push(p);
    }
    pen.stroke();
  }
  pen.setLineDash([]);
  pen.lineWidth = 1;
  if (heads.length > 1500) return;
  for (const p of heads) arrowHead(pen, p.x1, p.y1, 1, 0);
}

function drawEdges(pen, plot, first, last) {
  const {view} = app, edges = new Set();
  for (let i = first; i < last; ++i) {
    for (const e of view.trace.edgesIn.of(view.nodes[i])) edges.add(e);
    for (const e of view.trace.edgesOut.of(view.nodes[i])) edges.add(e);
  }
  drawEdgeList(pen, plot, edges, theme.colors.edge, 1);
}

// One line for each pair of lanes and few pixels; the paler the more there are.
function drawCrossings(pen, plot) {
  const {view} = app, {x, from, to} = view.crossing, seen = new Set(), lanes = view.lanes.length;
  const first = lowerBound(x, app.t0), last = lowerBound(x, app.t1), alpha = pen.globalAlpha;
  const scale = plot.width / (app.t1 - app.t0) / 6;
  for (let i = first; i < last; ++i) {
    seen.add((Math.round((x[i] - app.t0) * scale) * lanes + from[i]) * lanes + to[i]);
  }
  pen.strokeStyle = theme.colors.edge;
  pen.globalAlpha = alpha * clamp(60 / seen.size, .12, .6);
  pen.beginPath();
  for (const key of seen) {
    const at = plot.left + Math.floor(key / lanes / lanes) * 6;
    pen.moveTo(at - 2, laneY(plot, Math.floor(key / lanes) % lanes));
    pen.lineTo(at + 1, laneY(plot, key % lanes));
  }
  pen.stroke();
  pen.globalAlpha = alpha;
}

const SHADES = [.35, .55, .75, 1];  // of a lane's pixel, by its share of the nodes there

// By pixel of a lane: the kind of the node there that is rarest over all, so that the few copies
// among many kernels are seen; the darker the more of the nodes at that place lie on this lane.
function drawDensity(pen, plot) {
  const {view} = app, high = boxHeight(plot), wide = Math.ceil(plot.width) + 1;
  const kinds = view.trace.columns["node.kind"], rank = kindRanks(view), alpha = pen.globalAlpha;
  const scale = plot.width / (app.t1 - app.t0), all = new Uint32Array(wide);
  const first = lowerBound(view.nodeX, app.t0), last = lowerBound(view.nodeX, app.t1);
  for (let i = first; i < last; ++i) ++all[Math.floor((view.nodeX[i] - app.t0) * scale)];
  view.byLane.forEach(({items, x}, lane) => {
    const y = laneY(plot, lane) - high / 2;
    if (y + high < plot.top || y > plot.top + plot.height) return;
    const shown = new Int16Array(wide).fill(-1), counts = new Uint32Array(wide), end = lowerBound(x, app.t1);
    for (let k = lowerBound(x, app.t0); k < end; ++k) {
      const kind = kinds[view.nodes[items[k]]], at = Math.floor((x[k] - app.t0) * scale);
      ++counts[at];
      if (shown[at] < 0 || rank[kind] > rank[shown[at]]) shown[at] = kind;
    }
    for (let at = 0; at < wide; ++at) if (shown[at] >= 0) shown[at] = shown[at] * 4 + Math.min(Math.floor(counts[at] / all[at] * 4), 3);
    paintRuns(pen, plot, shown, y, high, alpha);
  });
  pen.globalAlpha = alpha;
}

function paintRuns(pen, plot, shown, y, high, alpha) {
  for (let at = 0; at < shown.length;) {
    let end = at + 1;
    while (end < shown.length && shown[end] === shown[at]) ++end;
    if (shown[at] >= 0) {
      pen.fillStyle = kindColor(app.view.trace.texts.kinds[shown[at] >> 2]);
      pen.globalAlpha = alpha * SHADES[shown[at] & 3];
      pen.fillRect(plot.left + at, y, end - at, high);
    }
    at = end;
  }
}

function kindRanks(view) {
  if (!view.ranks) {
    const counts = new Array(view.trace.texts.kinds.length).fill(0), kinds = view.trace.columns["node.kind"];
    for (const id of view.nodes) ++counts[kinds[id]];
    view.ranks = counts.map((count) => -count);
  }
  return view.ranks;
}

function drawLaunches(pen, plot) {
  const {view} = app;
  pen.fillStyle = theme.colors.accent;
  const first = lowerBound(view.launchX, app.t0 - 4), last = lowerBound(view.launchX, app.t1);
  for (let i = first; i < last; ++i) {
    const x = xOf(plot, view.launchX[i] + .6), y = laneY(plot, view.launchLane[i]), size = boxHeight(plot) / 2;
    pen.beginPath();
    pen.moveTo(x, y - size);
    pen.lineTo(x + size * 1.3, y);
    pen.lineTo(x, y + size);
    pen.fill();
  }
}

// The longest path: lines from each of its nodes to the next.
function drawPath(pen, plot, single) {
  const {view} = app, places = view.pathPlaces;
  if (!single) return drawManyNodes(pen, plot, places, theme.colors.path);
  const shown = places.filter((i) => view.nodeX[i] >= app.t0 - 400 && view.nodeX[i] <= app.t1 + 400);
  pen.strokeStyle = theme.colors.path;
  pen.lineWidth = 2;
  pen.beginPath();
  for (let k = 1; k < shown.length; ++k) traceEdge(pen, edgePoints(plot, shown[k - 1], shown[k], 0));
  pen.stroke();
  pen.lineWidth = 1;
  drawSome(pen, plot, shown, theme.colors.path, 1);
}

// The order that the chosen race lacks: dashed, from the one node to the other. Both nodes, or null.
const RACES = ["missing-order", "free-before-use", "unsafe-reuse", "programmatic-only-order"];
function drawMissingEdge(pen, plot) {
  const finding = app.trace.analyze.findings[app.selection.finding], {view} = app;
  if (!finding || !RACES.includes(finding.check) || finding.nodes.length < 2) return null;
  const nodes = finding.nodes.slice(0, 2), [from, to] = nodes.map((node) => view.nodeAt.get(node));
  if (from === undefined || to === undefined) return null;
  pen.strokeStyle = theme.colors.pick;
  pen.lineWidth = 2;
  pen.setLineDash([6, 4]);
  pen.beginPath();
  traceEdge(pen, edgePoints(plot, from, to, 0));
  pen.stroke();
  pen.setLineDash([]);
  pen.lineWidth = 1;
  return nodes;
}

// These nodes, with an outline.
function drawSome(pen, plot, places, color, width) {
  const labels = [], {view} = app;
  for (const i of places) {
    if (view.nodeX[i] < app.t0 - 4 || view.nodeX[i] > app.t1) continue;
    const box = nodeBox(plot, i);
    paintNode(pen, i, box);
    pen.strokeStyle = color;
    pen.lineWidth = width;
    pen.strokeRect(box.x - 1.5, box.y - 1.5, box.w + 3, box.h + 3);
    if (box.w >= 34) labels.push([i, box]);
  }
  pen.lineWidth = 1;
  labelNodes(pen, labels);
}

// The same where nodes are narrower than pixels.
function drawManyNodes(pen, plot, places, color) {
  const {view} = app, scale = plot.width / (app.t1 - app.t0), high = boxHeight(plot), seen = new Set();
  for (const i of places) {
    if (view.nodeX[i] < app.t0 - 4 || view.nodeX[i] > app.t1) continue;
    seen.add(Math.floor((view.nodeX[i] - app.t0) * scale) * view.lanes.length + view.nodeLane[i]);
  }
  pen.fillStyle = color;
  for (const key of seen) {
    const lane = key % view.lanes.length, at = Math.floor(key / view.lanes.length);
    pen.fillRect(plot.left + at - .5, laneY(plot, lane) - high / 2 - 2, 2, high + 4);
  }
}

// Where the picked nodes are in the view; found once for each choice.
function pickedPlaces(view, picked) {
  if (picked.view === view) return picked.places;
  picked.view = view;
  picked.places = [...picked.nodes].map((id) => view.nodeAt.get(id)).filter((i) => i !== undefined);
  picked.edgePlaces = [...picked.edges].slice(0, 2000).map((id) => view.trace.edgeIndex.get(id)).filter((e) => e !== undefined);
  return picked.places;
}

function drawPickedNodes(pen, plot, single) {
  const {view, picked, hover} = app;
  if (picked) {
    const places = pickedPlaces(view, picked);
    drawEdgeList(pen, plot, picked.edgePlaces, theme.colors.pick, 1.5);
    if (single || places.length < 500) drawSome(pen, plot, places, theme.colors.pick, 1.5);
    else drawManyNodes(pen, plot, places, theme.colors.pick);
  }
  if (!hover || hover.node === undefined) return;
  const i = view.nodeAt.get(hover.node);
  if (i === undefined) return;
  drawEdgeList(pen, plot, [...view.trace.edgesIn.of(hover.node), ...view.trace.edgesOut.of(hover.node)].slice(0, 400),
    theme.colors.accent, 1.5);
  drawSome(pen, plot, [i], theme.colors.accent, 1.5);
}
