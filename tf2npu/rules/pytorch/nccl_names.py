"""Names of NCCL in torch.distributed."""

from __future__ import annotations

from typing import Any

import libcst as cst

from tf2npu.frameworks.pytorch.framework import ADAPTER_MODULE
from tf2npu.rules.base import Example, part_of, rule
from tf2npu.rules.facts.environment_writes import SETTERS, set_by_call, set_by_item
from tf2npu.rules.pytorch.facts.example_heads import AFTER, BEFORE
from tf2npu.rules.pytorch.facts.file_kinds import reaches_torch
from tf2npu.rules.pytorch.facts.left_alone import knows_npu
from tf2npu.scanner.sites import Call, Site

_DIST = "torch.distributed"
_AVAILABLE = tuple(f"{module}.is_nccl_available" for module in (_DIST, f"{_DIST}.distributed_c10d"))
_BACKEND = tuple(f"{module}.Backend.NCCL" for module in (_DIST, f"{_DIST}.distributed_c10d"))
_CLASS = tuple(f"{module}.ProcessGroupNCCL" for module in (_DIST, f"{_DIST}.distributed_c10d"))
_NEW_NAMES = {"is_nccl_available": "is_hccl_available", "NCCL": "HCCL"}
_VARIABLES = {
    "NCCL_SOCKET_IFNAME": "HCCL_SOCKET_IFNAME",
    "NCCL_SOCKET_FAMILY": "HCCL_SOCKET_FAMILY",
    "NCCL_BUFFSIZE": "HCCL_BUFFSIZE, which counts megabytes",
    "NCCL_ALGO": "HCCL_ALGO, which has words of its own",
    "NCCL_BLOCKING_WAIT": "TORCH_HCCL_BLOCKING_WAIT",
    "NCCL_ASYNC_ERROR_HANDLING": "TORCH_HCCL_ASYNC_ERROR_HANDLING",
    "TORCH_NCCL_BLOCKING_WAIT": "TORCH_HCCL_BLOCKING_WAIT",
    "TORCH_NCCL_ASYNC_ERROR_HANDLING": "TORCH_HCCL_ASYNC_ERROR_HANDLING",
    "TORCH_NCCL_DESYNC_DEBUG": "TORCH_HCCL_DESYNC_DEBUG",
    "NCCL_IB_TC": "HCCL_RDMA_TC",
    "NCCL_IB_SL": "HCCL_RDMA_SL",
    "NCCL_IB_TIMEOUT": "HCCL_RDMA_TIMEOUT",
    "NCCL_IB_RETRY_CNT": "HCCL_RDMA_RETRY_CNT",
}
"""Variables of NCCL, and those of HCCL for the same; the values are not always of one form."""


@rule(
    id="NPT201",
    title="Names of NCCL",
    on=("call", "reference"),
    matches=(*_AVAILABLE, *_BACKEND),
    why="Process groups of NPUs are HCCL's, and NCCL is not there.",
    done_when="No name of NCCL is left in the file.",
    source="Ascend/pytorch torch_npu/_init: patches/distributed_patches.py (is_hccl_available), registry/distributed.py (hccl)",
    examples=(
        Example(
            f"{BEFORE}import torch.distributed as dist\nok = dist.is_nccl_available()\n",
            f"{AFTER}import torch.distributed as dist\nok = dist.is_hccl_available()\n",
        ),
        Example(f"{BEFORE}b = torch.distributed.Backend.NCCL\n", f"{AFTER}b = torch.distributed.Backend.HCCL\n"),
        Example.same(
            f"{BEFORE}from torch.distributed import is_nccl_available\nok = is_nccl_available()\n",
            note="imported by its name",
            level="manual",
            write=f"{BEFORE}import torch_npu\nok = torch.distributed.is_hccl_available()\n",
        ),
        Example.same(f"{BEFORE}ok = torch.distributed.is_gloo_available()\n", note="another backend"),
        Example.same(
            f"{BEFORE}import torch.distributed as dist\nok = False if hasattr(torch, 'npu') else dist.is_nccl_available()\n",
            note="it knows the NPU",
        ),
    ),
)  # fmt: skip
def nccl_name(site: Site) -> None:
    """Writes HCCL where a name of torch.distributed says NCCL."""
    if knows_npu(site.script, site.node):
        return None
    node: Any = site.node.func if isinstance(site, Call) else site.node
    if not isinstance(node, cst.Attribute) or node.attr.value not in _NEW_NAMES:
        return site.manual(
            "NCCL is not on the NPU: write torch.distributed.is_hccl_available() behind `import torch_npu`.",
            "torch.distributed.is_hccl_available()",
        )
    site.replace(node.attr, _NEW_NAMES[node.attr.value])
    site.need_adapter(ADAPTER_MODULE)
    return site.fixed("Process groups of NPUs are HCCL's.")


@part_of(
    nccl_name,
    on=("call", "reference"),
    matches=(*_CLASS, *(f"{name}.Options" for name in _CLASS)),
    examples=(
        Example.same(
            f"{BEFORE}o = torch.distributed.ProcessGroupNCCL.Options()\n",
            level="manual",
            write=f"{BEFORE}import torch_npu\no = torch_npu._C._distributed_c10d.ProcessGroupHCCL.Options()\n",
        ),
    ),
)
def nccl_process_group(site: Site) -> None:
    """Reports the class of NCCL's process groups."""
    if not knows_npu(site.script, site.node):
        site.manual(
            "NCCL's process group is not on the NPU: leave its options out, or take those of "
            "torch_npu._C._distributed_c10d.ProcessGroupHCCL, which has fewer."
        )


@part_of(
    nccl_name,
    matches=SETTERS,
    examples=(
        Example.same(f"import os\n{BEFORE}os.environ.setdefault('NCCL_SOCKET_IFNAME', 'eth0')\n", level="info"),
        Example.same(f"import os\n{BEFORE}os.environ.setdefault('MASTER_PORT', '29500')\n", note="of PyTorch"),
    ),
)
def nccl_variable_by_call(call: Call) -> None:
    """Reports variables of the environment that NCCL reads."""
    for name, _ in set_by_call(call):
        _report_variable(call, name)


@part_of(
    nccl_name,
    on="reference",
    matches=("os.environ",),
    examples=(
        Example.same(f"import os\n{BEFORE}os.environ['NCCL_P2P_DISABLE'] = '1'\n", level="info"),
        Example.same(f"import os\n{BEFORE}os.environ['HCCL_BUFFSIZE'] = '200'\n", note="HCCL's own"),
    ),
)
def nccl_variable_by_item(site: Site) -> None:
    """Reports variables that NCCL reads, set as items of os.environ."""
    for name, _ in set_by_item(site):
        _report_variable(site, name)


def _report_variable(site: Site, name: str) -> None:
    if not name.startswith(("NCCL_", "TORCH_NCCL_")) or not reaches_torch(site.script) or knows_npu(site.script, site.node):
        return
    if name in _VARIABLES:
        site.info(f"HCCL does not read {name}: what it has for this is {_VARIABLES[name]}.")
    else:
        site.info(f"HCCL does not read {name}, which has no effect on NPUs.")
