"""Random programs that allocate, each with a snapshot of what PyTorch's caching allocator did: FOLDER/SEED.pickle.

    random_programs.py FOLDER FIRST COUNT OPERATIONS

What a program does is decided by its seed and by the words in RANDOM_PROGRAMS: `streams`, `captures`, `pools`, `options` (pools
that are never split, where PyTorch has them, or serve anyone when memory runs out), `threads` (one after the other, and at once:
then their order differs from run to run), `limit=F` (the share of the device's memory that may be used), `late` (recording
begins in the middle), `empty` (empty_cache at the end), `trees` (functions that cudagraph trees capture, as `torch.compile` in
mode `reduce-overhead` does, and whose pool is set back to checkpoints), `traced` (no snapshot: graphkit's tracer records).
"""

import gc
import inspect
import os
import pathlib
import random
import re
import sys
import threading

import torch

WORDS = dict((word.split("=") + [""])[:2] for word in os.environ.get("RANDOM_PROGRAMS", "").split())
if "trees" in WORDS:
    from torch._inductor import cudagraph_trees
POOL_OPTIONS = {"no_split", "use_on_oom"} & set(inspect.signature(torch.cuda.MemPool.__init__).parameters)
# PyTorch 2.15 miscounts what an expandable pool holds: it forgets one whose graphs and MemPools are gone before its blocks,
# and ends with a segmentation fault. PyTorch 2.8 still asks pools with `use_on_oom` that are gone, and only says of segments that
# there are to which pool they belong. Then no pool goes.
OLDER = "no_split" not in POOL_OPTIONS
KEEPS = "expandable_segments:True" in os.environ.get("PYTORCH_CUDA_ALLOC_CONF", "") or (
    OLDER and ("options" in WORDS or "traced" in WORDS))
KEPT = []
KIB, MIB = 1 << 10, 1 << 20
SIZES = [(1, KIB), (KIB, 64 * KIB), (64 * KIB, MIB), (MIB, 4 * MIB), (4 * MIB, 10 * MIB), (10 * MIB, 60 * MIB)]


def together(steps):
    threads = [threading.Thread(target=step) for step in steps]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


# A thread's own blocks, all freed in the end. Streams that are captured aren't among the streams.
def allocate_alone(seed, streams):
    choose = random.Random(seed)
    blocks = []
    for _ in range(choose.randint(5, 40)):
        stream = choose.choice(streams)
        with torch.cuda.stream(stream):
            try:
                blocks.append(torch.empty(choose.randint(1, choose.choice([1, 5, 30]) * MIB), dtype=torch.uint8, device="cuda"))
            except torch.OutOfMemoryError:
                pass
        if len(blocks) > choose.randint(2, 10):
            blocks.pop(choose.randrange(len(blocks))).record_stream(choose.choice(streams))


# Captures of a graph tree: temporaries, and outputs that live on. Of its inputs it takes one, and nothing stays of them.
class TreeFunction:
    WIDTH = 1 << 18

    def __init__(self, choose, size):
        self.choices = [(size(), choose.random() < 0.2, choose.random() < 0.5) for _ in range(choose.randint(1, 12))]
        x = torch.empty(self.WIDTH, dtype=torch.uint8, device="cuda")
        traces = [None for _ in self.body([x])]
        self.call = cudagraph_trees.cudagraphify_impl(self.body, [x], (), device_index=0, is_backward=False, is_inference=True,
                                                      stack_traces=traces)

    def body(self, inputs):
        outputs, temporaries = [inputs[0] + 1], []
        inputs.clear()
        for size, lasts, frees in self.choices:
            (outputs if lasts else temporaries).append(torch.empty(size, dtype=torch.uint8, device="cuda"))
            if frees and temporaries:
                del temporaries[len(temporaries) // 2]
        return outputs


class Program:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.broken = False
        self.blocks = []  # (tensor, graph or None)
        self.graphs = []
        self.pools = []
        self.captured_pools = []  # that graphs have; they go after their graphs
        self.active = []  # pools that are in use, the innermost last
        self.streams = [torch.cuda.current_stream()]
        self.capturing = None
        if "streams" in WORDS:
            self.streams += [torch.cuda.Stream() for _ in range(self.random.randint(1, 3))]
        self.joined = []  # streams that are in the capture
        self.captured = set()  # addresses of its blocks
        self.functions = [TreeFunction(self.random, self.size) for _ in range(3)] if "trees" in WORDS else []
        self.outputs = []  # of functions, since a step began

    def size(self):
        weights = [4, 4, 4, 3, 2, 1]
        low, high = self.random.choices(SIZES, weights)[0]
        size = self.random.randint(low, high)
        return self.random.choice([size, size, max(1, size // 512 * 512), 1 << (size.bit_length() - 1)])

    def stream(self):
        return self.random.choice(self.joined if self.capturing else self.streams)

    def allocate(self):
        with torch.cuda.stream(self.stream()):
            try:
                block = torch.empty(self.size(), dtype=torch.uint8, device="cuda")
            except torch.OutOfMemoryError:
                return
        self.blocks.append(block)
        if self.capturing:
            self.captured.add(block.data_ptr())

    def free(self):
        if self.blocks:
            block = self.blocks.pop(self.random.randrange(len(self.blocks)))
            with torch.cuda.stream(self.stream()):
                del block

    def free_many(self):
        for _ in range(self.random.randint(1, max(1, len(self.blocks)))):
            self.free()

    def record(self):
        if self.blocks:
            block = self.random.choice(self.blocks)
            stream = self.stream()
            if not self.capturing or block.data_ptr() in self.captured:  # a replay must not touch what is freed by then
                with torch.cuda.stream(stream):
                    block[:1].zero_()
            block.record_stream(stream)

    def synchronize(self):
        if self.capturing:
            return
        if self.random.random() < 0.5:
            torch.cuda.synchronize()
        else:
            self.stream().synchronize()

    def empty(self):
        if not self.capturing:
            torch.cuda.empty_cache()

    def fork(self):
        if self.capturing:
            stream = self.random.choice(self.streams[1:] or self.joined)  # the legacy stream can't be captured
            if stream != self.joined[0]:
                stream.wait_stream(self.joined[0])
                if stream not in self.joined:
                    self.joined.append(stream)

    def join(self):
        if self.capturing and len(self.joined) > 1:
            self.random.choice(self.joined).wait_stream(self.random.choice(self.joined))

    def capture(self):
        if self.capturing or "captures" not in WORDS:
            return
        graph = torch.cuda.CUDAGraph()
        shared = [g for g in self.graphs if g[0]]
        pool = self.random.choice(shared)[0].pool() if shared and self.random.random() < 0.4 else None
        # PyTorch 2.8 ends when the capture of a graph in a MemPool fails.
        if self.pools and not self.active and not OLDER and self.random.random() < 0.2:
            self.captured_pools.append(self.random.choice(self.pools))
            pool = self.captured_pools[-1].id
        stream = torch.cuda.Stream()
        fails = self.random.random() < 0.15
        try:
            with torch.cuda.graph(graph, pool=pool, stream=stream, capture_error_mode="relaxed"):
                self.capturing, self.joined, self.captured = graph, [stream], set()
                try:
                    torch.empty(256, device="cuda").zero_()  # a graph must not be empty
                except torch.OutOfMemoryError:
                    pass
                for _ in range(self.random.randint(5, 60)):
                    self.step()
                for other in self.joined[1:]:
                    stream.wait_stream(other)
                if fails:
                    raise KeyError("on purpose")
        except KeyError:
            pass
        self.capturing, self.joined = None, []
        self.graphs.append([graph])

    def replay(self):
        if not self.capturing and self.graphs:
            try:
                self.random.choice(self.graphs)[0].replay()
            except RuntimeError:
                pass  # it isn't one: its capture failed

    def drop_graph(self):
        if not self.capturing and self.graphs and not KEEPS:
            graph = self.graphs.pop(self.random.randrange(len(self.graphs)))[0]
            if self.random.random() < 0.3:
                graph.reset()
            del graph

    def pool(self):
        if "pools" not in WORDS or self.capturing:
            return
        if not self.pools or self.random.random() < 0.3:
            options = {name: self.random.random() < 0.5 for name in sorted(POOL_OPTIONS)} if "options" in WORDS else {}
            self.pools.append(torch.cuda.MemPool(**options))
        others = [pool for pool in self.pools if pool not in self.active]
        if not others:
            return
        self.active.append(self.random.choice(others))
        with torch.cuda.use_mem_pool(self.active[-1]):
            for _ in range(self.random.randint(1, 12)):
                self.random.choices([self.allocate, self.free, self.pool], [6, 3, 1])[0]()
        self.active.pop()

    def drop_pool(self):
        free = [pool for pool in self.pools if pool not in self.captured_pools]
        if free and not self.capturing and not self.active and not KEEPS:
            self.pools.remove(self.random.choice(free))

    def tree(self):
        if self.capturing or self.active:
            return
        if self.random.random() < 0.4:
            cudagraph_trees.mark_step_begin()  # all outputs of the step before are gone
            self.outputs.clear()
        for _ in range(self.random.randint(1, 4)):
            inputs = [t for tensors in self.outputs for t in tensors[:1] if t.numel() == TreeFunction.WIDTH]
            try:
                fresh = torch.zeros(TreeFunction.WIDTH, dtype=torch.uint8, device="cuda")
            except torch.OutOfMemoryError:
                return
            x = self.random.choice(inputs) if inputs and self.random.random() < 0.6 else fresh
            try:
                self.outputs.append(list(self.random.choice(self.functions).call([x])))
            except RuntimeError as error:  # out of memory in a capture, PyTorch frees a segment, which CUDA forbids
                if not WORDS.get("limit") or not re.search("during capture|out of memory", str(error)):
                    raise
                self.broken = True
                return
            for tensors in self.outputs:
                if tensors and self.random.random() < 0.2:
                    tensors.pop(self.random.randrange(len(tensors)))

    def other_thread(self):
        if "threads" in WORDS:
            step = self.random.choice([self.allocate, self.allocate, self.free, self.record])
            together([lambda: [step() for _ in range(self.random.randint(1, 6))]])

    def threads(self):
        if "threads" in WORDS and not self.active and not self.capturing:
            seeds = [self.random.random() for _ in range(3)]
            together([lambda seed=seed: allocate_alone(seed, self.streams) for seed in seeds])

    def step(self):
        records = 60 if self.capturing and "traced" in WORDS else 8
        steps = {self.allocate: 60, self.free: 42, self.free_many: 1, self.record: records, self.synchronize: 2, self.empty: 1,
                 self.fork: 4, self.join: records / 4, self.capture: 1.5, self.replay: 1, self.drop_graph: 0.5, self.pool: 2,
                 self.drop_pool: 0.3, self.other_thread: 3, self.threads: 0.4, self.tree: 12 if "trees" in WORDS else 0}
        self.random.choices(list(steps), list(steps.values()))[0]()

    def run(self, operations):
        late = self.random.randrange(operations) if "late" in WORDS else 0
        for i in range(operations):
            if i == late and "traced" not in WORDS:
                torch.cuda.memory._record_memory_history(max_entries=1 << 24, context=None)
            self.step()
            if self.broken:
                return
        if "empty" in WORDS:
            self.free_many()
            self.empty()


def main():
    if OLDER and KEEPS and "trees" in WORDS:
        sys.exit("not run: PyTorch 2.8 fails to restore a checkpoint of expandable segments")
    folder, first, count, operations = sys.argv[1], *map(int, sys.argv[2:5])
    gc.freeze()  # objects of PyTorch itself: every capture collects garbage
    if WORDS.get("limit"):
        torch.cuda.set_per_process_memory_fraction(float(WORDS["limit"]))
    for seed in range(first, first + count):
        program = Program(seed)
        program.run(operations)
        if program.broken:  # the trees' capture can't be ended, and the device kept the segment
            pathlib.Path(folder, f"{seed}.broken").touch()
            os._exit(0)
        if "traced" not in WORDS:
            torch.cuda.memory._dump_snapshot(f"{folder}/{seed}.pickle")
            torch.cuda.memory._record_memory_history(enabled=None)
        if KEEPS:
            KEPT.append((program.graphs, program.pools))
        del program
        if "trees" in WORDS:
            cudagraph_trees.reset_cudagraph_trees()
        gc.collect()
        torch.cuda.synchronize()
        torch.cuda.empty_cache()
        assert KEEPS or torch.cuda.memory_reserved() == 0, seed


main()
