"""Random states of devices: default generators, and blocks that keep the states."""

from __future__ import annotations

from tf2npu.frameworks.pytorch.framework import ADAPTER_MODULE
from tf2npu.rules.base import Example, part_of, rule
from tf2npu.rules.pytorch.facts.cuda_chains import name_for_npu
from tf2npu.rules.pytorch.facts.example_heads import AFTER, BEFORE
from tf2npu.rules.pytorch.facts.left_alone import knows_npu
from tf2npu.scanner.sites import Call, Site


@rule(
    id="NPT305",
    title="Random states of devices",
    on=("call", "reference"),
    matches=("torch.cuda.default_generators",),
    why="The numbers of an NPU come from generators of torch.npu, and a state that is kept of CUDA's does not bring them back.",
    done_when="Random states are kept of the NPU's devices.",
    source="Ascend Extension for PyTorch 2.13, migration guide: default_generators; PyTorch 2.13, torch.random.fork_rng",
    examples=(
        Example(
            BEFORE + "state = torch.cuda.default_generators[0].get_state()\n",
            AFTER + "state = torch.npu.default_generators[0].get_state()\n",
        ),
        Example.same(BEFORE + "state = torch.default_generator.get_state()\n", note="the host's"),
    ),
)  # fmt: skip
def default_generators(site: Site) -> None:
    """Writes torch.npu.default_generators for CUDA's generators."""
    name_for_npu(site)


@part_of(
    default_generators,
    matches=("torch.random.fork_rng",),
    examples=(
        Example(
            BEFORE + "with torch.random.fork_rng(devices=[0]):\n    x = torch.rand(3)\n",
            AFTER + 'with torch.random.fork_rng(devices=[0], device_type="npu"):\n    x = torch.rand(3)\n',
        ),
        Example.same(BEFORE + "with torch.random.fork_rng(devices=[]):\n    x = torch.rand(3)\n", note="the host's alone"),
        Example.same(BEFORE + "with torch.random.fork_rng(**how):\n    x = torch.rand(3)\n", note="unseen", level="manual"),
    ),
)
def forked_states(call: Call) -> None:
    """Names the NPU where the states of devices are kept around a block."""
    devices, is_off = call.value("devices", 0), call.value("enabled", 1)
    if knows_npu(call.script, call.node) or call.value("device_type", 4) is not None:
        return None
    if is_off is not None and call.resolve(is_off) == "False":
        return None
    if devices is not None and call.source(devices).replace(" ", "") in ("[]", "()"):
        return None
    if call.has_star_args:
        return call.manual('Pass device_type="npu": the states that are kept are else those of CUDA.')
    call.add_keyword('device_type="npu"')
    call.need_adapter(ADAPTER_MODULE)
    return call.fixed("The states that are kept are those of the NPU, as device_type says.")
