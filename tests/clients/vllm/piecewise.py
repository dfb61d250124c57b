# environment: HF_HUB_OFFLINE=1 VLLM_NO_USAGE_STATS=1 VLLM_USE_FLASHINFER_SAMPLER=0 VLLM_ENABLE_V1_MULTIPROCESSING=0
# graphkit: nothing
"""vLLM's piecewise graphs alone: a graph between each two layers' attentions, which run outside of graphs, for each size."""
import tiny_llama

LAYERS, HIDDEN, MODE, SIZES = 4, 256, "PIECEWISE", [1, 2, 4, 8]
tiny_llama.CONFIG |= {"num_hidden_layers": LAYERS, "hidden_size": HIDDEN}

if __name__ == "__main__":
    tiny_llama.capture(MODE, SIZES, num_gpu_blocks_override=256)
