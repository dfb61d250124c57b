"""Runs a Python example of docs/checks: names.py PAGE wrong|right. It has the names of docs/checks/index.md, and its lines."""

import functools  # noqa: F401  used by examples
import gc  # noqa: F401
import os
import pathlib
import re
import sys

page, which = pathlib.Path(sys.argv[1]), sys.argv[2]
text = page.read_text(encoding="utf-8")
block = list(re.finditer(r"^```py\n(.*?)^```$", text, re.M | re.S))[which == "right"]
lines = "\n" * text.count("\n", 0, block.start(1))

import torch  # noqa: E402

ranks = "RANK" in os.environ
if ranks:
    import torch.distributed as dist

    rank = int(os.environ["RANK"])
    torch.cuda.set_device(rank)
    if "NCCL_GRAPH_REGISTER" in block.group(1):
        os.environ["NCCL_GRAPH_REGISTER"] = "0"  # NCCL reads it once
    dist.init_process_group("nccl", device_id=torch.device("cuda", rank))
x, y = torch.zeros(1024, 1024, device="cuda"), torch.zeros(16, 1024, device="cuda")
torch.cuda.synchronize()
with torch.inference_mode():
    exec(compile(lines + block.group(1), str(page), "exec"))
torch.cuda.synchronize()
if ranks and dist.is_initialized():
    dist.destroy_process_group()
