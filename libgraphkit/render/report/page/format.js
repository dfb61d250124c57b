"use strict";
// How numbers read, the same as in graphkit's text output (libgraphkit/units.h).
const UNITS = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

// As printf rounds: halves to the even digit, where toFixed() rounds them up.
function fixed(value, decimals) {
  const scaled = value * 10 ** decimals, low = Math.floor(scaled);
  return scaled - low === .5 && low % 2 === 0 ? (low / 10 ** decimals).toFixed(decimals) : value.toFixed(decimals);
}

function formatBytes(bytes) {
  if (bytes === null || bytes === undefined) return "unknown";
  if (bytes < 1024) return `${Math.round(bytes)} B`;
  let value = bytes / 1024, unit = 0;
  while (value >= 1023.95 && unit + 1 < UNITS.length) { value /= 1024; ++unit; }
  const decimals = value === Math.floor(value) ? 0 : value < 10 ? 2 : 1;
  return `${fixed(value, decimals)} ${UNITS[unit]}`;
}

function formatPercent(share) { return `${fixed(share * 100, 1)}%`; }

function formatCount(count) {
  if (count === null) return "unknown";
  return String(count).replace(/\B(?=(\d{3})+$)/g, ",");
}

function counted(count, noun) {
  return `${formatCount(count)} ${noun}${count === 1 ? "" : "s"}`;
}

function formatNanoseconds(ns) {
  if (ns < 1000) return `${ns} ns`;
  return ns < 1e6 ? `${(ns / 1e3).toFixed(1)} µs` : `${(ns / 1e6).toFixed(2)} ms`;
}

// An element with text in it; text is never taken for markup.
function element(tag, className, text) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

/** @param {string} id @returns {any} */
function byId(id) { return document.getElementById(id); }

/** All elements of the page that fit. @param {string} selector @returns {any[]} */
function every(selector) { return [...document.querySelectorAll(selector)]; }

const compareNames = new Intl.Collator("en", {numeric: true}).compare;

// Unknown values come last, whichever way round.
function compareValues(a, b, descending) {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  const order = typeof a === "number" ? a - b : compareNames(a, b);
  return descending ? -order : order;
}

// The first `most` in that order, in one pass: there may be a million.
function firstRows(rows, compare, most) {
  const first = [];
  for (const row of rows) {
    if (first.length === most && compare(row, first[most - 1]) >= 0) continue;
    let low = 0, high = first.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (compare(first[middle], row) <= 0) low = middle + 1; else high = middle;
    }
    first.splice(low, 0, row);
    if (first.length > most) first.pop();
  }
  return first;
}

// A table that its heads sort: numbers the largest first, names from A on, and the other way round at the next click.
// `columns`: {title, value(row), text(value, row), className}; `fill(element, row)` adds to a row what else it has.
// As it is given until a head is used, the first `most` rows.
/** @param {any[]} columns @param {ArrayLike<any> & Iterable<any>} rows @param {Partial<{most: number, fill: Function, sorted: number}>} options */
function sortableTable(columns, rows, {most = Infinity, fill, sorted = -1} = {}) {
  const table = element("table", "rows"), head = element("tr", ""), body = element("tbody", ""), more = element("p", "small", "");
  let by = -1, descending = true;
  const show = (ordered) => {
    body.replaceChildren(...Array.from(ordered, (row) => tableRow(columns, row, fill)));
    more.textContent = `and ${formatCount(rows.length - ordered.length)} more`;
    more.hidden = ordered.length === rows.length;
  };
  const sortBy = (column) => {
    const numbers = typeof columns[column].value(rows[0]) !== "string";
    descending = by === column ? !descending : numbers;
    by = column;
    heads.forEach((cell, i) => i === by ? cell.setAttribute("aria-sort", descending ? "descending" : "ascending") : cell.removeAttribute("aria-sort"));
    const {value} = columns[by];
    show(firstRows(rows, (a, b) => compareValues(value(a), value(b), descending), most));
  };
  const heads = columns.map(({title, className}, i) => {
    const cell = element("th", className), button = element("button", "", title);
    cell.scope = "col";
    button.addEventListener("click", () => { if (rows.length > 0) sortBy(i); });
    cell.append(button);
    return cell;
  });
  head.append(...heads);
  table.createTHead().append(head);
  table.append(body);
  if (sorted >= 0 && rows.length > 0) sortBy(sorted); else show(Array.from(rows).slice(0, most));
  return [table, more];
}

function tableRow(columns, row, fill) {
  const made = element("tr", "");
  for (const {value, text, className} of columns) {
    const found = value(row);
    made.append(element("td", className, text ? text(found, row) : found));
  }
  if (fill) fill(made, row);
  return made;
}

// Columns of numbers.
function bytesColumn(title, value) { return {title, value, text: formatBytes, className: "num"}; }
function countColumn(title, value) { return {title, value, text: formatCount, className: "num"}; }

// A row leads somewhere: its first cell is a button, for the keyboard, and all of it can be clicked.
function linkRow(row, go) {
  const button = element("button", "go", row.cells[0].textContent);
  row.className = "link";
  row.cells[0].replaceChildren(button);
  row.addEventListener("click", go);
}

function clamp(value, low, high) { return Math.min(Math.max(value, low), high); }

// A round step for an axis: 1, 2 or 5 times a power of ten, or for bytes a power of two.
function roundStep(span, parts, binary) {
  const rough = Math.max(span / parts, 1e-9);
  if (binary) return 2 ** Math.ceil(Math.log2(rough));
  const power = 10 ** Math.floor(Math.log10(rough));
  for (const factor of [1, 2, 5]) if (power * factor >= rough) return power * factor;
  return power * 10;
}

// "1.25 s", "250 ms", "13 µs": with as many digits as the step between two asks for.
function formatSeconds(seconds, step) {
  const [unit, factor] = step >= .1 || seconds >= 10 ? ["s", 1] : step >= 1e-4 ? ["ms", 1e3] : ["µs", 1e6];
  return `${(seconds * factor).toFixed(clamp(Math.ceil(-Math.log10(step * factor) - 1e-9), 0, 9))} ${unit}`;
}

// The first index whose value isn't below `value`, in ascending values.
function lowerBound(values, value) {
  let low = 0, high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] < value) low = middle + 1; else high = middle;
  }
  return low;
}

function showLines(lines, x, y) {
  const tip = byId("tip");
  if (lines.length === 0) return hideTip();
  tip.replaceChildren(...lines.map((text) => element("div", "", text)));
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  tip.style.left = `${Math.min(x + 14, innerWidth - box.width - 8)}px`;
  tip.style.top = `${y + 18 + box.height > innerHeight ? y - box.height - 12 : y + 18}px`;
}

function hideTip() { byId("tip").hidden = true; }
