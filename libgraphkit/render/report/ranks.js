// The panel of many traces: figures of each, in what they differ, which findings how many have.
const RANK_FIGURES = ["asked_bytes", "peak_live_bytes", "deferred_bytes", "never_freed_bytes", "reuse_bytes", "recorded_extent_bytes",
  "lower_bound_bytes", "nodes", "edges", "blocks", "launches", "graphs", "errors", "warnings"];
const MOST_RANKS = 200;  // shown

// Without the folder that all are in.
function rankName(ranks, i) { return ranks.traces[i].trace.slice(ranks.folder.length); }
function rankFigureTitle(name) { return name.replace(/_bytes$/, "").replaceAll("_", " "); }
function rankFigureText(name, value) { return name.endsWith("_bytes") ? formatBytes(value) : formatCount(value); }

function makeRanks() {
  const panel = byId("ranks-panel"), {ranks} = app.trace.page;
  if (!ranks) return panel.remove();
  const choice = document.createElement("select"), bars = element("div", "");
  choice.setAttribute("aria-label", "Figure");
  for (const name of RANK_FIGURES.filter((figure) => ranks.spread[figure].most > 0)) {
    const option = element("option", "", rankFigureTitle(name));
    option.value = name;
    choice.append(option);
  }
  const show = () => bars.replaceChildren(...rankBars(ranks, choice.value));
  choice.addEventListener("change", show);
  choice.id = "rank-figure";
  const drawn = rankName(ranks, app.trace.page.drawn_rank), where = ranks.folder ? ` in ${ranks.folder}` : "";
  panel.replaceChildren(element("p", "small", `${counted(ranks.traces.length, "trace")}${where}. The drawings and the other panels show ${drawn}, which takes the most memory; graphkit report draws another one when it is given that one alone.`),
    choice, bars, element("h3", "", "Which differ"), ...rankGroups(ranks),
    element("h3", "", "Findings"), ...rankFindings(ranks));
  show();
}

function rankBars(ranks, name) {
  const spread = ranks.spread[name], {drawn_rank: drawn} = app.trace.page;
  const order = ranks.traces.map((_, i) => i).sort((a, b) => ranks.traces[b].figures[name] - ranks.traces[a].figures[name] || a - b);
  const rows = order.slice(0, MOST_RANKS).map((i) => rankBar(ranks, i, name, i === drawn));
  const text = `least ${rankFigureText(name, spread.least)}, median ${rankFigureText(name, spread.median)}, most ${rankFigureText(name, spread.most)}`;
  const left = order.length - rows.length;
  return [element("p", "small", text), ...rows, ...(left > 0 ? [element("p", "small", `and ${formatCount(left)} more`)] : [])];
}

function rankBar(ranks, i, name, drawn) {
  const {trace, figures, complete} = ranks.traces[i], {most} = ranks.spread[name];
  const row = element("div", `bar rank${drawn ? " drawn" : ""}`), track = element("div", "track"), fill = element("div", "fill");
  fill.style.width = `${most > 0 ? figures[name] / most * 100 : 0}%`;
  fill.style.background = drawn ? "var(--deferred)" : "var(--live)";
  fill.hidden = figures[name] === 0;
  track.append(fill);
  row.append(element("span", "name", `${rankName(ranks, i)}${complete ? "" : " (incomplete)"}`), track, element("span", "num", rankFigureText(name, figures[name])));
  row.title = trace;
  return row;
}

// "rank0.json, rank1.json and 6 more".
function rankNames(ranks, indices) {
  const names = indices.slice(0, 4).map((i) => rankName(ranks, i)), left = indices.length - names.length;
  return left > 0 ? `${names.join(", ")} and ${formatCount(left)} more` : names.join(", ");
}

function rankGroups(ranks) {
  const [usual, ...others] = ranks.groups;
  if (others.length === 0) return [element("p", "small", "All are alike: the same nodes, edges, memory and findings.")];
  const made = [element("p", "small", `${counted(usual.traces.length, "trace")} alike: ${rankNames(ranks, usual.traces)}`)];
  for (const group of others.slice(0, MOST_RANKS)) {
    const list = element("ul", "");
    for (const line of rankDifferences(group)) list.append(element("li", "", line));
    const box = element("div", "finding rank-group");
    box.append(element("b", "", rankNames(ranks, group.traces)), list);
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
  if (!group.same_structure) lines.push("nodes or edges differ: graphkit diff says which");
  return lines.length > 0 ? lines : ["one of them is incomplete"];
}

function rankFindings(ranks) {
  if (ranks.findings.length === 0) return [element("p", "small", "None.")];
  return ranks.findings.slice(0, MOST_RANKS).map((f) => {
    const box = element("div", `finding ${f.severity}`);
    const most = f.most_bytes > 0 ? `, most in ${rankName(ranks, f.most_trace)} (${formatBytes(f.most_bytes)})` : "";
    box.append(element("b", "", `${f.severity}: ${f.check}`), element("div", "", f.message),
      element("div", "small", `in ${formatCount(f.traces.length)} of ${counted(ranks.traces.length, "trace")}${most}`));
    return box;
  });
}
