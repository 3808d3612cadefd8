"""Names of torch.cuda, in calls and wherever else they are used."""

from __future__ import annotations

import re

from tf2npu.frameworks.pytorch.cuda_names import spelled_names
from tf2npu.frameworks.pytorch.framework import IMPORT
from tf2npu.rules.base import Example, part_of, rule
from tf2npu.rules.pytorch.facts.cuda_chains import is_told_elsewhere, name_for_npu
from tf2npu.rules.pytorch.facts.example_heads import AFTER, BEFORE
from tf2npu.rules.pytorch.facts.gpu_questions import asks_about_gpu
from tf2npu.rules.pytorch.facts.left_alone import chooses_npu, knows_npu
from tf2npu.rules.pytorch.facts.shown_texts import is_only_shown
from tf2npu.scanner.sites import Call, Site

_OF_OTHER_RULES = re.compile(r"nvtx|[gG]raph|default_generators")
"""Names that rules of their own look for."""
_LISTED = frozenset(spelled_names())
_INNER = ("torch._C._cuda", "torch._C._Cuda")
"""Beginnings of names that torch.cuda itself is written with."""
_BELOW_VERSION = "torch.version.cuda."
_PLANS = "torch.backends.cuda.cufft_plan_cache"
_NAMES = (*(name for name in sorted(_LISTED) if not _OF_OTHER_RULES.search(name)), _PLANS, f"{_PLANS}.clear")


@rule(
    id="NPT101",
    title="Names of torch.cuda",
    on=("call", "reference"),
    matches=_NAMES,
    why="What torch.cuda does for a GPU is done by torch.npu for an NPU, and torch.cuda finds no device there.",
    done_when="The program names nothing of torch.cuda.",
    source="Ascend Extension for PyTorch 2.13, list of torch.cuda and its names for the NPU; __all__ of torch_npu/npu",
    examples=(
        Example(
            BEFORE + "if torch.cuda.is_available():\n    torch.cuda.manual_seed_all(1)\n",
            AFTER + "if torch.npu.is_available():\n    torch.npu.manual_seed_all(1)\n",
        ),
        Example(
            "import torch as t\nt.cuda.synchronize()\nn = t.cuda.random.initial_seed()\n",
            f"import torch as t\n{IMPORT}\nt.npu.synchronize()\nn = t.npu.initial_seed()\n",
        ),
        Example(
            BEFORE + "Floats = torch.cuda.FloatTensor if on_gpu else torch.FloatTensor\nx = Floats(2, 3)\n",
            AFTER + "Floats = torch.npu.FloatTensor if on_gpu else torch.FloatTensor\nx = Floats(2, 3)\n",
        ),
        Example(
            BEFORE + "try:\n    step()\nexcept torch.cuda.OutOfMemoryError:\n    torch.cuda.empty_cache()\n",
            AFTER + "try:\n    step()\nexcept torch.OutOfMemoryError:\n    torch.npu.empty_cache()\n",
        ),
        Example.same(
            BEFORE + "parts = torch.cuda.comm.scatter(x, [0, 1])\n", note="the NPU has no such function", level="manual"
        ),
        Example.same(BEFORE + "torch.cuda.list_gpu_processes()\n", note="a command does that", level="manual"),
        Example.same(BEFORE + "if use_npu:\n    pass\nelse:\n    torch.cuda.synchronize()\n", note="it knows the NPU"),
        Example.same("import my.torch as torch\ntorch.cuda.synchronize()\n", note="another module of that name"),
    ),
)  # fmt: skip
def cuda_name(site: Site) -> None:
    """Writes the NPU's name for a name of torch.cuda."""
    name_for_npu(site)


@part_of(
    cuda_name,
    on="module",
    examples=(
        Example(
            BEFORE + "low, high = torch.cuda.Stream.priority_range()\n",
            AFTER + "low, high = torch.npu.Stream.priority_range()\n",
        ),
        Example.same(BEFORE + "torch.cuda.no_such_name(1)\n", note="no list has it", level="manual"),
        Example.same(BEFORE + "n = torch._C._cuda_getDeviceCount()\n", note="an inner name", level="manual"),
        Example.same(BEFORE + "torch.npu.no_such_name(1)\n", note="no name of torch.cuda"),
    ),
)
def unlisted_name(site: Site) -> None:
    """Writes members of classes of torch.cuda for the NPU, and reports names of CUDA that no list has."""
    script = site.script
    for node, scope in script.walked.references if "cuda" in script.text.lower() else ():
        name = script.name_of(node, scope) or ""
        is_unlisted = "()" not in name and name not in _LISTED and name.startswith(("torch.cuda.", *_INNER, _BELOW_VERSION))
        if not is_unlisted or script.is_switched_off(site.fix.rule, node):
            continue
        here = Site(script, site.fix.rule, node, scope, name)
        _look_at(here)
        if here.fix.findings and not site.fix.findings:
            site.fix.site = here.fix.site
        site.fix.changes += here.fix.changes
        site.fix.findings += here.fix.findings
        site.fix.symbols += here.fix.symbols


def _look_at(site: Site) -> None:
    """Write or report one name that is not in the list."""
    if site.name.startswith("torch.cuda."):
        name_for_npu(site)
    elif site.name.startswith(_BELOW_VERSION):
        cuda_version(site)
    elif not knows_npu(site.script, site.node):
        site.manual(f"{site.name} is an interface between PyTorch and CUDA: leave it out, or write what torch.npu has for it.")


@part_of(
    cuda_name,
    on=("call", "reference"),
    matches=("torch.version.cuda", "torch.has_cuda"),
    done_when="No condition asks torch.version.cuda or torch.has_cuda about a device.",
    examples=(
        Example.same(
            BEFORE + "if torch.version.cuda is not None:\n    setup()\n",
            level="manual",
            write="import torch\nif torch.npu.is_available():\n    setup()\n",
        ),
        Example.same(BEFORE + "print(torch.version.cuda)\n", note="shown to people", level="info"),
        Example.same(BEFORE + "major = torch.version.cuda.split('.')[0]\n", note="None has no parts", level="manual"),
        Example.same(BEFORE + "print(torch.version.git_version)\n", note="another version"),
    ),
)
def cuda_version(site: Site) -> None:
    """Reports names that say something of the CUDA that PyTorch was built with."""
    if knows_npu(site.script, site.node) or is_told_elsewhere(site):
        return
    if is_only_shown(site.script, site.node):
        site.info(f"{site.name} says something of CUDA alone, and nothing of an NPU.")
    else:
        site.manual(f"{site.name} says something of CUDA alone: ask torch.npu.is_available() about an NPU.")


@part_of(
    cuda_name,
    matches=("torch.cuda.get_device_capability", "torch.npu.get_device_capability"),
    why="An NPU has no compute capability: torch_npu gives None, of which no part can be taken.",
    done_when="Nothing is taken from a compute capability.",
    source="Ascend Extension for PyTorch 2.13, list of torch.cuda: get_device_capability",
    examples=(
        Example(
            BEFORE + "if torch.cuda.get_device_capability()[0] >= 8:\n    run()\n",
            AFTER + "if torch.npu.get_device_capability()[0] >= 8:\n    run()\n",
        ),
        Example.same(AFTER + "is_new = torch.npu.get_device_capability() >= (8, 0)\n", level="manual"),
        Example.same(AFTER + "print(torch.npu.get_device_capability())\n", note="shown to people"),
        Example.same(AFTER + "name = torch.npu.get_device_name()\n", note="an NPU has a name"),
    ),
)
def compute_capability(call: Call) -> None:
    """Reports what is made of the compute capability, which an NPU has not."""
    script, node = call.script, call.node
    if is_only_shown(script, node) or chooses_npu(script, node):
        return
    if asks_about_gpu(script, node):
        call.manual(
            "The compute capability is a GPU's. The question stays, and an NPU takes the other way: write what an NPU does."
        )
    elif not knows_npu(script, node):
        call.manual("An NPU has no compute capability, and gives None here: write what an NPU does, without asking for it.")
