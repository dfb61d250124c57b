// The memory of both files over their events, one below the other: at one scale, aligned, and with the lines that changed
// most in the same colours.
const ALIGNED = {start: recordedFrom, peak: (view) => view.peakX, end: (view) => view.width};
const SIDE_HEIGHT = 168;

// The part that is shown, and the side that is drawn just now.
const app = {
  trace: null, view: null, groups: null, at: 0, t0: 0, t1: 1, cursor: null, mostBytes: 0, changed: false,
  sides: [],     // {name, trace, view, groups, canvas}
  from: 0,       // what is in sight, counted from where the sides are aligned
  to: 1,
  pointed: null,  // the same under the pointer
  aligned: "start", chosen: -1, pending: false,
  lines: [],      // those with a colour, in its order

  redraw() {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      for (const side of this.sides) drawSide(side);
    });
  },
};

// In the data of a diff: how a line of the report is called.
function keyOfHolder(holder, {texts}) {
  if (!holder) return undefined;
  const {kind, place} = holder;
  if (kind === "pool") return texts.pools[holder.pool];
  if (kind === "before-recording") return BEFORE;
  return kind === "line" && !holder.line ? `${place} ${holder.function}` : place || UNNAMED;
}

async function readSide(name, lines) {
  const trace = app.trace = new Trace(readData(await inflate(byId(name).textContent.trim()))), view = trace.views.at(-1);
  view.prepare();
  const groups = new Groups(view, "line"), groupOf = (line) => groups.index.get(keyOfHolder(line[name], trace)) ?? -1;
  groups.paint(lines.map(groupOf).map((group) => groups.known[group] ? group : -1));
  return {name, trace, view, groups, canvas: document.createElement("canvas")};
}

function originOf({view}) { return ALIGNED[app.aligned](view); }

// All functions that draw and measure take what they draw from `app`.
function turnTo({trace, view, groups}) {
  const origin = originOf({view});
  Object.assign(app, {trace, view, groups, at: view.peakX, t0: app.from + origin, t1: app.to + origin, cursor: app.pointed === null ? null : app.pointed + origin});
}

function drawSide(side) {
  turnTo(side);
  drawArea(side);
}

// All of both.
function fitSides() {
  app.from = Math.min(...app.sides.map((side) => recordedFrom(side.view) - originOf(side)));
  app.to = Math.max(...app.sides.map((side) => side.view.width - originOf(side)), app.from + 6);
  app.redraw();
}

function setSight(from, to) {
  if (to - from < 6) return;
  const least = Math.min(...app.sides.map((side) => recordedFrom(side.view) - originOf(side))), most = Math.max(...app.sides.map((side) => side.view.width - originOf(side)));
  const span = Math.min(to - from, most - least);
  app.from = clamp(from, least, most - span);
  app.to = app.from + span;
  app.redraw();
}

function listenToSide(side) {
  const {canvas} = side, plot = () => plotOf(canvas.clientWidth, canvas.clientHeight, 18);
  let drag = null;
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    const {left, width} = plot(), span = app.to - app.from, share = clamp((event.offsetX - left) / width, 0, 1), sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);
    const factor = sideways ? 1 : Math.exp(clamp(event.deltaY, -240, 240) * .0016), begin = app.from + span * share * (1 - factor) + (sideways ? event.deltaX / width * span : 0);
    setSight(begin, begin + span * factor);
  }, {passive: false});
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    drag = {x: event.offsetX, from: app.from, to: app.to, moved: false};
  });
  canvas.addEventListener("pointermove", (event) => {
    turnTo(side);
    if (drag) {
      const by = (drag.x - event.offsetX) / plot().width * (drag.to - drag.from);
      drag.moved ||= Math.abs(event.offsetX - drag.x) > 3;
      if (drag.moved) setSight(drag.from + by, drag.to + by);
    }
    app.pointed = event.offsetX < GUTTER ? null : timeAt(plot(), event.offsetX) - originOf(side);
    showSideTip(hitArea(plot(), event.offsetX, event.offsetY), event);
    app.redraw();
  });
  canvas.addEventListener("pointerup", (event) => {
    const hit = !drag?.moved && (turnTo(side), hitArea(plot(), event.offsetX, event.offsetY));
    drag = null;
    if (hit) chooseLine(hit.slot >= 0 && hit.slot < GROUP_COLORS && hit.slot !== app.chosen ? hit.slot : -1);
  });
  canvas.addEventListener("pointerleave", () => {
    app.pointed = null;
    byId("tip").hidden = true;
    app.redraw();
  });
  canvas.addEventListener("dblclick", fitSides);
}

// Both sides at the moment that is pointed at: what is in use, and the bytes of the line under the pointer.
function showSideTip(hit, event) {
  const tip = byId("tip");
  tip.hidden = !hit;
  if (!hit) return;
  const title = hit.slot < 0 ? "in use" : app.groups.slotName(hit.slot), rows = [];
  for (const side of app.sides) {
    turnTo(side);
    const x = Math.floor(app.cursor ?? -1), state = x >= 0 && x < side.view.width ? side.groups.sums.at(x) : null;
    const inUse = state && state.reduce((a, b) => a + b, 0), here = state && hit.slot >= 0 ? ` of ${formatBytes(inUse)} in use` : "";
    rows.push(`${side.name}: ${state ? `${formatBytes(hit.slot < 0 ? inUse : state[hit.slot])}${here}, ${momentText(side.view, x)}` : "nothing recorded here"}`);
  }
  tip.replaceChildren(...[title, ...rows].map((text) => element("div", "", text)));
  tip.style.left = `${Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8)}px`;
  tip.style.top = `${event.clientY + 18}px`;
}

// The same line in both, in the legend and in the table.
function chooseLine(slot) {
  app.chosen = slot;
  for (const {groups} of app.sides) groups.chosen = slot < 0 ? -1 : groups.slots[slot];
  for (const entry of every("#sides-legend .entry")) entry.setAttribute("aria-pressed", String(Number(entry.dataset.slot) === slot));
  app.redraw();
}

function sidesLegend(lines) {
  const made = element("div", "legend");
  made.id = "sides-legend";
  const slots = app.sides.flatMap(({groups}) => [...new Set(groups.slot)]);
  for (const slot of [...lines.keys(), REST, NO_STACK, EARLIER].filter((one) => slots.includes(one))) {
    const entry = element("button", "entry"), side = app.sides.find(({groups}) => [...groups.slot].includes(slot));
    entry.append(swatch(slot), element("span", "", slot < lines.length ? lines[slot].title : side.groups.slotName(slot)));
    entry.dataset.slot = String(slot);
    if (slot < GROUP_COLORS) entry.addEventListener("click", () => chooseLine(app.chosen === slot ? -1 : slot)); else entry.disabled = true;
    made.append(entry);
  }
  return made;
}

// In a table of holders: the colour of the row's line, which a click chooses.
function markLine(row, {title}) {
  const slot = app.lines.findIndex((line) => line.title === title), cell = row.cells[0];
  if (slot < 0) return;
  linkRow(row, () => chooseLine(app.chosen === slot ? -1 : slot));
  cell.prepend(swatch(slot));
}

function alignmentChoice() {
  const choice = element("select", ""), label = element("label", "small", " aligned at the ");
  choice.append(...Object.keys(ALIGNED).map((name) => new Option(name, name)));
  choice.id = "aligned";
  choice.addEventListener("change", () => {
    app.aligned = choice.value;
    fitSides();
  });
  label.append(choice);
  return label;
}

// `holders` as in the JSON of a diff, with titles; those that changed most have colours.
async function memoryOverEvents(holders) {
  const lines = app.lines = [...holders].sort((a, b) => Math.abs(b.change_bytes) - Math.abs(a.change_bytes)).slice(0, GROUP_COLORS);
  readTheme();
  for (const name of ["before", "after"]) app.sides.push(await readSide(name, lines));
  app.mostBytes = Math.max(...app.sides.map(({view}) => view.peakBytes));
  const made = element("div", ""), head = element("h3", "", "In use over events ");
  head.append(alignmentChoice());
  made.append(head);
  for (const side of app.sides) {
    const figure = element("figure", "side-figure");
    side.canvas.style.height = `${SIDE_HEIGHT}px`;
    side.canvas.setAttribute("role", "img");
    side.canvas.setAttribute("aria-label", `${side.name}: memory in use over events, peak ${formatBytes(side.view.peakBytes)}`);
    figure.append(element("figcaption", "small", side.name), side.canvas);
    listenToSide(side);
    made.append(figure);
  }
  made.append(sidesLegend(lines));
  new ResizeObserver(() => app.redraw()).observe(made);
  fitSides();
  return made;
}
