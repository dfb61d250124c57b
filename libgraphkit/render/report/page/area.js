// The memory in use over events: its drawing (layers.js), its legend and what it can be grouped by.
function makeArea(canvas) {
  const area = {canvas, bytes: false};
  area.plot = () => plotOf(canvas.clientWidth, canvas.clientHeight, 18);
  area.hit = (x, y) => hitArea(area.plot(), x, y);
  area.click = (thing) => pickThing(thing);
  area.draw = () => drawArea(area);
  listen(canvas, area);
  return area;
}

function makeGroupLegend(view) {
  const {groups} = app, shown = new Set(view.blocks.length > 0 ? Array.from(groups.slot) : []), entries = [];
  for (const slot of [...Array(GROUP_COLORS).keys(), REST, NO_STACK, EARLIER]) {
    if (!shown.has(slot)) continue;
    const entry = element("button", "entry"), name = element("span", "", groups.slotName(slot));
    entry.append(swatch(slot), name);
    entry.title = groups.slotName(slot);
    entry.dataset.slot = String(slot);
    const group = slot < GROUP_COLORS ? groups.slots[slot] : groups.keys.findIndex((_, i) => groups.slot[i] === slot);
    if (slot === REST) entry.disabled = true;
    else entry.addEventListener("click", () => chooseGroup(groups.chosen === group ? -1 : group));
    entries.push(entry);
  }
  byId("group-legend").replaceChildren(...entries);
}

function makeAxisChoice(view) {
  const choice = byId("axis");
  choice.value = view.place ? "seconds" : "order";
  choice.onchange = () => toggleAxis();
  choice.parentElement.hidden = !view.hasTimes;
}

function makeGroupingChoice(view) {
  const choice = byId("grouping"), usual = GROUPINGS.filter((by) => by === app.groups.by || by === "module" || by === "category" ? stacksOf(view).length > 1 || by === app.groups.by : tellsApart(view, by));
  choice.replaceChildren(...usual.map((by) => new Option(by, by)));
  choice.value = app.groups.by;
  choice.onchange = () => { groupBlocks(choice.value); remember(); };
  choice.parentElement.hidden = usual.length < 2;
}

// Colours the blocks by something else.
function groupBlocks(by) {
  const {view} = app;
  app.groups = groupsOf(view, by);
  app.groups.choose(-1);
  makeGroupingChoice(view);
  makeGroupLegend(view);
  showMoment(app.at);
}
