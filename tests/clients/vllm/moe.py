# environment: HF_HUB_OFFLINE=1 VLLM_NO_USAGE_STATS=1 VLLM_USE_FLASHINFER_SAMPLER=0 VLLM_ENABLE_V1_MULTIPROCESSING=0
# graphkit: nothing
"""vLLM's mixture of experts: Mixtral's layers with four experts, whose kernels Triton makes. A graph for each batch size."""
import tiny_llama

LAYERS, EXPERTS, HIDDEN, MODE, SIZES = 4, 4, 256, "FULL_DECODE_ONLY", [1, 2, 4, 8]
tiny_llama.CONFIG |= {
    "architectures": ["MixtralForCausalLM"], "model_type": "mixtral", "num_local_experts": EXPERTS, "num_experts_per_tok": 2,
    "router_aux_loss_coef": 0.01, "sliding_window": None, "num_hidden_layers": LAYERS, "hidden_size": HIDDEN,
}

if __name__ == "__main__":
    tiny_llama.capture(MODE, SIZES, num_gpu_blocks_override=256)
