// The panel of many traces: figures of each, in what they differ, which findings how many have.
const RANK_FIGURES = ["asked_bytes", "peak_live_bytes", "deferred_bytes", "never_freed_bytes", "reuse_bytes", "recorded_extent_bytes",
  "lower_bound_bytes", "nodes", "edges", "blocks", "launches", "graphs", "errors", "warnings"];
const MOST_RANKS = 200;  // shown

// The comparison; null: there is one trace only. `drawn` is the trace that the drawings and the other panels show.
const ranks = {report: null, drawn: 0, scripts: new Map()};

async function readRanks() {
  if (!byId("ranks")) return;
  ranks.report = JSON.parse(new TextDecoder().decode(await inflate(byId("ranks").textContent.trim())));
  ranks.drawn = ranks.report.worst;
  ranks.scripts.set(ranks.drawn, byId("data"));
  for (const script of every("script[data-rank]")) ranks.scripts.set(Number(script.dataset.rank), script);
}

// Draws another trace whose data are in the file. The range of capture order stays when it is as long.
async function drawTrace(index) {
  if (!ranks.report || index === ranks.drawn || !ranks.scripts.has(index)) return;
  const data = readData(await inflate(ranks.scripts.get(index).textContent.trim())), {t0, t1, b0, b1} = app, {title, width} = app.view;
  ranks.drawn = index;
  app.trace = new Trace(data);
  showTrace();
  const same = app.trace.views.find((view) => view.title === title);
  if (same && same !== app.view) showView(same);
  if (same && same.width === width) {
    app.setTime(t0, t1);
    app.setBytes(b0, b1);
  }
  byId("trace").value = String(index);
  showRanks();
}

// True where the trace takes more memory than others; of equal ones none is the worst.
function isWorst(i) {
  const {worst, spread} = ranks.report;
  return i === worst && spread.asked_bytes?.most > spread.asked_bytes?.least;
}

// Without the folder that all are in.
function rankName(report, i) { return report.traces[i].trace.slice(report.folder.length); }
function rankPlace(i) {
  const which = isWorst(i) ? "the worst" : rankName(ranks.report, i);
  return `${which} of ${formatCount(ranks.report.traces.length)} traces`;
}
function rankFigureTitle(name) { return name.replace(/_bytes$/, "").replaceAll("_", " "); }
function rankFigureText(name, value) { return name.endsWith("_bytes") ? formatBytes(value) : formatCount(value); }

function makeRanks() {
  const panel = byId("ranks-panel"), {report} = ranks;
  if (!report) return panel.remove();
  makeTraceChoice();
  const choice = document.createElement("select"), text = element("p", "small", ""), bars = element("div", "");
  choice.setAttribute("aria-label", "Figure");
  for (const name of RANK_FIGURES.filter((figure) => report.spread[figure].most > 0)) {
    const option = element("option", "", rankFigureTitle(name));
    option.value = name;
    choice.append(option);
  }
  choice.addEventListener("change", showRanks);
  choice.id = "rank-figure";
  text.id = "rank-text";
  bars.id = "rank-bars";
  panel.replaceChildren(text, choice, bars, element("h3", "", "Which differ"), ...rankGroups(report),
    element("h3", "", "Findings"), ...rankFindings(report));
  showRanks();
}

// In the head: the traces that can be drawn.
function makeTraceChoice() {
  const choice = byId("trace"), {report} = ranks;
  for (const i of [...ranks.scripts.keys()].sort((a, b) => a - b)) {
    const option = element("option", "", `${rankName(report, i)}${isWorst(i) ? " (worst)" : ""}`);
    option.value = String(i);
    choice.append(option);
  }
  choice.value = String(ranks.drawn);
  choice.hidden = ranks.scripts.size < 2;
  choice.addEventListener("change", () => drawTrace(Number(choice.value)));
}

function showRanks() {
  const {report, drawn, scripts} = ranks, where = report.folder ? ` in ${report.folder}` : "", left = report.traces.length - scripts.size;
  const others = left === 0 ? "Click another one to draw it." : `${formatCount(scripts.size)} of them can be drawn: click one. Draw the others with graphkit report and the trace alone.`;
  byId("rank-text").textContent = `${counted(report.traces.length, "trace")}${where}. The drawings and the other panels show ${rankName(report, drawn)}${
    isWorst(drawn) ? ", which takes the most memory" : ""}. ${others}`;
  byId("rank-bars").replaceChildren(...rankBars(report, byId("rank-figure").value));
}

function rankBars(report, name) {
  const spread = report.spread[name];
  const order = report.traces.map((_, i) => i).sort((a, b) => report.traces[b].figures[name] - report.traces[a].figures[name] || a - b);
  const rows = order.slice(0, MOST_RANKS).map((i) => rankBar(report, i, name));
  const text = `least ${rankFigureText(name, spread.least)}, median ${rankFigureText(name, spread.median)}, most ${rankFigureText(name, spread.most)}`;
  const left = order.length - rows.length;
  return [element("p", "small", text), ...rows, ...(left > 0 ? [element("p", "small", `and ${formatCount(left)} more`)] : [])];
}

function rankBar(report, i, name) {
  const {trace, figures, complete} = report.traces[i], {most} = report.spread[name], drawn = i === ranks.drawn, there = ranks.scripts.has(i);
  const row = element(there ? "button" : "div", `bar rank${drawn ? " drawn" : ""}`), track = element("span", "track"), fill = element("span", "fill");
  fill.style.width = `${most > 0 ? figures[name] / most * 100 : 0}%`;
  fill.style.background = drawn ? "var(--deferred)" : "var(--live)";
  fill.hidden = figures[name] === 0;
  track.append(fill);
  row.append(element("span", "name", `${rankName(report, i)}${complete ? "" : " (incomplete)"}`), track, element("span", "num", rankFigureText(name, figures[name])));
  row.title = drawn ? `${trace}: drawn` : there ? `draw ${trace}` : `graphkit report ${trace} draws it`;
  if (there) row.addEventListener("click", () => drawTrace(i));
  return row;
}

// "rank0.json, rank1.json and 6 more".
function rankNames(report, indices) {
  const names = indices.slice(0, 4).map((i) => rankName(report, i)), left = indices.length - names.length;
  return left > 0 ? `${names.join(", ")} and ${formatCount(left)} more` : names.join(", ");
}

function rankGroups(report) {
  const [usual, ...others] = report.groups;
  if (others.length === 0) return [element("p", "small", "All are alike: the same nodes, edges, memory and findings.")];
  const made = [element("p", "small", `${counted(usual.traces.length, "trace")} alike: ${rankNames(report, usual.traces)}`)];
  for (const group of others.slice(0, MOST_RANKS)) {
    const list = element("ul", "");
    for (const line of rankDifferences(group)) list.append(element("li", "", line));
    const box = element("div", "finding rank-group");
    box.append(element("b", "", rankNames(report, group.traces)), list);
    made.push(box);
  }
  return made;
}

function rankDifferences(group) {
  const lines = [...group.graphs_missing.map((name) => `${name} is missing`), ...group.graphs_added.map((name) => `${name} is only here`)];
  for (const {graph, figure, usual, here} of group.figures) {
    lines.push(`${graph ? `${graph}: ` : ""}${rankFigureTitle(figure)} ${rankFigureText(figure, usual)} → ${rankFigureText(figure, here)}`);
  }
  for (const f of group.findings) {
    const bytes = f.bytes_usual !== f.bytes ? `, ${formatBytes(f.bytes_usual)} → ${formatBytes(f.bytes)}` : "";
    lines.push(`findings of ${f.check}: ${formatCount(f.count_usual)} → ${formatCount(f.count)}${bytes}`);
  }
  if (!group.same_structure) lines.push("nodes or edges differ: graphkit diff lists them");
  return lines.length > 0 ? lines : ["one of them is incomplete"];
}

function rankFindings(report) {
  if (report.findings.length === 0) return [element("p", "small", "None.")];
  return report.findings.slice(0, MOST_RANKS).map((f) => {
    const box = element("div", `finding ${f.severity}`);
    const most = f.most_bytes > 0 ? `, most in ${rankName(report, f.most_trace)} (${formatBytes(f.most_bytes)})` : "";
    const title = element("b", "", `${f.severity}: `);
    title.append(checkName(f.check));
    box.append(title, element("div", "", f.message),
      element("div", "small", `in ${formatCount(f.traces.length)} of ${counted(report.traces.length, "trace")}${most}`));
    return box;
  });
}
