# environment: HF_HUB_OFFLINE=1 VLLM_NO_USAGE_STATS=1 VLLM_USE_FLASHINFER_SAMPLER=0 VLLM_ENABLE_V1_MULTIPROCESSING=0
# graphkit: nothing
"""vLLM's Mamba2: Triton times its kernels with events before the first capture, which the trace leaves out."""
import tiny_llama

MAMBA2 = {
    "architectures": ["Mamba2ForCausalLM"], "model_type": "mamba2", "hidden_size": 256, "num_hidden_layers": 4, "state_size": 64,
    "expand": 2, "conv_kernel": 4, "n_groups": 1, "num_heads": 8, "head_dim": 64, "vocab_size": 1024, "chunk_size": 256,
    "norm_before_gate": False, "rms_norm": True, "layer_norm_epsilon": 1e-5, "use_bias": False, "use_conv_bias": True,
    "hidden_act": "silu", "time_step_rank": 16, "time_step_limit": [0.0, 1e9], "torch_dtype": "bfloat16", "bos_token_id": 1,
    "eos_token_id": 2, "tie_word_embeddings": False, "residual_in_fp32": True,
}

if __name__ == "__main__":
    tiny_llama.CONFIG = MAMBA2
    tiny_llama.capture(num_gpu_blocks_override=256, cudagraph_mode="FULL_DECODE_ONLY")
