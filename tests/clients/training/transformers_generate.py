# refused: pluggable does not yet support checkPoolLiveAllocations
# graphkit: nothing
"""transformers' generate() with a static cache, which compiles the model with reduce-overhead. Nothing samples an end without
kernels: each run is stopped by hand."""
import torch
from transformers import CompileConfig, LlamaConfig, LlamaForCausalLM, LogitsProcessor, LogitsProcessorList

config = LlamaConfig(hidden_size=256, intermediate_size=512, num_hidden_layers=2, num_attention_heads=8, num_key_value_heads=4,
                     vocab_size=1000, max_position_embeddings=512, eos_token_id=None, pad_token_id=0, bos_token_id=1)
model = LlamaForCausalLM(config).to("cuda", torch.bfloat16).eval()
model.generation_config.eos_token_id = None
prompt = torch.randint(0, 1000, (2, 16), device="cuda")


class Stop(Exception):
    pass


class Count(LogitsProcessor):
    def __init__(self):
        self.tokens = 0

    def __call__(self, ids, scores):
        self.tokens += 1
        if self.tokens > 8:
            raise Stop
        return scores


for _ in range(3):
    try:
        model.generate(prompt, attention_mask=torch.ones_like(prompt), max_new_tokens=8, do_sample=False,
                       cache_implementation="static", logits_processor=LogitsProcessorList([Count()]),
                       compile_config=CompileConfig(mode="reduce-overhead", fullgraph=False, dynamic=False))
    except Stop:
        pass
torch.cuda.synchronize()
