# environment: HF_HUB_OFFLINE=1
# incomplete: it ends early
# graphkit: nothing
# estimate: 1,2,4,8
"""SGLang's engine as docs/frameworks.md has it: a graph for each batch size, which share a pool. Its prefill would be captured by way
of cuda.bindings' runtime, and its norms would be CuTe DSL's, which have a runtime inside: neither runs on the software device.
The scheduler is a process of its own, which runs the lines before `if` as well, and is killed at the end."""
import pathlib
import sys

import sgl_kernel.elementwise

sys.path.append(str(pathlib.Path(__file__).parents[1] / "vllm"))
import tiny_llama

LAYERS, HIDDEN, SIZES = 4, 256, [1, 2, 4, 8]
tiny_llama.CONFIG |= {"num_hidden_layers": LAYERS, "hidden_size": HIDDEN}
sgl_kernel.elementwise._has_flashinfer = False


def capture():
    import sglang

    return sglang.Engine(
        model_path=tiny_llama.write(), load_format="dummy", skip_tokenizer_init=True, dtype="bfloat16", context_length=512,
        max_running_requests=max(SIZES), mem_fraction_static=0.5, attention_backend="triton",
        sampling_backend="pytorch", skip_server_warmup=True, cuda_graph_bs_decode=SIZES,
        cuda_graph_backend_prefill="disabled")


if __name__ == "__main__":
    capture().shutdown()
