# traces: 2
# A tensor that two processes share, by CUDA's handles of memory and events.
import torch
import torch.multiprocessing as multiprocessing


def change(queue, done):
    tensor = queue.get()
    assert tensor.is_cuda and torch.equal(tensor.cpu(), torch.arange(1 << 16))
    tensor.copy_(torch.arange(1 << 16).flip(0))
    torch.cuda.synchronize()
    del tensor
    done.set()


if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    queue, done = context.Queue(), context.Event()
    child = context.Process(target=change, args=(queue, done))
    child.start()
    tensor = torch.arange(1 << 16).cuda()
    queue.put(tensor)
    assert done.wait(120)
    assert torch.equal(tensor.cpu(), torch.arange(1 << 16).flip(0))
    child.join()
    assert child.exitcode == 0
