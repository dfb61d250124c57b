// Bytes in use over events as a stacked area, in the colours of the groups, with the peak, failures and the chosen moment.
// From bottom to top: what has no stack, the largest groups, the others, what is deferred.
const STACKING = [EARLIER, NO_STACK, ...Array.from({length: GROUP_COLORS}, (_, slot) => slot), REST, DEFERRED];

function areaTop() { return Math.max(app.mostBytes || app.view.peakBytes, 1) * 1.08; }

function hitArea(plot, x, y) {
  const {view} = app, t = Math.floor(timeAt(plot, x));
  if (x < plot.left || x > plot.left + plot.width || t < 0 || t >= view.width) return null;
  const bytes = (plot.top + plot.height - y) / plot.height * areaTop(), state = app.groups.sums.at(t);
  let below = 0;
  for (const slot of STACKING) {
    below += state[slot];
    if (bytes >= 0 && bytes < below) return {moment: t, slot, bytes: state[slot]};
  }
  return {moment: t, slot: -1, bytes: below};
}

function drawArea({canvas}) {
  const {pen, width, height} = penOf(canvas), plot = plotOf(width, height, 18), {view, groups} = app;
  drawAreaAxis(pen, plot);
  drawTimeAxis(pen, plot, true);
  if (view.blocks.length === 0) return;
  const cells = groups.sums.inSight(app.t0, app.t1, plot.width);
  pen.save();
  pen.beginPath();
  pen.rect(plot.left, 0, plot.width, plot.top + plot.height);
  pen.clip();
  const base = new Float64Array(cells.count), top = areaTop();
  const xs = Float64Array.from({length: cells.count + 1}, (_, c) => xOf(plot, cells.x0 + c / cells.count * (cells.x1 - cells.x0)));
  for (const slot of STACKING) drawLayer(pen, plot, cells, xs, base, slot, top);
  drawMarks(pen, plot);
  drawCursor(pen, plot);
  pen.restore();
}

// One slot's bytes on top of those drawn before, which `base` sums up.
function drawLayer(pen, plot, {count, values}, xs, base, slot, top) {
  const scale = plot.height / top, bottom = plot.top + plot.height;
  let any = false;
  for (let c = 0; c < count && !any; ++c) any = values[c * SLOTS + slot] > 0;
  if (!any) return;
  pen.beginPath();
  for (let c = 0; c < count; ++c) {
    const y = bottom - (base[c] + values[c * SLOTS + slot]) * scale;
    pen.lineTo(xs[c], y);
    pen.lineTo(xs[c + 1], y);
  }
  for (let c = count - 1; c >= 0; --c) {
    const y = bottom - base[c] * scale;
    pen.lineTo(xs[c + 1], y);
    pen.lineTo(xs[c], y);
    base[c] += values[c * SLOTS + slot];
  }
  pen.fillStyle = slot === DEFERRED ? hatch(pen) : app.groups.colorOf(slot);
  pen.fill();
}

function drawAreaAxis(pen, plot) {
  const top = areaTop(), step = roundStep(top, plot.height / 34, true);
  for (let bytes = 0; bytes < top; bytes += step) {
    const y = plot.top + plot.height - bytes / top * plot.height;
    byteMark(pen, plot, bytes, y, bytes ? theme.colors.soft : theme.colors.line);
  }
}

// The peak, each failure for lack of memory, and the moment whose holders are shown.
function drawMarks(pen, plot) {
  const {view} = app, marks = [{x: view.peakX, text: `peak ${formatBytes(view.peakBytes)}`, color: theme.colors.ink, dash: [3, 3]}];
  for (const x of outOfMemoryAt(view)) marks.push({x, text: "out of memory", color: theme.colors.error, dash: []});
  if (app.at !== view.peakX) marks.push({x: app.at, text: momentText(view, app.at), color: theme.colors.accent, dash: []});
  marks.forEach(({x, text, color, dash}, row) => {
    if (x < app.t0 || x > app.t1) return;
    const at = xOf(plot, x + .5);
    pen.strokeStyle = pen.fillStyle = color;
    pen.setLineDash(dash);
    line(pen, at, plot.top, at, plot.top + plot.height);
    pen.setLineDash([]);
    const wide = pen.measureText(text).width + 8, left = at + wide > plot.left + plot.width ? at - wide : at + 2;
    pen.globalAlpha = .85;
    pen.fillStyle = theme.colors.paper;
    pen.fillRect(left, plot.top + row * 15, wide - 2, 15);
    pen.globalAlpha = 1;
    pen.fillStyle = color;
    pen.textAlign = "left";
    pen.fillText(text, left + 3, plot.top + 8 + row * 15);
  });
}

// Of the device that is shown: where an allocation failed for lack of memory.
function outOfMemoryAt(view) {
  const failed = app.trace.page.memory[0]?.out_of_memory;
  return failed && failed.event < view.events.length ? [view.events[failed.event]] : [];
}

function swatch(slot) {
  const made = element("i", "swatch");
  made.style.background = slot < GROUP_COLORS ? `var(--group${slot})` : slot === REST ? "var(--rest)" : slot === EARLIER ? "var(--earlier)" : "var(--nostack)";
  return made;
}
