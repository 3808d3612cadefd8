"""Errors inside of backward: each comes back as the exception that it is, and the next backward is right.

Each runs in a process of its own, since an accelerator that PyTorch's C++ knows would end the process there.
"""

from __future__ import annotations

import pytest

from tests.legs.torch.processes import run

BEGIN = """
import torch, torch_npu

def gradient_is_right():
    weight = torch.tensor([1.0, -2.0], device="npu:0", requires_grad=True)
    (weight * weight * weight).sum().backward()
    assert weight.grad.tolist() == [3.0, 12.0], weight.grad

def expect(kind, part, backward):
    for _ in range(2):
        try:
            backward()
        except kind as error:
            assert part in str(error), repr(error)
        else:
            raise AssertionError("no error")
        gradient_is_right()
    print("done")

x = torch.ones(2, device="npu").requires_grad_()
"""

PROGRAMS = {
    "an operator that fails": """
class Times(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): return x * 2
    @staticmethod
    def backward(ctx, g): return g @ torch.ones(3, 3, device="npu")
expect(RuntimeError, "shapes cannot be multiplied", lambda: Times.apply(x * 1).sum().backward())
""",
    "a tensor's hook": """
y = x * 2
y.register_hook(lambda g: 1 / 0)
expect(ZeroDivisionError, "division by zero", lambda: y.sum().backward(retain_graph=True))
""",
    "a hook of a module's backward": """
def hook(module, given, made): raise KeyError("of the hook")
layer = torch.nn.Linear(2, 2).npu()
layer.register_full_backward_hook(hook)
expect(KeyError, "of the hook", lambda: layer(x).sum().backward())
""",
    "a hook behind the accumulated gradient": """
def hook(weight): raise LookupError("of the weight")
layer = torch.nn.Linear(2, 2).npu()
layer.weight.register_post_accumulate_grad_hook(hook)
expect(LookupError, "of the weight", lambda: layer(x).sum().backward())
""",
    "hooks of saved tensors": """
def unpack(kept): raise ValueError("of the hook that unpacks")
with torch.autograd.graph.saved_tensors_hooks(lambda kept: kept, unpack):
    y = x * x
expect(ValueError, "of the hook that unpacks", lambda: y.sum().backward(retain_graph=True))
""",
    "a function of the user's": """
class Broken(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): return x * 2
    @staticmethod
    def backward(ctx, g): raise OSError("no such file")
expect(OSError, "no such file", lambda: Broken.apply(x).sum().backward())
""",
    "too little memory": """
free, total = torch.npu.mem_get_info()
wide = torch.ones(1024, device="npu", requires_grad=True)
def backward():
    y = wide.expand(1024, 1024).exp().sum()
    torch.npu.set_per_process_memory_fraction((torch.npu.memory_allocated() + 4096) / total)
    try:
        y.backward()
    finally:
        torch.npu.set_per_process_memory_fraction(1.0)
expect(torch.OutOfMemoryError, "NPU out of memory. Tried to allocate 4.00 MiB", backward)
""",
    "two devices": """
class Mixed(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): return x * 2
    @staticmethod
    def backward(ctx, g): return g + torch.ones(2, device="npu:1")
expect(RuntimeError, "found at least two devices, npu:0 and npu:1!", lambda: Mixed.apply(x * 1).sum().backward())
""",
    "an element type that is not there": """
class Halved(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): return x * 2
    @staticmethod
    def backward(ctx, g): return torch.linalg.cholesky(torch.eye(2, device="npu", dtype=torch.float16))[0]
expect(RuntimeError, "not implemented for 'Half'", lambda: Halved.apply(x).sum().backward())
""",
    "a block that is computed again": """
from torch.utils.checkpoint import checkpoint
calls = []
def block(x):
    calls.append(0)
    if len(calls) % 2 == 0: raise ArithmeticError("in the second pass")
    return x * x
for reentrant in (True, False):
    expect(ArithmeticError, "in the second pass", lambda: checkpoint(block, x, use_reentrant=reentrant).sum().backward())
""",
    "a worker of a loader": """
class Broken(torch.utils.data.Dataset):
    def __len__(self): return 4
    def __getitem__(self, at):
        if at == 2: raise IndexError("of the third image")
        return torch.ones(2)
def train():
    for batch in torch.utils.data.DataLoader(Broken(), num_workers=1):
        y = x * batch.npu()
        y.sum().backward()
expect(IndexError, "of the third image", train)
""",
    "Ctrl-C": """
import signal
def hook(g):
    signal.raise_signal(signal.SIGINT)  # to this thread: another one may take a signal of the process, and later
    for _ in range(1000): pass
y = x * 2
y.register_hook(hook)
expect(KeyboardInterrupt, "", lambda: y.sum().backward(retain_graph=True))
""",
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_an_error_in_backward_is_an_exception(program):
    done = run(BEGIN + program)
    assert (done.returncode, done.stdout[:5]) == (0, "done\n"), done.stderr
