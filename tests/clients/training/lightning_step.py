# graphkit: nothing
"""Lightning's Trainer, with a training step that is captured after three eager ones."""
import lightning
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Model(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(256, 1024), nn.GELU(), nn.Linear(1024, 256))
        self.automatic_optimization = False
        self.graph = None

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), fused=True, capturable=True)

    def step(self):
        optimizer = self.optimizers().optimizer
        optimizer.zero_grad(set_to_none=True)
        loss = ((self.net(self.x) - self.x) ** 2).mean()
        loss.backward()
        optimizer.step()
        return loss

    def training_step(self, batch, index):
        if index == 0:
            self.x = batch[0].clone()
        self.x.copy_(batch[0])
        if index < 3:
            warm = torch.cuda.Stream()
            warm.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(warm):
                self.step()
            torch.cuda.current_stream().wait_stream(warm)
        elif self.graph is None:
            self.graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self.graph):
                self.loss = self.step()
        else:
            self.graph.replay()


data = DataLoader(TensorDataset(torch.randn(256, 256)), batch_size=32)
trainer = lightning.Trainer(max_epochs=1, accelerator="gpu", devices=1, logger=False, enable_checkpointing=False,
                            enable_progress_bar=False)
trainer.fit(Model(), data)
torch.cuda.synchronize()
