"""Runs of PyTorch's operators on the simulated device, from steps that torch recorded, and one with two planted operators."""

from __future__ import annotations

from npu_formats.device.chip import load_chip
from npu_runtime.simulation.eager_device import EagerDevice, HostCall
from tests.importers.recorded_calls import call, recorded_step, use

STACK = "train.py(7): step;train.py(20): <module>"
"""Frames of every call."""
UPDATES = ("aten::_foreach", "aten::_fused")
"""The names of the optimizers' operators begin so in the recorded steps."""


def host_calls(name: str) -> tuple[list[HostCall], int | None]:
    """The calls of a recorded step, and how many of them are before the optimizer; None for a script that updates by hand."""
    calls = [HostCall(one, STACK) for one in recorded_step(name)[0]]
    return calls, next((at for at, one in enumerate(calls) if one.operator.name.startswith(UPDATES)), None)


def run_steps(name: str, n_steps: int, soc: str = "Ascend910A") -> EagerDevice:
    """A device that has run so many equal steps."""
    device = EagerDevice(load_chip(soc))
    calls, n_before = host_calls(name)
    for _ in range(n_steps):
        device.step(calls, n_before)
    return device


def rank_of_two(n_steps: int = 3) -> EagerDevice:
    """Rank 1 of two that add up a gradient while the update of the others goes on."""
    calls, n_before = host_calls("resnet18")
    gradient = use(900_001, 11_000_000)
    reduce = HostCall(call("c10d::allreduce_", gradient, results=(gradient,)), STACK)
    device = EagerDevice(load_chip("Ascend910A"), 1, 1, 2)
    for _ in range(n_steps):
        device.step([*calls[:n_before], reduce, *calls[n_before or 0 :]], n_before)
    return device


def planted(n_steps: int = 3) -> EagerDevice:
    """A step with a slow operator on the AI CPU and a product whose sizes are no multiples of 256."""
    calls, n_before = host_calls("gpt")
    left, right, product = use(900_001, 3001, 4099), use(900_002, 4099, 3003), use(900_003, 3001, 3003)
    numbers, unique = use(900_004, 1 << 20, dtype="int64"), use(900_005, 1 << 20, dtype="int64")
    more = [call("aten::mm", left, right, results=(product,)), call("aten::_unique2", numbers, results=(unique,))]
    device = EagerDevice(load_chip("Ascend910A"))
    for _ in range(n_steps):
        device.step([*calls, *(HostCall(one, STACK) for one in more)], n_before)
    return device
