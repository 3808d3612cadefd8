"""Profiles of what happens on a device."""

from __future__ import annotations

from typing import Any

import libcst as cst

from tf2npu.frameworks.pytorch.cuda_names import npu_name
from tf2npu.frameworks.pytorch.framework import ADAPTER_MODULE
from tf2npu.rules.base import Example, part_of, rule
from tf2npu.rules.pytorch.facts.cuda_chains import rename
from tf2npu.rules.pytorch.facts.cuda_imports import new_import
from tf2npu.rules.pytorch.facts.cuda_profiles import NAMES, of_profiler, profiles_cuda
from tf2npu.rules.pytorch.facts.example_heads import AFTER, BEFORE
from tf2npu.rules.pytorch.facts.import_writing import write_names
from tf2npu.rules.pytorch.facts.left_alone import knows_npu
from tf2npu.scanner.sites import Call, Site

_KEYWORDS = ("experimental_config", "use_cuda")


@rule(
    id="NPT302",
    title="Profiles of a device",
    on=("call", "reference"),
    matches=NAMES,
    why="torch.profiler collects what a GPU does, and torch_npu.profiler what an NPU does, in files of its own.",
    done_when="What collects the work of the NPU is of torch_npu.profiler.",
    source="Ascend Extension for PyTorch 2.13, list of torch.profiler; guide to the Ascend PyTorch Profiler",
    examples=(
        Example(
            BEFORE + "kinds = [torch.profiler.ProfilerActivity.CUDA]\n"
            "with torch.profiler.profile(activities=kinds) as p:\n    step()\n",
            AFTER + "kinds = [torch_npu.profiler.ProfilerActivity.NPU]\n"
            "with torch_npu.profiler.profile(activities=kinds) as p:\n    step()\n",
        ),
        Example(
            BEFORE + "import torch.profiler as tp\nwith tp.profile(activities=[tp.ProfilerActivity.CUDA],\n"
            "                experimental_config=how) as p:\n    with tp.record_function('step'):\n        step()\n",
            AFTER + "import torch.profiler as tp\nwith torch_npu.profiler.profile("
            "activities=[torch_npu.profiler.ProfilerActivity.NPU]) as p:\n    with tp.record_function('step'):\n        step()\n",
        ),
        Example.same(
            BEFORE + "with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as p:\n    step()\n",
            note="the host alone",
        ),
        Example.same(BEFORE + "with torch.profiler.record_function('step'):\n    step()\n", note="a name that both have"),
    ),
)  # fmt: skip
def device_profile(site: Site) -> None:
    """Writes torch_npu.profiler in a file whose profiles ask for the work of a GPU."""
    if not profiles_cuda(site.script) or knows_npu(site.script, site.node):
        return None
    answer = npu_name(site.name)
    assert answer is not None
    chain: Any = site.node.func if isinstance(site.node, cst.Call) else site.node
    if isinstance(site, Call):
        site.remove_args([a for a in site.args if a.keyword is not None and a.keyword.value in _KEYWORDS])
    if isinstance(chain, cst.Name) or _begins_with_new_name(site, chain):
        rename(site, answer.npu, of_profiler)
    else:
        site.replace(chain, answer.npu)
        site.need_adapter(ADAPTER_MODULE)
    return site.fixed(f"The NPU's name is {answer.npu}.") if site.fix.changes else None


def _begins_with_new_name(site: Site, chain: Any) -> bool:
    """Whether a chain begins with a name that another import gives: `ProfilerActivity.CUDA`."""
    root = chain
    while isinstance(root, cst.Attribute):
        root = root.value
    return (site.resolve(root) or "") in NAMES


@part_of(
    device_profile,
    on="import",
    examples=(
        Example(
            BEFORE + "from torch.profiler import ProfilerActivity, profile\nkinds = [ProfilerActivity.CUDA]\n",
            BEFORE + "from torch_npu.profiler import ProfilerActivity, profile\nkinds = [ProfilerActivity.NPU]\n",
        ),
        Example(
            BEFORE + "from torch.profiler import ProfilerActivity, record_function\nkinds = [ProfilerActivity.CUDA]\n",
            BEFORE + "from torch_npu.profiler import ProfilerActivity\nfrom torch.profiler import record_function\n"
            "kinds = [ProfilerActivity.NPU]\n",
        ),
        Example.same(BEFORE + "from torch.profiler import profile, record_function\n", note="no GPU is asked for"),
    ),
)
def profiler_import(site: Site) -> None:
    """Imports the names of torch_npu.profiler in such a file."""
    node = site.node
    if isinstance(node, cst.Import) or not profiles_cuda(site.script) or knows_npu(site.script, node):
        return None
    found = new_import(node, of_profiler)
    if not found.can_be_written:
        return None
    if not write_names(site, found):
        return site.manual("Import these names from torch_npu.profiler, and the others from torch.profiler as they are.")
    return site.fixed("The names are those of torch_npu.profiler.")


@part_of(
    device_profile,
    on="unknown_method",
    matches=("key_averages",),
    examples=(Example.same(BEFORE + "def show(p):\n    return p.key_averages()\n", note="a profile of the host"),),
)
def averages(call: Call) -> None:
    """Reports tables of averages, which a profile of torch_npu writes into files."""
    if profiles_cuda(call.script) and not knows_npu(call.script, call.node):
        call.manual(
            "A profile of torch_npu has no key_averages(): give it "
            "on_trace_ready=torch_npu.profiler.tensorboard_trace_handler(folder), and look at the folder's files."
        )


@part_of(
    device_profile,
    matches=("torch.autograd.profiler.profile", "torch.autograd.profiler.emit_nvtx"),
    examples=(
        Example.same(
            BEFORE + "with torch.autograd.profiler.profile(use_cuda=True) as p:\n    step()\n",
            level="manual",
            write=AFTER + "with torch_npu.profiler.profile() as p:\n    step()\n",
        ),
        Example.same(BEFORE + "with torch.autograd.profiler.profile() as p:\n    step()\n", note="the host alone"),
        Example.same(BEFORE + "with torch.autograd.profiler.emit_nvtx():\n    step()\n", note="nvtx", level="manual"),
    ),
)
def older_profile(call: Call) -> None:
    """Reports profiles of torch.autograd.profiler that collect the work of a GPU."""
    if knows_npu(call.script, call.node):
        return None
    if call.name.endswith("emit_nvtx"):
        return call.manual("Use torch_npu.profiler.profile: what the operators do is not shown by marks on an NPU.")
    use_cuda, device = call.value("use_cuda"), call.value("use_device")
    is_cuda = use_cuda is not None and call.resolve(use_cuda) != "False"
    if is_cuda or (device is not None and "cuda" in call.source(device)):
        return call.manual(
            "Use torch_npu.profiler.profile for the work of the NPU: it takes activities and record_shapes, not use_cuda."
        )
    return None
