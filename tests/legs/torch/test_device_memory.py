"""Memory of the devices beside a count of its own: the storages of all tensors that Python's collector knows."""

from __future__ import annotations

import gc

import pytest
import torch
from torch_npu._device import dispatch
from torch_npu._device.memory import POOLS
from torch_npu._device.tensor import NpuTensor


class _Count:
    """The highest sum of live storages, taken behind each operator."""

    def __init__(self) -> None:
        self.peak = 0

    def __call__(self, *told: object) -> None:
        live = {
            one.host.untyped_storage()._cdata: one.host.untyped_storage().nbytes()
            for one in gc.get_objects()
            if isinstance(one, NpuTensor)
        }
        self.peak = max(self.peak, sum(live.values()))


def _step(model: torch.nn.Module, images: torch.Tensor, labels: torch.Tensor, optimizer: torch.optim.Optimizer) -> None:
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(model(images), labels).backward()
    optimizer.step()


def test_the_peak_is_the_sum_of_live_storages() -> None:
    gc.collect()
    before = POOLS[0].live
    model = torch.nn.Sequential(
        torch.nn.Conv2d(3, 16, 3, padding=1), torch.nn.BatchNorm2d(16), torch.nn.ReLU(inplace=True), torch.nn.MaxPool2d(2),
        torch.nn.Flatten(), torch.nn.Linear(16 * 64, 10),
    ).npu()  # fmt: skip
    images, labels = torch.randn(32, 3, 16, 16).npu(), torch.randint(10, (32,)).npu()
    optimizer = torch.optim.Adam(model.parameters())
    _step(model, images, labels, optimizer)
    torch.npu.reset_peak_memory_stats()
    count = _Count()
    dispatch.OBSERVERS.append(count)
    try:
        _step(model, images, labels, optimizer)
    finally:
        dispatch.OBSERVERS.remove(count)
    assert torch.npu.max_memory_allocated() - before == pytest.approx(count.peak - before, rel=0.01)
    del model, images, labels, optimizer
    gc.collect()
    assert POOLS[0].live == before


def test_views_take_no_memory_and_copies_do() -> None:
    tensor = torch.zeros(256, 256).npu()
    before = torch.npu.memory_allocated()
    views = [tensor.t(), tensor[1:], tensor.view(-1), tensor.expand(2, 256, 256), tensor.detach(), tensor.reshape(512, 128)]
    with torch.inference_mode():
        views.append(tensor.reshape(512, 128))
        copied = tensor.t().reshape(-1)
    assert torch.npu.memory_allocated() - before == copied.nbytes
    assert len(views) == 7


def test_a_tensor_that_is_resized_takes_its_new_size() -> None:
    before = torch.npu.memory_allocated()
    tensor = torch.zeros(4).npu()
    tensor.resize_(1024)
    assert torch.npu.memory_allocated() - before == 4096
    out = torch.empty(0).npu()
    torch.add(tensor, 1, out=out)
    assert torch.npu.memory_allocated() - before == 8192


def test_out_of_memory_is_told_in_pytorchs_way_and_can_be_survived() -> None:
    assert torch.npu.mem_get_info()[1] == 32 << 30  # the chip file of Ascend910A
    with pytest.raises(torch.OutOfMemoryError, match=r"NPU out of memory\. Tried to allocate 64\.00 GiB \(NPU 0; 32\.00 GiB"):
        torch.empty(16 << 30, device="npu")
    assert torch.ones(3).npu().sum().item() == 3
    torch.npu.set_per_process_memory_fraction(1e-6)
    try:
        with pytest.raises(torch.npu.OutOfMemoryError):
            torch.ones(1 << 16, device="npu") * 2
    finally:
        torch.npu.set_per_process_memory_fraction(1.0)
