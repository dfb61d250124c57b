// Bytes over all of capture order, live and deferred, and which part of it is shown below. Drawn from
// the level of byteLevels that is just finer than the pixels.
function makeOverview(canvas) {
  const overview = {canvas};
  overview.draw = () => drawOverview(canvas);
  let drag = null;
  const share = (event) => clamp((event.offsetX - GUTTER) / Math.max(canvas.clientWidth - GUTTER - 8, 1), 0, 1);
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    const at = placeAt(share(event)), span = app.t1 - app.t0;
    if (at < app.t0 || at > app.t1) app.setTime(at - span / 2, at + span / 2);
    drag = {at, t0: app.t0, t1: app.t1};
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!drag) return;
    const by = placeAt(share(event)) - drag.at;
    app.setTime(drag.t0 + by, drag.t1 + by);
  });
  canvas.addEventListener("pointerup", () => { drag = null; });
  canvas.addEventListener("dblclick", () => app.fit());
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    const at = placeAt(share(event));
    app.zoomTime(Math.exp(clamp(event.deltaY, -240, 240) * .0016), clamp((at - app.t0) / (app.t1 - app.t0), 0, 1));
  }, {passive: false});
  return overview;
}

// The place on the axis at a share of the drawing, which begins where recording does.
function placeAt(share) {
  const from = recordedFrom(app.view);
  return from + share * (app.view.width - from);
}

function drawOverview(canvas) {
  const {pen, width, height} = penOf(canvas), {view} = app;
  const plot = {left: GUTTER, top: 2, width: Math.max(width - GUTTER - 8, 10), height: height - 4};
  const level = view.levels.find(({cells}) => cells <= plot.width * 2) || view.levels.at(-1);
  const most = Math.max(1, ...maxima(level.held), ...maxima(level.live));
  const from = Math.floor(recordedFrom(view) / Math.max(view.width, 1) * level.cells);
  area(pen, plot, level.held.subarray(from), most, theme.colors.deferred, .55);
  area(pen, plot, level.live.subarray(from), most, theme.colors.edge, 1);
  pen.strokeStyle = theme.colors.line;
  line(pen, plot.left, plot.top + plot.height - 1, plot.left + plot.width, plot.top + plot.height - 1);
  pen.fillStyle = theme.colors.pale;
  pen.textAlign = "right";
  if (view.blocks.length > 0) {
    pen.fillText(formatBytes(most), plot.left - 8, plot.top + 7);
    pen.fillText("0", plot.left - 8, plot.top + plot.height - 7);
  }
  drawWindow(pen, plot);
}

// The largest of each 1000 values: few enough to be spread into Math.max.
function maxima(values) {
  const found = [];
  for (let i = 0; i < values.length; i += 1000) found.push(values.subarray(i, i + 1000).reduce((a, b) => Math.max(a, b), 0));
  return found;
}

function area(pen, plot, values, most, color, alpha) {
  pen.fillStyle = color;
  pen.globalAlpha = alpha;
  pen.beginPath();
  pen.moveTo(plot.left, plot.top + plot.height);
  values.forEach((bytes, i) => {
    const y = plot.top + plot.height - bytes / most * (plot.height - 4);
    pen.lineTo(plot.left + i / values.length * plot.width, y);
    pen.lineTo(plot.left + (i + 1) / values.length * plot.width, y);
  });
  pen.lineTo(plot.left + plot.width, plot.top + plot.height);
  pen.fill();
  pen.globalAlpha = 1;
}

function drawWindow(pen, plot) {
  const {view} = app, from = recordedFrom(view), scale = plot.width / Math.max(view.width - from, 1);
  const x0 = plot.left + (clamp(app.t0, from, view.width) - from) * scale, x1 = plot.left + (clamp(app.t1, from, view.width) - from) * scale;
  if (app.t0 <= from && app.t1 >= view.width) return;
  pen.fillStyle = theme.colors.paper;
  pen.globalAlpha = .72;
  pen.fillRect(plot.left, 0, x0 - plot.left, plot.top + plot.height);
  pen.fillRect(x1, 0, plot.left + plot.width - x1, plot.top + plot.height);
  pen.globalAlpha = 1;
  pen.strokeStyle = theme.colors.accent;
  pen.strokeRect(Math.round(x0) + .5, 1.5, Math.max(Math.round(x1 - x0) - 1, 3), plot.height);
}
