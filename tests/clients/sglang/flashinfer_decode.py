# graphkit: nothing
"""FlashInfer's decode attention over a paged cache, by its wrapper for CUDA graphs: captured once, and planned again for other
lengths between replays."""
import flashinfer
import torch

BATCH, HEADS, KV_HEADS, WIDTH, PAGE, PAGES = 4, 8, 2, 64, 16, 64
workspace = torch.zeros(16 << 20, dtype=torch.uint8, device="cuda")
indptr, indices, last = (torch.zeros(count, dtype=torch.int32, device="cuda") for count in (BATCH + 1, PAGES, BATCH))
wrapper = flashinfer.CUDAGraphBatchDecodeWithPagedKVCacheWrapper(workspace, indptr, indices, last)
cache = torch.zeros(PAGES, 2, PAGE, KV_HEADS, WIDTH, dtype=torch.bfloat16, device="cuda")
query = torch.zeros(BATCH, HEADS, WIDTH, dtype=torch.bfloat16, device="cuda")


def plan(pages):
    wrapper.plan(torch.arange(BATCH + 1, dtype=torch.int32) * pages, torch.arange(BATCH * pages, dtype=torch.int32),
                 torch.full((BATCH,), PAGE, dtype=torch.int32), HEADS, KV_HEADS, WIDTH, PAGE, q_data_type=torch.bfloat16)


plan(2)
wrapper.run(query, cache)
torch.cuda.synchronize()
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    out = wrapper.run(query, cache)
for pages in (2, 5, 16):
    plan(pages)
    graph.replay()
torch.cuda.synchronize()
