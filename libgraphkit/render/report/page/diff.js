// The page of `graphkit diff --format html`: figures, findings, and what changed in each graph.
const SVG = "http://www.w3.org/2000/svg";
const CELL = {width: 132, height: 30, lane: 64, left: 130, step: 160};
const HOLDERS = 10;  // shown
const SIGNS = {removed: "–", added: "+", changed: "~", moved: "~", same: ""};

function shape(tag, attributes, text) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

function figureText(name, value) { return name.endsWith("_bytes") ? formatBytes(value) : formatCount(value); }

// "+12 MiB", "–3", "0 B".
function changeText(name, before, after) {
  if (after === before) return figureText(name, 0);
  return `${after > before ? "+" : "–"}${figureText(name, Math.abs(after - before))}`;
}

function figureTable(figures) {
  const shown = (title, value, text) => ({title, value, text, className: "num"});
  return sortableTable([{title: "figure", value: ({figure}) => figure.replace(/_bytes$/, "").replaceAll("_", " ")},
    shown("before", ({before}) => before, (value, {figure}) => figureText(figure, value)),
    shown("after", ({after}) => after, (value, {figure}) => figureText(figure, value)),
    shown("change", ({before, after}) => after - before, (_, {figure, before, after}) => changeText(figure, before, after))], figures);
}

function holderTable(holders) {
  const bytesOf = (holder) => holder ? holder.bytes : 0;
  const most = Math.max(...holders.map(({before, after}) => Math.max(bytesOf(before), bytesOf(after))), 1);
  const fill = (row, holder) => {
    const {before, after} = holder;
    markLine(row, holder);
    const cell = element("td", "pair");
    for (const [side, bytes] of [["before", bytesOf(before)], ["after", bytesOf(after)]]) {
      const bar = element("div", `side ${side}`);
      bar.style.width = `${bytes / most * 100}%`;
      bar.hidden = bytes === 0;
      bar.title = `${side}: ${formatBytes(bytes)}`;
      cell.append(bar);
    }
    row.append(cell);
  };
  return sortableTable([{title: "held by", value: ({title}) => title, className: "mono"},
    bytesColumn("before", ({before}) => bytesOf(before)), bytesColumn("after", ({after}) => bytesOf(after)),
    {title: "change", value: (holder) => holder.change_bytes, className: "num",
     text: (_, {before, after}) => changeText("_bytes", bytesOf(before), bytesOf(after))}], holders, {most: HOLDERS, sorted: 3, fill});
}

function changedHolders(holders, titles) { return holders.map((holder, i) => ({...holder, title: titles[i]})).filter((holder) => holder.change_bytes !== 0); }

// The figures of a device, the lines that held its memory, and hints, as far as they differ.
function memorySection({device, figures, holders, worth_a_look: remarks}, titles, several, over) {
  const {before: from, after: to} = device, only = from === null ? `device ${to}, only after` : `device ${from}, only before`;
  const both = from === to ? `device ${from}` : `device ${from} → device ${to}`;
  const name = several || from !== to ? `: ${from === null || to === null ? only : both}` : "";
  const known = figures.filter(({before, after}) => before !== null && after !== null && (before > 0 || after > 0));
  const changed = changedHolders(holders, titles);
  const parts = changed.length > 0 ? [element("h3", "", "Lines, those that grew most first"), ...holderTable(changed)] : [];
  if (over) parts.push(over);
  if (known.length > 0) parts.push(element("h3", "", "Figures"), ...figureTable(known));
  for (const remark of remarks) {
    const sign = remark.after === null ? "– no longer: " : remark.before === null ? "+ " : `~ was ${formatBytes(remark.before)}: `;
    parts.push(element("p", "", sign + remark.text));
  }
  return section(`Memory${name}`, ...parts);
}

function findingTable(findings) {
  const change = (before, after, text) => `${text(before)} → ${text(after)}`;
  return sortableTable([{title: "check", value: (f) => f.check, className: "mono"}, {title: "what", value: (f) => f.message},
    {title: "findings", value: (f) => f.count_after - f.count_before, text: (_, f) => change(f.count_before, f.count_after, formatCount), className: "num"},
    {title: "bytes", value: (f) => f.bytes_after - f.bytes_before, className: "num",
     text: (_, f) => f.bytes_before || f.bytes_after ? change(f.bytes_before, f.bytes_after, formatBytes) : "–"}], findings);
}

function idsOf({before, after}) {
  if (after === null) return `#${before}`;
  return before === null || before === after ? `#${after}` : `#${before} → #${after}`;
}

function boxTip(box) {
  return [`${idsOf(box)} ${box.name}`, box.change === "same" ? "the same" : box.change, box.lane, ...box.what];
}

function followTip(target, lines) {
  const tip = byId("tip"), show = (x, y) => {
    tip.replaceChildren(...lines.map((text) => element("div", "", text)));
    tip.hidden = false;
    tip.style.left = `${Math.min(x + 14, innerWidth - tip.offsetWidth - 8)}px`;
    tip.style.top = `${y + 18}px`;
  };
  const hide = () => { tip.hidden = true; };
  target.addEventListener("pointermove", (event) => show(event.clientX, event.clientY));
  target.addEventListener("pointerleave", hide);
  target.addEventListener("focus", () => {
    const {left, bottom} = target.getBoundingClientRect();
    show(left - 14, bottom - 10);
  });
  target.addEventListener("blur", hide);
}

// Streams as lanes; each box in a column of its own, in capture order.
function drawing({boxes, arrows, left_out: leftOut}) {
  const lanes = [...new Set(boxes.map((box) => box.lane))];
  const width = CELL.left + boxes.length * CELL.step + 20, height = lanes.length * CELL.lane + 16;
  const picture = shape("svg", {width, height, viewBox: `0 0 ${width} ${height}`, class: "changes"});
  lanes.forEach((lane, i) => {
    const y = (i + .5) * CELL.lane + 8;
    picture.append(shape("line", {x1: CELL.left, x2: width, y1: y, y2: y, class: "lane"}),
      shape("text", {x: CELL.left - 10, y: y + 4, class: "lane-title"}, lane.length > 20 ? `${lane.slice(0, 19)}…` : lane));
  });
  const at = boxes.map((box, i) => ({x: CELL.left + i * CELL.step + 14, y: (lanes.indexOf(box.lane) + .5) * CELL.lane + 8}));
  for (const arrow of arrows) {
    const [first, last] = [Math.min(arrow.from, arrow.to), Math.max(arrow.from, arrow.to)];
    const free = boxes.slice(first + 1, last).every((box) => box.lane !== boxes[arrow.from].lane);
    picture.append(arrowShape(at[arrow.from], at[arrow.to], arrow, free));
  }
  boxes.forEach((box, i) => picture.append(boxShape(at[i], box)));
  const holder = element("div", "scroll"), change = boxes.findIndex((box) => box.change !== "same");
  holder.append(picture);
  if (change > 0) requestAnimationFrame(() => { holder.scrollLeft = at[change].x - CELL.left; });
  return leftOut > 0 ? [holder, element("p", "small", `${counted(leftOut, "more change")} not drawn`)] : [holder];
}

// Through the room between columns and between lanes, where no box stands; straight where the lane is free.
function arrowPath(from, to, free) {
  const x0 = from.x + CELL.width, x1 = to.x, out = x0 + 8, into = x1 - 16, end = `H${x1 - 7}`;
  if (from.y === to.y && free) return `M${x0} ${from.y}${end}`;
  if (x1 - x0 === CELL.step - CELL.width) return `M${x0} ${from.y}H${out}V${to.y}${end}`;
  const run = to.y < from.y ? to.y + 38 : to.y - 24;
  return `M${x0} ${from.y}H${out}V${run}H${into}V${to.y}${end}`;
}

function arrowShape(from, to, arrow, free) {
  const path = arrowPath(from, to, free), x1 = to.x, made = shape("g", {class: `edge ${arrow.change}`});
  made.append(shape("path", {d: path}), shape("path", {d: `M${x1} ${to.y}l-8 -4v8z`, class: "head"}));
  if (arrow.change !== "same") followTip(made, [`edge ${arrow.change}`, arrow.what].filter(Boolean));
  return made;
}

function boxShape({x, y}, box) {
  const made = shape("g", {class: `box ${box.change}`, tabindex: 0}), top = y - CELL.height / 2;
  const title = `${SIGNS[box.change]} ${box.name}`.trim();
  made.append(shape("rect", {x, y: top, width: CELL.width, height: CELL.height, rx: 4}),
    shape("text", {x: x + CELL.width / 2, y: y + 4}, title.length > 19 ? `${title.slice(0, 18)}…` : title));
  if (box.what.length > 0) {
    const more = box.what.length > 1 ? ` +${box.what.length - 1}` : "", what = box.what[0];
    made.append(shape("text", {x: x + CELL.width / 2, y: y + CELL.height / 2 + 13, class: "what"},
      `${what.length > 24 ? `${what.slice(0, 23)}…` : what}${more}`));
  }
  followTip(made, boxTip(box));
  return made;
}

function countsText(graph) {
  const parts = [[graph.removed_nodes, "node", "removed"], [graph.added_nodes, "node", "added"],
    [graph.moved_nodes, "node", "moved to another stream"], [graph.parameters, "parameter", "changed"], [graph.lost_edges, "edge", "lost"],
    [graph.gained_edges, "edge", "gained"], [graph.changed_edges, "edge", "changed"]];
  const text = parts.filter(([list]) => list.length > 0).map(([list, noun, what]) => `${counted(list.length, noun)} ${what}`);
  return [`${counted(graph.matched_nodes, "node")} matched`, ...text].join(", ");
}

function legend() {
  const made = element("div", "legend changes");
  for (const change of ["removed", "added", "changed", "moved", "same"]) {
    const entry = element("span", ""), sample = shape("svg", {width: 22, height: 12});
    const box = shape("g", {class: `box ${change}`});
    box.append(shape("rect", {x: 1, y: 1, width: 20, height: 10, rx: 3}));
    sample.append(box);
    entry.append(sample, change);
    made.append(entry);
  }
  return made;
}

function graphSection(graph, drawn) {
  const parts = [element("p", "small", countsText(graph))];
  if (drawn.boxes.length > 0) parts.push(...drawing(drawn), legend());
  if (graph.figures.length > 0) parts.push(...figureTable(graph.figures));
  return section(drawn.title, ...parts);
}

// Two paths without the folders that both begin with.
function withoutCommon(before, after) {
  const a = before.split("/"), b = after.split("/");
  let same = 0;
  while (same < Math.min(a.length, b.length) - 1 && a[same] === b[same]) ++same;
  return [a.slice(same).join("/"), b.slice(same).join("/")];
}

async function showDiff({diff, page}) {
  document.title = `${page.before} → ${page.after} – graphkit diff`;
  const [before, after] = withoutCommon(page.before, page.after);
  byId("program").textContent = `${before} → ${after}`;
  byId("program").title = `${page.before} → ${page.after}`;
  byId("verdict").textContent = diff.equal === null ? "nothing to compare" : diff.equal ? "equal" : "different";
  byId("verdict").classList.toggle("warn", !diff.equal);
  const main = byId("diff");
  for (const side of ["before", "after"]) {
    if (!diff[side].complete) main.append(element("p", "notice", `${page[side]} is incomplete: what is missing may look removed.`));
  }
  const nothing = "There is nothing to compare: neither file holds a graph or memory history.";
  if (diff.equal === null) main.append(element("p", "notice", nothing));
  if (diff.equal && diff.memory.length > 0) main.append(section("Equal memory", element("p", "", "What was reserved and in use, and by which lines, is equal.")));
  if (diff.equal && diff.graphs.length > 0) main.append(section("Equal", element("p", "", `The ${counted(diff.graphs.length, "graph")} of both traces are equal: nodes, edges, parameters, streams, memory and findings.`)));
  const over = byId("before") ? await memoryOverEvents(diff.memory.flatMap(({holders}, i) => changedHolders(holders, page.holders[i]))) : null;
  const first = diff.memory.findIndex((memory) => !memory.equal);
  diff.memory.forEach((memory, i) => { if (!memory.equal) main.append(memorySection(memory, page.holders[i], diff.memory.length > 1, i === first ? over : null)); });
  if (diff.findings.length > 0) main.append(section("Findings", ...findingTable(diff.findings)));
  const different = diff.graphs.filter((graph) => !graph.equal);
  different.forEach((graph, i) => main.append(graphSection(graph, page.drawings[i])));
  for (const side of ["removed", "added"]) {
    const titles = page[`${side}_graphs`];
    if (titles.length > 0) main.append(section(`Graphs ${side}`, element("p", "", titles.join(", "))));
  }
  const equal = diff.graphs.length - different.length;
  if (equal > 0 && !diff.equal) main.append(element("p", "small", `${counted(equal, "graph")} equal`));
}

startPage("diff", showDiff);
