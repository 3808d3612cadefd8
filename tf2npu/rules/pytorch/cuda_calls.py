"""Calls of `cuda`, the method that brings a tensor or a module to a GPU."""

from __future__ import annotations

import re

import libcst as cst

from tf2npu.frameworks.pytorch.file_facts import OWN_METHOD
from tf2npu.frameworks.pytorch.framework import ADAPTER_MODULE
from tf2npu.frameworks.pytorch.object_kinds import MODULE, TENSOR
from tf2npu.rules.base import Example, part_of, rule
from tf2npu.rules.pytorch.facts.example_heads import AFTER, BEFORE
from tf2npu.rules.pytorch.facts.left_alone import knows_npu
from tf2npu.rules.pytorch.facts.own_names import project_flags
from tf2npu.scanner.import_names import imported_modules
from tf2npu.scanner.names import root_of
from tf2npu.scanner.script import Script
from tf2npu.scanner.script_facts import fact
from tf2npu.scanner.sites import Call, Site

_KNOWN = tuple(f"{kind}.cuda" for kind in (TENSOR, MODULE, "torch.Tensor", "torch.nn.Module"))
_WITH_OWN_METHOD = frozenset(
    ("cupy", "dgl", "MinkowskiEngine", "pytorch3d", "spconv", "torch_geometric", "torch_sparse", "torchsparse")
)
"""Libraries whose objects have a method cuda that is not PyTorch's, so that torch_npu gives them no method npu."""
_DEVICE = re.compile(r"\d+$|None$|['\"]|f['\"]|.*(?:gpu|cuda|dev|rank|(?<!i)npu|idx|id\b)", re.IGNORECASE | re.DOTALL)
_KEYWORDS = frozenset(("device", "non_blocking", "memory_format"))


@rule(
    id="NPT103",
    title="Calls of cuda()",
    on=("call", "reference"),
    matches=_KNOWN,
    why="cuda() of a tensor or a module asks for a GPU and fails without one; npu() does the same for an NPU.",
    done_when="No tensor and no module is brought to a device by cuda().",
    source="Ascend Extension for PyTorch 2.13, migration guide; PyTorch 2.13, methods of a backend that is renamed",
    examples=(
        Example(
            BEFORE + "net = torch.nn.Linear(2, 3).cuda()\nx = torch.ones(2).cuda(non_blocking=True)\n",
            AFTER + "net = torch.nn.Linear(2, 3).npu()\nx = torch.ones(2).npu(non_blocking=True)\n",
        ),
        Example(
            BEFORE + "class Net(torch.nn.Module):\n    pass\nnet = Net().cuda(0)\n",
            AFTER + "class Net(torch.nn.Module):\n    pass\nnet = Net().npu(0)\n",
        ),
        Example(
            BEFORE + "x, y = map(torch.Tensor.cuda, batch)\n",
            AFTER + "x, y = map(torch.Tensor.npu, batch)\n",
        ),
        Example.same(BEFORE + "x = torch.ones(2).npu()\n", note="the NPU's method"),
        Example.same(BEFORE + "if use_npu:\n    x = x.npu()\nelse:\n    x = x.cuda()\n", note="it knows the NPU"),
    ),
)  # fmt: skip
def cuda_call(site: Site) -> None:
    """Writes npu for the method cuda of tensors and modules."""
    if not knows_npu(site.script, site.node):
        _write(site)


@part_of(
    cuda_call,
    on=("unknown_method", "foreign_method"),
    matches=("cuda",),
    examples=(
        Example(
            BEFORE + "for x, y in loader:\n    x, y = x.cuda(args.gpu, non_blocking=True), y.cuda()\n",
            AFTER + "for x, y in loader:\n    x, y = x.npu(args.gpu, non_blocking=True), y.npu()\n",
        ),
        Example(
            BEFORE + "m = torch.load(p, map_location=lambda storage, place: storage.cuda(0))\n",
            AFTER + "m = torch.load(p, map_location=lambda storage, place: storage.npu(0))\n",
        ),
        Example(
            BEFORE + "import torchvision\nnet = torchvision.models.VGG(parts).cuda()\n",
            AFTER + "import torchvision\nnet = torchvision.models.VGG(parts).npu()\n",
        ),
        Example.same(
            BEFORE + "class Batch:\n    def cuda(self):\n        return self\ndef move(batch):\n    return batch.cuda()\n",
            note="a class has that method",
            level="manual",
        ),
        Example.same(BEFORE + "x = version.cuda('11', '12', True)\n", note="no device is handed over", level="manual"),
        Example.same(
            BEFORE + "from torch_geometric.data import Data\ng = Data(x).cuda()\n",
            note="the library's own method",
            level="manual",
            write=BEFORE + 'from torch_geometric.data import Data\ng = Data(x).to("npu")\n',
        ),
        Example.same("x = toolkit.cuda()\n", note="no PyTorch"),
    ),
)
def cuda_of_unknown(call: Call) -> None:
    """Writes npu for a method cuda where all evidence says that the object is of PyTorch; else a person is asked."""
    if knows_npu(call.script, call.node):
        return None
    library = root_of(call.name) if "()" in call.name else _library(call.script)
    if library in _WITH_OWN_METHOD:
        return _ask_for_to(call, library)
    is_certain = call.arg("non_blocking") is not None
    if OWN_METHOD in project_flags(call.script) and not is_certain:
        return call.manual(
            "A class of the project has a method cuda: write npu here where this is a tensor or a module, and leave that class's."
        )
    if not is_certain and not _takes_device(call):
        return call.manual("It is not told what this is: write npu for cuda where it is a tensor or a module.")
    return _write(call)


@part_of(
    cuda_call,
    on="assign",
    examples=(
        Example.same(BEFORE + "torch.Tensor.cuda = move\n", note="another function in its place", level="manual"),
        Example.same(BEFORE + "args.cuda = torch.npu.is_available()\n", note="a setting"),
    ),
)
def replaced_method(site: Site) -> None:
    """Reports a function that is put into the place of the method cuda of tensors or modules."""
    if site.node.attr.value == "cuda" and site.resolve(site.node) in _KNOWN and not knows_npu(site.script, site.node):
        site.manual("The method of converted code is npu: write npu here if the function shall be in its place.")


def _write(site: Site) -> None:
    attribute = site.node.func if isinstance(site.node, cst.Call) else site.node
    if not isinstance(attribute, cst.Attribute) or attribute.attr.value != "cuda":
        return  # a method under another name, which is looked at where it gets that
    site.replace(attribute.attr, "npu")
    site.need_adapter(ADAPTER_MODULE)
    site.fixed("The method that brings it to the NPU is npu.")


def _ask_for_to(call: Call, library: str) -> None:
    """Ask for `to`, which tensors, modules and objects of libraries have alike."""
    assert isinstance(call.node.func, cst.Attribute)
    write = f'{call.source(call.node.func.value)}.to("npu")' if not call.args else ""
    message = f'This may be an object of {library}, which has no method npu: write .to("npu"), as for tensors and modules.'
    call.manual(message, write, replaces=bool(write))


def _takes_device(call: Call) -> bool:
    """Whether the arguments are those of a tensor's method cuda: none, or a device, and keywords that it has."""
    if call.has_star_args or any(a.keyword is not None and a.keyword.value not in _KEYWORDS for a in call.args):
        return False
    positional = call.positional_args
    return len(positional) <= 2 and (not positional or bool(_DEVICE.match(call.source(positional[0].value))))


@fact
def _library(script: Script) -> str:
    """The first library with such objects that a file imports; empty for none."""
    roots = (root_of(module) for node, _ in script.walked.imports for module in imported_modules(node))
    return next((root for root in roots if root in _WITH_OWN_METHOD), "")
