# environment: HF_HUB_OFFLINE=1 VLLM_NO_USAGE_STATS=1 VLLM_USE_FLASHINFER_SAMPLER=0
# incomplete: it ends early
# graphkit: nothing
# estimate: 1,2,4,8
"""vLLM's engine in a process of its own: 22 graphs that it measures itself with and destroys, then 24 piecewise and full ones
that share a pool. The engine is killed five seconds after it is no longer used: its snapshot has to be there by then."""
from tiny_llama import capture

if __name__ == "__main__":
    capture()
