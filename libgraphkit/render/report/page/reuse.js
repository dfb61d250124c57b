// Drawn over the blocks: possible reuse, and the picked block or the one pointed at.
// A block that could have lain where another lay has a dashed outline; picked or pointed at, it also
// stands as a ghost where it could have lain.
function drawReuse(pen, plot, offsets) {
  const {view, picked, hover} = app, colors = theme.colors;
  for (const {earlier, later} of view.reuse) {
    const e = view.blockAt.get(earlier), l = view.blockAt.get(later);
    if (e === undefined || l === undefined) continue;
    if (view.begin[l] > app.t1 || view.end[l] < app.t0) continue;
    const r = rectangleOf(plot, view.begin[l], view.end[l], offsets[l], view.size[l]);
    pen.globalAlpha = picked && !picked.blocks.has(later) ? .35 : 1;
    if (r.w >= 5 && r.h >= 4) outline(pen, r, colors.reuse, [5, 3], 1.5);
    pen.globalAlpha = 1;
    const chosen = (id) => (hover && hover.block === id) || (picked && picked.blocks.size <= 8 && picked.blocks.has(id));
    if (chosen(later)) drawGhost(pen, plot, offsets, e, l);
  }
}

function drawGhost(pen, plot, offsets, earlier, later) {
  const {view} = app;
  const ghost = rectangleOf(plot, view.begin[later], view.end[later], offsets[earlier], view.size[later]);
  const from = rectangleOf(plot, view.begin[later], view.end[later], offsets[later], view.size[later]);
  pen.globalAlpha = .25;
  pen.fillStyle = theme.colors.reuse;
  pen.fillRect(ghost.x, ghost.y, ghost.w, ghost.h);
  pen.globalAlpha = 1;
  outline(pen, ghost, theme.colors.reuse, [2, 2], 1.5);
  const x = Math.max(ghost.x + 8, plot.left + 8), up = ghost.y < from.y;
  const y0 = up ? from.y : from.y + from.h, y1 = up ? ghost.y + ghost.h : ghost.y;
  pen.strokeStyle = pen.fillStyle = theme.colors.reuse;
  pen.beginPath();
  pen.moveTo(x, y0);
  pen.lineTo(x, y1);
  pen.stroke();
  arrowHead(pen, x, y1, 0, y1 - y0);
}

function drawPicked(pen, plot, offsets, policy) {
  const {view, picked, hover} = app;
  const draw = (id, width) => {
    const i = view.blockAt.get(id);
    if (i === undefined || offsets[i] < 0) return;
    const end = endOf(view, i, policy), freed = Math.min(view.freed[i], end);
    const r = rectangleOf(plot, view.begin[i], end, offsets[i], view.size[i]);
    if (r.w <= 0 || r.x > plot.left + plot.width || r.h < -4) return;
    const live = rectangleOf(plot, view.begin[i], freed, offsets[i], view.size[i]);
    pen.fillStyle = slotColor(app.groups.slot[app.groups.of[i]]);
    if (live.w > 0) pen.fillRect(live.x, live.y, live.w, Math.max(live.h, 1));
    if (end > freed) {
      const rest = rectangleOf(plot, freed, end, offsets[i], view.size[i]);
      pen.fillStyle = hatch(pen);
      if (rest.w > 0) pen.fillRect(rest.x, rest.y, rest.w, Math.max(rest.h, 1));
    }
    if (r.h > 2) outline(pen, r, theme.colors.pick, [], width);
    if (live.w >= 54 && live.h >= 13) drawLabels(pen, [[i, live]]);
  };
  if (picked) {
    let left = 3000;
    for (const id of picked.blocks) if (left-- > 0) draw(id, 1.5);
  }
  if (hover && hover.block !== undefined) {
    const i = view.blockAt.get(hover.block);
    if (i === undefined || offsets[i] < 0) return;
    outline(pen, rectangleOf(plot, view.begin[i], endOf(view, i, policy), offsets[i], view.size[i]), theme.colors.pick, [], 1.5);
  }
}
