"""CUDA_VISIBLE_DEVICES, set or read by a script."""

from __future__ import annotations

from typing import Any

import libcst as cst

from tf2npu.rules.base import Example, part_of, rule
from tf2npu.rules.facts.constant_values import text_of
from tf2npu.rules.facts.environment_writes import SETTERS, set_by_call, set_by_item
from tf2npu.rules.pytorch.facts.example_heads import BEFORE
from tf2npu.rules.pytorch.facts.file_kinds import reaches_torch
from tf2npu.rules.pytorch.facts.left_alone import knows_npu
from tf2npu.scanner.sites import Call, Site
from tf2npu.scanner.tree_walk import first_key

_CUDA, _NPU = "CUDA_VISIBLE_DEVICES", "ASCEND_RT_VISIBLE_DEVICES"
_HEAD = f"import os\n{BEFORE}"


@rule(
    id="NPT402",
    title="CUDA_VISIBLE_DEVICES",
    matches=SETTERS,
    why="CUDA_VISIBLE_DEVICES chooses no NPU.",
    done_when="The script does not read CUDA_VISIBLE_DEVICES.",
    source="ASCEND_RT_VISIBLE_DEVICES, which torch_npu/npu/__init__.py of Ascend/pytorch reads",
    examples=(
        Example.same(f"{_HEAD}os.environ.setdefault('CUDA_VISIBLE_DEVICES', '0')\n", level="info"),
        Example.same(f"{_HEAD}os.environ.update(OMP_NUM_THREADS='4')\n", note="of the host"),
    ),
)
def visible_devices_by_call(call: Call) -> None:
    """Says what has the place of CUDA_VISIBLE_DEVICES on NPUs."""
    for name, value in set_by_call(call):
        _report_setting(call, name, value)


@part_of(
    visible_devices_by_call,
    on="reference",
    matches=("os.environ",),
    examples=(
        Example.same(f"{_HEAD}os.environ['CUDA_VISIBLE_DEVICES'] = '1'\n", level="info"),
        Example.same(f"{_HEAD}os.environ['CUDA_VISIBLE_DEVICES'] = ''\n", note="hides them", level="manual"),
        Example.same(
            f"{_HEAD}ids = os.environ['CUDA_VISIBLE_DEVICES'].split(',')\n",
            note="read",
            level="manual",
            write=f"{_HEAD}ids = os.environ['ASCEND_RT_VISIBLE_DEVICES'].split(',')\n",
        ),
        Example.same(f"{_HEAD}os.environ['ASCEND_RT_VISIBLE_DEVICES'] = '1'\n", note="of NPUs"),
    ),
)
def visible_devices_by_item(site: Site) -> None:
    """Says what has the place of CUDA_VISIBLE_DEVICES on NPUs, where it is an item of os.environ."""
    settings = list(set_by_item(site))
    for name, value in settings:
        _report_setting(site, name, value)
    item: Any = site.script.walked.parents.get(id(site.node))
    target = site.script.walked.parents.get(id(item))
    if isinstance(item, cst.Subscript) and not settings and not isinstance(target, (cst.AssignTarget, cst.Del)):
        _report_reading(site, text_of(first_key(item), site.scope))


@part_of(
    visible_devices_by_call,
    matches=("os.getenv", "os.environ.get"),
    examples=(
        Example.same(f"{_HEAD}n = len(os.getenv('CUDA_VISIBLE_DEVICES', '0').split(','))\n", level="manual"),
        Example.same(f"{_HEAD}n = int(os.getenv('WORLD_SIZE', '1'))\n", note="of torchrun"),
    ),
)
def visible_devices_asked_for(call: Call) -> None:
    """Reports programs that ask for CUDA_VISIBLE_DEVICES."""
    value = call.value("key", 0)
    _report_reading(call, text_of(value, call.scope) if value is not None else None)


def _report_setting(site: Site, name: str, value: Any) -> None:
    if name != _CUDA or not reaches_torch(site.script) or knows_npu(site.script, site.node):
        return
    if text_of(value, site.scope) in ("", "-1"):
        site.manual(
            f"This hides GPUs, as for a run on the CPU, and no NPU: torch.npu.is_available() stays True. Set {_NPU} to an empty "
            "text beside it."
        )
    else:
        site.info(f"This chooses GPUs and has no effect on NPUs: {_NPU} chooses those, set before the program starts.")


def _report_reading(site: Site, name: str | None) -> None:
    if name == _CUDA and reaches_torch(site.script) and not knows_npu(site.script, site.node):
        site.manual(f"NPUs are chosen by {_NPU}: ask for that, or for torch.npu.device_count() where the number is meant.")
