"""Processor time that the simulated device of PyTorch adds to an operator, and to a step of ResNet-18.

    python -m benchmarks.pytorch_overhead [TURNS]      two minutes; needs torch, any build

The CPU and the device take turns in one process with one thread, on the same numbers; medians of the turns. The first row is of
layers so small that nothing but the calls themselves takes time.
"""

from __future__ import annotations

import importlib.util
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
CASES = (("50 layers of 8", 20), ("GPT of 4 layers", 5), ("ResNet-18, 224 px, batch 8", 1))
"""Networks, and the steps of a turn."""


def main(turns: int) -> int:
    if importlib.util.find_spec("torch") is None:
        print('left out: PyTorch is not installed (make setup LEGS="core torch")')
        return 77
    sys.path.insert(0, str(ROOT / "tf2npu" / "adapters" / "pytorch"))
    import torch
    import torch_npu  # noqa: F401  makes the device
    from torch_npu._device import dispatch

    torch.set_num_threads(1)
    print(f"{'network':28} {'CPU ms':>9} {'device ms':>9} {'ratio':>6} {'operators':>9} {'us more each':>12}  losses")
    for name, n_steps in CASES:
        steps = {device: _step(name, device) for device in ("cpu", "npu")}
        losses = {device: [step() for _ in range(2)] for device, step in steps.items()}
        times: dict[str, list[float]] = {device: [] for device in steps}
        for _ in range(turns):
            for device, step in steps.items():
                times[device].append(_seconds(step, n_steps) / n_steps)
        told: list[Any] = []
        dispatch.OBSERVERS.append(lambda *call: told.append(call[0]))  # noqa: B023  it is taken out below
        steps["npu"]()
        dispatch.OBSERVERS.pop()
        cpu, device = (statistics.median(times[kind]) for kind in ("cpu", "npu"))
        equal = "equal" if losses["cpu"] == losses["npu"] else "DIFFER"
        more = (device - cpu) / len(told) * 1e6
        figures = f"{1e3 * cpu:9.2f} {1e3 * device:9.2f} {device / cpu:6.3f} {len(told):9} {more:12.1f}"
        print(f"{name:28} {figures}  {equal}", flush=True)
    return 0


def _seconds(step: Callable[[], float], n_steps: int) -> float:
    begun = time.process_time()
    for _ in range(n_steps):
        step()
    return time.process_time() - begun


def _step(name: str, device: str) -> Callable[[], float]:
    """A step of training, which gives the loss."""
    import torch

    from benchmarks.models.torch_networks import GPT, resnet

    torch.manual_seed(0)
    net: torch.nn.Module
    if name.startswith("50"):
        net, x, y = torch.nn.Sequential(*[torch.nn.Linear(8, 8) for _ in range(50)]), torch.randn(4, 8), torch.randint(8, (4,))
    elif name.startswith("GPT"):
        net, x, y = GPT(65, 64, 128, 4, 4, dropout=0.0), torch.randint(65, (8, 64)), torch.randint(65, (8 * 64,))
    else:
        net, x, y = resnet((2, 2, 2, 2), is_basic=True), torch.randn(8, 3, 224, 224), torch.randint(1000, (8,))
    net.to(device)
    x, y = x.to(device), y.to(device)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)

    def step() -> float:
        optimizer.zero_grad()
        out = net(x)
        loss = torch.nn.functional.cross_entropy(out.reshape(-1, out.shape[-1]), y)
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 5))
