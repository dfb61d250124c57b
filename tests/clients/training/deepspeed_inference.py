# graphkit: nothing
"""DeepSpeed's inference engine with enable_cuda_graph."""
import os

import torch

os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(20000 + os.getpid() % 20000), RANK="0", WORLD_SIZE="1", LOCAL_RANK="0")
os.environ.setdefault("DS_ACCELERATOR", "cuda")
import deepspeed
from transformers import LlamaConfig, LlamaForCausalLM

config = LlamaConfig(hidden_size=256, intermediate_size=512, num_hidden_layers=2, num_attention_heads=8, vocab_size=512,
                     use_cache=False)
ids = torch.randint(0, 500, (2, 32), device="cuda")
model = LlamaForCausalLM(config).cuda().half().eval()
engine = deepspeed.init_inference(model, dtype=torch.half, enable_cuda_graph=True, replace_with_kernel_inject=False)
with torch.no_grad():
    for _ in range(3):
        engine(input_ids=ids)
torch.cuda.synchronize()
