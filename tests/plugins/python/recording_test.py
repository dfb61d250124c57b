"""cudagraphkit.record(): hooks of a stand-in for PyTorch, as 2.15 calls them, and the trace that comes of them."""

import os
import sys
import time
import types

import cudagraphkit
import pytest
from cudagraphkit import _recording

KERNEL = {"kind": "kernel", "name": "_Z6squarePfi", "grid": [4, 2, 1], "block": [128, 1, 1], "shared": 64}
NODES, EDGES = [KERNEL, {"kind": "memcpy"}, KERNEL], [(0, 1, {}), (1, 2, {"from_port": 1, "edge_type": 1})]


class Content:
    """What a driver says of a graph (_graph_nodes.py)."""

    exec_id = 5

    def __init__(self, nodes, edges):
        self.handles, self.nodes, self.edges, self.numbers = list(range(len(nodes))), lambda: nodes, lambda: edges, lambda: self.handles

    def __len__(self):
        return len(self.handles)


class Handle:
    def remove(self):
        pass


class Graphs(types.SimpleNamespace):
    """torch.cuda.graphs with its hooks."""

    def __init__(self):
        super().__init__(hooks={})
        for moment in ("capture_start", "capture_end", "instantiate", "replay_start"):
            setattr(self, f"register_graph_{moment}_hook", lambda hook, moment=moment: self.hooks.update({moment: hook}) or Handle())


class Graph:
    def __init__(self, graphs, content):
        self.graphs, self.content, self.callbacks = graphs, content, []

    def run(self, *moments):
        for moment in moments:
            self.graphs.hooks[moment](self)

    def register_destroy_callback(self, callback):
        self.callbacks.append(callback)

    def raw_cuda_graph_exec(self):
        return 0x99

    def raw_cuda_graph(self):
        return self


def contents(_, graph, executable):
    """In the place of GraphNodes: a graph is its own handle."""
    assert executable == 0x99
    if graph.content is None:
        raise RuntimeError("cuGraphGetNodes returned 800")
    return graph.content


@pytest.fixture
def torch(monkeypatch):
    monkeypatch.setattr(_recording, "Driver", lambda: None)
    monkeypatch.setattr(_recording, "GraphNodes", contents)
    cuda = types.SimpleNamespace(graphs=Graphs(), is_initialized=lambda: False, _lazy_call=lambda begin: None,
                                 current_stream=lambda: types.SimpleNamespace(device_index=0, cuda_stream=0x7))
    return types.SimpleNamespace(__version__="2.15.0", version=types.SimpleNamespace(cuda="13.2"), cuda=cuda)


def recorded(recorder, tmp_path):
    recorder.write(str(tmp_path / "graphs.json"))
    return cudagraphkit.load(tmp_path / "graphs.json")


def test_hooks_give_graphs_nodes_edges_and_launches(torch, tmp_path):
    recorder = _recording.Recorder(torch)
    recorder.start()
    graph = Graph(torch.cuda.graphs, Content(NODES, EDGES))
    graph.run("capture_start", "capture_end", "instantiate", "replay_start", "replay_start")
    trace = recorded(recorder, tmp_path)
    nodes, edges = trace.to_dict("nodes"), trace.to_dict("edges")
    assert nodes["kind"] == ["kernel", "memcpy", "kernel"]
    assert nodes["kernel_name"] == ["_Z6squarePfi", "", "_Z6squarePfi"]
    assert list(zip(edges["from"], edges["to"], edges["from_port"])) == [(0, 1, 0), (1, 2, 1)]
    assert (len(trace.execs), len(trace.launches), trace.complete) == (1, 2, True)


def test_graphs_of_one_address_are_different_ones(torch, tmp_path):
    recorder = _recording.Recorder(torch)
    recorder.start()
    graph = Graph(torch.cuda.graphs, Content(NODES, EDGES))
    for _ in range(2):
        graph.run("capture_start", "capture_end", "instantiate", "replay_start")
        graph.callbacks.pop()()
    trace = recorded(recorder, tmp_path)
    assert (len(trace.graphs), len(trace.nodes), len(trace.execs), len(trace.launches)) == (2, 6, 2, 2)


def test_what_isnt_known_is_said(torch, tmp_path):
    recorder = _recording.Recorder(torch)
    recorder.start()
    Graph(torch.cuda.graphs, None).run("capture_start", "capture_end", "instantiate", "replay_start")
    Graph(torch.cuda.graphs, Content([{"kind": "graph"}], [])).run("capture_start", "capture_end", "instantiate")
    trace = recorded(recorder, tmp_path)
    assert not trace.complete
    assert list(trace.missing) == ["the driver didn't give the nodes of 1 graphs (RuntimeError: cuGraphGetNodes returned 800)",
                                   "the graphs in 1 nodes, child graphs and bodies, aren't recorded"]


def test_a_capture_that_failed_is_no_capture(torch, tmp_path):
    recorder = _recording.Recorder(torch)
    recorder.start()
    Graph(torch.cuda.graphs, Content(NODES, EDGES)).run("capture_start")  # its end isn't reported
    Graph(torch.cuda.graphs, Content(NODES, EDGES)).run("capture_start", "capture_end", "instantiate")
    trace = recorded(recorder, tmp_path)
    assert list(trace.missing) == ["1 captures failed, or hadn't ended"]
    assert (len(trace.graphs), len(trace.nodes)) == (2, 3)


def test_an_executable_of_an_edited_graph_is_said(torch, tmp_path):
    recorder = _recording.Recorder(torch)
    recorder.start()
    graph = Graph(torch.cuda.graphs, Content(NODES, EDGES))
    graph.run("capture_start", "capture_end", "instantiate", "replay_start", "instantiate")
    assert recorded(recorder, tmp_path).complete
    graph.content = Content([*NODES, KERNEL], EDGES)
    graph.run("instantiate", "replay_start")
    trace = recorded(recorder, tmp_path)
    assert list(trace.missing) == ["1 executables have other nodes than their graphs had at first"]
    assert (len(trace.nodes), len(trace.execs), len(trace.launches)) == (3, 3, 2)


def test_the_trace_is_written_once_captures_pause(torch, tmp_path, monkeypatch):
    monkeypatch.setattr(_recording, "IDLE_S", 0.01)
    recording = _recording.GraphRecording(torch, str(tmp_path / "early.json"))
    Graph(torch.cuda.graphs, Content(NODES, EDGES)).run("capture_start", "capture_end", "instantiate", "replay_start")
    while not (tmp_path / "early.json").exists():  # the file appears once it is whole
        time.sleep(0.01)
    Graph(torch.cuda.graphs, Content(NODES, EDGES)).run("capture_start", "capture_end", "instantiate")
    recording.save()
    assert len(cudagraphkit.load(tmp_path / "early.json").graphs) == 2


def test_an_older_torch_is_said(torch, capfd):
    torch.cuda.graphs, torch.__version__ = types.SimpleNamespace(), "2.8.0"
    recording = _recording.GraphRecording(torch, "unused.json")
    recording._ended = True  # so that nothing is written at the end of the test
    assert capfd.readouterr().err == "graphkit: torch 2.8.0 has no hooks for graphs (2.14 has): record() records its memory only\n"


def test_the_entry_point_records_only_where_it_is_asked(monkeypatch):
    calls = []
    monkeypatch.setattr(_recording, "_begin", lambda path, of_process: calls.append((path, of_process)))
    for value in (None, "0", ""):
        monkeypatch.setenv("GRAPHKIT_RECORD", value) if value is not None else monkeypatch.delenv("GRAPHKIT_RECORD", raising=False)
        _recording.plugin()
    assert calls == []
    monkeypatch.setenv("GRAPHKIT_RECORD", "1")
    _recording.plugin()
    assert calls == [("trace.json", True)]


@pytest.mark.parametrize("plugin", [False, True])
def test_a_forked_process_records_for_itself(torch, tmp_path, monkeypatch, plugin):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setattr(_recording, "_recording", None)
    monkeypatch.setenv("GRAPHKIT_RECORD", "1")
    _recording.plugin() if plugin else _recording.record()

    def fork(*moments):
        child = os.fork()
        if child == 0:
            Graph(torch.cuda.graphs, Content(NODES, EDGES)).run(*moments) if moments else None
            _recording._recording.save()
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        return child

    child, idle = fork("capture_start", "capture_end", "instantiate", "replay_start"), fork()
    _recording._recording.save()
    trace = cudagraphkit.load(tmp_path / f"trace.{child}.json")
    assert (len(trace.graphs), len(trace.launches)) == (1, 1)
    assert not (tmp_path / f"trace.{idle}.json").exists()
    assert (tmp_path / "trace.json").exists() != plugin  # a server's process without CUDA leaves nothing


def test_a_server_goes_on_where_nothing_can_be_recorded(monkeypatch, capfd):
    def refuse(*_, **__):
        raise RuntimeError("torch 2.15.0+cpu is built without CUDA: nothing to record")

    monkeypatch.setattr(_recording, "_begin", refuse)
    monkeypatch.setenv("GRAPHKIT_RECORD", "1")
    _recording.plugin()
    assert capfd.readouterr().err == "graphkit: nothing is recorded: torch 2.15.0+cpu is built without CUDA: nothing to record\n"


def test_without_pytorch_the_error_says_what_to_do(monkeypatch):
    monkeypatch.setattr(_recording, "_recording", None)
    monkeypatch.setitem(sys.modules, "torch", None)  # as if there were none
    with pytest.raises(RuntimeError, match="no module 'torch': install PyTorch with CUDA, or trace the program with `graphkit trace`"):
        cudagraphkit.record()
