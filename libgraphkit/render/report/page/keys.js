// The keyboard, and the help that lists it.
const KEYS = [
  ["←", "→", "move in capture order"],
  ["+", "–", "zoom in capture order; with shift in addresses"],
  ["0", "", "show everything"],
  ["a", "", "fit the addresses to what is in sight, in the drawing last pointed at"],
  ["/", "", "find"],
  ["n", "p", "next and previous finding or hint"],
  [",", ".", "the moment before and after, at which memory was allocated or freed"],
  ["m", "", "the peak"],
  ["s", "", "over events or seconds, where the file has times"],
  ["g", "", "colour by line, module, category, stream, pool or content"],
  ["c", "", "the critical path"],
  ["l", "", "recorded memory and policy side by side, or stacked"],
  ["t", "", "light or dark"],
  ["Esc", "", "let go of what is picked"],
];

const ACTIONS = {
  ArrowLeft: () => app.panTime(-.2), ArrowRight: () => app.panTime(.2),
  "+": () => app.zoomTime(.6), "=": () => app.zoomTime(.6), "-": () => app.zoomTime(1 / .6), "_": () => app.zoomBytes(1 / .6),
  "*": () => app.zoomBytes(.6), 0: () => app.fit(), a: fitAddresses, "/": () => byId("search").focus(), n: () => stepProblem(1), p: () => stepProblem(-1),
  ",": () => stepMoment(-1), ".": () => stepMoment(1), m: () => toMoment(app.view.peakX), g: nextGrouping, s: toggleAxis,
  c: togglePath, l: toggleLayout, t: toggleTheme, "?": showHelp, Escape: unpick,
};

function makeKeys() {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || byId("help-dialog").open) return;
    if (/^(INPUT|SELECT|TEXTAREA)$/.test(/** @type {Element} */ (event.target).tagName)) return;
    const action = event.shiftKey && event.key === "+" ? () => app.zoomBytes(.6) : ACTIONS[event.key];
    if (!action || !app.view) return;
    event.preventDefault();
    action();
  });
}

function toggleAxis() {
  app.setAxis(!app.view.place);
  remember();
}

function nextGrouping() {
  const choice = byId("grouping"), options = [...choice.options].map(({value}) => value);
  if (options.length < 2) return;
  groupBlocks(options[(options.indexOf(app.groups.by) + 1) % options.length]);
  remember();
}

function fitAddresses() {
  const policy = Boolean(app.lastMemory && app.lastMemory.policy && !byId("policy-figure").hidden);
  app.fitBytes(policy ? app.view.policyOffsets : app.view.offset, policy);
}

function togglePath() {
  app.showPath = !app.showPath;
  byId("path").setAttribute("aria-pressed", String(app.showPath));
  app.redraw();
}

function toggleTheme() {
  setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
}

function setLayout(beside) {
  document.body.classList.toggle("beside", beside);
  document.body.classList.toggle("stacked", !beside);
  byId("layout").textContent = beside ? "stacked" : "side by side";
  app.redraw();
}

function toggleLayout() {
  if (!byId("policy-figure").hidden) setLayout(!document.body.classList.contains("beside"));
}

function showHelp() {
  const table = element("table", "rows");
  for (const [one, two, what] of KEYS) {
    const row = element("tr", ""), keys = element("td", "");
    keys.append(element("kbd", "", one), ...(two ? [" ", element("kbd", "", two)] : []));
    row.append(keys, element("td", "", what));
    table.append(row);
  }
  showDialog(element("h2", "", "How to read this page"),
    element("p", "", "From left to right is the order in which the program made its calls, or of a snapshot seconds (s); not the time that anything ran. A rectangle in the memory drawing is a block: as wide as the calls between its allocation and its end, as high as its size, at its address with unused gaps left out."),
    element("p", "", "Drag to move, turn the wheel to zoom in capture order, hold shift to zoom in addresses, double-click to see everything. Click a block, a node, a line, a frame or a finding to mark what it is about in all drawings; click a moment of the memory in use to see who holds it. The address of the page keeps it."),
    table);
}

function showDialog(...parts) {
  const dialog = byId("help-dialog"), close = element("button", "", "close");
  close.addEventListener("click", () => dialog.close());
  dialog.onclick = (event) => { if (event.target === dialog) dialog.close(); };  // beside it
  dialog.replaceChildren(...parts, close);
  dialog.showModal();
  dialog.scrollTop = 0;
}
