// One list: the rows of findings, in the order of all views, and behind them hints about memory; memory that ran out comes
// first. Each has its line and leads to its place in the drawings.
const FINDINGS_AT_ONCE = 100, FINDINGS_NARROW = 3;

// {finding} or {hint}: the place among those of the trace; severity, check, count, bytes, message, advice, line.
function listProblems() {
  const {analyze, page} = app.trace;
  if (app.trace.problems) return app.trace.problems;
  const findings = analyze.finding_groups.flat().map((row) => {
    const {severity, check, bytes, message, advice, ...finding} = analyze.findings[row[0]];
    return {finding: row[0], count: row.length, severity, check, bytes, message, advice, line: lineText(finding)};
  });
  const hints = listHints().map(({remark, device}, i) => ({hint: i, severity: remark.kind === "out-of-memory" ? "error" : "hint", check: remark.kind, bytes: remark.bytes,
    message: page.memory.length > 1 ? `device ${device}: ${remark.text}` : remark.text, advice: remark.advice, line: lineOfHint(remark)}));
  const first = hints.filter(({severity}) => severity === "error");
  app.trace.problems = [...first, ...findings, ...hints.filter((hint) => !first.includes(hint))];
  return app.trace.problems;
}

function listHints() {
  return app.trace.page.memory.flatMap(({device, worth_a_look: remarks}) => remarks.map((remark) => ({remark, device})));
}

// "src/step.cu:17 main": a line as all of the page has it; empty: not known.
function lineText({file, line, function: name}) { return file ? `${shortPlace(["", file, line])} ${name || ""}`.trim() : ""; }

// The place that a hint ends with: "(train.py:65)".
function lineOfHint({text, advice}) { return /\(([^()\s]+:\d+)[^()]*\)/.exec(`${text} ${advice}`)?.[1] || ""; }

function nothingFound() {
  return app.trace.analyze.graphs.length > 0 ? "No findings." : "No graphs to check, and no hints about the memory.";
}

function makeFindings() {
  const panel = byId("findings-panel"), problems = listProblems();
  panel.replaceChildren();
  if (problems.length === 0) panel.append(element("p", "nothing", nothingFound()));
  const more = element("button", "more", "");
  let shown = 0;
  const add = (count) => {
    const upTo = Math.min(shown + count, problems.length);
    for (; shown < upTo; ++shown) panel.insertBefore(problemCard(problems[shown]), more);
    more.textContent = `${formatCount(problems.length - shown)} more`;
    more.hidden = shown === problems.length;
  };
  more.addEventListener("click", () => add(FINDINGS_AT_ONCE));
  panel.append(more);
  add(innerWidth <= 1000 ? FINDINGS_NARROW : FINDINGS_AT_ONCE);
}

function problemCard(problem) {
  const finding = problem.finding === undefined ? null : app.trace.analyze.findings[problem.finding];
  const leads = finding === null || namesAnything(thingsOf(finding)) || finding.graph !== null;
  const card = element("article", `finding ${problem.severity}${leads ? " leads" : ""}`);
  card.dataset[finding ? "finding" : "hint"] = finding ? problem.finding : problem.hint;
  const top = element("div", "top"), message = element(leads ? "button" : "p", "message", problem.message);
  top.append(element("b", "", problem.severity), checkName(problem.check));
  if (problem.count > 1) top.append(element("span", "count", `×${formatCount(problem.count)}`));
  if (problem.bytes > 0) top.append(element("span", "bytes", formatBytes(problem.bytes)));
  card.append(top, message);
  if (problem.line) card.append(lineButton(problem.line, finding));
  if (finding) card.append(evidenceList(finding));
  if (problem.advice) card.append(element("p", "advice", `→ ${problem.advice}`));
  if (finding && finding.assumes !== "order") card.append(element("p", "small", ASSUMES[finding.assumes]));
  if (leads) card.addEventListener("click", () => pickProblem(problem));
  return card;
}

// The line of a problem; a click chooses its memory, where it allocates some.
function lineButton(text, finding) {
  const group = groupOfLine(text);
  if (group === null) return element("p", "where mono", text);
  const button = element("button", "go where mono", text);
  button.title = finding ? "choose all memory of this line" : "";
  button.addEventListener("click", (event) => {
    event.stopPropagation();
    const view = app.trace.views.find((v) => v === app.view && groupsOf(v, "line").index.has(group)) || app.trace.views.at(-1);
    if (view !== app.view) showView(view);
    if (app.groups.by !== "line") groupBlocks("line");
    const found = app.groups.index.get(group);
    if (found !== undefined) chooseGroup(found);
  });
  return button;
}

// The group by line whose place a text begins with: "llama/modeling_llama.py:216".
function groupOfLine(text) {
  const [place] = text.split(" "), short = /:\d+$/.test(place) ? shortFile(place) : "", view = app.trace.views.at(-1);
  view.prepare();
  return short && groupsOf(view, "line").index.has(short) ? short : null;
}

function pickProblem(problem) {
  if (problem.finding !== undefined) pickFinding(problem.finding); else pickHint(problem.hint);
}

// Where a hint's memory is: {at} a moment, {line} a group, {blocks}.
function placeOfHint({kind, text, advice}) {
  const memory = app.trace.page.memory[0], view = app.view, ends = view.width - 1;
  const blocks = (test) => Array.from(view.blocks.keys()).filter(test).map((i) => view.blocks[i]);
  if (kind === "out-of-memory") return {at: outOfMemoryAt(view)[0]};
  if (kind === "idle") return {at: ends};
  if (kind === "before-recording") return {line: BEFORE};
  if (kind === "deferred") return {blocks: blocks((i) => view.end[i] > view.freed[i])};
  if (kind === "forward-kept") return {at: ends, blocks: blocks((i) => isKeptByForward(view, i))};
  return {at: memory.out_of_memory ? outOfMemoryAt(view)[0] : view.peakX, line: groupOfLine(lineOfHint({text, advice}))};
}

// As libgraphkit/analysis/explain/memory_account.h has it: made by a forward, never freed, and before the last that a
// backward allocated.
function isKeptByForward(view, i) {
  const {columns} = app.trace, role = (k) => nameOfStack(columns["block.stack"][view.blocks[k]])?.role;
  if (view.lastBackward === undefined) {
    view.lastBackward = Infinity;
    for (let k = view.blocks.length - 1; k >= 0 && view.lastBackward === Infinity; --k) if (role(k) === 3) view.lastBackward = view.begin[k];
  }
  const block = view.blocks[i];
  return !columns["block.freed"][block] && !columns["block.graph"][block] && role(i) === 4 && view.begin[i] < view.lastBackward &&
    view.begin[i] >= recordedFrom(view) && !isWorkspace(columns["block.stack"][block]);
}

function pickHint(index) {
  const hint = listHints()[index];
  if (!hint) return;
  const card = document.querySelector(`[data-hint="${index}"]`), whole = app.trace.views.at(-1);
  showTab("findings-panel");
  if (app.view !== whole) showView(whole);
  app.problem = listProblems().findIndex((problem) => problem.hint === index);
  const place = placeOfHint(hint.remark);
  app.picked = null;
  if (place.line && app.groups.by !== "line") groupBlocks("line");
  showMoment(place.at ?? app.view.peakX);
  chooseGroup(place.line && app.groups.index.has(place.line) ? app.groups.index.get(place.line) : -1);
  if (place.blocks?.length > 0) {
    pick({blocks: place.blocks}, true);
    if (place.blocks.length === 1) showDetails({block: place.blocks[0]});
  }
  selectCard(card, {hint: index});
}

// Ends the choice of a row: the address keeps what is selected.
function selectCard(card, selection) {
  app.selection = selection;
  if (!app.shown) showDetails(null);
  if (card) {
    mark(card);
    card.scrollIntoView({block: "nearest"});
  }
  remember();
}

// Leads to the page of the check, which lies in the report.
function checkName(check) {
  const page = app.trace.page.check_pages[check];
  if (!page) return element("span", "mono", check);
  const name = element("button", "go mono", check);
  name.title = "what it means, what to do, when it is wrong";
  name.addEventListener("click", (event) => {
    event.stopPropagation();
    showDialog(...markdown(page));
  });
  return name;
}

const ASSUMES = {
  "torch-streams": "assumes no stream uses the block after its free unless record_stream() named it",
  "arguments": "assumes kernels access only memory passed as arguments",
};

function evidenceList(finding) {
  const list = element("ul", "");
  for (const evidence of finding.evidence) {
    list.append(evidenceItem(evidence));
    if (evidence.stack.length > 0) list.append(stackList(evidence.stack.map((f) => [f.function, f.file, f.line, f.library])));
  }
  return list;
}

// A line that names nodes, blocks or edges leads to them; of the only one all is shown.
function evidenceItem(evidence) {
  const {nodes, blocks} = evidence, item = element("li", "evidence");
  if (!namesAnything(evidence)) {
    item.textContent = evidence.text;
    return item;
  }
  const button = element("button", "", evidence.text);
  button.addEventListener("click", (event) => {
    event.stopPropagation();
    mark(item);
    pick(evidence, true);
    if (blocks.length === 1) showDetails({block: blocks[0]});
    else if (nodes.length === 1) showDetails({node: nodes[0]});
  });
  item.append(button);
  return item;
}

// The innermost frame of the program's own code; without one, the innermost that has a line.
function ownFrame(frames) {
  return frames.find(([, , at, library]) => !library && at > 0) || frames.find(([, , at]) => at > 0) || frames[0];
}

function frameText([name, file, at]) {
  return `${shortPlace([name, file, at])} ${name || "?"}`.trim();
}

// The program's own line, and behind it all frames.
function stackList(frames) {
  const all = element("details", "stack"), list = element("ul", "");
  all.append(element("summary", "", frameText(ownFrame(frames))), list);
  for (const frame of frames) list.append(element("li", "", frameText(frame)));
  return all;
}

function mark(thing) {
  for (const marked of every(".picked")) marked.classList.remove("picked");
  thing.classList.add("picked");
}

function namesAnything({nodes, blocks, edges}) { return nodes.length + blocks.length + edges.length > 0; }

// All that the finding and its evidence name.
function thingsOf(finding) {
  const all = {nodes: [...finding.nodes], blocks: [...finding.blocks], edges: []};
  for (const evidence of finding.evidence) {
    all.nodes.push(...evidence.nodes);
    all.blocks.push(...evidence.blocks);
    all.edges.push(...evidence.edges);
  }
  return all;
}

// The finding that is shown for the row that one is in.
function rowOf(index) { return app.trace.analyze.finding_groups.flat().find((row) => row.includes(index))?.[0] ?? index; }

function pickFinding(index) {
  const finding = app.trace.analyze.findings[index];
  if (!finding) return;
  const card = document.querySelector(`[data-finding="${rowOf(index)}"]`);
  showTab("findings-panel");
  app.problem = listProblems().findIndex((problem) => problem.finding === rowOf(index));
  const things = thingsOf(finding);
  if (!namesAnything(things) && finding.graph !== null) {
    const view = app.trace.views.find((v) => v.root === app.trace.texts.roots[finding.graph]);
    if (view && view !== app.view) showView(view);
  }
  pick(things, true);
  chooseGroup(-1);
  selectCard(card, {finding: index});
}

function stepProblem(by) {
  const problems = listProblems(), count = problems.length;
  if (count === 0) return;
  const at = app.problem === undefined ? (by > 0 ? 0 : count - 1) : (app.problem + by + count) % count;
  const {finding, hint} = problems[at], card = finding === undefined ? `[data-hint="${hint}"]` : `[data-finding="${finding}"]`;
  while (!document.querySelector(card)) byId("findings-panel").querySelector(".more").click();
  pickProblem(problems[at]);
}
