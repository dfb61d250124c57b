// Who holds memory: the blocks of a view in groups, by line, module, category, stream, pool or content. The largest groups at
// the peak have a colour each, the same in all drawings.
const GROUPINGS = ["line", "module", "category", "stream", "pool", "content"];
const GROUP_COLORS = 9;
const REST = GROUP_COLORS, NO_STACK = GROUP_COLORS + 1, EARLIER = GROUP_COLORS + 2, DEFERRED = GROUP_COLORS + 3, SLOTS = GROUP_COLORS + 4;
const CATEGORIES = ["other", "weights and buffers", "optimizer state", "gradients and what a backward made", "activations",
  "workspaces of libraries", "memory of graphs"];
const BEFORE = "allocated before recording began (no stack)", UNNAMED = "no call stack";

// The last folder and the name of a file: "llama/modeling_llama.py".
function shortFile(file) { return file.replaceAll("\\", "/").split("/").slice(-2).join("/"); }
function shortPlace([, file, at]) { return at ? `${shortFile(file)}:${at}` : shortFile(file); }

// The line of a stack (libgraphkit/analysis/names/stack_name.h), its operator and role.
function nameOfStack(oneMore) {
  if (!oneMore) return null;
  const {texts} = app.trace, [line, operation, role] = texts.stack_names[oneMore - 1];
  return {frame: line ? texts.stacks[oneMore - 1][line - 1] : null, operation, role};
}

function isWorkspace(oneMore) {
  return Boolean(oneMore) && app.trace.texts.stacks[oneMore - 1].some(([name]) => /workspace/i.test(name));
}

// {key, name, known} of a stack by line: as graphkit's text output groups them (libgraphkit/analysis/explain/held.cpp).
function lineOf(oneMore) {
  const name = nameOfStack(oneMore);
  if (name?.frame) {
    const [inFunction, , at] = name.frame, place = shortPlace(name.frame);
    return {key: at ? place : `${place} ${inFunction}`, operation: name.operation, function: at ? inFunction : "", known: true};
  }
  return name?.operation ? {key: name.operation, operation: "", known: true} : null;
}

function moduleOf(oneMore) {
  const name = nameOfStack(oneMore);
  if (name?.frame) return {key: shortFile(name.frame[1]), operation: "", known: true};
  return name?.operation ? {key: name.operation, operation: "", known: true} : null;
}

function categoryOf(oneMore, block) {
  const role = nameOfStack(oneMore)?.role || 0, {columns} = app.trace;
  if (isWorkspace(oneMore)) return {key: CATEGORIES[5], operation: "", known: true};
  if (role) return {key: CATEGORIES[role], operation: "", known: true};
  if (columns["block.graph"][block]) return {key: CATEGORIES[6], operation: "", known: true};
  return lineOf(oneMore) ? {key: CATEGORIES[0], operation: "", known: true} : null;
}

// The groups of a view: `of` by place in the view, `keys` and `names` by group.
class Groups {
  constructor(view, by) {
    this.view = view;
    this.by = by;
    this.keys = [];
    this.known = [];
    this.operations = [];
    this.functions = [];  // for lines whose operators aren't known
    this.of = new Uint32Array(view.blocks.length);
    this.index = new Map();
    this.fill(view, by);
    this.names = this.keys.map((key, i) => `${key} ${topOperations(this.operations[i]) || this.functions[i]}`.trim());
    this.slot = new Uint8Array(this.keys.length);
    this.chosen = -1;
    this.color();
  }

  add(key, known, inFunction = "") {
    if (!this.index.has(key)) {
      this.index.set(key, this.keys.length);
      this.keys.push(key);
      this.known.push(known);
      this.operations.push(new Map());
      this.functions.push(inFunction);
    }
    return this.index.get(key);
  }

  fill(view, by) {
    const {columns, texts} = app.trace, stacks = columns["block.stack"], graphs = columns["block.graph"], recorded = recordedFrom(view);
    const pool = columns["block.pool"], column = {pool, stream: columns["block.stream"], content: columns["block.content"]}[by] || stacks, two = by === "category";
    const find = {line: lineOf, module: moduleOf, category: categoryOf,
      stream: (id) => ({key: app.trace.stream(id), operation: "", known: true}),
      pool: (id) => ({key: id ? texts.pools[id - 1] : "no pool", operation: "", known: true}),
      content: (id) => ({key: texts.contents[id], operation: "", known: true})}[by];
    const pools = by === "line" && !stacksOf(view).some((stack) => lineOf(stack)), seen = [], bytes = [];
    for (let i = 0; i < view.blocks.length; ++i) {
      const block = view.blocks[i], id = two ? column[block] * 2 + (graphs[block] ? 1 : 0) : column[block];
      let found = seen[id];
      if (found === undefined) {
        found = find(column[block], block);
        if (found) found.group = this.add(found.key, found.known, found.function);
        seen[id] = found;
        bytes[id] = 0;
      }
      this.of[i] = found ? found.group : this.add(pools && pool[block] ? texts.pools[pool[block] - 1] : view.begin[i] < recorded ? BEFORE : UNNAMED, pools && pool[block] > 0);
      bytes[id] += view.size[i];
    }
    seen.forEach((found, id) => {
      if (!found?.operation) return;
      const operations = this.operations[found.group];
      operations.set(found.operation, (operations.get(found.operation) || 0) + bytes[id]);
    });
  }

  // The most bytes at the peak first; the chosen group has a colour too.
  color() {
    const held = this.heldAt(this.view.peakX).filter(({group}) => this.known[group]);
    const first = held.slice(0, GROUP_COLORS).map(({group}) => group);
    if (this.chosen >= 0 && this.known[this.chosen] && !first.includes(this.chosen)) first[Math.min(first.length, GROUP_COLORS - 1)] = this.chosen;
    this.paint(first);
  }

  // A colour each for these groups; -1: none has it.
  paint(first) {
    this.slot.fill(REST);
    this.known.forEach((known, group) => { if (!known) this.slot[group] = this.keys[group] === BEFORE ? EARLIER : NO_STACK; });
    first.forEach((group, slot) => { if (group >= 0) this.slot[group] = slot; });
    this.slots = first;
    const slots = new Uint8Array(this.of.length);
    for (let i = 0; i < slots.length; ++i) slots[i] = this.slot[this.of[i]];
    this.slotOf = slots;  // of each block
    this.sums = new Sweep(this.view, slots);
    this.version = (this.version || 0) + 1;
  }

  choose(group) {
    this.chosen = group;
    if (group >= 0 && this.slot[group] === REST) this.color();
    this.version = this.version + 1;
  }

  // The groups with bytes in use at x, the most first: {group, bytes, blocks}.
  heldAt(x) {
    const {view} = this, bytes = new Float64Array(this.keys.length), blocks = new Uint32Array(this.keys.length);
    view.eachAt(x, (i) => {
      bytes[this.of[i]] += view.size[i];
      ++blocks[this.of[i]];
    });
    return this.keys.map((_, group) => ({group, bytes: bytes[group], blocks: blocks[group]}))
      .filter((held) => held.blocks > 0).sort((a, b) => b.bytes - a.bytes);
  }

  slotName(slot) {
    if (slot === REST) return this.by === "line" ? "other lines" : "others";
    if (slot === NO_STACK) return this.keys.find((_, group) => this.slot[group] === NO_STACK) || UNNAMED;
    if (slot === EARLIER) return BEFORE;
    return slot === DEFERRED ? "deferred: freed, but not yet usable again" : this.names[this.slots[slot]];
  }

  // The colour of a group in the drawings: paler where another group is chosen.
  colorOf(slot) {
    const color = slotColor(slot);
    return this.chosen < 0 || this.slot[this.chosen] === slot ? color : mixed(color, theme.colors.paper, .78);
  }
}

function topOperations(operations) {
  return [...operations].sort((a, b) => b[1] - a[1]).slice(0, 4).map(([name]) => name).join(", ");
}

function slotColor(slot) {
  const {colors} = theme;
  return slot < GROUP_COLORS ? colors[`group${slot}`] : slot === REST ? colors.rest : slot === NO_STACK ? colors.nostack : slot === EARLIER ? colors.earlier : colors.deferred;
}

function mixed(color, other, share) {
  const a = rgbOf(color), b = rgbOf(other);
  return `#${a.map((part, i) => Math.round(part + (b[i] - part) * share).toString(16).padStart(2, "0")).join("")}`;
}

// Where the recording of a snapshot begins: what was allocated before lies to the left.
function recordedFrom(view) { return view.events.length > 0 ? view.events[0] : 0; }

// The groups of the view that is shown, made when they are first asked for.
function groupsOf(view, by) {
  view.groups = view.groups || {};
  if (!view.groups[by]) view.groups[by] = new Groups(view, by);
  return view.groups[by];
}

// The stacks of the view's blocks, each once, as one more than their ids.
function stacksOf(view) {
  if (!view.stacks) {
    const column = app.trace.columns["block.stack"], seen = new Uint8Array(app.trace.texts.stacks.length + 1);
    for (let i = 0; i < view.blocks.length; ++i) seen[column[view.blocks[i]]] = 1;
    view.stacks = [...seen.keys()].filter((stack) => seen[stack]);
  }
  return view.stacks;
}

// True where there are several groups.
function tellsApart(view, by) {
  if (!["stream", "pool", "content"].includes(by)) return stacksOf(view).length > 1 && groupsOf(view, by).keys.length > 1;
  const column = app.trace.columns[`block.${by}`];
  for (let i = 1; i < view.blocks.length; ++i) if (column[view.blocks[i]] !== column[view.blocks[0]]) return true;
  return false;
}

// Lines, where there are several; else what tells blocks apart.
function firstGrouping(view) { return GROUPINGS.find((by) => tellsApart(view, by)) || "line"; }

// Bytes in use by slot over x: allocations, frees and ends sorted by x, with the sums before every few thousand.
const CHECKPOINT = 8192, BASE_CELLS = 2 ** 13, MOST_EXACT = 60_000;

class Sweep {
  constructor(view, slots) {
    this.view = view;
    this.slots = slots;  // of each block
    const {first, changes} = sortedChanges(view);
    this.first = first;
    this.changes = changes;
    this.checkpoints = [];
    const width = Math.max(view.width, 1);
    this.levels = [this.cells(0, width, Math.min(width, BASE_CELLS), true)];
    while (this.levels.at(-1).count > 256) this.levels.push(coarserCells(this.levels.at(-1)));
  }

  // By how much what is in use changes.
  apply(x, state) {
    const {size, end, freed} = this.view;
    let by = 0;
    for (let k = this.first[x], last = this.first[x + 1]; k < last; ++k) {
      const change = this.changes[k], i = (change / 3) | 0, kind = change - 3 * i, bytes = size[i];
      if (kind === 0) {
        state[this.slots[i]] += bytes;
        by += bytes;
      } else if (kind === 2) {
        state[DEFERRED] -= bytes;
        by -= bytes;
      } else {
        state[this.slots[i]] -= bytes;
        if (end[i] > freed[i]) state[DEFERRED] += bytes; else by -= bytes;
      }
    }
    return by;
  }

  // Bytes by slot after what happens at x.
  at(x) {
    const from = Math.floor(x / CHECKPOINT), state = (this.checkpoints[from] || new Float64Array(SLOTS)).slice();
    for (let t = from * CHECKPOINT; t <= x && t < this.view.width; ++t) this.apply(t, state);
    return state;
  }

  // In each of `count` cells of [x0, x1): the bytes by slot when together they are the most.
  cells(x0, x1, count, save = false) {
    const values = new Float64Array(count * SLOTS), most = new Float64Array(count).fill(-1), scale = count / (x1 - x0);
    const state = x0 > 0 ? this.at(x0 - 1) : new Float64Array(SLOTS), {width} = this.view;
    let total = state.reduce((a, b) => a + b, 0);
    for (let x = x0; x < x1; ++x) {
      if (save && x % CHECKPOINT === 0) this.checkpoints.push(state.slice());
      if (x < width) total += this.apply(x, state);
      const cell = Math.floor((x - x0) * scale);
      if (total <= most[cell]) continue;
      most[cell] = total;
      for (let s = 0, to = cell * SLOTS; s < SLOTS; ++s, ++to) values[to] = state[s];
    }
    return {x0, x1, count, values, most};
  }

  // Cells for what is in sight, about one a pixel.
  inSight(t0, t1, pixels) {
    const {width} = this.view, x0 = clamp(Math.floor(t0), 0, width), x1 = clamp(Math.ceil(t1), x0 + 1, Math.max(width, x0 + 1));
    if (this.first[Math.min(x1, width)] - this.first[x0] > MOST_EXACT || x1 - x0 > MOST_EXACT) {
      const least = pixels * Math.max(width, 1) / (x1 - x0);  // of cells, for one a pixel
      return this.levels.filter(({count}) => count >= least).at(-1) || this.levels[0];
    }
    return this.cells(x0, x1, Math.min(x1 - x0, Math.max(Math.round(pixels), 1)));
  }
}

function coarserCells({x0, x1, count, values, most}) {
  const half = Math.ceil(count / 2), next = {x0, x1: x0 + (x1 - x0) * half * 2 / count, count: half, values: new Float64Array(half * SLOTS), most: new Float64Array(half)};
  for (let c = 0; c < half; ++c) {
    const from = 2 * c + 1 < count && most[2 * c + 1] > most[2 * c] ? 2 * c + 1 : 2 * c;
    next.most[c] = most[from];
    next.values.set(values.subarray(from * SLOTS, (from + 1) * SLOTS), c * SLOTS);
  }
  return next;
}

// "event 1,402" of a snapshot, "node 7" of a graph.
function momentText(view, x) {
  const time = view.place ? `, ${formatSeconds(view.secondsAt(x), 1e-6 * Math.max(view.secondsAt(view.width), 1))}` : "";
  if (view.events.length > 0) return `event ${formatCount(Math.max(lowerBound(view.events, x + 1) - 1, 0))}${time}`;
  if (view.nodes.length === 0) return `change ${formatCount(x)}`;
  const i = lowerBound(view.nodeX, x + 1) - 1;
  return i < 0 ? "before the first node" : `after node ${formatCount(view.nodes[i])}`;
}
