import torch

assert torch.cuda.is_available() and torch.cuda.device_count() == 1
p = torch.cuda.get_device_properties(0)
assert (p.major, p.minor) == (9, 0) and p.total_memory > 100 << 30 and p.multi_processor_count == 132
assert torch.cuda.mem_get_info()[1] == p.total_memory
assert torch.cuda.get_device_capability() == (9, 0)
