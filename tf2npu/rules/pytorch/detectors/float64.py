"""Tensors of float64 on a device."""

from __future__ import annotations

from tf2npu.rules.base import Example, part_of, rule
from tf2npu.rules.pytorch.facts.example_heads import BEFORE
from tf2npu.rules.pytorch.facts.file_kinds import names_device, reaches_torch
from tf2npu.rules.pytorch.facts.left_alone import knows_npu
from tf2npu.scanner.sites import Call, Site

_NPU = f"{BEFORE}import torch_npu\n"


@rule(
    id="NPT503",
    title="float64",
    on=("call", "unknown_method"),
    matches={"call": ("torch.Tensor().double", "torch.nn.Module().double"), "unknown_method": ("double",)},
    once=True,
    why="The vendor's list says of Tensor.double that it gives float32 on NPUs, and few operators take float64.",
    done_when="The file asks for float64 on the host only.",
    source="Ascend Extension for PyTorch 2.13, native APIs: torch.Tensor.double; transfer_to_npu makes DoubleTensor FloatTensor",
    examples=(
        Example.same(
            f"{_NPU}y = net(x.npu()).double()\n", level="manual", write=f"{_NPU}y = net(x.npu()).float()\n"
        ),
        Example.same(f"{BEFORE}y = net(x).double()\n", note="on the host"),
        Example.same(f"{_NPU}y = net(x.npu()).cpu().double()\n", note="on the host again"),
    ),
)  # fmt: skip
def double(call: Call) -> None:
    """Reports tensors that become float64 in files that use a device."""
    if not reaches_torch(call.script) or not names_device(call.script) or knows_npu(call.script, call.node) or call.args:
        return
    if ".cpu()" not in call.source(call.node):
        call.manual(
            "The list for NPUs says that double() gives float32 there: write float() where that is enough, or take the tensor to "
            "the host with cpu() first."
        )


@part_of(
    double,
    on="reference",
    matches=("torch.float64", "torch.double", "torch.DoubleTensor"),
    examples=(
        Example.same(f"{_NPU}x = torch.zeros(3, dtype=torch.float64).npu()\n", level="info"),
        Example.same(f"{BEFORE}x = torch.zeros(3, dtype=torch.float64)\n", note="no device"),
    ),
)
def float64_type(site: Site) -> None:
    """Says of float64 that few operators of NPUs take it."""
    if names_device(site.script) and not knows_npu(site.script, site.node):
        site.info(
            "Few operators of NPUs take float64; the CPU may compute the others, with two copies each. Where this type goes to "
            "the NPU, float32 is what runs there; `tf2npu api --framework torch` lists the types of an API."
        )
