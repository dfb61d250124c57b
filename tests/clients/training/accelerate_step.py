# refused: pluggable does not yet support checkPoolLiveAllocations
# graphkit: nothing
"""accelerate, and a GPT-2 of transformers compiled with reduce-overhead."""
import torch
from accelerate import Accelerator
from transformers import GPT2Config, GPT2LMHeadModel

accelerator = Accelerator(mixed_precision="bf16")
model = GPT2LMHeadModel(GPT2Config(n_embd=128, n_layer=2, n_head=4, vocab_size=512, n_positions=128, resid_pdrop=0, attn_pdrop=0,
                                   embd_pdrop=0, use_cache=False))
optimizer = torch.optim.AdamW(model.parameters(), fused=True, capturable=True)
model, optimizer = accelerator.prepare(model, optimizer)
compiled = torch.compile(model, mode="reduce-overhead", dynamic=False)
for _ in range(5):
    torch.compiler.cudagraph_mark_step_begin()
    ids = torch.randint(0, 500, (2, 64), device="cuda")
    with accelerator.autocast():
        loss = compiled(input_ids=ids, labels=ids).loss
    accelerator.backward(loss)
    optimizer.step()
    optimizer.zero_grad()
torch.cuda.synchronize()
