"""A training step of an LSTM, written as cells: the backward goes back through all of the steps."""

import torch
from captured import capture
from torch import nn

STEPS, WIDTH, BATCH = 8, 64, 16

cell, head = nn.LSTMCell(WIDTH, WIDTH).cuda(), nn.Linear(WIDTH, WIDTH).cuda()
inputs = torch.zeros(STEPS, BATCH, WIDTH, device="cuda")


def step():
    for parameter in [*cell.parameters(), *head.parameters()]:
        parameter.grad = None
    state, loss = None, 0.0
    for x in inputs:
        state = cell(x, state)
        loss = loss + head(state[0]).square().mean()
    loss.backward()


capture(step)
