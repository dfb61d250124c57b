"""The records that a trace must have of a program, by every way to make a graph."""

import json
import subprocess
import sys

from harness import BUILD, Skipped, count, fork_join, load, processes, trace


def test_fork_join_gives_the_documented_graph(folder):
    code, out, err = trace(folder, *fork_join())
    assert code == 0 and out.startswith("fork_join: "), (code, out)
    records = load(folder / "trace.json")
    assert count(records, "node") == 15 and count(records, "edge") == 15
    assert "15 nodes in 1 graph" in err, err
    streams = [r["stream"] for r in records if r["type"] == "node"]
    assert streams == [0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0], streams


def test_a_profile_of_what_ran_finds_its_nodes(folder):
    code, _, err = trace(folder, *fork_join())
    assert code == 0, err
    records = load(folder / "trace.json")
    nodes = [r for r in records if r["type"] == "node"]
    kernels = [r["name"] for r in records if r["type"] == "kernel"]
    exec_ = next(r for r in records if r["type"] == "exec")
    ids = {first + i: tool_id << 32 | number + i
           for first, count_, tool_id, number in exec_["node_ids"] for i in range(count_)}
    assert sorted(ids) == [n["id"] for n in nodes if n["graph"] == exec_["graph"]], ids
    assert {i >> 32 for i in ids.values()} == {exec_["tool_id"]}, exec_
    launch = next(r for r in records if r["type"] == "launch")
    assert launch["correlation"] > 0, launch
    # As Kineto writes what ran: by the ids of the exec's nodes.
    events = [{"ph": "X", "cat": "kernel", "name": kernels[n["kernel"]], "ts": 1, "dur": n["id"] + 1,
               "args": {"graph id": exec_["tool_id"], "graph node id": ids[n["id"]],
                        "correlation": launch["correlation"]}} for n in nodes if n["kind"] == "kernel"]
    (folder / "profile.json").write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    graphkit = BUILD / "bin/graphkit"
    done = subprocess.run([graphkit, "import", "trace.json", "profile.json", "-o", "all.json"],
                          cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    merged = json.loads((folder / "all.json").read_text())["records"]
    for node in (r for r in merged if r["type"] == "node" and r["kind"] == "kernel"):
        assert node["duration_ns"] == 1000 * (node["id"] + 1), node
    table = subprocess.run([graphkit, "export", "trace.json", "--format", "csv", "--table", "exec-nodes"], cwd=folder,
                           capture_output=True, text=True, check=True).stdout
    rows = [line.split(",") for line in table.splitlines()[1:]]
    assert {int(r[2]): int(r[3]) for r in rows if r[0] == str(exec_["id"])} == ids, table


def test_a_call_that_breaks_a_capture_says_where_and_with_what(folder):
    trace(folder, BUILD / "workloads/invalidated")
    records = load(folder / "trace.json")
    stacks = [r["frames"] for r in records if r["type"] == "stack"]
    failures = [r for r in records if r["type"] == "failure"]
    assert failures[0]["call"] == "cudaMalloc" and failures[0]["args"].startswith("bytesize="), failures[0]
    assert all("stack" in f and "thread" in f and "graph" in f for f in failures), failures
    assert any("main" in frame[0] for frame in stacks[failures[0]["stack"]]), stacks
    trace(folder, BUILD / "workloads/invalidated", options=["--no-stacks"])
    assert count(load(folder / "trace.json"), "stack") == 0


def test_a_process_with_a_title_of_its_own_names_its_file(folder):
    code, _, err = trace(folder, *processes("titled"))
    assert code == 0, err
    process = load(folder / "trace.json")[0]
    assert process["program"] == "Server::Core" and process["args"] == [], process
    assert process["executable"] == str(processes("titled")[0]), process
    trace(folder, *processes("capture"))
    assert "executable" not in load(folder / "trace.json")[0]


def test_a_program_with_both_runtimes_is_traced_whole(folder):
    program = BUILD / "tests/two_runtimes"
    if not program.exists():
        raise Skipped("no CUDA 12 toolkit to build it with (tools/setup.sh test)")
    code, out, err = trace(folder, program)
    assert code == 0 and out == "13 12\n", (code, out, err)
    records = load(folder / "trace.json")
    assert [count(records, kind) for kind in ("graph", "node", "edge", "launch")] == [2, 3, 1, 2], records
    names = [r["name"] for r in records if r["type"] == "kernel"]
    assert names == ["_Z6SecondPf", "_Z5FirstPf"], names
    touched = [r["access"] for r in records if r["type"] == "node"]
    assert touched[0] == touched[1] == touched[2] and touched[0][0][0] == 0, touched


def test_a_program_of_cuda_12_is_traced_through_its_own_cupti(folder):
    program = BUILD / "workloads12/fork_join"
    if not program.exists():
        raise Skipped("no CUDA 12 toolkit to build it with (tools/setup.sh test)")
    assert trace(folder, program)[0] == 0
    path = load(folder / "trace.json")[0]["cupti_path"]
    assert path.endswith("libcupti.so.12"), path


def test_libraries_that_are_closed_again_are_traced(folder):
    library = next((BUILD / "tests").glob("libtracer_closed_library.*"))
    for options in ([], ["--stacks"]):
        code, _, err = trace(folder, *processes("closed", library), options=options)
        assert code == 0, (code, err)
        records = load(folder / "trace.json")
        assert count(records, "node") == 20 and count(records, "graph") == 20
    frames = [frame[0] for r in records if r["type"] == "stack" for frame in r["frames"]]
    assert "Capture" in frames, frames


# Calls of the driver, each with its twin whose stream 0 is the thread's.
CALLS_WITHOUT_A_STREAM = """
import ctypes
cuda = ctypes.CDLL("libcuda.so.1")
long = ctypes.c_uint64
def call(name, *arguments):
    assert getattr(cuda, name)(*arguments) == 0, name
context, memory = ctypes.c_void_p(), long()
call("cuInit", 0)
call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
call("cuCtxSetCurrent", context)
call("cuMemAlloc_v2", ctypes.byref(memory), long(2 << 20))
a, b = memory.value, memory.value + (1 << 20)
host = (ctypes.c_char * 4096)()
class Copy2D(ctypes.Structure):
    _fields_ = [(n, t) for end in ("src", "dst") for n, t in
                ((end + "X", long), (end + "Y", long), (end + "Type", ctypes.c_int), (end + "Host", ctypes.c_void_p),
                 (end + "Device", long), (end + "Array", ctypes.c_void_p), (end + "Pitch", long))]
    _fields_ += [("width", long), ("height", long)]
class Copy3D(ctypes.Structure):
    _fields_ = [(n, t) for end in ("src", "dst") for n, t in
                ((end + "X", long), (end + "Y", long), (end + "Z", long), (end + "Lod", long),
                 (end + "Type", ctypes.c_int), (end + "Host", ctypes.c_void_p), (end + "Device", long),
                 (end + "Array", ctypes.c_void_p), (end + "Context", ctypes.c_void_p), (end + "Pitch", long),
                 (end + "Height", long))]
    _fields_ += [("width", long), ("height", long), ("depth", long)]
HOST, DEVICE = 1, 2
for twin in ("", "_ptds"):
    call("cuMemcpyHtoD_v2" + twin, long(a), host, long(16))
    call("cuMemcpyDtoH_v2" + twin, host, long(a), long(16))
    call("cuMemcpyDtoD_v2" + twin, long(b), long(a), long(16))
    call("cuMemcpy" + twin, long(b), long(a), long(16))
    call("cuMemcpyPeer" + twin, long(b), context, long(a), context, long(16))
    flat = Copy2D(srcType=DEVICE, srcDevice=a, srcPitch=64, dstType=HOST, dstHost=ctypes.addressof(host), dstPitch=16,
                  width=16, height=2)
    call("cuMemcpy2D_v2" + twin, ctypes.byref(flat))
    call("cuMemcpy2DUnaligned_v2" + twin, ctypes.byref(flat))
    solid = Copy3D(srcType=DEVICE, srcDevice=a, srcPitch=64, srcHeight=2, dstType=DEVICE, dstDevice=b, dstPitch=64,
                   dstHeight=2, width=16, height=2, depth=2)
    call("cuMemcpy3D_v2" + twin, ctypes.byref(solid))
    for bits in (8, 16, 32):
        value = (None, ctypes.c_uint8, ctypes.c_uint16, None, ctypes.c_uint32)[bits // 8](7)
        call(f"cuMemsetD{bits}_v2" + twin, long(a), value, long(16))
        call(f"cuMemsetD2D{bits}_v2" + twin, long(a), long(128), value, long(16), long(2))
"""


def test_copies_and_memsets_without_a_stream_are_recorded(folder):
    code, _, err = trace(folder, sys.executable, "-c", CALLS_WITHOUT_A_STREAM, options=["--scope", "all", "--no-torch"])
    assert code == 0, err
    records = load(folder / "trace.json")
    kinds = {r["id"]: r["kind"] for r in records if r["type"] == "stream"}
    mib = 1 << 20
    flat, solid = 64 + 16, (2 + 1) * 64 + 16
    rows = [16, 64, 0, 0]  # of 16 bytes, 64 apart; layers follow one another as rows do
    copies = [[[0, "w", 0, 16]], [[0, "r", 0, 16]], *3 * [[[0, "w", mib, 16], [0, "r", 0, 16]]],
              *2 * [[[0, "r", 0, flat, *rows]]], [[0, "w", mib, solid, *rows], [0, "r", 0, solid, *rows]]]
    sets = [[[0, "w", 0, *extent]] for width in (16, 32, 64) for extent in ([width], [128 + width, width, 128, 0, 0])]
    works = [r for r in records if r["type"] == "work"]
    for kind in ("legacy", "per_thread"):
        own = [r for r in works if kinds[r["stream"]] == kind]
        assert [r["access"] for r in own if r["kind"] == "memcpy"] == copies, own
        assert [r["access"] for r in own if r["kind"] == "memset"] == sets, own
        waits = [r for r in records if r["type"] == "sync" and kinds[r["stream"]] == kind]
        assert len(waits) == 4, waits  # for what goes to the host, and before pageable memory is staged


def test_a_function_handle_that_is_given_again_is_another_kernel(folder):
    code, out, err = trace(folder, *processes("modules"))
    assert code == 0 and int(out) > 0, (code, out, err)
    records = load(folder / "trace.json")
    params = {r["id"]: len(r["params"]) for r in records if r["type"] == "kernel"}
    nodes = [r for r in records if r["type"] == "node"]
    assert [params[n["kernel"]] for n in nodes] == [1, 3, 1, 3, 1, 3], (params, nodes)
    assert [len(n["access"]) for n in nodes] == [1, 3, 1, 3, 1, 3], nodes


def test_a_python_program_sees_the_files_of_a_driver(folder):
    look = "import os; print([os.path.exists(f) for f in ('/dev/nvidiactl', '/dev/null', '/dev/none', b'/', 0)])"
    code, out, err = trace(folder, sys.executable, "-c", look)
    assert (code, out.strip()) == (0, "[True, True, False, True, True]"), (out, err)


def test_tensor_maps_lead_to_their_memory(folder):
    code, _, err = trace(folder, *processes("tensors"))
    assert code == 0, err
    touched = [r.get("access", []) for r in load(folder / "trace.json") if r["type"] == "node"]
    last = 7 * 256 + 64 * 2  # of 8 rows, 256 bytes apart, the last's 64 elements of 2 bytes
    assert touched == [[[0, "?", 0, last]], [[1, "?", 512, last], [2, "?", 0, -1]], [[2, "?", 0, -1]], []], touched


def test_nodes_of_every_kind_made_in_every_way_are_recorded(folder):
    program = BUILD / "tests/every_way"
    if not program.exists():
        raise Skipped("no nvcc")
    code, _, err = trace(folder, program, env={"NVTX_INJECTION64_PATH": str(BUILD / "lib/graphkit/libgraphkit_tracer.so")})
    assert code == 0, err
    records = load(folder / "trace.json")
    graphs = [r for r in records if r["type"] == "graph"]
    nodes = [r for r in records if r["type"] == "node"]

    def kinds(graph):
        return [n["kind"] for n in nodes if n["graph"] == graph]

    plain = ["kernel", "kernel", "memcpy", "memset", "host", "empty", "event_record", "event_wait",
             "semaphore_signal", "semaphore_wait"]
    whole = ["graph", "mem_alloc", "mem_free", "conditional", "batch_mem_op"]
    captured = ["empty", "kernel", "kernel", "host", "event_record", "event_wait", "semaphore_signal", "batch_mem_op",
                "batch_mem_op"]
    made = [(g["origin"], kinds(g["id"])) for g in graphs]
    assert made == [
        ("explicit", plain), ("explicit", whole), ("child", plain), ("body", ["kernel"]), ("explicit", captured),
        ("clone", captured), ("capture", []), ("explicit", ["kernel", "kernel", "batch_mem_op"])], made
    # Each graph's edges, by the places of their nodes in it; with data where it isn't a full one.
    place = {n["id"]: sum(m["graph"] == n["graph"] for m in nodes[:n["id"]]) for n in nodes}
    edges = {}
    for e in (r for r in records if r["type"] == "edge"):
        data = (e["from_port"], e["edge_type"]) if "from_port" in e else ()
        edges.setdefault(nodes[e["from"]]["graph"], []).append((place[e["from"]], place[e["to"]], *data))
    chain = [(i, i + 1) for i in range(len(captured) - 1)]
    forked = [(0, 1, 1, 1), (0, 2)]
    assert edges == {0: forked, 1: [(1, 2)], 2: forked, 4: chain, 5: chain, 7: [(0, 1, 1, 1), (1, 2), (0, 2)]}, edges
    # The touches of operations on values, of the one block; clones touch the same. Batches of copies can't be captured.
    refused = [(r["call"], r["error"]) for r in records if r["type"] == "failure"]
    assert refused == [("cudaMemcpyBatchAsync", 900)], refused
    touched = {g: [(n["kind"], n.get("access"), n.get("complete")) for n in nodes if n["graph"] == g] for g in range(8)}
    assert touched[4][7:] == [("batch_mem_op", [[0, "w", 0, 4]], True), ("batch_mem_op", [[0, "r", 8, 8]], True)], touched[4]
    assert touched[5] == touched[4], touched[5]
    assert touched[7][2] == ("batch_mem_op", [[0, "rw", 0, 4], [0, "w", 16, 8]], True), touched[7]
    assert touched[1][-1] == ("batch_mem_op", [[0, "w", 0, 4]], True), touched[1]
    assert all("complete" in n for n in nodes if n["kind"].startswith("semaphore")), nodes
    # The exec: what CUPTI calls all of its nodes, and the child graph's new parameters.
    exec_ = next(r for r in records if r["type"] == "exec")
    named = sorted(first + i for first, number, _, _ in exec_["node_ids"] for i in range(number))
    assert named == [n["id"] for n in nodes if n["graph"] in (1, 2, 3)], exec_
    assert len({(g, n) for _, _, g, n in exec_["node_ids"]}) == len(exec_["node_ids"]), exec_
    sets = [{k: v for k, v in r.items() if k != "t"} for r in records if r["type"] == "node_set"]
    child = next(n["id"] for n in nodes if n["kind"] == "graph")
    assert sets == [{"type": "node_set", "node": child, "exec": 0, "what": "params", "child": 0}], sets
    pushes = [(r["domain"], r["name"], r["colour"]) for r in records if r["type"] == "nvtx_push"]
    assert pushes == [("every", "way", "0xff76b900")] and count(records, "nvtx_pop") == 1, pushes
