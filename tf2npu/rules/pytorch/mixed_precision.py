"""Mixed precision whose device is CUDA where nothing else is said."""

from __future__ import annotations

from tf2npu.frameworks.pytorch.framework import ADAPTER_MODULE
from tf2npu.rules.base import Example, part_of, rule
from tf2npu.rules.pytorch.facts.example_heads import AFTER, BEFORE
from tf2npu.rules.pytorch.facts.left_alone import knows_npu
from tf2npu.scanner.sites import Call

_SCALERS = ("torch.amp.GradScaler", "torch.amp.grad_scaler.GradScaler", "torch.GradScaler")


@rule(
    id="NPT301",
    title="Mixed precision without a device",
    matches=_SCALERS,
    why="A scaler without a device is one for CUDA; without CUDA it is off, and gradients in float16 underflow.",
    done_when="Every scaler and every question about autocast names the NPU.",
    source="PyTorch 2.13, torch.amp.GradScaler(device='cuda', ...); Ascend Extension for PyTorch 2.13, list of torch.amp",
    examples=(
        Example(
            BEFORE + "scaler = torch.amp.GradScaler()\n",
            AFTER + 'scaler = torch.amp.GradScaler(device="npu")\n',
        ),
        Example(
            BEFORE + "from torch.amp import GradScaler\nscaler = GradScaler(init_scale=1024.0)\n",
            AFTER + 'from torch.amp import GradScaler\nscaler = GradScaler(init_scale=1024.0, device="npu")\n',
        ),
        Example.same(BEFORE + 'scaler = torch.amp.GradScaler("npu")\n', note="it names the NPU"),
        Example.same(BEFORE + "scaler = torch.amp.GradScaler(device)\n", note="what a variable holds"),
        Example.same(BEFORE + "scaler = torch.amp.GradScaler(**how)\n", note="unseen", level="manual"),
    ),
)  # fmt: skip
def scaler(call: Call) -> None:
    """Names the NPU as the device of a scaler that names none."""
    if call.value("device", 0) is not None or knows_npu(call.script, call.node):
        return None
    if call.has_star_args:
        return call.manual('Pass device="npu" where the scaler names no device: it is else one for CUDA.')
    call.add_keyword('device="npu"')
    call.need_adapter(ADAPTER_MODULE)
    return call.fixed("The scaler is one for the NPU, as device says.")


@part_of(
    scaler,
    matches=("torch.is_autocast_enabled",),
    examples=(
        Example(BEFORE + "on = torch.is_autocast_enabled()\n", AFTER + 'on = torch.is_autocast_enabled("npu")\n'),
        Example.same(BEFORE + 'on = torch.is_autocast_enabled("cpu")\n', note="the host's"),
    ),
)
def autocast_question(call: Call) -> None:
    """Asks about autocast on the NPU where a question is about CUDA by default."""
    if not call.args and not knows_npu(call.script, call.node):
        call.add_keyword('"npu"')
        call.need_adapter(ADAPTER_MODULE)
        call.fixed("The question is about autocast on the NPU.")


@part_of(
    scaler,
    matches=("torch.get_autocast_gpu_dtype", "torch.set_autocast_gpu_dtype"),
    examples=(
        Example(BEFORE + "kind = torch.get_autocast_gpu_dtype()\n", AFTER + 'kind = torch.get_autocast_dtype("npu")\n'),
        Example(
            BEFORE + "torch.set_autocast_gpu_dtype(torch.float16)\n", AFTER + 'torch.set_autocast_dtype("npu", torch.float16)\n'
        ),
        Example.same(BEFORE + 'kind = torch.get_autocast_dtype("npu")\n', note="it names the NPU"),
        Example.same(
            BEFORE + "from torch import get_autocast_gpu_dtype as kind_of\nkind = kind_of()\n",
            note="by another name",
            level="manual",
        ),
    ),
)
def autocast_kind(call: Call) -> None:
    """Asks for the element type of autocast on the NPU where a function is CUDA's."""
    if knows_npu(call.script, call.node):
        return None
    new = call.name.rpartition(".")[2].replace("_gpu", "")
    func = call.source(call.node.func)
    if not func.endswith(call.name.rpartition(".")[2]) or "." not in func:
        return call.manual(f'Write torch.{new}("npu") for this function, and what it sets behind the device.')
    call.replace_callee(f"{func.rpartition('.')[0]}.{new}")
    if call.args:
        call.insert(call.script.tree.span(call.args[0])[0], '"npu", ')
    else:
        call.add_keyword('"npu"')
    call.need_adapter(ADAPTER_MODULE)
    return call.fixed("The element type is that of autocast on the NPU.")
