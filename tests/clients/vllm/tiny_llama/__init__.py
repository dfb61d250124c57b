"""A tiny Llama with dummy weights, in the current folder."""
import json
import pathlib

SIZES = [1, 2, 4, 8]
CONFIG = {
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 256, "intermediate_size": 512,
    "num_hidden_layers": 4, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 64, "vocab_size": 1024,
    "max_position_embeddings": 2048, "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "tie_word_embeddings": False,
    "torch_dtype": "bfloat16", "bos_token_id": 1, "eos_token_id": 2, "hidden_act": "silu", "attention_bias": False,
}


def write(folder="model"):
    """The folder, as vLLM takes it."""
    path = pathlib.Path(folder)
    path.mkdir(exist_ok=True)
    (path / "config.json").write_text(json.dumps(CONFIG))
    (path / "generation_config.json").write_text(json.dumps({"bos_token_id": 1, "eos_token_id": 2}))
    return str(path)


def capture(cudagraph_mode="FULL_AND_PIECEWISE", sizes=SIZES, **settings):
    """vLLM's engine with graphs of all sizes."""
    from vllm import LLM

    return LLM(model=write(), load_format="dummy", skip_tokenizer_init=True, max_model_len=512, max_num_seqs=max(sizes),
        dtype="bfloat16", gpu_memory_utilization=0.5,
        compilation_config={"cudagraph_mode": cudagraph_mode, "cudagraph_capture_sizes": sizes}, **settings)
