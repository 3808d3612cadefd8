"""The names for the NPU of what is CUDA's: against the vendor's list of torch.cuda, and as people write them."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from npu_formats.pytorch.api_support import entries
from npu_formats.pytorch.cuda_names import cuda_names
from tf2npu.frameworks.pytorch.cuda_names import npu_name

DOCUMENTED = 82
"""Names for the NPU on the vendor's pages of torch.cuda, torch.amp, torch.backends and torch.profiler: 84 without repeats, of
which two are of torch.cpu.amp and of torch.autocast."""


def test_every_name_that_the_vendor_lists_has_an_answer():
    for entry in entries().values():
        if entry.api.startswith("torch.cuda."):
            found = npu_name(entry.api)
            assert bool(found.npu) is bool(entry.chips), entry.api
            assert found.npu or found.advice


def test_documented_names_are_those_of_the_list():
    documented = [row for row in cuda_names().values() if row.is_documented]
    assert len(documented) == DOCUMENTED
    assert all(entries()[row.name].chips for row in documented)


def test_rows_are_sorted_and_say_something():
    rows = list(cuda_names().values())
    assert [row.name for row in rows] == sorted(row.name for row in rows)
    for row in rows:
        assert row.npu or row.advice
        assert row.kind in ("module", "class", "function", "member", "constant")
        assert re.fullmatch(r"(torch(_npu)?(\.\w+)+)?", row.npu) and "cuda" not in row.npu.replace("cuda_", "")


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("torch.cuda", "torch.npu"),
        ("torch.cuda.synchronize", "torch.npu.synchronize"),
        ("torch.cuda.amp.autocast", "torch.npu.amp.autocast"),
        ("torch.cuda.amp.grad_scaler.GradScaler", "torch.npu.amp.GradScaler"),
        ("torch.cuda.memory.memory_allocated", "torch.npu.memory_allocated"),
        ("torch.cuda.memory", "torch.npu.memory"),
        ("torch.cuda.memory._record_memory_history", "torch.npu.memory._record_memory_history"),
        ("torch.cuda.random.manual_seed", "torch.npu.manual_seed"),
        ("torch.cuda.Event().record", "torch.npu.Event().record"),
        ("torch.cuda.Event()", "torch.npu.Event()"),
        ("torch.cuda.Stream.wait_stream", "torch.npu.Stream.wait_stream"),
        ("torch.cuda.graphs.CUDAGraph.replay", "torch.npu.NPUGraph.replay"),
        ("torch.cuda.nvtx.range_push", "torch.npu.mstx.range_push"),
        ("torch.cuda.nvtx.range", "torch.npu.mstx.annotate"),
        ("torch.cuda.OutOfMemoryError", "torch.OutOfMemoryError"),
        ("torch.cuda.get_device_properties().name", "torch.npu.get_device_properties().name"),
        ("torch.profiler.ProfilerActivity.CUDA", "torch_npu.profiler.ProfilerActivity.NPU"),
        ("torch.backends.cuda.cufft_plan_cache.clear", "torch.npu.backends.fft_plan_cache.clear"),
    ],
)
def test_name_for_the_npu(name, written):
    found = npu_name(name)
    assert (found.name, found.npu) == (name, written)


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("torch.cuda.comm.scatter", "torch.distributed.scatter"),
        ("torch.cuda.comm.something", "torch.distributed"),
        ("torch.cuda.nccl.all_reduce", '"hccl"'),
        ("torch.cuda.profiler.start", "torch_npu.profiler"),
        ("torch.cuda.memory.list_gpu_processes", "npu-smi"),
        ("torch.cuda.memory_usage", "torch.npu.mem_get_info"),
        ("torch.cuda.cudart().cudaProfilerStart", "torch_npu.profiler"),
        ("torch.cuda.no_such_name", "look for what does the same in torch.npu"),
        ("torch.cuda.amp.no_such_name", "look for what does the same in torch.npu"),
    ],
)
def test_advice_where_the_npu_has_no_name(name, advice):
    found = npu_name(name)
    assert found.npu == "" and advice in found.advice


@pytest.mark.parametrize(
    "name", ["torch", "torch.nn.ReLU", "torch.cudart", "torch.profiler.record_function", "cuda", "my.torch.cuda", ""]
)
def test_what_is_not_of_cuda_has_no_answer(name):
    assert npu_name(name) is None


def test_it_needs_no_torch():
    lines = ("import sys", "from tf2npu.frameworks.pytorch.cuda_names import npu_name", "npu_name('torch.cuda.seed')")
    code = "\n".join((*lines, "print('torch' in sys.modules)"))
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"
