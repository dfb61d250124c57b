# graphkit: nothing
"""liger-kernel: a Llama of transformers with its Triton kernels, trained in a captured step."""
import torch
from liger_kernel.transformers import apply_liger_kernel_to_llama
from transformers import LlamaConfig, LlamaForCausalLM

# Its fused cross entropy calls .item(), which no capture allows.
apply_liger_kernel_to_llama(rope=True, swiglu=True, rms_norm=True, cross_entropy=False, fused_linear_cross_entropy=False)
config = LlamaConfig(hidden_size=256, intermediate_size=512, num_hidden_layers=2, num_attention_heads=8, num_key_value_heads=8,
                     vocab_size=1024)
model = LlamaForCausalLM(config).to("cuda", torch.bfloat16).train()
optimizer = torch.optim.AdamW(model.parameters(), fused=True, capturable=True)
ids = torch.randint(0, 1000, (2, 64), device="cuda")


def step():
    optimizer.zero_grad(set_to_none=True)
    out = model(input_ids=ids, labels=ids)
    out.loss.backward()
    optimizer.step()
    return out.loss


warm = torch.cuda.Stream()
warm.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(warm):
    for _ in range(2):
        step()
torch.cuda.current_stream().wait_stream(warm)
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    loss = step()
for _ in range(3):
    graph.replay()
torch.cuda.synchronize()
