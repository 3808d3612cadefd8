"""The list of CUDA's names against PyTorch's own modules, and against the simulated device that scripts meet."""

from __future__ import annotations

import importlib
from types import ModuleType

import pytest
import torch
import torch_npu
from torch_npu.npu.unsimulated import ADVICE

from npu_formats.pytorch.cuda_names import cuda_names
from tf2npu.frameworks.pytorch.cuda_names import npu_name

MODULES = ("amp", "comm", "graphs", "memory", "nccl", "nvtx", "profiler", "random", "tunable", "gds", "sparse")
NOT_SIMULATED = {
    "graphs", "amp.autocast_mode", "amp.grad_scaler", "amp.common", "utils", "_sanitizer", "backends", "_sleep",
    "_parse_visible_devices", "_set_rng_state_offset", "_get_rng_state_offset", "_get_generator", "_get_device_index",
    "_lazy_call", "memory._record_memory_history", "memory._snapshot", "memory._dump_snapshot",
}  # fmt: skip
"""Modules and private names of torch_npu that a simulated run has not."""
OF_SOME_RELEASES = {
    "torch.cuda.caching_allocator_disabled", "torch.cuda.current_solver_handle",  # from 2.11 on
    "torch.cuda.export_dot", "torch.cuda.export_graph_data", "torch.cuda.graph_annotations",  # from 2.14 on
    *(f"torch.cuda.graphs.register_graph_{when}_hook"
      for when in ("capture_start", "capture_end", "instantiate", "replay_start", "replay_end", "destroy")),  # from 2.14 on
}  # fmt: skip
OF_SOME_BUILDS = {"torch.distributed.ProcessGroupNCCL"}


@pytest.mark.parametrize("module", ["", *(f".{name}" for name in MODULES)])
def test_public_names_of_cuda_have_a_row_or_advice(module: str) -> None:
    cuda = importlib.import_module(f"torch.cuda{module}")
    for name in getattr(cuda, "__all__", ()):
        found = npu_name(f"torch.cuda{module}.{name}")
        assert found is not None and "no list has it" not in found.advice, name


def test_names_of_the_list_are_of_pytorch() -> None:
    plans = "torch.backends.cuda.cufft_plan_cache."  # its members ask for a device
    names = {name for name in cuda_names() if not name.startswith(plans)}
    missing = {name for name in names if not _is_there(torch, name.partition(".")[2])}
    assert missing <= OF_SOME_RELEASES | OF_SOME_BUILDS, missing


def test_names_for_the_npu_are_there_or_refused() -> None:
    for row in cuda_names().values():
        root, _, path = row.npu.removeprefix("torch.npu.").partition(".")
        name = f"{root}.{path}".rstrip(".")
        if not row.npu.startswith("torch.npu.") or root in ADVICE or root in NOT_SIMULATED or name in NOT_SIMULATED:
            continue
        assert _is_there(torch.npu, name), row


def test_names_below_other_modules_are_there() -> None:
    others = [row.npu for row in cuda_names().values() if row.npu.startswith("torch_npu.")]
    assert len(others) > 10
    assert [name for name in others if not _is_there(torch_npu, name.partition(".")[2])] == []


def _is_there(place: object, path: str) -> bool:
    for name in filter(None, path.split(".")):
        if isinstance(place, ModuleType) and not hasattr(place, name):
            try:
                importlib.import_module(f"{place.__name__}.{name}")
            except ImportError:
                return False
        if not hasattr(place, name):
            return False
        place = getattr(place, name)
    return True
