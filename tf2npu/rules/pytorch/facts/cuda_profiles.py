"""Profiles of torch.profiler that ask for what a GPU does."""

from __future__ import annotations

from npu_formats.pytorch.cuda_names import CudaName, cuda_names
from tf2npu.frameworks.pytorch.cuda_names import npu_name
from tf2npu.rules.pytorch.facts.left_alone import knows_npu
from tf2npu.scanner.script import Script
from tf2npu.scanner.script_facts import fact

ON_CUDA = "torch.profiler.ProfilerActivity.CUDA"
NAMES = tuple(name for name in cuda_names() if name.startswith("torch.profiler."))
"""Names of torch.profiler that torch_npu.profiler has."""


def of_profiler(name: str) -> CudaName | None:
    """The answer about a name of torch.profiler that moves; None for one that stays, such as record_function."""
    return npu_name(name) if name in NAMES else None


@fact
def profiles_cuda(script: Script) -> bool:
    """Whether a file has the profiler collect what happens on a GPU, in code that does not know the NPU already."""
    references = script.walked.references if ON_CUDA.rpartition(".")[2] in script.text else ()
    return any(script.name_of(node, at) == ON_CUDA and not knows_npu(script, node) for node, at in references)
