"""Names of torch.npu and torch_npu: there with PyTorch's signatures, or refused in one line."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest
import torch
import torch_npu
from torch.nn import functional as F

from tests.legs.torch.beside_cpu import check
from tests.legs.torch.processes import run

# The NPU's names of torch.cuda for 2.13 in the vendor's documents (torch-cuda.md); those that it has on no chip are left out.
DOCUMENTED = {
    "StreamContext", "can_device_access_peer", "current_blas_handle", "current_stream", "default_stream", "device_count",
    "device_of", "get_device_capability", "get_device_name", "get_device_properties", "get_sync_debug_mode", "init",
    "ipc_collect", "is_available", "is_initialized", "set_device", "set_stream", "set_sync_debug_mode", "stream", "synchronize",
    "utilization", "current_device", "device", "get_rng_state", "set_rng_state", "set_rng_state_all", "manual_seed",
    "manual_seed_all", "seed", "seed_all", "initial_seed", "Stream", "Event", "is_current_stream_capturing",
    "graph_pool_handle", "NPUGraph", "graph", "make_graphed_callables", "empty_cache", "mem_get_info", "memory_stats",
    "memory_summary", "memory_allocated", "max_memory_allocated", "reset_max_memory_allocated", "memory_reserved",
    "max_memory_reserved", "set_per_process_memory_fraction", "memory_cached", "max_memory_cached", "reset_max_memory_cached",
    "reset_peak_memory_stats", "caching_allocator_alloc", "caching_allocator_delete", "get_allocator_backend",
    "NPUPluggableAllocator", "change_current_allocator", "reset_accumulated_host_memory_stats", "reset_peak_host_memory_stats",
    "host_memory_stats_as_nested_dict", "host_memory_stats",
}  # fmt: skip
REFUSED = {
    "current_blas_handle", "graph_pool_handle", "NPUGraph", "graph", "make_graphed_callables", "caching_allocator_alloc",
    "caching_allocator_delete", "NPUPluggableAllocator", "change_current_allocator",
}  # fmt: skip


def test_every_documented_name_is_there_or_refused_in_one_line() -> None:
    assert {name for name in DOCUMENTED if not hasattr(torch.npu, name)} == REFUSED
    for name in REFUSED:
        with pytest.raises(AttributeError, match=rf"^torch\.npu\.{name} is not there: .*[^\n]$"):
            getattr(torch.npu, name)


def test_the_list_of_names_is_what_a_star_imports() -> None:
    assert len(set(torch.npu.__all__)) == len(torch.npu.__all__) and set(torch.npu.__all__) >= DOCUMENTED - REFUSED
    assert all(hasattr(torch.npu, name) for name in torch.npu.__all__)
    assert (
        torch_npu.npu is torch.npu
        and run("from torch.npu import *; from torch_npu.npu import *; print(device_count())").stdout == "8\n"
    )


OF_CUDA = {
    "cuda_stream", "cuda_event", "event_id", "from_ipc_handle", "ipc_handle", "isCapturing", "is_capturing", "priority_range",
    "record_callback", "stream_id", "device_type", "native_handle",
}  # fmt: skip
"""Attributes of CUDA's streams and events that are about CUDA itself, graphs or other processes."""
SHARED = sorted(name for name in DOCUMENTED - REFUSED if callable(getattr(torch.cuda, name, None)))


@pytest.mark.parametrize("name", SHARED)
def test_a_function_takes_what_that_of_cuda_takes(name: str) -> None:
    def parameters(function: object) -> list[str]:
        return [each.name for each in inspect.signature(function).parameters.values() if each.kind is not each.VAR_KEYWORD]

    ours, theirs = getattr(torch.npu, name), getattr(torch.cuda, name)
    if inspect.isclass(theirs):
        public = {each for each in vars(theirs) if not each.startswith("_")}
        assert inspect.isclass(ours) and public <= set(dir(ours)) | OF_CUDA
    else:
        assert [each.rstrip("_") for each in parameters(ours)][: len(parameters(theirs))] == parameters(theirs)


def test_knobs_are_kept() -> None:
    torch.npu.set_compile_mode(jit_compile=True)
    assert not torch.npu.is_jit_compile_false()
    torch.npu.set_compile_mode(jit_compile=False)
    torch.npu.config.allow_internal_format = False
    torch.npu.matmul.allow_hf32 = torch.npu.conv.allow_hf32 = False
    torch.npu.set_sync_debug_mode("warn")
    assert torch.npu.get_sync_debug_mode() == 1
    torch.npu.set_sync_debug_mode(0)
    with pytest.raises(RuntimeError, match="expected one of"):
        torch.npu.set_sync_debug_mode("loud")
    torch.npu.set_option({"ACL_PRECISION_MODE": "must_keep_origin_dtype"})
    assert torch.npu.get_device_capability() is None and torch.npu.get_device_name(0).startswith("Ascend")
    with torch.npu.mstx.annotate("a range"):
        torch.npu.mstx.range_end(torch.npu.mstx.range_start("step"))


def test_a_part_of_the_memory_can_be_asked_for() -> None:
    total = torch.npu.get_device_properties().total_memory
    torch.npu.set_per_process_memory_fraction(0.5)
    try:
        assert torch.npu.get_per_process_memory_fraction() == 0.5
        free, whole = torch.npu.mem_get_info()
        assert free == total // 2 - torch.npu.memory_allocated() and whole in (total, total // 2)
    finally:
        torch.npu.set_per_process_memory_fraction(1.0)
    stats = torch.npu.memory_stats()
    assert stats["allocated_bytes.all.current"] == torch.npu.memory_allocated()
    assert torch.npu.memory_stats_as_nested_dict()["allocated_bytes"]["all"]["current"] == torch.npu.memory_allocated()


def _attention_by_hand(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, mask: torch.Tensor, scale: float
) -> torch.Tensor:
    scores = (query.double() @ key.double().transpose(-1, -2) * scale).masked_fill(mask, float("-inf"))
    return (scores.softmax(-1) @ value.double()).float()


@pytest.mark.parametrize("layout", ["BNSD", "BSND", "BSH", "SBH"])
def test_fused_attention_is_attention(layout: str) -> None:
    batch, heads, length, width = 2, 3, 4, 8
    torch.manual_seed(0)
    parts = [torch.randn(batch, heads, length, width) for _ in range(3)]
    mask = torch.ones(length, length, dtype=torch.bool).triu(1)
    arranged = {
        "BNSD": lambda part: part, "BSND": lambda part: part.transpose(1, 2), "BSH": lambda part: part.transpose(1, 2).flatten(2),
        "SBH": lambda part: part.permute(2, 0, 1, 3).flatten(2),
    }[layout]  # fmt: skip
    made = torch_npu.npu_fusion_attention(
        *[arranged(part).npu() for part in parts], heads, layout, atten_mask=mask.npu(), scale=width**-0.5
    )
    torch.testing.assert_close(made[0].cpu(), arranged(_attention_by_hand(*parts, mask, width**-0.5)), rtol=1e-5, atol=1e-6)
    with pytest.raises(RuntimeError, match=r"sparse_mode 0 or 1"):
        torch_npu.npu_fusion_attention(*[part.npu() for part in parts], heads, "BNSD", sparse_mode=3)


def test_operators_of_the_vendors_are_those_of_their_formulas() -> None:
    torch.manual_seed(0)
    x = torch.randn(3, 8)
    found, reciprocal = torch_npu.npu_rms_norm(x.npu(), torch.full((8,), 2.0, device="npu"), 1e-5)
    torch.testing.assert_close(found.cpu(), F.rms_norm(x, (8,), torch.full((8,), 2.0), 1e-5))
    assert reciprocal.shape == (3, 1)
    torch.testing.assert_close(torch_npu.npu_swiglu(x.npu()).cpu(), F.silu(x[:, :4]) * x[:, 4:])
    torch.testing.assert_close(torch_npu.fast_gelu(x.npu()).cpu(), x / (1 + torch.exp(-1.702 * x)))
    cosine, sine = torch.rand(1, 8), torch.rand(1, 8)
    turned = torch.cat((-x[:, 4:], x[:, :4]), 1)
    torch.testing.assert_close(torch_npu.npu_rotary_mul(x.npu(), cosine.npu(), sine.npu()).cpu(), cosine * x + sine * turned)
    assert (
        torch_npu.get_npu_format(torch_npu.npu_format_cast(x.npu(), 29)) == 2
        and torch_npu.npu_dtype_cast(x.npu(), torch.half).dtype is torch.half
    )
    with pytest.raises(AttributeError, match=r"torch_npu\.npu_deformable_conv2d is not simulated"):
        torch_npu.npu_deformable_conv2d  # noqa: B018


def test_compiled_models_are_refused_and_functions_when_a_tensor_comes() -> None:
    with pytest.raises(RuntimeError, match=r"torch\.compile is not simulated on the NPU.*model Linear.*TORCH_COMPILE_DISABLE"):
        torch.compile(torch.nn.Linear(1, 1))
    with pytest.raises(RuntimeError, match="model Linear"):
        torch.nn.Linear(1, 1).npu().compile()

    @torch.compile(backend="eager")
    def doubled(tensor: torch.Tensor) -> torch.Tensor:
        return tensor * 2

    with pytest.raises(RuntimeError, match="function doubled"):
        doubled(torch.ones(2, device="npu"))
    model = torch.nn.Linear(1, 1)
    assert torch.compile(model, disable=True) is model


def test_compiling_can_be_switched_off() -> None:
    program = "import torch; print(torch.compile(torch.nn.Linear(1, 1).npu())(torch.zeros(1, 1, device='npu')).shape)"
    assert run(program, TORCH_COMPILE_DISABLE="1").stdout == "torch.Size([1, 1])\n"


def test_extensions_are_refused(tmp_path: Path) -> None:
    done = run("""
from torch.utils.cpp_extension import load, load_inline
import torch.utils.cpp_extension as extensions
for build in (load, load_inline, extensions.load):
    try:
        build("name", [])
    except RuntimeError as error:
        print(str(error)[:54], str(error).count("\\n"))
""")
    assert done.stdout == "torch.utils.cpp_extension builds operators for the CPU 0\n" * 3, done.stderr


def test_scripted_and_traced_models_compute() -> None:
    def compute(device: str) -> torch.Tensor:
        model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU()).to(device)
        given = torch.randn(2, 3).to(device)
        return torch.jit.script(model)(given), torch.jit.trace(model, given)(given), torch.fx.symbolic_trace(model)(given)

    check(compute)


def test_data_parallel_is_refused() -> None:
    for refused in (torch.nn.DataParallel, torch.nn.parallel.DataParallel, torch.nn.parallel.data_parallel):
        with pytest.raises(RuntimeError, match=r"DataParallel is not supported on the NPU: use .*DistributedDataParallel"):
            refused(torch.nn.Linear(1, 1))
