"""Texts that name a device of CUDA, in calls, options, comparisons and dictionaries."""

from __future__ import annotations

import re
from typing import Any

import libcst as cst

from tf2npu.frameworks.pytorch.framework import ADAPTER_MODULE
from tf2npu.rules.base import Example, rule
from tf2npu.rules.facts.constant_values import literal_text
from tf2npu.rules.pytorch.facts.device_positions import BACKEND, DEVICE
from tf2npu.rules.pytorch.facts.example_heads import AFTER, BEFORE
from tf2npu.rules.pytorch.facts.left_alone import asks_for_npu, named_for_npu
from tf2npu.rules.pytorch.facts.reached_names import is_looked_up
from tf2npu.rules.pytorch.facts.shown_texts import is_shown
from tf2npu.rules.pytorch.facts.text_families import is_among_own_names
from tf2npu.rules.pytorch.facts.value_flow import kind_of_value
from tf2npu.scanner.sites import Site

_DEVICE = re.compile(r"cuda(?::(?:\d+|\{[^{}]*\}|%[ds])?)?$")
_BACKENDS = re.compile(r"(?:cpu:gloo,)?(?:cuda:)?nccl$|cuda:nccl,cpu:gloo$")
_FORMATTED = re.compile(r"(?:[rRfF]{1,2})?(?:'''|\"\"\"|'|\")(cuda):?$")
"""The beginning of a formatted text up to its first value."""
_NAMES = {"cuda": "npu", "nccl": "hccl"}


@rule(
    id="NPT105",
    title="Texts that name a device",
    on="string",
    why="The NPU's devices are called npu, npu:0 and so on, and its backend of process groups is called hccl.",
    done_when="No text that reaches PyTorch names a device of CUDA.",
    source="Ascend Extension for PyTorch 2.13, migration guide: device names and the backend hccl",
    examples=(
        Example(
            f'{BEFORE}device = torch.device("cuda" if ok else "cpu")\n',
            f'{AFTER}device = torch.device("npu" if ok else "cpu")\n',
        ),
        Example(BEFORE + "x = x.to(f'cuda:{i}')\n", AFTER + "x = x.to(f'npu:{i}')\n"),
        Example(
            f'{BEFORE}parser.add_argument("--device", default="cuda", choices=["cpu", "cuda"])\n',
            f'{AFTER}parser.add_argument("--device", default="npu", choices=["cpu", "npu"])\n',
        ),
        Example(
            BEFORE + 'm = torch.load(p, map_location={"cuda:%d" % 0: "cuda:%d" % rank})\n',
            AFTER + 'm = torch.load(p, map_location={"npu:%d" % 0: "npu:%d" % rank})\n',
        ),
        Example(
            BEFORE + "where = 'cuda:{}'.format(rank)\nif x.device.type == 'cuda':\n    y = x.to(where)\n",
            AFTER + "where = 'npu:{}'.format(rank)\nif x.device.type == 'npu':\n    y = x.to(where)\n",
        ),
        Example(
            f"{BEFORE}torch.distributed.init_process_group('nccl')\n",
            f"{AFTER}torch.distributed.init_process_group('hccl')\n",
        ),
        Example.same(f"{BEFORE}times = {{'cuda': 1.0, 'cpu': 2.0}}\n", note="a key of the user's", level="manual"),
        Example.same(f"{BEFORE}print('cuda')\n", note="words"),
        Example.same(f"{BEFORE}path = 'cuda/kernels.cu'\n", note="a path"),
        Example.same(f"{BEFORE}d = 'npu' if has_npu() else 'cuda' if ok else 'cpu'\nx.to(d)\n", note="it knows the NPU"),
        Example.same(f"{BEFORE}import cupy\ncupy.zeros(3, device='cuda')\n", note="another library", level="manual"),
        Example.same("device = 'cuda'\n", note="no PyTorch"),
        Example.same(f"{BEFORE}KINDS = ['cpu', 'cuda', 'npu']\ndevice = KINDS[1]\n", note="among others", level="manual"),
        Example.same(f"{BEFORE}d = 'cuda'\nif d == 'npu':\n    x.to(d)\n", note="the NPU is a choice here", level="manual"),
    ),
)  # fmt: skip
def device_text(site: Site) -> None:
    """Writes npu where a text that reaches PyTorch says cuda, and hccl where one says nccl."""
    found = _named(site)
    if found is None or asks_for_npu(site.script, site.node):
        return
    kind, is_exact = found
    if kind_of_value(site.script, site.node, site.scope) == kind:
        return _write(site, kind)
    if is_exact and not is_shown(site.script, site.node) and not is_looked_up(site.script, site.node, site.scope):
        site.manual(
            "This text may name a device of CUDA: write npu, or hccl for nccl, where it reaches PyTorch, and nothing else."
        )
    return None


def _write(site: Site, kind: str) -> None:
    """Writes the NPU's name, unless the text may be a choice of the project's own."""
    if kind == BACKEND and is_among_own_names(site.script, site.node):
        site.manual(
            "This text stands among names that are no backends of PyTorch, so that it may be the project's own: write hccl where "
            "it reaches torch.distributed, and nothing else."
        )
    elif kind not in named_for_npu(site.script):
        _rename(site)
    else:
        _report_both(site)


def _report_both(site: Site) -> None:
    site.manual(
        "The file names the NPU in another text, so that this one may be a choice of its own: write npu, or hccl for nccl, where "
        "it is none."
    )


def _named(site: Site) -> tuple[str, bool] | None:
    """The kind of value that a text names, and whether it is all of the text; None for other texts."""
    node: Any = site.node
    if isinstance(node, cst.FormattedString):
        return (DEVICE, False) if _FORMATTED.match(_beginning(site)) else None
    text = literal_text(node)
    if text is None:
        return None
    if _BACKENDS.match(text):
        return BACKEND, True
    return (DEVICE, not text.endswith(":")) if _DEVICE.match(text) else None


def _beginning(site: Site) -> str:
    """The source of a formatted text up to its first value, where it has one."""
    parts = site.node.parts
    is_text = len(parts) > 1 and isinstance(parts[0], cst.FormattedStringText)
    return f"{site.node.start}{parts[0].value}" if is_text else ""


def _rename(site: Site) -> None:
    start, _ = site.script.tree.span(site.node)
    text = _beginning(site) if isinstance(site.node, cst.FormattedString) else site.source(site.node)
    for match in re.finditer("cuda|nccl", text):
        site.replace_range(start + match.start(), start + match.end(), _NAMES[match.group()])
    site.need_adapter(ADAPTER_MODULE)
    site.fixed("The NPU has another name: npu for cuda, hccl for nccl.")
