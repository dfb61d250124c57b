// Places on the axis that all drawings share, and what is drawn along it.
const GUTTER = 100;  // left of every drawing, so that capture order lines up

// The part of a drawing that the axes span, in CSS pixels.
function plotOf(width, height, below) {
  return {left: GUTTER, top: 4, width: Math.max(width - GUTTER - 8, 10), height: Math.max(height - 4 - below, 10)};
}

function xOf(plot, t) { return plot.left + (t - app.t0) / (app.t1 - app.t0) * plot.width; }
function timeAt(plot, x) { return app.t0 + (x - plot.left) / plot.width * (app.t1 - app.t0); }

// Numbers of nodes below a drawing, and thin lines through it.
function drawTimeAxis(pen, plot, labels) {
  const {view} = app, events = view.nodes.length === 0;  // of memory alone
  if (view.place) return drawSeconds(pen, plot, labels);
  const places = events ? view.events : view.nodeX, first = lowerBound(places, app.t0), last = lowerBound(places, app.t1);
  const step = Math.max(roundStep(Math.max(last - first, 1), plot.width / 110), 1);
  pen.fillStyle = theme.colors.pale;
  pen.textAlign = "center";
  let free = -Infinity;  // from here on
  for (let i = Math.ceil(first / step) * step; i < last; i += step) {
    const x = xOf(plot, places[i] + (events ? 0 : 2)), text = events ? `event ${formatCount(i)}` : `node ${formatCount(view.nodes[i])}`, half = pen.measureText(text).width / 2;
    if (x - half < free || x + half > plot.left + plot.width + 8) continue;
    free = x + half + 8;
    pen.strokeStyle = theme.colors.soft;
    line(pen, x, plot.top, x, plot.top + plot.height);
    if (labels) pen.fillText(text, x, plot.top + plot.height + 9);
  }
}

function drawSeconds(pen, plot, labels) {
  const {view} = app, first = view.secondsAt(app.t0), last = view.secondsAt(app.t1), step = roundStep(Math.max(last - first, 1e-6), plot.width / 90);
  pen.textAlign = "center";
  for (let i = Math.ceil(first / step); i * step <= last; ++i) {
    const x = xOf(plot, view.placeOf(i * step));
    if (x < plot.left) continue;
    pen.strokeStyle = theme.colors.soft;
    line(pen, x, plot.top, x, plot.top + plot.height);
    pen.fillStyle = theme.colors.pale;
    if (labels) pen.fillText(formatSeconds(i * step, step), x, plot.top + plot.height + 9);
  }
}

function line(pen, x0, y0, x1, y1) {
  pen.beginPath();
  pen.moveTo(Math.round(x0) + .5, Math.round(y0) + .5);
  pen.lineTo(Math.round(x1) + .5, Math.round(y1) + .5);
  pen.stroke();
}

// Until the next pen.restore(), only what lies between the axes is drawn.
function clipTo(pen, plot) {
  pen.save();
  pen.beginPath();
  pen.rect(plot.left, plot.top, plot.width, plot.height);
  pen.clip();
}

// One value of an axis of bytes, and a thin line through the drawing at it.
function byteMark(pen, plot, bytes, y, color) {
  pen.textAlign = "right";
  pen.strokeStyle = color;
  line(pen, plot.left, y, plot.left + plot.width, y);
  pen.fillStyle = theme.colors.pale;
  if (y > plot.top + 4) pen.fillText(formatBytes(bytes), plot.left - 8, y);
}

// Why a drawing shows nothing.
function drawNothing(pen, plot, text) {
  pen.fillStyle = theme.colors.pale;
  pen.textAlign = "center";
  pen.fillText(text, plot.left + plot.width / 2, plot.top + plot.height / 2);
}

function drawCursor(pen, plot) {
  if (app.cursor === null || app.cursor < app.t0 || app.cursor > app.t1) return;
  pen.strokeStyle = theme.colors.pale;
  pen.globalAlpha = .6;
  const x = xOf(plot, app.cursor);
  line(pen, x, plot.top, x, plot.top + plot.height);
  pen.globalAlpha = 1;
}

function outline(pen, r, color, dash, width) {
  pen.strokeStyle = color;
  pen.lineWidth = width;
  pen.setLineDash(dash);
  pen.strokeRect(r.x + .5, r.y + .5, Math.max(r.w - 1, 1), Math.max(r.h - 1, 1));
  pen.setLineDash([]);
  pen.lineWidth = 1;
}
