"""Makes the small files of this folder: what each importer reads, written by hand after the formats' descriptions.

graph_data.pickle: CUDAGraph.get_graph_data() (PyTorch #183165): graph 5 with two kernels, a copy and an event record.
graph_edges.pickle: the same as PyTorch 2.15 writes it: edges with their data, dynamic shared memory, a host function.
node_stacks.json: dump_kernel_py_stacks (PyTorch #198098, unpacked) of graph 5; node_annotations.json, .pickle: get_kernel_annotations.
profile.json, profile.sqlite: a profile of two launches of that graph, as Kineto and as Nsight Systems write it.
no_nodes.json, no_nodes.sqlite: the same without the ids of graphs' nodes, as older versions and other options leave it.
graph_events.sqlite: an export of Nsight Systems 2026 with the creation of graphs 7 and 8 and of their execs, and launches of 7 and 9.
step.dot: the same graph as cudaGraphDebugDotPrint writes it (verbose).
rmm.csv: a log of RMM's logging resource adaptor, past midnight, with a failure.
snapshot.pickle: the memory of the program that captured it: one private pool, one deferred free.
late.pickle: a history whose first events are of a block that lies in no segment, ending with empty_cache; of two devices.
state.pickle: no history, only what is there at the end: three pools, three streams, 44 MiB in segments.
trace.json: what a tracer saw of the same program, by a clock that is ahead.
"""

import json
import pathlib
import pickle
import sqlite3

HERE = pathlib.Path(__file__).parent
GRAPH = 5
KERNELS = {0: "_Z6squarePfi", 2: "_Z3addPfS_i"}
TYPES = ["kernel", "memcpy", "kernel", "event_record"]
DEPENDENCIES = [[], [0], [0], [1, 2]]
BASE = 0x7F0000000000
MIB = 1 << 20
SNAPSHOT_US = 1_699_999_999_000_000
SKEW_US = 700  # what the clock of the trace is ahead


def tools_id(node: int) -> int:
    return GRAPH << 32 | node


def graph_data() -> None:
    nodes = []
    for i, kind in enumerate(TYPES):
        nodes.append({"index": i, "node_type": kind, "tools_id": tools_id(i), "graph_id": GRAPH, "node_id": i,
                      "kernel_name": KERNELS.get(i), "event_ptr": 0x55 if kind == "event_record" else 0,
                      "grid_dim": (4, 2, 1) if i in KERNELS else None, "block_dim": (128, 1, 1) if i in KERNELS else None,
                      "dependencies": DEPENDENCIES[i],
                      "dependents": [j for j, d in enumerate(DEPENDENCIES) if i in d]})
    (HERE / "graph_data.pickle").write_bytes(pickle.dumps({"exec_graph_id": GRAPH, "nodes": nodes}, protocol=4))


def graph_edges() -> None:
    nodes = [{"index": i, "node_type": kind, "tools_id": tools_id(i), "graph_id": GRAPH, "node_id": i,
              "kernel_name": KERNELS.get(i), "event_ptr": 0, "grid_dim": (4, 2, 1) if i in KERNELS else None,
              "block_dim": (128, 1, 1) if i in KERNELS else None, "shared_mem_bytes": 1024 if i in KERNELS else None,
              "host_fn_addr": 0x77 if kind == "host" else 0, "host_fn_name": "on_step(void*)" if kind == "host" else None,
              "dependencies": [i - 1] if i else [], "dependents": [i + 1] if i < 2 else []}
             for i, kind in ((0, "kernel"), (1, "host"), (2, "kernel"))]
    edges = [{"from": 0, "to": 1, "from_port": 0, "to_port": 0, "type": 0},
             {"from": 0, "to": 2, "from_port": 1, "to_port": 0, "type": 1}]
    (HERE / "graph_edges.pickle").write_bytes(pickle.dumps({"exec_graph_id": GRAPH, "nodes": nodes, "edges": edges}, protocol=4))


def origins() -> None:
    stack = "/app/model.py:12:forward\n/app/train.py:30:<module>"
    stacks = {str(tools_id(0)): stack, str(tools_id(2)): stack, str(7 << 32): "train.py:31:<module>"}
    (HERE / "node_stacks.json").write_text(json.dumps(stacks) + "\n")
    annotations = {tools_id(0): [{"name": "attention"}], tools_id(1): [{"name": "mlp", "dtype": "bf16", "layer": 3}]}
    (HERE / "node_annotations.json").write_text(json.dumps(annotations) + "\n")
    (HERE / "node_annotations.pickle").write_bytes(pickle.dumps(annotations, protocol=4))


def runs():
    """(node, start in ns, duration in ns) of two launches."""
    for launch in range(2):
        start = 1_700_000_000_000_000_000 + launch * 1_000_000
        yield 0, start, 5_000 + 1_000 * launch
        yield 1, start + 7_000, 2_000
        yield 2, start + 9_500, 3_250


def profile_json(name: str, ids: bool) -> None:
    events = [{"ph": "M", "name": "process_name", "pid": 0, "args": {"name": "python"}}]
    categories = {"kernel": "kernel", "memcpy": "gpu_memcpy"}
    for number, (node, start, duration) in enumerate(runs()):
        kind = TYPES[node]
        args = {"device": 0, "context": 1, "stream": 7, "correlation": 100 + number // 3}
        if ids:
            args |= {"graph id": GRAPH, "graph node id": tools_id(node)}
        if kind == "kernel":
            args |= {"grid": [4, 2, 1], "block": [128, 1, 1], "shared memory": 0}
        events.append({"ph": "X", "cat": categories[kind], "name": KERNELS.get(node, "Memcpy DtoD"), "pid": 0, "tid": 7,
                       "ts": start / 1000, "dur": duration / 1000, "args": args})
    for launch in range(2):
        events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaGraphLaunch", "pid": 9, "tid": 9,
                       "ts": 1_700_000_000_000_000 + launch * 1000, "dur": 3, "args": {"correlation": 100 + launch}})
    text = json.dumps({"schemaVersion": 1, "deviceProperties": [], "traceEvents": events}, indent=1)
    (HERE / name).write_text(text + "\n")


def profile_sqlite(name: str, ids: bool) -> None:
    path = HERE / name
    path.unlink(missing_ok=True)
    shape = "gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX INTEGER, blockY INTEGER, blockZ INTEGER"
    with sqlite3.connect(path) as db:
        db.executescript(f"""
            PRAGMA page_size=1024;
            CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
            CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER,
                streamId INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, shortName INTEGER,
                mangledName INTEGER, {shape}, dynamicSharedMemory INTEGER, graphNodeId INTEGER);
            CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER,
                streamId INTEGER, correlationId INTEGER, globalPid INTEGER, bytes INTEGER, graphNodeId INTEGER);
            CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS (start INTEGER, globalPid INTEGER, deviceId INTEGER,
                contextId INTEGER, address INTEGER, pc INTEGER, bytes INTEGER, memKind INTEGER,
                memoryOperationType INTEGER, name TEXT, correlationId INTEGER, localMemoryPoolAddress INTEGER);
            CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER,
                globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER);
            CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, text TEXT,
                globalTid INTEGER, textId INTEGER);
            INSERT INTO StringIds VALUES (1, '{KERNELS[0]}'), (2, '{KERNELS[2]}'), (3, 'cudaGraphLaunch_v10000'),
                (4, 'cuGraphLaunch'), (5, 'cudaGraphLaunchSomethingElse'),
                (6, 'execute_8');
            INSERT INTO NVTX_EVENTS VALUES (1800, 2000, 59, 'execute_4', 9, NULL), (1850, NULL, 34, 'mark', 9, NULL),
                (2800, 3000, 59, NULL, 9, 6);
            INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1900, 1990, 0, 9, 1, 3, 0), (1910, 1980, 1, 9, 1, 4, 0),
                (2900, 2990, 0, 9, 2, 3, 0), (2910, 2980, 1, 9, 2, 4, 0), (3000, 3001, 0, 9, 1, 5, 0);
        """)
        origin = 1_700_000_000_000_000_000
        for number, (node, start, duration) in enumerate(runs()):
            begin, launch = start - origin + 2_000, 1 + number // 3
            if node in KERNELS:
                name = 1 if node == 0 else 2
                row = (begin, begin + duration, 0, 7, launch, 9, name, name, name, 4, 2, 1, 128, 1, 1, 0, tools_id(node) if ids else None)
                db.execute(f"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES ({','.join('?' * len(row))})", row)
            else:
                row = (begin, begin + duration, 0, 7, launch, 9, 4096, tools_id(node) if ids else None)
                db.execute(f"INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES ({','.join('?' * len(row))})", row)
        memory = [(500, BASE, 20 * MIB, 2, 0, None), (600, BASE + (1 << 32), 4096, 2, 0, 77), (900, BASE, 20 * MIB, 2, 1, None)]
        for start, address, size, kind, operation, pool in memory:
            row = (start, 9, 0, 1, address, 0, size, kind, operation, None, 1, pool)
            db.execute(f"INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS VALUES ({','.join('?' * len(row))})", row)


def graph_events() -> None:
    path = HERE / "graph_events.sqlite"
    path.unlink(missing_ok=True)
    with sqlite3.connect(path) as db:
        db.executescript("""
            PRAGMA page_size=1024;
            CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
            CREATE TABLE CUDA_GRAPH_EVENTS (start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER, nameId INTEGER,
                graphId INTEGER, originalGraphId INTEGER, graphExecId INTEGER);
            CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INTEGER, end INTEGER, deviceId INTEGER, graphId INTEGER,
                streamId INTEGER, correlationId INTEGER, globalPid INTEGER, graphExecId INTEGER);
            INSERT INTO StringIds VALUES (1, 'Graph Creation'), (2, 'GraphExec Creation');
            INSERT INTO CUDA_GRAPH_EVENTS VALUES (100, 110, 112, 9, 1, 7, NULL, NULL), (120, 130, 112, 9, 2, 7, NULL, 70),
                (140, 150, 112, 9, 1, 8, NULL, NULL), (160, 170, 112, 9, 2, 8, NULL, 80);
            INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (200, 210, 0, 7, 13, 1, 9, 70),
                (220, 230, 0, 7, 13, 2, 9, 70), (240, 250, 0, 9, 13, 3, 9, 90);
        """)


def dot() -> None:
    lines = ["digraph dot {", "subgraph cluster_5 {", 'label="graph_5" graph[style="dashed"];']
    for i, kind in enumerate(TYPES):
        handle = f"0x{0x55AA0000 + 16 * i:016X}"
        if kind == "kernel":
            body = (f"{{KERNEL\n| {{ID | {i} (topoId: {3 - i}) | {KERNELS[i]}\\<\\<\\<\\{{4,2,1\\}},128,0\\>\\>\\>}}\n"
                    f"| {{{{node handle | func handle}} | {{{handle} | 0x000055AA}}}}\n| {{cooperative | 0}}\n}}")
        else:
            body = f"{{{kind.upper()}\n| {{{{ID | node handle}} | {{{i} (topoId: {3 - i}) | {handle}}}}}\n}}"
        lines += [f'"graph_5_node_{i}"[style="bold" shape="record" label="{body}"];', ""]
    for to, dependencies in enumerate(DEPENDENCIES):
        lines += [f'"graph_5_node_{d}" -> "graph_5_node_{to}" [headlabel={n}];' for n, d in enumerate(dependencies)]
    (HERE / "step.dot").write_text("\n".join(lines) + "\n}\n}\n")


def rmm() -> None:
    (HERE / "rmm.csv").write_text("""Thread,Time,Action,Pointer,Size,Stream
140202053595136,23:59:59:999000,allocate,0x7f0000000000,1024,0x0
140202053595136,00:00:00:001000,allocate,0x7f0000001000,2048,0x2
140202053595136,00:00:00:002000,deallocate,0x7f0000000000,1024,0x0
140202053595136,00:00:00:003000,allocate failure,0x0,99999999999,0x2
""")


def snapshot() -> None:
    frames = [{"name": "forward", "filename": "model.py", "line": 12}]

    def event(action, address, size, time):
        return {"action": action, "addr": address, "size": size, "stream": 7, "time_us": time, "frames": frames}

    def block(offset, size, used):
        return {"address": BASE + offset, "size": size, "requested_size": size if used else 0,
                "state": "active_allocated" if used else "inactive", "frames": frames if used else []}

    start = SNAPSHOT_US
    segment = {"device": 0, "address": BASE, "total_size": 20 * MIB, "allocated_size": 4 * MIB, "active_size": 4 * MIB,
               "requested_size": 4 * MIB, "stream": 7, "segment_type": "large", "segment_pool_id": (1, 0),
               "is_expandable": False, "frames": [],
               "blocks": [block(0, 2 * MIB, False), block(2 * MIB, 4 * MIB, True), block(6 * MIB, 14 * MIB, False)]}
    events = [event("segment_alloc", BASE, 20 * MIB, start), event("alloc", BASE, 2 * MIB, start + 10),
              event("free_requested", BASE, 2 * MIB, start + 20), event("alloc", BASE + 2 * MIB, 4 * MIB, start + 30),
              event("free_completed", BASE, 2 * MIB, start + 40)]
    data = {"segments": [segment], "device_traces": [events], "external_annotations": [],
            "allocator_settings": {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:False", "max_split_size": -1}}
    (HERE / "snapshot.pickle").write_bytes(pickle.dumps(data, protocol=4))


def event(action, address, size, stream=0):
    return {"action": action, "addr": address, "size": size, "stream": stream, "frames": []}


def segment(address, used, free, pool=(0, 0), stream=0, device=0):
    """A large segment with one block in use, where `used` isn't 0, and the rest free."""
    blocks = [{"address": address, "size": used, "requested_size": used, "state": "active_allocated", "frames": []},
              {"address": address + used, "size": free, "requested_size": 0, "state": "inactive", "frames": []}]
    return {"device": device, "address": address, "total_size": used + free, "allocated_size": used, "active_size": used,
            "requested_size": used, "stream": stream, "segment_type": "large", "segment_pool_id": pool,
            "is_expandable": False, "frames": [], "blocks": [block for block in blocks if block["size"]]}


def late() -> None:
    lost = BASE + (1 << 40)
    events = [event("free_requested", lost, 4 * MIB), event("free_completed", lost, 4 * MIB),
              event("alloc", lost, 2 * MIB), event("alloc", BASE, 6 * MIB),
              event("free_requested", BASE, 6 * MIB), event("free_completed", BASE, 6 * MIB),
              event("segment_free", BASE, 20 * MIB)]
    other = [event("segment_alloc", BASE, 20 * MIB), event("alloc", BASE, 4 * MIB)]
    data = {"segments": [segment(BASE, 4 * MIB, 16 * MIB, device=1)], "device_traces": [events, other]}
    (HERE / "late.pickle").write_bytes(pickle.dumps(data, protocol=4))


def state() -> None:
    places = [BASE + i * (1 << 32) for i in range(3)]
    segments = [segment(places[0], 4 * MIB, 16 * MIB), segment(places[1], 12 * MIB, 0, (0, 1), 7),
                segment(places[2], 2 * MIB, 10 * MIB, (0, 2), 8)]
    data = {"segments": segments, "device_traces": [[]]}
    (HERE / "state.pickle").write_bytes(pickle.dumps(data, protocol=4))


def trace() -> None:
    """What a tracer saw of the program of snapshot(): the capture, and the memory behind the segment."""
    def at(time_us: float) -> int:
        return round((1000 + time_us) * 1000)

    def node(number: int, kind: str, time_us: float, offset: int, **more) -> dict:
        return {"type": "node", "id": number, "graph": 0, "kind": kind, "stream": 0, **more,
                "access": [[0, "?", offset, -1]], "t": at(time_us)}

    def edge(number: int, start: int, end: int) -> dict:
        return {"type": "edge", "id": number, "from": start, "to": end}

    records = [
        {"type": "process", "pid": 9, "program": "python", "args": ["train.py"]},
        {"type": "clock", "mono": 0, "wall": (SNAPSHOT_US + SKEW_US - 1000) * 1000},
        {"type": "thread", "id": 0, "tid": 9},
        {"type": "stream", "id": 0, "handle": "0x7"},
        {"type": "pool", "id": 0, "kind": "device"},
        {"type": "kernel", "id": 0, "name": KERNELS[0]},
        {"type": "kernel", "id": 1, "name": KERNELS[2]},
        {"type": "graph", "id": 0, "origin": "capture", "tool_id": 4, "t": at(-2)},
        {"type": "capture_begin", "id": 0, "graph": 0, "stream": 0, "thread": 0, "mode": "global", "t": at(-1)},
        {"type": "alloc", "id": 0, "address": hex(BASE), "size": 20 * MIB, "pool": 0, "t": at(0)},
        node(0, "kernel", 12, 0, kernel=0, grid=[4, 2, 1], block=[128, 1, 1]),
        node(1, "memcpy", 14, 4096), edge(0, 0, 1),
        node(2, "kernel", 35, 2 * MIB, kernel=1, grid=[4, 2, 1], block=[128, 1, 1]), edge(1, 1, 2),
        node(3, "memset", 36, 12 * MIB), edge(2, 2, 3),
        {"type": "capture_end", "capture": 0, "t": at(50)},
        {"type": "exec", "id": 0, "graph": 0, "handle": "0x99", "tool_id": GRAPH, "t": at(60)},
        {"type": "launch", "exec": 0, "stream": 0, "t": at(70)},
    ]
    end = {"type": "end", "records": len(records), "graphs": 1, "nodes": 4, "edges": 3, "blocks": 1, "launches": 1}
    lines = [json.dumps(record, separators=(",", ":")) + "," for record in records]
    (HERE / "trace.json").write_text("\n".join(['{"schema":"graphkit-trace","version":1,"device":"soft","records":[', *lines,
                                                json.dumps(end, separators=(",", ":")) + "]}", ""]))


if __name__ == "__main__":
    for make in (graph_data, graph_edges, origins, graph_events, dot, rmm, snapshot, late, state, trace):
        make()
    for stem, with_ids in (("profile", True), ("no_nodes", False)):
        profile_json(f"{stem}.json", with_ids)
        profile_sqlite(f"{stem}.sqlite", with_ids)
