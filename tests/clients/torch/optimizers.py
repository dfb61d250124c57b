import torch
from torch import optim

for kind in (optim.SGD, optim.Adam, optim.AdamW, optim.Adagrad, optim.RMSprop, optim.NAdam):
    p = torch.nn.Parameter(torch.randn(8, 8, device="cuda"))
    settings = {} if kind in (optim.SGD, optim.Adagrad) else {"capturable": True}
    o = kind([p], lr=0.1, **settings)
    for _ in range(2):
        p.grad = torch.ones_like(p)
        o.step()
