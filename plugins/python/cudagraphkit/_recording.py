"""cudagraphkit.record(): what PyTorch's own hooks say of CUDA graphs, and its memory history, as a trace.

    capture begins    the graph, its stream and the time
    instantiated      its nodes and edges (_graph_nodes.py)
    replay starts     the launch, with its stream
    destroyed         the executable's end
    captures pause    PyTorch's memory snapshot; both are merged and written: a server may be killed at its end
    process ends      the same once more

Nothing here subscribes to CUPTI: torch.profiler, Nsight Systems and others run beside it. What hooks don't see stays unknown:
which memory a node uses, the stream of a node, memory that doesn't come from PyTorch.
"""

from __future__ import annotations

import atexit
import importlib
import json
import multiprocessing.util
import os
import pickle
import sys
import tempfile
import threading
import time
from typing import Any, Callable, Optional, Union

from cudagraphkit._graph_nodes import Driver, GraphNodes

MAX_EVENTS = 5_000_000  # of the memory history, per device
IDLE_S = 2.0  # without a capture, after which the trace is written
Record = dict[str, Any]


def _say(text: str) -> None:
    print(f"graphkit: {text}", file=sys.stderr, flush=True)


class Graph:
    """A graph from its capture on."""

    def __init__(self, number: int):
        self.number = number
        self.content: Optional[GraphNodes] = None  # its place is before the capture's end
        self.exec: Optional[int] = None  # its last executable


class Recorder:
    """The graphs and launches of this process, in the order in which PyTorch's hooks reported them."""

    def __init__(self, torch: Any, captured: Callable[[], None] = lambda: None):
        self.torch = torch
        self.driver: Optional[Driver] = None  # once a graph was captured
        self.captured = captured  # called at the end of each capture
        self.records: list[Any] = []  # a Graph stands for its nodes and edges
        self.graphs: dict[int, Graph] = {}  # by id() of PyTorch's object
        self.handles: list[Any] = []
        self.streams: dict[tuple[int, int], int] = {}  # by device and handle
        self.threads: dict[int, int] = {}
        self.count = {"graph": 0, "exec": 0}
        self.failed: dict[str, int] = {}  # why graphs have no nodes
        self.changed = 0  # executables made of a graph after it was edited
        self.capturing = False  # or the last capture failed
        self.begun = time.monotonic_ns()
        self.wall = time.time_ns()
        self.pid = os.getpid()
        self.lock = threading.RLock()

    def start(self) -> None:
        graphs = self.torch.cuda.graphs
        self.handles = [
            graphs.register_graph_capture_start_hook(self._guard(self._capture_began)),
            graphs.register_graph_capture_end_hook(self._guard(self._capture_ended)),
            graphs.register_graph_instantiate_hook(self._guard(self._instantiated)),
            graphs.register_graph_replay_start_hook(self._guard(self._launched)),
        ]

    def stop(self) -> None:
        for handle in self.handles:
            handle.remove()
        self.handles = []

    def _guard(self, hook: Callable[[Any], None]) -> Callable[[Any], None]:
        """Hooks of several threads one after the other; a forked child's do nothing."""
        def guarded(graph: Any) -> None:
            if os.getpid() == self.pid:
                with self.lock:
                    hook(graph)
        return guarded

    def _add(self, kind: str, **fields: Any) -> None:
        self.records.append({"type": kind, **fields, "t": time.monotonic_ns() - self.begun})

    def _next(self, kind: str) -> int:
        self.count[kind] += 1
        return self.count[kind] - 1

    def _thread(self) -> int:
        tid = threading.get_native_id()
        if tid not in self.threads:
            self.threads[tid] = len(self.threads)
            self.records.append({"type": "thread", "id": self.threads[tid], "tid": tid})
        return self.threads[tid]

    def _stream(self) -> int:
        stream = self.torch.cuda.current_stream()
        key = (stream.device_index, stream.cuda_stream)
        if key not in self.streams:
            self.streams[key] = len(self.streams)
            legacy = {"kind": "legacy"} if key[1] == 0 else {}
            self.records.append({"type": "stream", "id": self.streams[key], "handle": hex(key[1]), "device": key[0], **legacy})
        return self.streams[key]

    def _capture_began(self, graph: Any) -> None:
        self.capturing = True
        thread, stream, number = self._thread(), self._stream(), self._next("graph")
        self.graphs[id(graph)] = Graph(number)
        self._add("graph", id=number, origin="capture")
        self._add("capture_begin", graph=number, stream=stream, thread=thread, mode="global")
        graph.register_destroy_callback(lambda key=id(graph): self._destroyed(key, number))

    def _capture_ended(self, graph: Any) -> None:
        if id(graph) in self.graphs:
            self.records.append(self.graphs[id(graph)])
            self._add("capture_end", capture=self.graphs[id(graph)].number)
            self.capturing = False
            self.captured()

    def _instantiated(self, graph: Any) -> None:
        known = self.graphs.get(id(graph))
        if known is None:
            return
        if known.exec is not None:
            self._add("exec_destroyed", exec=known.exec)  # PyTorch makes a new one in its place
        known.exec = self._next("exec")
        content = self._content_of(graph)
        fields: Record = {}
        if known.content is None:
            known.content = content
        same = content is not None and content.handles == known.content.handles
        if content is not None and not same:
            self.changed += 1
        if same and content.exec_id is not None:
            fields = {"tool_id": content.exec_id, "node_ids": (known, content)}
        self._add("exec", id=known.exec, graph=known.number, handle=hex(graph.raw_cuda_graph_exec()), **fields)

    def _content_of(self, graph: Any) -> Optional[GraphNodes]:
        try:
            self.driver = self.driver or Driver()
            return GraphNodes(self.driver, graph.raw_cuda_graph(), graph.raw_cuda_graph_exec())
        except Exception as error:
            reason = f"{type(error).__name__}: {error}".splitlines()[0]
            self.failed[reason] = self.failed.get(reason, 0) + 1
            return None

    def _launched(self, graph: Any) -> None:
        known = self.graphs.get(id(graph))
        if known is not None and known.exec is not None:
            stream, thread = self._stream(), self._thread()
            self._add("launch", exec=known.exec, stream=stream, thread=thread)

    def _destroyed(self, key: int, number: int) -> None:
        with self.lock:
            known = self.graphs.get(key)
            if known is None or known.number != number:
                return
            del self.graphs[key]
            if known.exec is not None:
                self._add("exec_destroyed", exec=known.exec)
            self._add("graph_destroyed", graph=number)

    def write(self, path: str) -> None:
        """The graphs and launches as a trace."""
        with self.lock:
            lines = Lines(self)
        with open(path, "w", encoding="utf-8") as file:
            file.write('{"schema":"graphkit-trace","version":1,"device":"imported","records":[\n')
            for record in lines:
                file.write(json.dumps(record, separators=(",", ":")) + ",\n")
            file.write(json.dumps({"type": "end", "records": lines.written, **lines.count}, separators=(",", ":")) + "]}\n")


class Lines:
    """The records of a trace, with nodes and edges in their places."""

    def __init__(self, recorder: Recorder):
        self.recorder = recorder
        self.records = list(recorder.records)
        self.kernels: dict[str, int] = {}
        self.first: dict[int, int] = {}  # node of each graph
        self.nested = 0  # nodes that hold graphs
        self.count = {"graphs": recorder.count["graph"], "nodes": 0, "edges": 0, "blocks": 0, "launches": 0}
        self.written = 0

    def __iter__(self) -> Any:
        for record in self._all():
            self.written += 1
            self.count["launches"] += record["type"] == "launch"
            yield record

    def _all(self) -> Any:
        recorder = self.recorder
        yield {"type": "process", "pid": recorder.pid, "program": sys.executable, "args": sys.argv,
               "env": [f"PYTORCH_VERSION={recorder.torch.__version__}"], "tracer": "PyTorch's hooks"}
        yield {"type": "clock", "mono": 0, "wall": recorder.wall}
        ended = {record.number for record in self.records if isinstance(record, Graph)}
        captures: dict[int, int] = {}  # by graph: a failed one has no end here, so that it isn't a capture
        for record in self.records:
            if isinstance(record, Graph):
                yield from self._nodes(record)
            elif record["type"] == "capture_begin":
                if record["graph"] in ended:
                    captures[record["graph"]] = len(captures)
                    yield {**record, "id": captures[record["graph"]]}
            elif record["type"] == "capture_end":
                yield {**record, "capture": captures[record["capture"]]}
            elif isinstance(record.get("node_ids"), tuple):
                yield {**record, "node_ids": self._runs(*record["node_ids"])}
            else:
                yield record
        for reason, count in recorder.failed.items():
            yield {"type": "note", "text": f"the driver didn't give the nodes of {count} graphs ({reason})"}
        if open_captures := sum(record["type"] == "capture_begin" for record in self.records if isinstance(record, dict)) - len(captures):
            yield {"type": "note", "text": f"{open_captures} captures failed, or hadn't ended"}
        if recorder.changed:
            yield {"type": "note", "text": f"{recorder.changed} executables have other nodes than their graphs had at first"}
        if self.nested:
            yield {"type": "note", "text": f"the graphs in {self.nested} nodes, child graphs and bodies, aren't recorded"}

    def _nodes(self, graph: Graph) -> Any:
        first = self.first[graph.number] = self.count["nodes"]
        if graph.content is None:
            return
        self.count["nodes"] += len(graph.content)
        for place, node in enumerate(graph.content.nodes()):
            kind = node["kind"]
            self.nested += kind in ("graph", "conditional")
            record = {"type": "node", "id": first + place, "graph": graph.number, "kind": kind, "source": "walk"}
            if kind == "kernel":
                name = node["name"] or "unknown"
                if name not in self.kernels:
                    self.kernels[name] = len(self.kernels)
                    yield {"type": "kernel", "id": self.kernels[name], "name": name}
                record["kernel"] = self.kernels[name]
                record.update({key: node[key] for key in ("grid", "block", "shared") if node[key]})
            yield record
        for begin, end, data in graph.content.edges():
            yield {"type": "edge", "id": self.count["edges"], "from": first + begin, "to": first + end, **data}
            self.count["edges"] += 1

    def _runs(self, graph: Graph, content: GraphNodes) -> list[list[Any]]:
        """[first node, how many, the executable's id, number of the first]"""
        runs: list[list[Any]] = []
        for node, number in enumerate(content.numbers(), self.first.get(graph.number, 0)):
            if runs and runs[-1][3] + runs[-1][1] == number:
                runs[-1][1] += 1
            else:
                runs.append([node, 1, content.exec_id, number])
        return runs


class GraphRecording:
    """A recording that ends with the process, or with save()."""

    def __init__(self, torch: Any, path: str, of_process: bool = False):
        """`of_process`: the file has the process's number in its name, and isn't written where nothing used CUDA."""
        stem, suffix = os.path.splitext(path)
        self.path = f"{stem}.{os.getpid()}{suffix}" if of_process else path
        self._base = path
        self._of_process = of_process
        self._torch = torch
        self._graphs: Optional[Recorder] = None
        self._ended = False
        self._pid = os.getpid()
        self._writing = threading.Lock()
        self._writer: Optional[threading.Thread] = None
        self._last_capture = 0.0
        if hasattr(torch.cuda.graphs, "register_graph_capture_start_hook"):
            self._graphs = Recorder(torch, self._captured)
            self._graphs.start()
        else:
            _say(f"torch {torch.__version__} has no hooks for graphs (2.14 has): record() records its memory only")
        torch.cuda._lazy_call(self._begin_history)
        atexit.register(self.save)
        self._save_at_end()
        multiprocessing.util.register_after_fork(self, GraphRecording._save_at_end)  # its children forget what was registered

    def _save_at_end(self) -> None:
        if os.getpid() == self._pid:
            multiprocessing.util.Finalize(None, self.save, exitpriority=0)  # its children may end without atexit

    def forked(self) -> "GraphRecording":
        """The recording of a process that this one forked."""
        if self._ended:
            return self
        if self._graphs is not None:
            self._graphs.stop()
        return GraphRecording(self._torch, self._base, of_process=True)

    def _begin_history(self) -> None:
        if not os.environ.get("GRAPHKIT_TORCH_OUT"):  # `graphkit trace` records already
            self._torch.cuda.memory._record_memory_history("all", context="all", stacks="python", max_entries=MAX_EVENTS)

    def _captured(self) -> None:
        self._last_capture = time.monotonic()
        if self._writer is None:
            self._writer = threading.Thread(target=self._write_when_idle, name="graphkit", daemon=True)
            self._writer.start()

    def _write_when_idle(self) -> None:
        while (left := self._last_capture + IDLE_S - time.monotonic()) > 0 or (self._graphs and self._graphs.capturing):
            time.sleep(max(left, IDLE_S))
        self._writer = None  # a capture from here on has a writer of its own
        with self._writing:
            if not self._ended:
                self._write()

    def write_parts(self, folder: str) -> list[str]:
        """The graphs as a trace, and the snapshot: the paths of the files."""
        parts = []
        if self._graphs is not None:
            self._graphs.write(os.path.join(folder, "graphs.json"))
            parts.append(os.path.join(folder, "graphs.json"))
        if self._torch.cuda.is_initialized():
            snapshot = self._torch.cuda.memory._snapshot()
            snapshot["torch_version"] = str(self._torch.__version__)
            parts.append(os.path.join(folder, "memory.pickle"))
            with open(parts[-1], "wb") as file:
                pickle.dump(snapshot, file)
        return parts

    def save(self) -> None:
        """Ends the recording and writes the trace."""
        if self._ended or os.getpid() != self._pid:
            return
        with self._writing:
            self._ended = True
            if self._graphs is not None:
                self._graphs.stop()
            self._write()

    def _write(self) -> None:
        if self._of_process and not self._torch.cuda.is_initialized() and not (self._graphs and self._graphs.records):
            return
        try:
            with tempfile.TemporaryDirectory() as folder:
                native = importlib.import_module("cudagraphkit._native")
                native.Loaded(self.write_parts(folder)).save(self.path)
        except Exception as error:  # the program goes on
            _say(f"record(): {self.path} isn't written: {type(error).__name__}: {error}")


_recording: Optional[GraphRecording] = None  # of this process


def _forked() -> None:
    global _recording
    if _recording is not None:
        _recording = _recording.forked()


def plugin() -> None:
    """An entry point of vLLM and SGLang, which call it in each of their processes: with GRAPHKIT_RECORD=1 it records."""
    if os.environ.get("GRAPHKIT_RECORD", "0") in ("", "0"):
        return
    try:
        _begin("trace.json", of_process=True)
    except Exception as error:  # the server goes on
        _say(f"nothing is recorded: {error}")


def record(path: Union[str, "os.PathLike[str]"] = "trace.json") -> GraphRecording:
    """Records PyTorch's CUDA graphs, launches and memory from here to the end of the process, and writes them to `path`.

    Needs neither `graphkit trace` nor CUPTI, so profilers run beside it. Which memory a node uses isn't known that way. A
    process has one recording: later calls return the first one. A process that is forked from it records to
    `path` with its number in it: trace.4321.json.
    """
    return _begin(path, of_process=False)


def _begin(path: Union[str, "os.PathLike[str]"], of_process: bool) -> GraphRecording:
    global _recording
    if _recording is None:
        try:
            torch = importlib.import_module("torch")
        except ModuleNotFoundError as error:
            raise RuntimeError(f"record() records PyTorch's graphs, and this Python has no module '{error.name}': install PyTorch with CUDA, "
                               "or trace the program with `graphkit trace`") from None
        if torch.version.cuda is None:
            raise RuntimeError(f"torch {torch.__version__} is built without CUDA: nothing to record; install a build of PyTorch with CUDA")
        _recording = GraphRecording(torch, os.path.abspath(path), of_process)
        os.register_at_fork(after_in_child=_forked)
    return _recording
