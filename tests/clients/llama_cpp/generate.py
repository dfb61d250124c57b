# graphkit: warning border-order 'a memset on'
# graphkit: warning border-order 'a memset on'
# options: --scope all
"""llama.cpp generates three texts with a small model of random weights. It captures a word's graph after a text's second word,
updates its exec and launches it for each word that follows, and clears its cache before each text: on another stream, while the
last word of the text before may still be computed."""
import pathlib
import tempfile

import gguf
import numpy
from cyllama import LLM, GenerationConfig

LAYERS, WIDTH, HEADS, CACHED_HEADS, FORWARD, WORDS = 2, 256, 4, 2, 512, 320


def write_model(path):
    random = numpy.random.default_rng(1)
    model = gguf.GGUFWriter(path, "llama")
    model.add_block_count(LAYERS)
    model.add_context_length(512)
    model.add_embedding_length(WIDTH)
    model.add_feed_forward_length(FORWARD)
    model.add_head_count(HEADS)
    model.add_head_count_kv(CACHED_HEADS)
    model.add_layer_norm_rms_eps(1e-5)
    model.add_rope_dimension_count(WIDTH // HEADS)
    model.add_vocab_size(WORDS)
    words = ["<unk>", "<s>", "</s>"] + [f"<0x{byte:02X}>" for byte in range(256)]
    words += [f"word{i}" for i in range(WORDS - len(words))]
    model.add_tokenizer_model("llama")
    model.add_token_list(words)
    model.add_token_scores([0.0] * WORDS)
    model.add_token_types([2, 3, 3] + [6] * 256 + [1] * (WORDS - 259))

    def add(name, *shape):
        model.add_tensor(name + ".weight", random.standard_normal(shape).astype(numpy.float16))

    def add_norm(name):
        model.add_tensor(name + ".weight", numpy.ones(WIDTH, numpy.float32))

    add("token_embd", WORDS, WIDTH)
    add_norm("output_norm")
    add("output", WORDS, WIDTH)
    for layer in (f"blk.{i}." for i in range(LAYERS)):
        add_norm(layer + "attn_norm")
        add_norm(layer + "ffn_norm")
        cached = WIDTH // HEADS * CACHED_HEADS
        for name, rows, columns in (("attn_q", WIDTH, WIDTH), ("attn_k", cached, WIDTH), ("attn_v", cached, WIDTH),
                                    ("attn_output", WIDTH, WIDTH), ("ffn_gate", FORWARD, WIDTH), ("ffn_up", FORWARD, WIDTH),
                                    ("ffn_down", WIDTH, FORWARD)):
            add(layer + name, rows, columns)
    model.write_header_to_file()
    model.write_kv_data_to_file()
    model.write_tensors_to_file()
    model.close()


with tempfile.TemporaryDirectory() as folder:
    path = str(pathlib.Path(folder) / "model.gguf")
    write_model(path)
    config = GenerationConfig(n_gpu_layers=99, max_tokens=64, temperature=0.0, n_ctx=256, seed=1)
    with LLM(path, config=config) as model:
        for _ in range(3):
            for _ in model("hello world", stream=True):
                pass
