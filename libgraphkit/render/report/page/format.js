"use strict";
// How numbers read, the same as in graphkit's text output (libgraphkit/units.h).
const UNITS = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

function formatBytes(bytes) {
  if (bytes < 1024) return `${Math.round(bytes)} B`;
  let value = bytes / 1024, unit = 0;
  while (value >= 1023.95 && unit + 1 < UNITS.length) { value /= 1024; ++unit; }
  const decimals = value === Math.floor(value) ? 0 : value < 10 ? 2 : 1;
  return `${value.toFixed(decimals)} ${UNITS[unit]}`;
}

function formatCount(count) {
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

function byId(id) { return document.getElementById(id); }

function clamp(value, low, high) { return Math.min(Math.max(value, low), high); }

// A round step for an axis: 1, 2 or 5 times a power of ten, or for bytes a power of two.
function roundStep(span, parts, binary) {
  const rough = Math.max(span / parts, 1e-9);
  if (binary) return 2 ** Math.ceil(Math.log2(rough));
  const power = 10 ** Math.floor(Math.log10(rough));
  for (const factor of [1, 2, 5]) if (power * factor >= rough) return power * factor;
  return power * 10;
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
