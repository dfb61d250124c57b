// Colours come from the style sheet, so that the drawings follow light, dark and print.
const theme = {colors: {}, hatches: new Map()};

function readTheme() {
  const style = getComputedStyle(document.documentElement);
  const read = (name) => style.getPropertyValue(`--${name}`).trim();
  for (const name of ["ground", "paper", "ink", "pale", "line", "soft", "accent", "live", "deferred", 
    "kept", "reuse", "free", "pick", "path", "edge", "kernel", "memcpy", "memset", "host", "child_graph", "empty", "event",
    "semaphore", "mem_alloc", "mem_free", "batch_mem_op", "conditional", "unknown", "on-node", "error", "rest", "nostack", "earlier",
    ...Array.from({length: GROUP_COLORS}, (_, i) => `group${i}`)]) theme.colors[name] = read(name);
  theme.font = getComputedStyle(document.body).fontFamily;
  theme.hatches.clear();
}

function setTheme(name) {
  document.documentElement.dataset.theme = name;
  readTheme();
  app.changed = true;
  app.redraw();
}

function preferredTheme() {
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

const KIND_COLORS = {graph: "child_graph", event_wait: "event", event_record: "event", semaphore_signal: "semaphore",
  semaphore_wait: "semaphore"};

function kindColor(kind) {
  return theme.colors[KIND_COLORS[kind] || kind] || theme.colors.unknown;
}

function rgbOf(color) {
  const match = /^#(..)(..)(..)/.exec(color);
  return match ? match.slice(1).map((digits) => parseInt(digits, 16)) : [128, 128, 128];
}

// Diagonal lines over a pale ground: memory that is freed and can't be used yet.
function hatch(context) {
  if (theme.hatches.has(context)) return theme.hatches.get(context);
  const size = 8, tile = document.createElement("canvas"), ratio = devicePixelRatio || 1;
  tile.width = tile.height = size * ratio;
  const pen = tile.getContext("2d");
  pen.scale(ratio, ratio);
  pen.globalAlpha = .28;
  pen.fillStyle = theme.colors.deferred;
  pen.fillRect(0, 0, size, size);
  pen.globalAlpha = 1;
  pen.strokeStyle = theme.colors.deferred;
  pen.lineWidth = 2;
  pen.beginPath();
  for (const shift of [-size, 0, size]) { pen.moveTo(shift, size); pen.lineTo(shift + size, 0); }
  pen.stroke();
  const pattern = context.createPattern(tile, "repeat");
  pattern.setTransform(new DOMMatrix().scale(1 / ratio));
  theme.hatches.set(context, pattern);
  return pattern;
}

// The canvas's context in CSS pixels, cleared, at the size that the canvas has on the page.
function penOf(canvas) {
  const ratio = devicePixelRatio || 1;
  const width = canvas.clientWidth, height = canvas.clientHeight;
  const wide = Math.round(width * ratio), high = Math.round(height * ratio);
  if (canvas.width !== wide || canvas.height !== high) {
    canvas.width = wide;
    canvas.height = high;
  }
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  pen.font = `11px ${theme.font}`;
  pen.textBaseline = "middle";
  return {pen, width, height};
}

// The text cut to a width, with "…" where something is missing.
function fitText(pen, text, width) {
  if (pen.measureText(text).width <= width) return text;
  let low = 0, high = text.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (pen.measureText(`${text.slice(0, middle)}…`).width <= width) low = middle; else high = middle - 1;
  }
  return low > 2 ? `${text.slice(0, low)}…` : "";
}
