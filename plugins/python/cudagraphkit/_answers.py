"""The results of `graphkit FILE`, `diff`, `check` and `report`, as values that a notebook shows."""

from __future__ import annotations

import html
import json
import os
import pathlib
import subprocess
import tempfile
from typing import Any, Dict, Iterable, List, Mapping, Optional, Tuple, Union

import numpy as np

from . import _command, _native
from ._findings import findings_of
from ._trace import Path, Trace

HOLDER = [("place", object), ("function", object), ("operations", object), ("device", "i8"), ("bytes", "i8"), ("blocks", "i8")]
CHANGE = [("place", object), ("function", object), ("before", "i8"), ("after", "i8"), ("change", "i8")]
HINT = [("kind", object), ("device", "i8"), ("bytes", "i8"), ("text", object), ("advice", object)]
FAILED, DIFFERENT, INCOMPLETE = 2, 1, 3  # exit codes of the command
ROWS = 12  # of a table in a notebook


def _ask(words: Iterable[str], files: Iterable[Union[Trace, Path]]) -> str:
    """What the command prints of these files. Traces in memory are written for it."""
    if not _command.PROGRAM.is_file():
        raise _native.Error("this package was built without the command: see docs/python.md")
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for number, file in enumerate(files):
            if isinstance(file, Trace):
                paths.append(os.path.join(folder, f"trace{number}.json"))
                file.save(paths[-1])
            else:
                paths.append(os.fspath(file))
        done = subprocess.run([str(_command.PROGRAM), *words, *paths], capture_output=True, check=False)
    if done.returncode not in (0, DIFFERENT, INCOMPLETE):
        lines = done.stderr.decode(errors="replace").strip().splitlines() or [f"graphkit ended with {done.returncode}"]
        raise _native.Error(lines[-1].replace("graphkit: error: ", "", 1))
    return done.stdout.decode(errors="replace")


def _size(size: Optional[int]) -> str:
    if size is None:
        return "unknown"
    return "-" + _native.format_size(-size) if size < 0 else _native.format_size(size)


def _place(holder: Mapping[str, Any]) -> str:
    """The name of a line, a pool or another holder of memory."""
    if holder.get("place"):
        return str(holder["place"])
    return f"pool {holder['pool']}" if holder.get("pool") is not None else str(holder["kind"]).replace("-", " ")


def _table(heads: Iterable[str], rows: List[Iterable[str]]) -> str:
    def line(cells: Iterable[str], tag: str) -> str:
        return "<tr>" + "".join(f'<{tag} style="text-align:{"left" if i == 0 else "right"}">{html.escape(cell)}</{tag}>'
                                for i, cell in enumerate(cells)) + "</tr>"

    more = f"<p>and {len(rows) - ROWS} more</p>" if len(rows) > ROWS else ""
    body = "".join(line(row, "td") for row in rows[:ROWS])
    return f"<table><thead>{line(heads, 'th')}</thead><tbody>{body}</tbody></table>{more}" if rows else ""


def _list(texts: Iterable[str]) -> str:
    items = "".join(f"<li>{html.escape(text)}</li>" for text in texts)
    return f"<ul>{items}</ul>" if items else ""


def _found(findings: np.ndarray) -> str:
    return _table(("finding", "place", "times", "check"), [
        (f"{row['severity']}: {row['message']}", row["place"], str(row["count"]), row["check"]) for row in findings])


class Explanation(Dict[str, Any]):
    """The document of `graphkit FILE --format json`: what a file is, who holds the memory, findings."""

    @property
    def kind(self) -> str:
        """"trace", "torch-snapshot", "plan", … as in docs/import.md."""
        return str(self["kind"])

    @property
    def peak_bytes(self) -> Optional[int]:
        """Most bytes in use at once, of the device that uses most; None is unknown."""
        peaks = [(device.get("peak_in_use") or {}).get("in_use_bytes") for device in self.get("devices", [])]
        return max((peak for peak in peaks if peak is not None), default=None)

    @property
    def holders(self) -> np.ndarray:
        """Who holds the memory at the peak: place, function, operations, device, bytes, blocks."""
        rows = [(_place(holder), holder["function"] or "", ", ".join(holder["operations"]), device["device"], holder["bytes"],
                 holder["blocks"])
                for device in self.get("devices", []) for holder in device["holders"]]
        return np.array(rows, dtype=HOLDER)

    @property
    def findings(self) -> np.ndarray:
        """A row for each place that a check is about, those of several graphs counted together."""
        return findings_of(self.get("findings", []))

    @property
    def hints(self) -> np.ndarray:
        """What is worth a look: kind, device, bytes, text, advice."""
        rows = [(hint["kind"], device["device"], hint["bytes"], hint["text"], hint["advice"])
                for device in self.get("devices", []) for hint in device["worth_a_look"]]
        return np.array(rows, dtype=HINT)

    def __repr__(self) -> str:
        return f"<cudagraphkit.Explanation {self['file']}: {self['what']}, peak in use {_size(self.peak_bytes)}>"

    def _repr_html_(self) -> str:
        rows = [(row["place"], row["operations"] or row["function"], _size(int(row["bytes"])), str(row["blocks"]))
                for row in self.holders]
        peak = f", peak in use {_size(self.peak_bytes)}" if self.get("devices") else ""
        return (f"<p><b>{html.escape(os.path.basename(self['file']))}</b>: {html.escape(self['what'])}{peak}</p>"
                + _table(("held by", "operations", "bytes", "blocks"), rows) + _found(self.findings)
                + _list(list(self.hints["text"])))


class Diff(Dict[str, Any]):
    """The document of `graphkit diff --format json`: the memory and graphs of two files, compared."""

    @property
    def equal(self) -> bool:
        return bool(self["equal"])

    @property
    def holders(self) -> np.ndarray:
        """Who holds another amount at the peak, what grew most first: place, function, before, after, change."""
        rows = []
        for memory in self["memory"]:
            for holder in memory["holders"]:
                before, after = (holder[side] or {} for side in ("before", "after"))
                rows.append((_place(after or before), (after or before).get("function") or "", before.get("bytes", 0), after.get("bytes", 0), holder["change_bytes"]))
        return np.array(sorted(rows, key=lambda row: -row[-1]), dtype=CHANGE)

    @property
    def figures(self) -> Dict[str, Tuple[Optional[int], Optional[int]]]:
        """Before and after, of the first device: peak_in_use_bytes and others."""
        return {figure["figure"]: (figure["before"], figure["after"])
                for memory in self["memory"][:1] for figure in memory["figures"]}

    def __repr__(self) -> str:
        verdict = "equal" if self.equal else "different"
        return f"<cudagraphkit.Diff {self['before']['file']} → {self['after']['file']}: {verdict}>"

    def _repr_html_(self) -> str:
        names = [html.escape(os.path.basename(self[side]["file"])) for side in ("before", "after")]
        figures = [(name.replace("_bytes", "").replace("_", " "), _size(before), _size(after))
                   for name, (before, after) in self.figures.items() if name.endswith("_bytes")]
        rows = [(row["place"], _size(int(row["before"])), _size(int(row["after"])),
                 ("+" if row["change"] > 0 else "") + _size(int(row["change"]))) for row in self.holders if row["change"]]
        return (f"<p><b>{names[0]} → {names[1]}</b>: {'equal' if self.equal else 'different'}</p>"
                + _table(("figure", "before", "after"), figures) + _table(("held by", "before", "after", "change"), rows))


class Verdict(Dict[str, Any]):
    """The document of `graphkit check --format json`."""

    @property
    def passed(self) -> bool:
        return bool(self["passed"])

    @property
    def reasons(self) -> List[str]:
        """Why it failed, a line each."""
        return [reason["text"] for reason in self["reasons"]]

    @property
    def findings(self) -> np.ndarray:
        """A row for each place that a check is about, as the command shows them; `count` says how many findings it has."""
        rows = []
        for row in (row for group in self["groups"] for row in group):
            rows.append({**self["findings"][row[0]], "count": len(row)})
        return findings_of(rows)

    def __repr__(self) -> str:
        return f"<cudagraphkit.Verdict: {'passed' if self.passed else 'failed'}, {len(self.reasons)} reasons>"

    def _repr_html_(self) -> str:
        others = [reason["text"] for reason in self["reasons"] if reason["kind"] != "finding"]
        return f"<p><b>{'passed' if self.passed else 'failed'}</b></p>" + _list(others) + _found(self.findings)


class Page:
    """An interactive page, as `graphkit report` writes it. A notebook shows it."""

    def __init__(self, text: str, height: int):
        self.html = text
        self.height = height

    def save(self, path: Path) -> None:
        pathlib.Path(path).write_text(self.html, encoding="utf-8")

    def __repr__(self) -> str:
        return f"<cudagraphkit.Page of {len(self.html)} characters; save(path) writes it>"

    def _repr_html_(self) -> str:
        return (f'<iframe srcdoc="{html.escape(self.html)}" title="graphkit report" '
                f'style="width:100%;height:{self.height}px;border:1px solid #8884;border-radius:6px"></iframe>')


def explain(file: Union[Trace, Path]) -> Explanation:
    """Summarizes any file that graphkit reads: kind, holders of memory, findings."""
    return Explanation(json.loads(_ask(["--format", "json"], [file])))


def diff(before: Union[Trace, Path], after: Union[Trace, Path]) -> Diff:
    """Compares the memory and the graphs of two files."""
    return Diff(json.loads(_ask(["diff", "--format", "json"], [before, after])))


def check(file: Union[Trace, Path], limits: Optional[Mapping[str, Union[int, str]]] = None, fail_on: Iterable[str] = (),
          baseline: Optional[Path] = None, config: Optional[Path] = None) -> Verdict:
    """Judges a file as `graphkit check` does: `check("trace.json", {"max_peak": "40GiB", "max_leaks": 0})`.

    `fail_on`: a severity or ids of checks; `baseline`, `config`: files of `graphkit check`.
    """
    words = ["check", "--format", "json"]
    if limits:
        words += ["--limit", ",".join(f"{name}={value}" for name, value in limits.items())]
    if list(fail_on):
        words += ["--fail-on", ",".join([fail_on] if isinstance(fail_on, str) else fail_on)]
    for option, path in (("--baseline", baseline), ("--config", config)):
        words += [] if path is None else [option, os.fspath(path)]
    return Verdict(json.loads(_ask(words, [file])))


def attribute(capture: Path, replay: Path) -> Dict[str, Any]:
    """The document of `graphkit attribute --format json`: time of replayed kernels by module, line, operator and shapes."""
    return dict(json.loads(_ask(["attribute", "--format", "json"], [capture, replay])))


def report(file: Union[Trace, Path], path: Optional[Path] = None, height: int = 720) -> Page:
    """The interactive page of a file; `path`: also written there."""
    page = Page(_ask(["report", "-o", "-"], [file]), height)
    if path is not None:
        page.save(path)
    return page


def show(*files: Union[Trace, Path], height: int = 720) -> Page:
    """In a notebook: the report of a file, or the page of the difference of two."""
    if len(files) == 2:
        return Page(_ask(["diff", "--format", "html", "-o", "-"], files), height)
    if len(files) != 1:
        raise _native.Error("show takes one file, or two to compare")
    return report(files[0], height=height)
