"""Extensions in C++ and CUDA."""

from __future__ import annotations

import re

from tf2npu.rules.base import Example, part_of, rule
from tf2npu.rules.pytorch.facts.example_heads import BEFORE
from tf2npu.rules.pytorch.facts.left_alone import chooses_npu
from tf2npu.rules.pytorch.facts.optional_code import is_optional
from tf2npu.scanner.sites import Call, Site

_MODULE = "torch.utils.cpp_extension"
_CUDA_FILE = re.compile(r"\.cuh?\b|\bcuda_sources\b")


@rule(
    id="NPT501",
    title="Extensions in CUDA",
    matches=(f"{_MODULE}.CUDAExtension",),
    once=True,
    why="nvcc compiles kernels for GPUs, which no NPU runs.",
    done_when="The extension is built by torch_npu.utils.cpp_extension.NpuExtension, or no file imports it.",
    source="Ascend/pytorch torch_npu/utils/cpp_extension.py and docs/zh/developer_notes/custom_operator_adaptation",
    examples=(
        Example.same(
            "from torch.utils.cpp_extension import BuildExtension, CUDAExtension\nm = CUDAExtension('mine', ['mine.cu'])\n",
            level="unsupported",
            write=(
                "from torch.utils.cpp_extension import BuildExtension\nfrom torch_npu.utils.cpp_extension import NpuExtension\n"
                "m = NpuExtension('mine', ['mine.cpp'])\n"
            ),
        ),
        Example.same(
            "from torch.utils.cpp_extension import CppExtension\nm = CppExtension('mine', ['mine.cpp'])\n", note="for the host"
        ),
        Example.same(f"{BEFORE}from mine import CUDAExtension\nm = CUDAExtension('mine', ['mine.cu'])\n", note="the user's"),
    ),
)  # fmt: skip
def cuda_extension(call: Call) -> None:
    """Reports extensions that hold kernels for GPUs."""
    if chooses_npu(call.script, call.node):
        return
    call.unsupported(
        "Kernels in CUDA do not run on the NPU: write the operator with those of PyTorch, or its kernel in Ascend C, and build "
        "it with torch_npu.utils.cpp_extension.NpuExtension. The simulated device takes no extension."
    )


@part_of(
    cuda_extension,
    on="reference",
    matches=(f"{_MODULE}.CUDA_HOME", f"{_MODULE}.CUDNN_HOME"),
    examples=(
        Example.same(
            f"{BEFORE}from torch.utils.cpp_extension import CUDA_HOME\nis_there = CUDA_HOME is not None\n", level="manual",
            write=f"{BEFORE}is_there = torch.npu.is_available()\n",
        ),
        Example.same(f"{BEFORE}from mine import CUDA_HOME\nis_there = CUDA_HOME is not None\n", note="the user's"),
    ),
)  # fmt: skip
def cuda_home(site: Site) -> None:
    """Reports questions for the folder of CUDA's compiler."""
    if not chooses_npu(site.script, site.node):
        site.manual("It is None on an NPU host, which has no nvcc: ask torch.npu.is_available() for an NPU.")


@part_of(
    cuda_extension,
    matches=(f"{_MODULE}.load", f"{_MODULE}.load_inline"),
    examples=(
        Example.same(
            f"{BEFORE}from torch.utils.cpp_extension import load\nm = load('mine', ['mine.cpp', 'mine.cu'])\n",
            level="unsupported",
        ),
        Example.same(
            f"{BEFORE}from torch.utils.cpp_extension import load\nm = load('mine', ['mine.cpp'])\n",
            note="no kernel, but no chip has load",
            level="manual",
        ),
        Example.same(f"{BEFORE}m = torch.utils.cpp_extension.load_inline('mine', source)\n", note="of the host"),
        Example.same(
            "try:\n    from torch.utils.cpp_extension import load\n    m = load('mine', ['mine.cu'])\n"
            "except Exception:\n    m = None\n",
            note="there is another way",
            level="info",
        ),
    ),
)
def loaded_extension(call: Call) -> None:
    """Reports extensions that are compiled when a script runs."""
    if chooses_npu(call.script, call.node):
        return None
    has_cuda = _CUDA_FILE.search(call.source(call.node)) is not None
    if (has_cuda or call.name.endswith(".load")) and is_optional(call.script, call.node):
        return call.info("This extension is for GPUs. On an NPU the script goes the other way that it has here.")
    if has_cuda:
        return call.unsupported(
            "Kernels in CUDA do not run on the NPU: write the operator with those of PyTorch, or its kernel in Ascend C, built "
            "ahead with torch_npu.utils.cpp_extension.NpuExtension. The simulated device takes no extension."
        )
    if call.name.endswith(".load"):
        call.manual(
            "torch_npu has no torch.utils.cpp_extension.load: build the extension ahead, by setuptools with "
            "torch_npu.utils.cpp_extension.NpuExtension, and import it."
        )
    return None
