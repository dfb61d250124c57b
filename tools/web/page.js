// Drop a file: its summary, then its report, made by graphkit itself in a worker.
"use strict";

const byId = (/** @type {string} */ id) => /** @type {HTMLElement} */ (document.getElementById(id));
const shown = {
  worker: /** @type {Worker | null} */ (null), module: /** @type {WebAssembly.Module | null} */ (null), since: 0, report: "",
  page: /** @type {Blob | null} */ (null),
};

/** The commands for so many files, and their titles while they run. */
function commandsFor(/** @type {string[]} */ names) {
  const out = ["-o", "/page.html"];
  if (names.length === 1) return [names, ["report", ...names, ...out]];
  if (names.length === 2) return [["diff", ...names], ["diff", ...names, "--format", "html", ...out]];
  return [["analyze", ...names], ["report", ...names, ...out]];
}
const DOING = ["Summarizing", "Drawing the report of"];

function show(/** @type {string} */ view) {
  for (const id of ["drop", "summary", "report"]) byId(id).hidden = id !== view;
  byId("to-summary").setAttribute("aria-selected", String(view === "summary"));
  byId("to-report").setAttribute("aria-selected", String(view === "report"));
}

function startAgain() {
  shown.worker?.terminate();
  shown.worker = null;
  if (shown.report) URL.revokeObjectURL(shown.report);
  shown.report = "";
  shown.page = null;
  byId("report").removeAttribute("src");
  for (const id of ["views", "wait", "problem", "save", "again"]) byId(id).hidden = true;
  byId("program").textContent = "{{version}}";
  delete document.body.dataset.ready;
  show("drop");
}

function finish() {
  byId("wait").hidden = true;
  document.body.dataset.ready = "yes";
}

function problem(/** @type {string} */ text) {
  byId("problem").textContent = text.trim();
  byId("problem").hidden = false;
}

/** @typedef {{at: number, code: number, out: string, error: string, file: Uint8Array | null}} Answer */

/** @param {Answer & {compiled?: WebAssembly.Module, read?: number, doing?: string}} news */
function take(news, /** @type {string[]} */ names) {
  if (news.compiled) shown.module = news.compiled;
  else if (news.read !== undefined) tellRead(news.at, news.read, names);
  else if (news.doing !== undefined) byId("doing").textContent = news.doing.replace("graphkit: ", "");
  else if (news.at === 0) showSummary(news);
  else showReport(news, names);
}

function tellRead(/** @type {number} */ at, /** @type {number} */ read, /** @type {string[]} */ names) {
  const bar = /** @type {HTMLProgressElement} */ (byId("progress"));
  byId("doing").textContent = `${DOING[at]} ${names.join(", ")}: ${read < 1 ? "reading" : "analyzing"}`;
  if (read < 1) bar.value = read;
  else bar.removeAttribute("value");
}

function failed(/** @type {Answer} */ {code}) { return code < 0 || code === 2; }

function showSummary(/** @type {Answer} */ answer) {
  document.body.dataset.code = String(answer.code);
  if (failed(answer)) return startOver(answer.error);
  if (answer.error.trim()) problem(answer.error);
  byId("again").hidden = false;
  byId("summary").textContent = answer.out;
  byId("views").hidden = false;
  show("summary");
}

function startOver(/** @type {string} */ error) {
  startAgain();
  problem(error);
  finish();
}

// Of a file without a trace there is no report: the button says why.
function showReport(/** @type {Answer} */ answer, /** @type {string[]} */ names) {
  const button = /** @type {HTMLButtonElement} */ (byId("to-report"));
  button.disabled = failed(answer) || !answer.file;
  button.title = button.disabled ? answer.error.trim() : "";
  if (!button.disabled && answer.file) {
    shown.page = new Blob([/** @type {BlobPart} */ (answer.file)], {type: "text/html"});
    shown.report = URL.createObjectURL(shown.page);
    /** @type {HTMLIFrameElement} */ (byId("report")).src = shown.report + location.hash;  // a link opens it at its place
    const save = /** @type {HTMLAnchorElement} */ (byId("save"));
    save.href = shown.report;
    save.download = names.length === 1 ? names[0].replace(/\.[^.]*$/, "") + ".html" : "report.html";
    save.hidden = false;
    show("report");
  }
  finish();
}

// The address is the report's: a link to it opens the next report at the same place.
addEventListener("message", ({source, data}) => {
  const report = /** @type {HTMLIFrameElement} */ (byId("report"));
  if (source === report.contentWindow && typeof data?.place === "string") location.replace("#" + data.place);
});
addEventListener("hashchange", () => {
  if (shown.report) /** @type {HTMLIFrameElement} */ (byId("report")).contentWindow?.location.replace(shown.report + location.hash);
});

function answerFor(/** @type {File[]} */ files) {
  if (!files.length) return;
  startAgain();
  const names = files.map((file) => file.name);
  byId("program").textContent = names.join(", ");
  /** @type {HTMLButtonElement} */ (byId("to-report")).disabled = true;
  byId("wait").hidden = false;
  byId("doing").textContent = "Starting";
  shown.since = performance.now();
  shown.worker = new Worker(URL.createObjectURL(new Blob([byId("engine").textContent || ""], {type: "text/javascript"})));
  shown.worker.onmessage = ({data}) => take(data, names);
  shown.worker.onerror = (event) => startOver("graphkit: error: this browser can't run graphkit: " + event.message);
  shown.worker.postMessage({wasm: shown.module ? "" : byId("wasm").textContent, module: shown.module, files, commands: commandsFor(names)});
}

setInterval(() => {
  if (!byId("wait").hidden) byId("clock").textContent = `${((performance.now() - shown.since) / 1000).toFixed(1)} s`;
}, 100);
byId("file").addEventListener("change", (event) => {
  const input = /** @type {HTMLInputElement} */ (event.target);
  answerFor([...input.files || []]);
  input.value = "";
});
byId("again").addEventListener("click", startAgain);
byId("stop").addEventListener("click", startAgain);
byId("to-summary").addEventListener("click", () => show("summary"));
byId("to-report").addEventListener("click", () => show("report"));
for (const name of ["dragover", "dragleave", "drop"]) {
  addEventListener(name, (event) => {
    event.preventDefault();
    document.body.classList.toggle("over", name === "dragover");
    if (name === "drop") answerFor([.../** @type {DragEvent} */ (event).dataTransfer?.files || []]);
  });
}
document.documentElement.dataset.theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
startAgain();
