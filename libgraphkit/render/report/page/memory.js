// Memory as rectangles in capture order × address. Rectangles of a few pixels are drawn one by one;
// what is smaller is added up into a picture of coverage, whose cost doesn't depend on their size.
const MOST_RECTANGLES = 4000;  // drawn one by one in a frame

function makeMemory(canvas, policy) {
  const memory = {canvas, policy, picture: document.createElement("canvas"), cover: null};
  const offsets = () => policy ? app.view.policyOffsets : app.view.offset;
  memory.plot = () => plotOf(canvas.clientWidth, canvas.clientHeight, 18);
  memory.bytes = true;
  memory.hit = (x, y) => hitBlock(memory.plot(), offsets(), policy, x, y) || hitBand(memory, x, y);
  memory.click = (thing) => pickThing(thing);
  memory.draw = () => drawMemory(memory, offsets());
  listen(canvas, memory);
  canvas.addEventListener("pointerenter", () => { app.lastMemory = memory; });
  return memory;
}

function yOf(plot, bytes) { return plot.top + plot.height - (bytes - app.b0) / (app.b1 - app.b0) * plot.height; }
function bytesAt(plot, y) { return app.b0 + (plot.top + plot.height - y) / plot.height * (app.b1 - app.b0); }

// Where a block's rectangle ends: a policy's placement is drawn until the free.
function endOf(view, i, policy) { return policy ? Math.max(view.freed[i], view.begin[i] + 1) : view.end[i]; }

function hitBlock(plot, offsets, policy, x, y) {
  const {view} = app, t = timeAt(plot, x), bytes = bytesAt(plot, y);
  if (x < plot.left || y > plot.top + plot.height) return null;
  for (let i = lowerBound(view.begin, t) - 1; i >= 0; --i) {
    const inside = offsets[i] >= 0 && offsets[i] <= bytes && bytes < offsets[i] + view.size[i];
    if (inside && t < endOf(view, i, policy)) return {block: view.blocks[i]};
  }
  return null;
}

function hitBand(memory, x, y) {
  if (x >= GUTTER) return null;
  const bytes = bytesAt(memory.plot(), y), bands = memory.policy ? app.view.policy_bands : app.view.bands;
  const band = bands.find(([, , offset, size]) => offset <= bytes && bytes < offset + size);
  return band ? {band} : null;
}

function drawMemory(memory, offsets) {
  const {pen, width, height} = penOf(memory.canvas), plot = plotOf(width, height, 18);
  memory.drawn = memory.drawn || {rectangles: 0, covered: 0};
  drawByteAxis(pen, plot, memory.policy ? app.view.policy_extent : app.view.extent);
  drawTimeAxis(pen, plot, true);
  if (app.view.blocks.length === 0 || (memory.policy && app.view.policyBlocks.length === 0)) {
    return drawNothing(pen, plot, memory.policy && app.view.blocks.length > 0
      ? "no block here was handed out by an allocator, so no policy places one" : "no memory was allocated here");
  }
  clipTo(pen, plot);
  const large = coverOf(memory, plot, offsets);
  const dim = !app.picked ? 1 : app.groups.chosen >= 0 ? .85 : .3;
  if (!memory.policy) drawUnused(pen, plot);
  pen.globalAlpha = dim;
  paintCover(memory, pen, plot);
  drawRectangles(pen, plot, offsets, large, memory.policy);
  drawBands(pen, plot, memory.policy ? app.view.policy_bands : app.view.bands);
  pen.globalAlpha = 1;
  if (!memory.policy) drawReuse(pen, plot, offsets);
  drawPicked(pen, plot, offsets, memory.policy);
  if (memory.policy) drawSaved(pen, plot);
  drawCursor(pen, plot);
  pen.restore();
}

const MARGIN = .5, MOST_STRETCH = 2;  // of a picture: what it shows on each side beyond what is in sight; how far it is zoomed

// The blocks to draw one by one; the picture has the others. Where it took long to make and the range is just changing,
// that of before is used as long as it shows all that is in sight.
function coverOf(memory, plot, offsets) {
  const {view, t0, t1, b0, b1, groups, moving} = app, key = [view.index, ranks.drawn, groups.by, groups.version, document.documentElement.dataset.theme, plot.width, plot.height].join();
  const {made} = memory, same = made && made.key === key;
  if (same && made.t0 === t0 && made.t1 === t1 && made.b0 === b0 && made.b1 === b1) return memory.large;
  const stretch = same ? (made.t1 - made.t0) / (t1 - t0) : 0, inside = same && t0 >= made.from && t1 <= made.to && b0 >= made.b0 - 1 && b1 <= made.b1 + 1;
  if (moving && inside && memory.cost > 8 && stretch < MOST_STRETCH && stretch > 1 / MOST_STRETCH) return memory.large;
  const began = performance.now(), margin = memory.cost > 8 ? (t1 - t0) * MARGIN : 0;
  memory.made = {key, t0, t1, b0, b1, from: Math.max(t0 - margin, -1e9), to: t1 + margin};
  memory.large = sortBySize(memory, plot, offsets);
  memory.fresh = true;
  memory.cost = Math.max(performance.now() - began, (memory.cost || 0) * .5);
  return memory.large;
}

// Splits the blocks in and beside what is in sight: returns those to draw one by one, adds up the others.
function sortBySize(memory, plot, offsets) {
  const {view, b0, b1, groups} = app, {t0: left, t1: right, from: t0, to: t1} = memory.made, large = [], colors = slotColors();
  const sx = plot.width / (right - left), sy = plot.height / (b1 - b0);
  clearCover(memory, Math.ceil((t1 - t0) * sx), Math.ceil(plot.height));
  const last = lowerBound(view.begin, t1), {begin: begins, size, freed: frees, end: ends} = view, {slotOf} = groups;
  memory.drawn.covered = 0;
  for (let i = 0; i < last; ++i) {
    const begin = begins[i], end = memory.policy ? Math.max(frees[i], begin + 1) : ends[i], low = offsets[i], high = low + size[i];
    if (end <= t0 || low < 0 || high <= b0 || low >= b1) continue;
    if ((end - begin) * sx >= 2 && (high - low) * sy >= 2 && large.length < MOST_RECTANGLES) {
      large.push(i);
      continue;
    }
    ++memory.drawn.covered;
    const y0 = plot.height - (high - b0) * sy, y1 = plot.height - (low - b0) * sy;
    const freed = Math.min(frees[i], end);
    addCover(memory, colors[slotOf[i]], (begin - t0) * sx, (freed - t0) * sx, y0, y1);
    if (end > freed) addCover(memory, colors[DEFERRED], (freed - t0) * sx, (end - t0) * sx, y0, y1);
  }
  memory.drawn.rectangles = large.length;
  return large;
}

function clearCover(memory, wide, high) {
  const cells = (wide + 1) * (high + 1);
  if (memory.wide !== wide || memory.high !== high) {
    Object.assign(memory, {wide, high, planes: Array.from({length: 4}, () => new Float64Array(cells))});
    memory.picture.width = wide;
    memory.picture.height = high;
    memory.image = memory.picture.getContext("2d").createImageData(wide, high);
  } else {
    for (const plane of memory.planes) plane.fill(0);
  }
}

function slotColors() {
  return Array.from({length: SLOTS}, (_, slot) => rgbOf(app.groups.colorOf(slot)));
}

// Adds a rectangle's coverage to differences in both directions: its edges only, whatever its size. The planes hold the
// share of each pixel that is covered, and its colour times that share.
function addCover(memory, color, x0, x1, y0, y1) {
  x0 = Math.max(x0, 0); x1 = Math.min(x1, memory.wide);
  y0 = Math.max(y0, 0); y1 = Math.min(y1, memory.high);
  if (x1 <= x0 || y1 <= y0) return;
  const left = Math.floor(x0), right = Math.min(Math.max(Math.ceil(x1), left + 1), memory.wide);
  const share = (x1 - x0) / (right - left);
  const top = Math.floor(y0), bottom = Math.min(Math.ceil(y1), memory.high);
  if (bottom - top <= 1) return addRows(memory, color, left, right, top, top + 1, share * (y1 - y0));
  addRows(memory, color, left, right, top, top + 1, share * (top + 1 - y0));
  if (bottom - top > 2) addRows(memory, color, left, right, top + 1, bottom - 1, share);
  addRows(memory, color, left, right, bottom - 1, bottom, share * (y1 - bottom + 1));
}

function addRows(memory, color, left, right, top, bottom, weight) {
  const row = memory.wide + 1, first = top * row, last = bottom * row;
  for (let p = 0; p < 4; ++p) {
    const sums = memory.planes[p], part = p === 0 ? weight : weight * color[p - 1];
    sums[first + left] += part;
    sums[first + right] -= part;
    sums[last + left] -= part;
    sums[last + right] += part;
  }
}

function sumUp(memory, sums) {
  const row = memory.wide + 1;
  for (let y = 0; y < memory.high; ++y) {
    let sum = 0;
    for (let x = 0, at = y * row; x < memory.wide; ++x, ++at) {
      sum += sums[at];
      sums[at] = sum + (y > 0 ? sums[at - row] : 0);
    }
  }
}

function paintCover(memory, pen, plot) {
  if (memory.drawn.covered === 0) return;
  const {from, to, b0, b1} = memory.made, x0 = xOf(plot, from), x1 = xOf(plot, to), y0 = yOf(plot, b1), y1 = yOf(plot, b0);
  if (memory.fresh) fillPicture(memory);
  memory.fresh = false;
  pen.imageSmoothingEnabled = false;
  pen.drawImage(memory.picture, x0, y0, x1 - x0, y1 - y0);
}

function fillPicture(memory) {
  for (const plane of memory.planes) sumUp(memory, plane);
  const {data} = memory.image, row = memory.wide + 1, [cover, red, green, blue] = memory.planes;
  for (let y = 0, to = 0; y < memory.high; ++y) {
    for (let x = 0, at = y * row; x < memory.wide; ++x, ++at, to += 4) {
      const sum = cover[at];
      if (sum < .004) { data[to + 3] = 0; continue; }
      data[to] = red[at] / sum;
      data[to + 1] = green[at] / sum;
      data[to + 2] = blue[at] / sum;
      data[to + 3] = sum >= 1 ? 255 : 60 + 195 * sum;
    }
  }
  memory.picture.getContext("2d").putImageData(memory.image, 0, 0);
}

function rectangleOf(plot, begin, end, low, size) {
  const x0 = xOf(plot, begin), x1 = xOf(plot, end), y0 = yOf(plot, low + size), y1 = yOf(plot, low);
  const left = Math.max(x0, plot.left - 4), top = Math.max(y0, plot.top - 4);
  return {x: left, y: top, w: Math.min(x1, plot.left + plot.width + 4) - left,
          h: Math.min(y1, plot.top + plot.height + 4) - top};
}

function drawRectangles(pen, plot, offsets, large, policy) {
  const {view, groups} = app, colors = theme.colors, pattern = hatch(pen), labels = [], fills = Array.from({length: SLOTS}, (_, slot) => groups.colorOf(slot));
  for (const i of large) {
    pen.fillStyle = fills[groups.slotOf[i]];
    const r = rectangleOf(plot, view.begin[i], Math.min(view.freed[i], endOf(view, i, policy)), offsets[i], view.size[i]);
    if (r.w > 0) pen.fillRect(r.x, r.y, r.w, r.h);
    if (r.h >= 13 && r.w >= 54) labels.push([i, r]);
  }
  if (!policy) {
    for (const i of large) {
      if (view.end[i] <= view.freed[i]) continue;
      const r = rectangleOf(plot, view.freed[i], view.end[i], offsets[i], view.size[i]);
      pen.fillStyle = r.w > 5 && r.h > 5 ? pattern : colors.deferred;
      if (r.w > 0) pen.fillRect(r.x, r.y, r.w, r.h);
    }
  }
  pen.strokeStyle = colors.paper;
  pen.lineWidth = 1;
  pen.beginPath();
  for (const i of large) {
    const r = rectangleOf(plot, view.begin[i], endOf(view, i, policy), offsets[i], view.size[i]);
    if (r.w > 3 && r.h > 3) pen.rect(r.x + .5, r.y + .5, r.w - 1, r.h - 1);
  }
  pen.stroke();
  drawKept(pen, plot, offsets, large);
  drawLabels(pen, labels);
}

// Blocks that are never freed end with a bar.
function drawKept(pen, plot, offsets, large) {
  const {view} = app, freed = view.trace.columns["block.freed"];
  pen.fillStyle = theme.colors.kept;
  for (const i of large) {
    if (freed[view.blocks[i]]) continue;
    const r = rectangleOf(plot, view.begin[i], view.end[i], offsets[i], view.size[i]);
    pen.fillRect(xOf(plot, view.width) - 4, r.y, 4, r.h);
  }
}

function drawLabels(pen, labels) {
  const {groups} = app;
  pen.textAlign = "left";
  for (const [i, r] of labels.slice(0, 400)) {
    const id = app.view.blocks[i], size = formatBytes(app.view.trace.columns["block.size"][id]);
    pen.fillStyle = groups.chosen < 0 || groups.chosen === groups.of[i] ? theme.colors["on-node"] : theme.colors.pale;
    const text = r.w >= 120 ? `block ${id} · ${size}` : `block ${id}`;
    pen.fillText(fitText(pen, text, r.w - 10), r.x + 5, r.y + r.h / 2);
  }
}

// The segments of a view, from their first block to their last: reserved all that time, and unused where no block lies. The
// view of the whole program has all addresses of each, that of a graph those that its blocks had at any time. None where
// blocks that the view leaves out may lie between. [offset, size, begin, end, places of its blocks].
function segmentsOf(view) {
  if (view.segmentSpans) return view.segmentSpans;
  if (view.blocks.length < view.trace.views.at(-1).blocks.length) return [];
  const bands = view.bands.filter(([, segment]) => segment !== null).sort((a, b) => a[2] - b[2]);
  const spans = bands.map(([, , offset, size]) => [offset, size, Infinity, -Infinity, []]), starts = bands.map(([, , offset]) => offset);
  for (let i = 0; i < view.blocks.length && spans.length > 0; ++i) {
    const span = spans[lowerBound(starts, view.offset[i] + 1) - 1];
    if (!span || view.offset[i] >= span[0] + span[1]) continue;
    span[2] = Math.min(span[2], view.begin[i]);
    span[3] = Math.max(span[3], view.end[i]);
    span[4].push(i);
  }
  return view.segmentSpans = spans.filter(([, , , , blocks]) => blocks.length > 0);
}

// Those addresses that no block has at a moment: {bytes, gaps, largest}.
function unusedAt(view, x) {
  const found = {bytes: 0, gaps: 0, largest: 0};
  for (const [offset, size, begin, end, blocks] of segmentsOf(view)) {
    if (x < begin || x >= end) continue;
    const used = blocks.filter((i) => view.begin[i] <= x && x < view.end[i]).sort((a, b) => view.offset[a] - view.offset[b]);
    let at = offset;
    for (const [from, to] of [...used.map((i) => [view.offset[i], view.offset[i] + view.size[i]]), [offset + size, offset + size]]) {
      const gap = from - at;
      if (gap > 0) Object.assign(found, {bytes: found.bytes + gap, gaps: found.gaps + 1, largest: Math.max(found.largest, gap)});
      at = Math.max(at, to);
    }
  }
  return found;
}

function drawUnused(pen, plot) {
  pen.fillStyle = theme.colors.soft;
  for (const [offset, size, begin, end] of segmentsOf(app.view)) {
    const r = rectangleOf(plot, begin, end, offset, size);
    if (r.w > 0 && r.h > 1) pen.fillRect(r.x, r.y, r.w, r.h);
  }
}

function drawBands(pen, plot, bands) {
  const top = app.b1, bottom = app.b0;
  const seen = bands.filter(([, , offset]) => offset > bottom && offset < top);
  if (seen.length > 60) return;
  for (const [, , offset] of seen) {
    pen.strokeStyle = theme.colors.pale;
    pen.setLineDash([1, 3]);
    line(pen, plot.left, yOf(plot, offset), plot.left + plot.width, yOf(plot, offset));
  }
  pen.setLineDash([]);
}

function drawByteAxis(pen, plot, extent) {
  const step = roundStep(app.b1 - app.b0, plot.height / 34, true);
  for (let bytes = Math.ceil(app.b0 / step) * step; bytes < app.b1; bytes += step) {
    byteMark(pen, plot, bytes, yOf(plot, bytes), theme.colors.soft);
  }
  pen.strokeStyle = theme.colors.line;
  line(pen, plot.left, plot.top, plot.left, plot.top + plot.height);
  line(pen, plot.left, plot.top + plot.height, plot.left + plot.width, plot.top + plot.height);
}

// The memory that the policy saves, in the room that it leaves.
function drawSaved(pen, plot) {
  const {view} = app, saved = view.extent - view.policy_extent;
  if (view.policy_extent <= 0) return;
  const y = yOf(plot, view.policy_extent);
  pen.strokeStyle = theme.colors.pale;
  pen.setLineDash([4, 3]);
  line(pen, plot.left, y, plot.left + plot.width, y);
  pen.setLineDash([]);
  if (saved <= 0 || y < plot.top + 22) return;
  pen.fillStyle = theme.colors.pale;
  pen.textAlign = "center";
  pen.fillText(`${formatBytes(saved)} less than recorded`, plot.left + plot.width / 2, Math.max(y - 12, plot.top + 10));
}
