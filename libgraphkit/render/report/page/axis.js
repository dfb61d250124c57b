// The part that is shown: the view, its range of capture order [t0, t1) and of bytes [b0, b1), and what is
// picked. Every change asks for one frame in which all drawings are drawn anew.
const app = {
  trace: null, view: null, t0: 0, t1: 1, b0: 0, b1: 1, laneScroll: 0,
  picked: null,   // {nodes, blocks, edges, label}: sets of ids; null: nothing
  hover: null,    // {node} or {block}
  cursor: null,   // x under the pointer
  groups: null,   // who holds the blocks of the view, and their colours
  at: 0,          // the moment whose holders are shown
  selection: {},  // {node}, {block}, {finding} or {hint}: what the address of the page names
  following: true,  // the address leads, so that it isn't written
  showPath: false,
  drawings: [],   // functions that draw
  samples: [],    // the same of the legends: drawn when colours or the view change
  changed: true,  // samples are to be drawn
  pending: false,
  moving: false,  // the range has changed just now
  rest: 0,
  frames: [],     // milliseconds that the last frames took to draw

  redraw() {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => this.draw());
  },

  draw() {
    this.pending = false;
    if (!this.view) return;
    const start = performance.now();
    for (const draw of this.drawings) draw();
    if (this.changed) for (const draw of this.samples) draw();
    this.changed = false;
    this.frames.push(performance.now() - start);
    if (this.frames.length > 1000) this.frames.shift();
  },

  extent() { return Math.max(this.view.extent, this.view.policy_extent, 1); },

  fit() {
    const view = this.view, margin = view.width * .01 + 1;
    [this.t0, this.t1] = [recordedFrom(view) - (view.events.length > 0 ? 0 : margin), view.width + margin];
    [this.b0, this.b1] = [0, this.extent() * 1.04];
    this.laneScroll = 0;
    this.redraw();
  },

  // The addresses of what lies in sight in capture order, in one of the memory drawings.
  fitBytes(offsets, policy) {
    const {view, t0, t1} = this;
    let low = Infinity, high = 0;
    for (let i = 0, last = lowerBound(view.begin, t1); i < last; ++i) {
      if (offsets[i] < 0 || endOf(view, i, policy) <= t0) continue;
      low = Math.min(low, offsets[i]);
      high = Math.max(high, offsets[i] + view.size[i]);
    }
    if (low < high) this.setBytes(low - (high - low) * .04, high + (high - low) * .04);
  },

  setTime(t0, t1) {
    const view = this.view, most = view.width * 1.2 + 16, margin = view.width * .05 + 4;
    const span = clamp(t1 - t0, 6, most);
    const middle = (t0 + t1) / 2, least = recordedFrom(view) - (view.events.length > 0 ? 0 : margin);
    this.t0 = clamp(middle - span / 2, least, Math.max(view.width + margin - span, least));
    this.t1 = this.t0 + span;
    this.move();
  },

  // While the range changes, drawings may show a picture of before, moved; they are exact once it rests.
  move() {
    this.moving = true;
    clearTimeout(this.rest);
    this.rest = setTimeout(() => {
      this.moving = false;
      this.redraw();
    }, 120);
    this.redraw();
  },

  setBytes(b0, b1) {
    const all = this.extent() * 1.04;
    const span = clamp(b1 - b0, Math.min(2048, all), all);
    this.b0 = clamp((b0 + b1 - span) / 2, 0, all - span);
    this.b1 = this.b0 + span;
    this.move();
  },

  // Around the point that lies at `share` of the range.
  zoomTime(factor, share = .5) {
    const span = this.t1 - this.t0, at = this.t0 + span * share;
    this.setTime(at - span * factor * share, at + span * factor * (1 - share));
  },

  zoomBytes(factor, share = .5) {
    const span = this.b1 - this.b0, at = this.b0 + span * share;
    this.setBytes(at - span * factor * share, at + span * factor * (1 - share));
  },

  panTime(share) {
    const by = (this.t1 - this.t0) * share;
    this.setTime(this.t0 + by, this.t1 + by);
  },

  // The same over order or seconds.
  setAxis(seconds) {
    const {view, groups} = this, at = view.orderOf(this.at), chosen = groups.keys[groups.chosen];
    if (!view.hasTimes || seconds === Boolean(view.place)) return;
    view.setAxis(seconds);
    view.prepare();
    groupBlocks(groups.by);
    if (chosen !== undefined) chooseGroup(this.groups.index.get(chosen));
    showMoment(view.shownAt(at));
    makeAxisChoice(view);
    this.fit();
  },

  show(view) {
    this.view = view;
    view.prepare();
    this.hover = this.picked = null;
    this.selection = {};
    this.changed = true;
    this.groups = groupsOf(view, firstGrouping(view));
    this.groups.choose(-1);
    makeGroupingChoice(view);
    makeGroupLegend(view);
    makeAxisChoice(view);
    showMoment(view.peakX);
    this.fit();
    remember();
  },
};

// Pointer and wheel on a drawing. `target`: {plot, hit(x, y), click(thing), vertical}.
function listen(canvas, target) {
  let drag = null;
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    const plot = target.plot(), delta = event.deltaY || event.deltaX;
    const factor = Math.exp(clamp(delta, -240, 240) * .0016);
    if (event.shiftKey && target.bytes) {
      app.zoomBytes(factor, 1 - clamp((event.offsetY - plot.top) / plot.height, 0, 1));
    } else if (!event.shiftKey && Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      app.panTime(event.deltaX / plot.width);
    } else {
      app.zoomTime(factor, clamp((event.offsetX - plot.left) / plot.width, 0, 1));
    }
  }, {passive: false});
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    drag = {x: event.offsetX, y: event.offsetY, t0: app.t0, t1: app.t1, b0: app.b0, b1: app.b1,
            scroll: app.laneScroll, moved: false};
  });
  canvas.addEventListener("pointermove", (event) => {
    if (drag) moveDrag(drag, event, target); else pointAt(event, target);
  });
  canvas.addEventListener("pointerup", (event) => {
    const moved = drag && drag.moved;
    drag = null;
    if (!moved) target.click(target.hit(event.offsetX, event.offsetY));
  });
  canvas.addEventListener("pointerleave", () => { pointNowhere(); });
  canvas.addEventListener("dblclick", () => app.fit());
}

function moveDrag(drag, event, target) {
  const plot = target.plot(), dx = event.offsetX - drag.x, dy = event.offsetY - drag.y;
  if (Math.abs(dx) + Math.abs(dy) > 3) drag.moved = true;
  if (!drag.moved) return;
  hideTip();
  const by = -dx / plot.width * (drag.t1 - drag.t0);
  app.setTime(drag.t0 + by, drag.t1 + by);
  if (target.bytes) {
    const up = dy / plot.height * (drag.b1 - drag.b0);
    app.setBytes(drag.b0 + up, drag.b1 + up);
  } else {
    app.laneScroll = Math.max(0, drag.scroll - dy);
  }
}

function pointAt(event, target) {
  const plot = target.plot(), found = target.hit(event.offsetX, event.offsetY);
  app.cursor = event.offsetX >= plot.left ? timeAt(plot, event.offsetX) : null;
  app.hover = found;
  if (found) showTip(found, event.clientX, event.clientY); else hideTip();
  app.redraw();
}

function pointNowhere() {
  app.cursor = app.hover = null;
  hideTip();
  app.redraw();
}
