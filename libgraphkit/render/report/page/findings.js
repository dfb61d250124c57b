// The findings, each with its evidence; a click shows what it talks about.
const FINDINGS_AT_ONCE = 100;

function nothingFound() {
  if (app.trace.analyze.graphs.length > 0) return "No findings.";
  const look = app.trace.page.memory.some((memory) => memory.worth_a_look.length > 0);
  return look ? "No graphs to check; see Worth a look, under the memory." : "No graphs to check.";
}

function makeFindings() {
  const panel = byId("findings-panel"), {findings} = app.trace.analyze;
  panel.replaceChildren();
  if (findings.length === 0) panel.append(element("p", "nothing", nothingFound()));
  const more = element("button", "", "");
  let shown = 0;
  const add = () => {
    const upTo = Math.min(shown + FINDINGS_AT_ONCE, findings.length);
    for (; shown < upTo; ++shown) panel.insertBefore(findingCard(findings[shown], shown), more);
    more.textContent = `${formatCount(findings.length - shown)} more`;
    more.hidden = shown === findings.length;
  };
  more.addEventListener("click", add);
  panel.append(more);
  add();
}

function findingCard(finding, index) {
  const leads = namesAnything(thingsOf(finding)) || finding.graph !== null;
  const card = element("article", `finding ${finding.severity}${leads ? " leads" : ""}`);
  card.dataset.finding = index;
  const top = element("div", "top"), message = element(leads ? "button" : "p", "message", finding.message);
  top.append(element("b", "", finding.severity), checkName(finding.check));
  if (finding.bytes > 0) top.append(element("span", "bytes", formatBytes(finding.bytes)));
  card.append(top, message, evidenceList(finding));
  if (finding.advice) card.append(element("p", "advice", `→ ${finding.advice}`));
  if (finding.assumes !== "order") card.append(element("p", "small", ASSUMES[finding.assumes]));
  if (leads) card.addEventListener("click", () => pickFinding(index));
  return card;
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
  return `${file}${at ? `:${at}` : ""} ${name || "?"}`.trim();
}

// The program's own line, and behind it all frames.
function stackList(frames) {
  const all = element("details", "stack"), list = element("ul", "");
  all.append(element("summary", "", frameText(ownFrame(frames))), list);
  for (const frame of frames) list.append(element("li", "", frameText(frame)));
  return all;
}

function mark(thing) {
  for (const marked of document.querySelectorAll(".picked")) marked.classList.remove("picked");
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

function pickFinding(index) {
  const finding = app.trace.analyze.findings[index];
  if (!finding) return;
  const card = document.querySelector(`[data-finding="${index}"]`);
  showTab("findings-panel");
  if (card) {
    mark(card);
    card.scrollIntoView({block: "nearest"});
  }
  app.finding = index;
  const things = thingsOf(finding);
  if (!namesAnything(things) && finding.graph !== null) {
    const view = app.trace.views.find((v) => v.root === app.trace.texts.roots[finding.graph]);
    if (view && view !== app.view) showView(view);
  }
  pick(things, true);
}

function stepFinding(by) {
  const count = app.trace.analyze.findings.length;
  if (count === 0) return;
  const at = app.finding === undefined ? (by > 0 ? 0 : count - 1) : (app.finding + by + count) % count;
  while (!document.querySelector(`[data-finding="${at}"]`)) byId("findings-panel").lastElementChild.click();
  pickFinding(at);
}
