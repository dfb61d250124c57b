"""Findings of the command's documents as an array."""

from __future__ import annotations

from typing import Any, Dict, Iterable, Mapping

import numpy as np

FINDING = [("check", object), ("severity", object), ("place", object), ("count", "i8"), ("bytes", "i8"), ("graph", "i8"),
           ("message", object), ("advice", object), ("also", object)]


def findings_of(findings: Iterable[Dict[str, Any]]) -> np.ndarray:
    """Findings of a document of graphkit's as an array: `place` is the line to act on, `also` the other places."""
    rows = []
    for finding in findings:
        graph = finding.get("graph")
        also = "; ".join(f"{place_of(other)}: {other['about']}" for other in finding["also"])
        rows.append((finding["check"], finding["severity"], place_of(finding), finding.get("count", 1), finding.get("bytes") or 0,
                     -1 if graph is None else graph, finding["message"], finding.get("advice", ""), also))
    return np.array(rows, dtype=FINDING)


def place_of(line: Mapping[str, Any]) -> str:
    """"src/step.cu:17", as the command writes it; empty: not known."""
    if not line.get("file"):
        return ""
    file = "/".join(str(line["file"]).replace("\\", "/").split("/")[-2:])
    return f"{file}:{line['line']}" if line["line"] else file
