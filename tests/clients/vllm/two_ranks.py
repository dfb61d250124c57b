# environment: HF_HUB_OFFLINE=1 VLLM_NO_USAGE_STATS=1 VLLM_USE_FLASHINFER_SAMPLER=0 GRAPHKIT_SOFT_DEVICES=2
# traces: 2
# incomplete: it ends early
# graphkit: nothing
# estimate: 1,2,4,8
"""Two ranks of vLLM that share buffers by IPC handles (its own all-reduce). They are killed as in sizes.py."""
import tiny_llama

if __name__ == "__main__":
    tiny_llama.capture(tensor_parallel_size=2)
