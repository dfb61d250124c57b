# graphkit: nothing
"""FlashInfer's attention of several tokens a request over a paged cache (FlashAttention 2's way), in a graph: planned again for
other lengths between replays."""
import flashinfer
import torch

BATCH, TOKENS, HEADS, KV_HEADS, WIDTH, PAGE, PAGES = 4, 8, 8, 2, 64, 16, 64
workspace = torch.zeros(64 << 20, dtype=torch.uint8, device="cuda")
starts, indptr, indices, last = (
    torch.zeros(count, dtype=torch.int32, device="cuda") for count in (BATCH + 1, BATCH + 1, PAGES, BATCH))
wrapper = flashinfer.BatchPrefillWithPagedKVCacheWrapper(
    workspace, use_cuda_graph=True, qo_indptr_buf=starts, paged_kv_indptr_buf=indptr, paged_kv_indices_buf=indices,
    paged_kv_last_page_len_buf=last, backend="fa2")
cache = torch.zeros(PAGES, 2, PAGE, KV_HEADS, WIDTH, dtype=torch.bfloat16, device="cuda")
query = torch.zeros(BATCH * TOKENS, HEADS, WIDTH, dtype=torch.bfloat16, device="cuda")


def plan(pages):
    requests = torch.arange(BATCH + 1, dtype=torch.int32)
    wrapper.plan(requests * TOKENS, requests * pages, torch.arange(BATCH * pages, dtype=torch.int32),
                 torch.full((BATCH,), PAGE, dtype=torch.int32), HEADS, KV_HEADS, WIDTH, PAGE, causal=True,
                 q_data_type=torch.bfloat16)


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
