// The pages of the checks (docs/checks), as much of Markdown as they use.
const SPANS = /(`[^`]+`|\*\*[^*]+\*\*|\[[^\]]+\]\([^)]*\))/;

function spansOf(tag, text) {
  const made = element(tag, "");
  for (const part of text.split(SPANS)) {
    if (part[0] === "`") made.append(element("code", "", part.slice(1, -1)));
    else if (part.startsWith("**")) made.append(element("b", "", part.slice(2, -2)));
    else made.append(part.replace(/^\[([^\]]+)\]\([^)]*\)$/, "$1"));
  }
  return made;
}

function tableFrom(lines) {
  const table = element("table", "rows");
  lines.filter((line) => !/^\|[-| ]+$/.test(line)).forEach((line, i) => {
    const row = element("tr", "");
    row.append(...line.split("|").slice(1, -1).map((cell) => spansOf(i === 0 ? "th" : "td", cell.trim())));
    table.append(row);
  });
  return table;
}

function blockFrom(text) {
  const heading = /^(##?) (.*)/.exec(text);
  if (heading) return spansOf(heading[1] === "#" ? "h2" : "h3", heading[2]);
  if (text.startsWith("    ")) return element("pre", "", text.replace(/^ {4}/gm, ""));
  if (text.startsWith("|")) return tableFrom(text.split("\n"));
  if (!text.startsWith("* ")) return spansOf("p", text);
  const list = element("ul", "");
  list.append(...text.slice(2).split(/\n\* /).map((item) => spansOf("li", item)));
  return list;
}

function proseFrom(text) {
  const blocks = text.replace(/^\n+|\s+$/g, "");
  return blocks ? blocks.split(/\n\n+(?!    )|\n\n(?=    )/).map(blockFrom) : [];
}

// Between fences stands code.
function markdown(text) {
  return text.split(/^```\w*\n([^]*?)^```$/m).flatMap((part, i) => (i % 2 === 1 ? [element("pre", "", part)] : proseFrom(part)));
}
