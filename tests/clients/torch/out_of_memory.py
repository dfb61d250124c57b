# environment: GRAPHKIT_SOFT_MEMORY=256MiB
import torch

held, numbers = [], torch.arange(1 << 23)
try:
    for _ in range(64):
        held.append(numbers.cuda())
    raise SystemExit("4 GiB were kept under a limit of 256 MiB")
except torch.OutOfMemoryError as error:
    assert "Tried to allocate 64.00 MiB" in str(error), error
assert len(held) == 4 and all(torch.equal(block.cpu(), numbers) for block in held)
del held[1:]
torch.cuda.empty_cache()
assert torch.equal(numbers.cuda().cpu(), numbers)  # there is room again
