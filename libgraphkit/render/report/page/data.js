// Unpacks the data of the page: a JSON text and columns of numbers (libgraphkit/render/report/data.cpp).
async function inflate(base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) bytes[i] = text.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Zigzag differences in groups of 7 bits (packed_columns.h).
function unpackColumn(bytes, at, count, wide) {
  const values = wide ? new Float64Array(count) : new Uint32Array(count);
  let last = 0;
  for (let i = 0; i < count; ++i) {
    let byte = bytes[at++];
    if (byte < 0x80) {
      last += byte & 1 ? -((byte + 1) >> 1) : byte >> 1;
      values[i] = last;
      continue;
    }
    let number = byte & 0x7f, factor = 128;
    while (byte > 0x7f) {
      byte = bytes[at++];
      number += (byte & 0x7f) * factor;
      factor *= 128;
    }
    last += number % 2 ? -(number + 1) / 2 : number / 2;
    values[i] = last;
  }
  return {values, at};
}

// {analyze, page, columns}: the report, the texts and views, the columns by name.
function readData(bytes) {
  const length = new DataView(bytes.buffer).getUint32(bytes.length - 4, true);
  const {analyze, page} = JSON.parse(new TextDecoder().decode(bytes.subarray(0, length)));
  const columns = {};
  let at = length;
  for (const [name, count, wide] of page.columns) {
    const column = unpackColumn(bytes, at, count, wide);
    columns[name] = column.values;
    at = column.at;
  }
  return {analyze, page, columns};
}

// Lists by owner: those of owner o are items[first[o]] to items[first[o + 1]].
function groupBy(owners, ownerCount) {
  const first = new Uint32Array(ownerCount + 1);
  for (const owner of owners) ++first[owner + 1];
  for (let i = 0; i < ownerCount; ++i) first[i + 1] += first[i];
  const next = first.slice(0, ownerCount), items = new Uint32Array(owners.length);
  for (let i = 0; i < owners.length; ++i) items[next[owners[i]]++] = i;
  return {first, items, of: (owner) => items.subarray(first[owner], first[owner + 1])};
}

// The values at some places. Typed arrays' own functions take ten times as long as a loop.
function valuesAt(values, places) {
  const found = new Uint32Array(places.length);
  for (let i = 0; i < places.length; ++i) found[i] = values[places[i]];
  return found;
}

// Where each id stands in a list. A Map of a million ids takes a second to make.
class Places {
  constructor(ids) {
    let least = Infinity, most = -Infinity;
    for (let i = 0; i < ids.length; ++i) {
      if (ids[i] < least) least = ids[i];
      if (ids[i] > most) most = ids[i];
    }
    this.least = least;
    this.places = new Int32Array(Math.max(most - least + 1, 0)).fill(-1);
    for (let i = 0; i < ids.length; ++i) this.places[ids[i] - least] = i;
  }

  get(id) {
    const place = this.places[id - this.least];
    return place === undefined || place < 0 ? undefined : place;
  }

  has(id) { return this.get(id) !== undefined; }
}

// Where each owner's items begin, and where the last one's end, of owners with so many items.
function firstOf(counts) {
  const first = new Uint32Array(counts.length + 1);
  for (let i = 0; i < counts.length; ++i) first[i + 1] = first[i] + counts[i];
  return first;
}

const VIEW_LISTS = ["nodes", "blocks", "policy", "launches", "path", "bands", "events"];

// The trace: what is looked up by id.
class Trace {
  constructor({analyze, page, columns}) {
    this.analyze = analyze;
    this.page = page;
    this.texts = page.texts;
    this.columns = columns;
    this.nodeCount = columns["node.graph"].length;
    this.blockCount = columns["block.size"].length;
    this.edgesOut = groupBy(columns["edge.from"], this.nodeCount);
    this.edgesIn = groupBy(columns["edge.to"], this.nodeCount);
    this.edgeIndex = new Places(columns["edge.id"]);
    this.accessFirst = new Uint32Array(this.nodeCount + 1);
    for (let i = 0; i < this.nodeCount; ++i) this.accessFirst[i + 1] = this.accessFirst[i] + columns["node.accesses"][i];
    this.viewFirst = {};
    for (const list of VIEW_LISTS) this.viewFirst[list] = firstOf(columns[`views.${list}`]);
    this.views = page.views.map((view, i) => new View(this, view, i));
    this.addReuse();
  }

  // Each graph's pairs, made when they are asked for.
  addReuse() {
    const {columns, texts} = this, first = firstOf(columns["graphs.reuse"]);
    const pair = (i) => ({earlier: columns["reuse.earlier"][i], later: columns["reuse.later"][i],
      bytes: columns["reuse.bytes"][i], assumes: texts.assumptions[columns["reuse.assumes"][i]]});
    this.analyze.graphs.forEach((graph, i) => Object.defineProperty(graph, "reuse", {
      enumerable: true, get: () => Array.from({length: first[i + 1] - first[i]}, (_, k) => pair(first[i] + k)),
    }));
  }

  // The nodes that touch each block; made when first asked for.
  touching(block) {
    if (!this.accessBy) {
      this.accessNode = new Uint32Array(this.columns["access.block"].length);
      for (let n = 0; n < this.nodeCount; ++n) this.accessNode.fill(n, this.accessFirst[n], this.accessFirst[n + 1]);
      this.accessBy = groupBy(this.columns["access.block"], this.blockCount + 1);
    }
    return this.accessBy.of(block + 1);
  }

  nodeName(id) { return this.texts.short_names[this.columns["node.name"][id]]; }
  nodeFullName(id) { return this.texts.names[this.columns["node.name"][id]]; }
  nodeKind(id) { return this.texts.kinds[this.columns["node.kind"][id]]; }
  nodeTitle(id) { return `node ${id} ${this.nodeName(id)}`; }
  blockTitle(id) { return `block ${id} (${formatBytes(this.columns["block.size"][id])})`; }
  stream(oneMore) { return oneMore ? this.texts.streams[oneMore - 1] : "no stream"; }
  summary(graph) { return this.analyze.graphs.find((g) => g.id === graph); }
}

const GRANULARITY = 512;  // sizes of graphs are compared rounded up to it; of the whole program what the allocator handed out counts

// One drawing: a graph that is launched, or the whole program.
class View {
  constructor(trace, page, index) {
    this.trace = trace;
    this.index = index;
    this.root = page.root;      // the graph; null: the whole program
    this.title = page.title;
    this.width = page.width;    // of the axis
    this.lanes = page.lanes;
    this.extent = page.extent;  // of the addresses
    this.policy_bands = page.policy_bands;
    this.policy_extent = page.policy_extent;
    const part = (list, name) => {
      const first = trace.viewFirst[list];
      return trace.columns[`view.${name}`].subarray(first[index], first[index + 1]);
    };
    this.nodes = part("nodes", "node");
    this.nodeX = part("nodes", "node.x");
    this.nodeLane = part("nodes", "node.lane");
    this.blocks = part("blocks", "block");
    this.begin = part("blocks", "block.begin");
    this.freed = part("blocks", "block.freed");
    this.end = part("blocks", "block.end");
    this.offset = part("blocks", "block.offset");
    this.policyBlocks = part("policy", "policy");
    this.policyOffset = part("policy", "policy.offset");
    this.launches = part("launches", "launch");
    this.launchX = part("launches", "launch.x");
    this.launchLane = part("launches", "launch.lane");
    this.longestPath = part("path", "path");
    this.events = part("events", "event.x");
    this.eventTimes = this.events.length > 0 && inOrder(this.events) && inOrder(trace.columns["event.us"]) ? trace.columns["event.us"] : [];
    this.hasTimes = this.eventTimes.length > 1 && this.eventTimes[0] < this.eventTimes.at(-1);  // unknown ones are 0
    this.bandColumns = ["pool", "segment", "offset", "size"].map((name) => part("bands", `band.${name}`));
  }

  // Calls visit with the place of each block in use at x.
  eachAt(x, visit) {
    for (let i = 0, last = lowerBound(this.begin, x + 1); i < last; ++i) if (this.end[i] > x) visit(i);
  }

  // Slow parts are made when the view is first shown.
  prepare() {
    if (this.ready) return;
    this.ready = true;
    const sizes = this.trace.columns["block.size"], slack = this.trace.columns["block.slack"], whole = this.root === null;
    this.size = new Float64Array(this.blocks.length);
    for (let i = 0; i < this.size.length; ++i) {
      const id = this.blocks[i];
      this.size[i] = Math.ceil(sizes[id] / GRANULARITY) * GRANULARITY + (whole ? slack[id] : 0);
    }
    this.nodeAt = new Places(this.nodes);
    this.blockAt = new Places(this.blocks);
    const byLane = groupBy(this.nodeLane, this.lanes.length);
    this.byLane = this.lanes.map((_, lane) => {
      const items = byLane.of(lane);
      return {items, x: valuesAt(this.nodeX, items)};
    });
    this.nextX = new Float64Array(this.nodes.length).fill(Infinity);
    for (const {items, x} of this.byLane) for (let k = 0; k + 1 < items.length; ++k) this.nextX[items[k]] = x[k + 1];
    this.launches.forEach((_, i) => {
      const {items, x} = this.byLane[this.launchLane[i]], before = items[lowerBound(x, this.launchX[i]) - 1];
      if (before !== undefined) this.nextX[before] = Math.min(this.nextX[before], this.launchX[i]);
    });
    const placed = new Places(this.policyBlocks);
    this.policyOffsets = new Float64Array(this.blocks.length).fill(-1);
    for (let i = 0; i < this.blocks.length && this.policyBlocks.length > 0; ++i) {
      const at = placed.get(this.blocks[i]);
      if (at !== undefined) this.policyOffsets[i] = this.policyOffset[at];
    }
    readEdges(this);
    this.pathPlaces = Array.from(this.longestPath, (id) => this.nodeAt.get(id)).filter((i) => i !== undefined);
    this.levels = byteLevels(this);  // and the peak
    const [pools, segments, offsets, bandSizes] = this.bandColumns, orNull = (oneMore) => oneMore ? oneMore - 1 : null;
    this.bands = Array.from(offsets, (offset, i) => [orNull(pools[i]), orNull(segments[i]), offset, bandSizes[i]]);
    this.readReuse();
  }

  // The axis of order, or of time: there an event takes one place, and more as time passes after it.
  setAxis(seconds) {
    const lists = ["begin", "freed", "end", "events", "nodeX", "launchX"], order = this.order || {width: this.width};
    if (!this.order) for (const list of lists) order[list] = this[list];
    this.order = order;
    this.place = seconds ? placesInTime(order, this.eventTimes) : null;
    this.width = this.place ? this.place[order.width] : order.width;
    for (const list of lists) this[list] = this.place ? valuesAt(this.place, order[list]) : order[list];
    Object.assign(this, {ready: false, changes: undefined, groups: undefined, lastBackward: undefined, segmentSpans: undefined});
  }

  // A place on the axis of order on the one that is shown, and back.
  shownAt(x) { return this.place ? this.place[clamp(x, 0, this.order.width)] : x; }
  orderOf(x) { return this.place ? clamp(lowerBound(this.place, x + 1) - 1, 0, this.order.width) : x; }

  // Seconds since the first event, and the place of a time.
  secondsAt(x) { return (this.timeBetween(this.events, this.eventTimes, x) - this.eventTimes[0]) / 1e6; }
  placeOf(seconds) { return this.timeBetween(this.eventTimes, this.events, this.eventTimes[0] + seconds * 1e6); }
  timeBetween(from, to, value) {
    const i = clamp(lowerBound(from, value + 1e-9) - 1, 0, from.length - 2);
    return to[i] + clamp((value - from[i]) / Math.max(from[i + 1] - from[i], 1e-9), 0, 1) * (to[i + 1] - to[i]);
  }

  readReuse() {
    const graph = this.root === null ? null : this.trace.summary(this.root);
    this.reuse = graph ? graph.reuse : this.trace.analyze.graphs.flatMap((g) => g.reuse);
    this.reusable = new Set(this.reuse.flatMap((pair) => [pair.earlier, pair.later]));
  }
}

function inOrder(values) {
  for (let i = 1; i < values.length; ++i) if (values[i] < values[i - 1]) return false;
  return true;
}

// Of each place on the axis of order the one on the axis of time. The most places are few enough to have sums of each.
const MOST_PLACES = 2 ** 22;

function placesInTime({width, events}, times) {
  const room = clamp(20 * width, 2 ** 18, MOST_PLACES), scale = room / (times.at(-1) - times[0]), places = new Uint32Array(width + 1);
  for (let x = 0, next = 0; x <= width; ++x) {
    while (next < events.length && events[next] <= x) ++next;
    places[x] = x + Math.round((times[Math.max(next - 1, 0)] - times[0]) * scale);
  }
  return places;
}

// The sorts of edges of a view, and those from lane to lane, by the place where they end, for drawings that show
// no single edge.
function readEdges(view) {
  const {columns, edgesIn} = view.trace, x = [], fromLane = [], toLane = [];
  view.edgeSorts = new Set();
  view.nodes.forEach((id, to) => {
    for (let k = edgesIn.first[id]; k < edgesIn.first[id + 1]; ++k) {
      const e = edgesIn.items[k], from = view.nodeAt.get(columns["edge.from"][e]);
      view.edgeSorts.add(columns["edge.sort"][e]);
      if (from === undefined || view.nodeLane[from] === view.nodeLane[to]) continue;
      x.push(view.nodeX[to]);
      fromLane.push(view.nodeLane[from]);
      toLane.push(view.nodeLane[to]);
    }
  });
  view.crossing = {x: Uint32Array.from(x), from: Uint32Array.from(fromLane), to: Uint32Array.from(toLane)};
}

// Live and held bytes over x: the most of each cell, in ever fewer cells.
const MOST_CELLS = 2 ** 17;

function byteLevels(view) {
  const {width, freed, end, size} = view, {first, changes} = sortedChanges(view), cells = clamp(width, 1, MOST_CELLS);
  const levels = [{cells, live: new Float64Array(cells), held: new Float64Array(cells)}], scale = cells / Math.max(width, 1);
  let live = 0, held = 0, most = -1;
  view.peakX = 0;
  for (let x = 0; x < width; ++x) {
    for (let k = first[x], last = first[x + 1]; k < last; ++k) {
      const change = changes[k], i = (change / 3) | 0, kind = change - 3 * i;
      if (kind === 0) { live += size[i]; held += size[i]; }
      if (kind === 1) live -= size[i];
      if (kind === 2 || (kind === 1 && end[i] <= freed[i])) held -= size[i];
    }
    const cell = Math.floor(x * scale);
    if (live > levels[0].live[cell]) levels[0].live[cell] = live;
    if (held > levels[0].held[cell]) levels[0].held[cell] = held;
    if (held > most) [most, view.peakX] = [held, x];
  }
  view.peakBytes = Math.max(most, 0);
  while (levels.at(-1).cells > 256) levels.push(coarser(levels.at(-1)));
  return levels;
}

function coarser({cells, live, held}) {
  const half = Math.ceil(cells / 2), next = {cells: half, live: new Float64Array(half), held: new Float64Array(half)};
  for (let i = 0; i < half; ++i) {
    next.live[i] = Math.max(live[2 * i], live[2 * i + 1] || 0);
    next.held[i] = Math.max(held[2 * i], held[2 * i + 1] || 0);
  }
  return next;
}

// Changes by x: three times the place of the block, and 0 for its begin, 1 for its free, 2 for its end. One list for all
// groupings of a view.
function sortedChanges(view) {
  if (view.changes) return view.changes;
  const {width, blocks, begin, freed, end} = view, first = new Uint32Array(width + 2), count = blocks.length;
  for (let i = 0; i < count; ++i) {  // what happens at the end of the axis counts for nothing
    ++first[begin[i] + 1];
    ++first[freed[i] + 1];
    if (end[i] > freed[i]) ++first[end[i] + 1];
  }
  for (let x = 0; x <= width; ++x) first[x + 1] += first[x];
  const next = first.slice(), changes = new Uint32Array(first[width + 1]);
  for (let i = 0; i < count; ++i) {
    changes[next[begin[i]]++] = i * 3;
    changes[next[freed[i]]++] = i * 3 + 1;
    if (end[i] > freed[i]) changes[next[end[i]]++] = i * 3 + 2;
  }
  view.changes = {first, changes};
  return view.changes;
}
