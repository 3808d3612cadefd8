"""Names of torch.npu that the simulated device does not have, with what to do instead."""

from __future__ import annotations

from npu_formats.pytorch.cuda_names import cuda_names

_GRAPHS = "operators are not captured and replayed here: run the step without a graph"
_ALLOCATOR = "memory is counted by what live tensors take, without an allocator to replace: leave it out"
_FAULTS = "faults of a device are not simulated: leave it out"
_CORES = "limits of cores are not simulated: leave it out, or ask torch.npu.get_device_properties() for the chip's cores"
_STORAGES = "old types of storages are not simulated: use tensors, or torch.UntypedStorage of the host"
_OBFUSCATION = "obfuscated models are not simulated: leave it out"
_DUMPS = "this run dumps no tensors: `tf2npu check` compares a script's numbers"

ADVICE: dict[str, str] = {
    **dict.fromkeys(
        ("NPUGraph", "NpuGraphOpHandler", "graph", "graph_pool_handle", "graph_task_group_begin", "graph_task_group_end",
         "graph_task_update_begin", "graph_task_update_end", "make_graphed_callables", "npugraph_ex",
         "register_npu_graph_handler",
         "super_kernel_scope_begin", "super_kernel_scope_end"), _GRAPHS),
    **dict.fromkeys(
        ("MemPool", "NPUPluggableAllocator", "caching_allocator_alloc", "caching_allocator_delete", "change_current_allocator",
         "empty_virt_addr_cache", "use_mem_pool"), _ALLOCATOR),
    **dict.fromkeys(("check_uce_in_memory", "restart_device", "stop_device", "stress_detect"), _FAULTS),
    **dict.fromkeys(
        ("get_device_limit", "get_stream_limit", "reset_stream_limit", "set_device_limit", "set_stream_limit"), _CORES),
    **dict.fromkeys(
        (f"{kind}Storage" for kind in
         ("BFloat16", "Bool", "Byte", "Char", "Double", "Float", "Half", "Int", "Long", "Short")), _STORAGES),
    **dict.fromkeys(("obfuscation_calculate", "obfuscation_finalize", "obfuscation_initialize"), _OBFUSCATION),
    **dict.fromkeys(("finalize_dump", "init_dump", "set_dump"), _DUMPS),
    **{name: cuda_names()[f"torch.cuda.{name}"].advice for name in ("comm", "memory_usage")},
    "CubeMathType": "set the precision of matrices by torch.npu.matmul.allow_hf32",
    "ExternalEvent": "events of other processes are not simulated: leave it out",
    "current_blas_handle": "there is no handle of a library here: leave it out",
    "npurt": "the device's runtime is not simulated: leave it out",
    "nvtx": "mark ranges by torch.npu.mstx",
    "set_aoe": "operators are tuned by `tf2npu tune`, and not in a run: leave it out",
}  # fmt: skip
"""Advice by name. Sources: `__all__` of torch_npu/npu of Ascend/pytorch, and the vendor's list of torch.cuda for 2.13."""


def why_missing(name: str) -> str:
    """The line of the error for a name that torch.npu has not."""
    advice = ADVICE.get(name)
    if advice is None:
        return f"module 'torch.npu' has no attribute '{name}'"
    return f"torch.npu.{name} is not there: {advice}"
