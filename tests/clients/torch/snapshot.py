import os

import torch

torch.cuda.memory._record_memory_history()
x = torch.randn(1 << 16, device="cuda")
y = x * 2
torch.cuda.memory._dump_snapshot("snapshot.pickle")
assert os.path.getsize("snapshot.pickle") > 1000
