"""Models that one process spreads over several devices."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any

import libcst as cst

from tf2npu.config import Config
from tf2npu.rules.base import Example, rule
from tf2npu.rules.facts.files.script_kinds import called_names
from tf2npu.rules.pytorch.facts.example_heads import BEFORE
from tf2npu.rules.pytorch.facts.left_alone import knows_npu
from tf2npu.scanner.script import Script
from tf2npu.scanner.sites import Call

_LOADERS = ("torch.utils.data.DataLoader", "torch.utils.data.dataloader.DataLoader")
_DISTRIBUTED = ("torch.nn.parallel.DistributedDataParallel", "torch.nn.parallel.distributed.DistributedDataParallel")
_ONLY = Config(select=frozenset({"NPT202"}))


@rule(
    id="NPT202",
    title="DataParallel",
    matches=(
        "torch.nn.DataParallel", "torch.nn.parallel.DataParallel", "torch.nn.parallel.data_parallel.DataParallel",
        "torch.nn.parallel.data_parallel", "torch.nn.parallel.data_parallel.data_parallel",
    ),
    once=True,
    why="DataParallel moves parts of a batch between devices from one process, which the NPU does not have.",
    done_when="The script runs by `torchrun`, with a process a device, and does not name DataParallel.",
    source="Ascend Extension for PyTorch 2.13, torch.nn: no chip supports DataParallel; DistributedDataParallel is supported",
    examples=(
        Example.same(
            f"{BEFORE}model = Net()\nmodel = torch.nn.DataParallel(model).npu()\n",
            level="manual",
            write=(
                "import os\nimport torch\nimport torch_npu\nrank = int(os.environ['LOCAL_RANK'])\ntorch.npu.set_device(rank)\n"
                "torch.distributed.init_process_group('hccl')\n"
                "model = torch.nn.parallel.DistributedDataParallel(Net().npu(), device_ids=[rank])\n"
            ),
        ),
        Example.same(
            f"{BEFORE}if torch.cuda.device_count() > 1:\n    model = torch.nn.DataParallel(model, device_ids=[0, 1])\n",
            note="one finding, whatever guards it",
            level="manual",
            config=_ONLY,
        ),
        Example.same(
            f"{BEFORE}if ranks:\n    model = torch.nn.parallel.DistributedDataParallel(model)\n"
            "else:\n    model = torch.nn.DataParallel(model)\n",
            note="it has both ways",
            level="manual",
        ),
        Example.same(
            f"{BEFORE}model = torch.nn.parallel.DistributedDataParallel(model, device_ids=[0])\n", note="a process a device"
        ),
        Example.same(f"{BEFORE}from mine import DataParallel\nmodel = DataParallel(model)\n", note="the user's"),
    ),
)  # fmt: skip
def data_parallel(call: Call) -> None:
    """Reports models that one process spreads over several devices, with DistributedDataParallel for this script."""
    if knows_npu(call.script, call.node):
        return None
    if not called_names(call.script).isdisjoint(_DISTRIBUTED):
        return call.manual(
            "The NPU has no DataParallel. The script has DistributedDataParallel as well: start it in the way that leads there, "
            "with a process a device, also where there is one device only."
        )
    if ".module" in call.script.text:
        return call.manual(
            "The NPU has no DataParallel: use DistributedDataParallel, with a process a device. The model inside it is `.module` "
            "there as well, so that checkpoints keep their names. Only rank 0 saves and prints.",
            _lines(call),
        )
    return call.manual(
        "The NPU has no DataParallel: use DistributedDataParallel, with a process a device. Only rank 0 saves and prints, and "
        "`.module` is the model inside, whose state_dict has the names of the plain model.",
        _lines(call),
    )


def _lines(call: Call) -> str:
    """The lines that a person writes, made of the names of the script."""
    target, model = _target(call), call.value("module", 0)
    wrapped = call.source(model) if model is not None else "model"
    if not isinstance(model, (cst.Name, cst.Attribute, cst.Call)):
        wrapped = f"({wrapped})"
    loader = _loader(call)
    lines = [
        "import os",
        "import torch",
        "import torch_npu",
        *(["from torch.utils.data.distributed import DistributedSampler"] if loader else []),
        'local_rank = int(os.environ["LOCAL_RANK"])',
        "torch.npu.set_device(local_rank)",
        'torch.distributed.init_process_group("hccl")',
        f"{target} = {_DISTRIBUTED[0]}({wrapped}.npu(), device_ids=[local_rank])",
        *([loader] if loader else []),
        f"# torchrun --nproc_per_node 8 {PurePosixPath(call.script.path).name}",
    ]
    return "\n".join(lines) + "\n"


def _target(call: Call) -> str:
    """The name that the model is given, or that of the wrapped model."""
    for ancestor in call.script.walked.ancestors(call.node):
        if isinstance(ancestor, cst.Assign) and len(ancestor.targets) == 1:
            return call.source(ancestor.targets[0].target)
        if isinstance(ancestor, cst.BaseCompoundStatement):
            break
    model: Any = call.value("module", 0)
    return call.source(model) if isinstance(model, (cst.Name, cst.Attribute)) else "model"


def _loader(call: Call) -> str:
    """The line that makes the loader of the training with a part of the data for each rank; empty where none is seen."""
    found: dict[bool, str] = {}
    for node, scope in call.script.walked.calls:
        if call.script.name_of(node.func, scope) in _LOADERS and (line := _with_sampler(call.script, node)):
            found.setdefault("train" in line.partition("=")[0], line)
    return found.get(True) or found.get(False, "")


def _with_sampler(script: Script, node: cst.Call) -> str:
    """A loader with a sampler in the place of its shuffling; empty where it has one, does not shuffle, or names no data."""
    assign: Any = script.walked.parents.get(id(node))
    named = {arg.keyword.value: arg.value for arg in node.args if arg.keyword is not None}
    data = named.get("dataset") or (node.args[0].value if node.args and node.args[0].keyword is None else None)
    shuffle = named.get("shuffle")
    if (
        not isinstance(assign, cst.Assign)
        or not isinstance(data, (cst.Name, cst.Attribute))
        or any(arg.star for arg in node.args)
    ):
        return ""
    if "sampler" in named or "batch_sampler" in named or (isinstance(shuffle, cst.Name) and shuffle.value == "False"):
        return ""
    kept = [arg for arg in node.args if arg.keyword is None or arg.keyword.value != "shuffle"]
    args = ", ".join(" ".join(script.tree.source(arg).rstrip(", \n").split()) for arg in kept)
    target, function = script.tree.source(assign.targets[0].target), script.tree.source(node.func)
    return f"{target} = {function}({args}, sampler=DistributedSampler({script.tree.source(data)}))"
