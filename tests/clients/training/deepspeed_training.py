# graphkit: nothing
"""DeepSpeed's training engine (ZeRO 1). It captures nothing."""
import os

import torch

os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(20000 + os.getpid() % 20000), RANK="0", WORLD_SIZE="1", LOCAL_RANK="0")
os.environ.setdefault("DS_ACCELERATOR", "cuda")
import deepspeed
from transformers import LlamaConfig, LlamaForCausalLM

config = LlamaConfig(hidden_size=256, intermediate_size=512, num_hidden_layers=2, num_attention_heads=8, vocab_size=512,
                     use_cache=False)
ids = torch.randint(0, 500, (2, 32), device="cuda")
model = LlamaForCausalLM(config).cuda().bfloat16().train()
engine, _, _, _ = deepspeed.initialize(model=model, model_parameters=model.parameters(), config={
    "train_micro_batch_size_per_gpu": 2, "bf16": {"enabled": True}, "zero_optimization": {"stage": 1},
    "optimizer": {"type": "AdamW", "params": {"lr": 1e-3, "torch_adam": True}}})
for _ in range(2):
    loss = engine(input_ids=ids, labels=ids).loss
    engine.backward(loss)
    engine.step()
torch.cuda.synchronize()
