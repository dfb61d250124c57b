// The memory in use at a moment by call stack, as wide as the bytes allocated there. Frames of libraries are left out
// unless asked for.
function makeTree(view, x, libraries) {
  const {columns, texts} = app.trace, stacks = columns["block.stack"], root = icicleNode(momentTitle(view, x), null, null), leaves = new Map();
  view.eachAt(x, (i) => {
    const stack = stacks[view.blocks[i]], key = stack || -1 - app.groups.of[i];
    if (!leaves.has(key)) leaves.set(key, {stack, group: app.groups.of[i], bytes: 0, blocks: 0});
    const leaf = leaves.get(key);
    if (leaf.group !== app.groups.of[i]) leaf.group = null;
    leaf.bytes += view.size[i];
    ++leaf.blocks;
  });
  for (const leaf of leaves.values()) addLeaf(root, leaf, texts, libraries);
  return root;
}

function addLeaf(root, {stack, group, bytes, blocks}, texts, libraries) {
  const name = nameOfStack(stack), own = name?.frame, path = [];
  const frames = stack ? texts.stacks[stack - 1] : [], upTo = own ? frames.indexOf(own) : 0, python = own && isPython(own);
  for (let k = frames.length - 1; k >= (libraries ? 0 : upTo); --k) {
    const shown = frames[k] === own || (!frames[k][3] && frames[k][2] > 0 && (!python || isPython(frames[k])));
    if (libraries || shown) path.push([frameText(frames[k]), frames[k]]);
  }
  if (name?.operation && !libraries) path.push([name.operation, null]);
  if (path.length === 0) path.push([group === null ? UNNAMED : app.groups.names[group], null]);
  let node = root;
  const count = (at) => {
    at.weight += bytes;
    at.count += blocks;
    at.group = at.group === undefined || at.group === group ? group : null;
  };
  count(node);
  for (const [text, frame] of path) {
    node = icicleChild(node, text, frame);
    count(node);
  }
}

// A program in Python has native frames too, where they were recorded: between its own, those of the interpreter.
function isPython([, file]) { return /\.pyx?$|^<|ipykernel/.test(file); }

function momentTitle(view, x) {
  const place = x === view.peakX ? "the peak" : x >= view.width - 1 ? "the end" : momentText(view, x);
  return `in use at ${place}`;
}

function fillIcicle() {
  const root = makeTree(app.view, app.at, icicle.libraries);
  byId("icicle-section").hidden = !Array.from(root.children.values()).some(({frame}) => frame);
  setIcicle(root, `Call stacks of the ${formatBytes(root.weight)} ${root.name}`);
}

function makeStacks(canvas) {
  byId("icicle-libraries").addEventListener("click", () => {
    icicle.libraries = !icicle.libraries;
    byId("icicle-libraries").setAttribute("aria-pressed", String(icicle.libraries));
    fillIcicle();
    app.redraw();
  });
  return makeIcicle(canvas);
}

function frameWeight({weight}) { return formatBytes(weight); }

function frameTexts(node) {
  const share = icicle.root.weight ? formatPercent(node.weight / icicle.root.weight) : "";
  return [`${frameWeight(node)}, ${share}, in ${counted(node.count, "block")}`, node.frame ? shortPlace(node.frame) : ""].filter(Boolean);
}

// A click on a frame: its line is chosen where all its memory is of one, and its figures are shown.
function pickedFrame(node) {
  if (node.group !== null && node.group !== undefined && node !== icicle.root) chooseGroup(node.group);
  showDetails({frame: node});
  showTab("details-panel");
}

function frameColor({group}) { return group === null || group === undefined ? null : app.groups.colorOf(app.groups.slot[group]); }

function isFaded({group}) { return app.groups.chosen >= 0 && app.groups.chosen !== group; }
