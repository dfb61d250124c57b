# graphkit: nothing
"""transformers: a decode step over a static cache, captured with torch.cuda.graph."""
import torch
from transformers import LlamaConfig, LlamaForCausalLM, StaticCache

config = LlamaConfig(hidden_size=256, intermediate_size=512, num_hidden_layers=4, num_attention_heads=8, num_key_value_heads=4,
                     vocab_size=1000, max_position_embeddings=512)
model = LlamaForCausalLM(config).to("cuda", torch.bfloat16).eval()
cache = StaticCache(config=config, max_cache_len=128)
prompt = torch.randint(0, 1000, (2, 16), device="cuda")
token, place = torch.zeros(2, 1, dtype=torch.long, device="cuda"), torch.tensor([[16]], device="cuda")


def step():
    return model(token, past_key_values=cache, use_cache=True, position_ids=place).logits


with torch.no_grad():
    model(prompt, past_key_values=cache, use_cache=True, position_ids=torch.arange(16, device="cuda")[None])
    warm = torch.cuda.Stream()
    warm.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(warm):
        for _ in range(2):
            step()
    torch.cuda.current_stream().wait_stream(warm)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        logits = step()
    for _ in range(5):
        token.copy_(logits[:, -1:].argmax(-1))
        place.add_(1)
        graph.replay()
torch.cuda.synchronize()
