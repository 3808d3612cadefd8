"""Libraries that compute by CUDA, told by their imports."""

from __future__ import annotations

from tf2npu.rules.base import Example, rule
from tf2npu.rules.pytorch.facts.cuda_libraries import CUDA_LIBRARIES, OTHER_DEVICES, library_of
from tf2npu.rules.pytorch.facts.example_heads import BEFORE
from tf2npu.rules.pytorch.facts.file_kinds import reaches_torch
from tf2npu.rules.pytorch.facts.left_alone import knows_npu
from tf2npu.rules.pytorch.facts.optional_code import is_optional
from tf2npu.scanner.import_names import imported_modules
from tf2npu.scanner.names import root_of
from tf2npu.scanner.sites import Site


@rule(
    id="NPT502",
    title="Libraries that need CUDA",
    on="import",
    why="These libraries bring kernels for GPUs, or ask the driver of GPUs.",
    done_when="No file imports the library, or a package for NPUs stands under its name and the script has run with it.",
    source="the libraries' installation pages; triton-ascend, flash-attn-npu, Ascend/apex; DeepSpeed's table of accelerators",
    examples=(
        Example.same(
            f"{BEFORE}from flash_attn import flash_attn_func\n",
            level="unsupported",
            write=f"{BEFORE}from torch.nn.functional import scaled_dot_product_attention\n",
        ),
        Example.same(f"{BEFORE}from apex.optimizers import FusedAdam\n", level="unsupported"),
        Example.same(f"{BEFORE}import deepspeed\n", note="it knows NPUs", level="manual"),
        Example.same(f"{BEFORE}try:\n    import apex\nexcept ImportError:\n    apex = None\n", note="guarded", level="info"),
        Example.same(f"{BEFORE}if use_xformers:\n    import xformers.ops\n", note="where it is asked for", level="info"),
        Example.same(f"{BEFORE}import torch_xla\n", note="another device", level="info"),
        Example.same(f"{BEFORE}import numba\n", note="the compiler for the host"),
        Example.same("import cupy\n", note="no PyTorch"),
    ),
)  # fmt: skip
def cuda_library(site: Site) -> None:
    """Reports libraries that compute by CUDA, with what there is in their place."""
    if not reaches_torch(site.script) or knows_npu(site.script, site.node):
        return
    modules = imported_modules(site.node)
    if any(site.script.project.find_module(site.script.path, 0, root_of(module)) for module in modules):
        return  # a package of the project itself
    names = {library_of(module) for module in modules} - {""}
    for name in sorted(name for name in names if not any(other.startswith(f"{name}.") for other in names)):
        _report(site, name)
    for root in sorted({root_of(module) for module in modules} & OTHER_DEVICES.keys()):
        site.info(f"{root} is for {OTHER_DEVICES[root]}: what goes there does not go to the NPU.")


def _report(site: Site, name: str) -> None:
    library = CUDA_LIBRARIES[name]
    if is_optional(site.script, site.node):
        site.info(
            f"{library.title} is for GPUs, and this import is not made on every way. Where it is wanted: {library.instead}."
        )
    elif library.works:
        site.manual(f"{library.title} computes on GPUs unless its version for NPUs is there: {library.instead}.")
    else:
        site.unsupported(
            f"{library.title} computes on GPUs only, and neither an NPU nor the simulated device runs it: {library.instead}."
        )
