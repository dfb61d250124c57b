"""PyTorch's memory snapshots, for tools/gpu_check.sh: what graphkit's model of its allocator is held against.

    snapshots.py             the names
    snapshots.py NAME FILE   runs a small program and writes its snapshot; exit code 77: PyTorch or a GPU is missing
"""

import os
import random
import sys

import programs

# Each: the allocator's settings, and what runs. All events are recorded, from the first allocation on.
SETTINGS = {
    "eager": "",
    "streams": "",
    "graphs": "",
    "two_pools": "",
    "split": "max_split_size_mb:64,roundup_power2_divisions:4",
    "expandable": "expandable_segments:True",
    "expandable_streams": "expandable_segments:True",
    "expandable_graphs": "expandable_segments:True",
}


def eager(torch):
    """Steps of training whose batches differ in size."""
    block = torch.nn.TransformerEncoderLayer(256, 4, 1024, batch_first=True).cuda()
    optimizer = torch.optim.Adam(block.parameters())
    for batch in (4, 16, 8, 24, 4, 32):
        block(torch.randn(batch, 64, 256, device="cuda")).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()


def streams(torch):
    """Blocks of many sizes, made on three streams and used on others, freed in any order."""
    chance = random.Random(1)
    sides = [torch.cuda.current_stream(), torch.cuda.Stream(), torch.cuda.Stream()]
    live = []
    for _ in range(2000):
        if live and chance.random() < 0.5:
            live.pop(chance.randrange(len(live)))
            continue
        own, user = chance.choice(sides), chance.choice(sides)
        with torch.cuda.stream(own):
            block = torch.empty(1 << chance.randrange(8, 25), dtype=torch.uint8, device="cuda")
        if user is not own:
            user.wait_stream(own)
            block.record_stream(user)
        live.append(block)


def captured(torch, pool=None):
    """A step with a second stream, captured into a pool and replayed."""
    side, data = torch.cuda.Stream(), torch.randn(512, 512, device="cuda")

    def step():
        main, sums = torch.cuda.current_stream(), []
        for _ in range(8):
            product = data @ data
            side.wait_stream(main)
            with torch.cuda.stream(side):
                sums.append((product * 2).sum(dim=0))
            product.record_stream(side)
            del product
            main.wait_stream(side)
        return sums

    warm = torch.cuda.Stream()
    warm.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(warm):
        step()
    torch.cuda.current_stream().wait_stream(warm)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, pool=pool):
        kept = step()
    graph.replay()
    return graph, kept


def graphs(torch):
    """Two graphs with a private pool each, eager work in between."""
    kept = [captured(torch)]
    eager(torch)
    kept.append(captured(torch))
    torch.cuda.synchronize()


def two_pools(torch):
    """Two graphs that share a pool, and a third one that goes while the others stay."""
    pool = torch.cuda.graph_pool_handle()
    kept = [captured(torch, pool), captured(torch, pool)]
    captured(torch)
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    eager(torch)
    del kept


PROGRAMS = {"eager": eager, "streams": streams, "graphs": graphs, "two_pools": two_pools, "split": eager,
            "expandable": eager, "expandable_streams": streams, "expandable_graphs": graphs}


def main():
    if len(sys.argv) == 1:
        print("\n".join(SETTINGS))
        return
    name, path = sys.argv[1:]
    if SETTINGS[name]:
        os.environ["PYTORCH_CUDA_ALLOC_CONF"] = SETTINGS[name]
    torch = programs.need_torch()
    torch.cuda.memory._record_memory_history(enabled="all", context=None, max_entries=1_000_000)
    PROGRAMS[name](torch)
    torch.cuda.memory._dump_snapshot(path)


if __name__ == "__main__":
    main()
