"""Fusions that a script switches off, by the file that session option fusion_switch_file names.

{"Switch": {"GraphFusion": {"ALL": "off"}, "UBFusion": {"fuse_elementwise": "on"}}}: ALL is all of a part, and a pass that is
named wins over it.  Source: the documents of the option.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from npu_formats.files.whole_file import read_bounded
from npu_runtime.config import RuntimeConfig

OPTION = "fusion_switch_file"
GROUP_UPDATES = "group_updates"
"""A pass that the chip has nothing like: its updates are single operators."""
PASSES: Mapping[str, tuple[str, ...]] = {
    "GraphFusion": (
        "forward_identities", "merge_reads", "merge_duplicates", "fuse_recurrent", "fuse_random_masks",
        "leaky_relu_grad_from_output", "fuse_normalization", "fuse_pool_gradients", "fuse_normalization_gradients",
        "fold_normalization", "fuse_product_sums", "lay_out_weights", "fuse_all_reduces",
    ),
    "UBFusion": (
        "fuse_bias_activation", "fuse_elementwise", "fuse_moment_updates", "fuse_optimizer_gradients", "fuse_optimizer_products",
        GROUP_UPDATES,
    ),
}  # fmt: skip
"""Names of our passes by the part whose ALL means them: patterns of the graph, and what stays in a core's buffer."""
FOLDING, FOLDING_OPTION = "fold_constants", "oo_constant_folding"
"""The compiler's step that computes constants before a run, and the session option that may switch it off."""
_ALL_PASSES = frozenset(name for names in PASSES.values() for name in names)
_MOST_BYTES = 1 << 20
"""Bytes of a switch file: 1 MB would name 20,000 passes, and the device has some hundreds."""
_MOST_NAMED = 5
"""Unknown names that are told; files of other releases have many."""


def with_fusion_switches(config: RuntimeConfig) -> tuple[RuntimeConfig, tuple[str, ...]]:
    """The config with what its options switch off, and lines for the run log."""
    if config.parameters.get(FOLDING_OPTION) in (False, "false", "0"):
        config = without_passes(config, [FOLDING])
    given = config.parameters.get(OPTION)
    path = given.decode("utf-8", "replace") if isinstance(given, bytes) else str(given or "")
    if not path:
        return config, ()
    try:
        parts = _parts_in(path)
    except (OSError, ValueError, RecursionError) as problem:
        return config, (f"{OPTION}: {path}: {problem}; every fusion stays on",)
    off, lines = _switched_off(parts)
    return without_passes(config, off), lines


def without_passes(config: RuntimeConfig, names: Collection[str]) -> RuntimeConfig:
    """The config with these off too; without any fusion each node runs on its own."""
    off = config.switched_off | frozenset(names)
    return replace(config, fusion=config.fusion and not off >= _ALL_PASSES, switched_off=off)


def _parts_in(path: str) -> Mapping[str, Any]:
    """Raises: ValueError, OSError."""
    file = Path(path).absolute()
    data = read_bounded(file.parent.resolve(), file.name, _MOST_BYTES)
    if data is None:
        raise ValueError("there is no such file")
    parts = json.loads(data.decode("utf-8"))
    switch = parts.get("Switch") if isinstance(parts, dict) else None
    if not isinstance(switch, dict) or not all(isinstance(part, dict) for part in switch.values()):
        raise ValueError('it should be JSON as {"Switch": {"GraphFusion": {"ALL": "off"}, "UBFusion": {"ALL": "off"}}}')
    return switch


def _switched_off(parts: Mapping[str, Mapping[str, Any]]) -> tuple[frozenset[str], tuple[str, ...]]:
    off: set[str] = set()
    for part, names in PASSES.items():
        if parts.get(part, {}).get("ALL") == "off":
            off |= set(names)
    unknown, wrong = [], []
    for part, switches in parts.items():
        for name, state in switches.items():
            if part not in PASSES or name not in (*_ALL_PASSES, "ALL"):
                unknown.append(name)
            elif state not in ("on", "off"):
                wrong.append(name)
            elif name != "ALL":
                off = off - {name} if state == "on" else off | {name}
    neither = tuple(f"{OPTION}: {name:.80} is neither on nor off, and is left as it was" for name in wrong)
    return frozenset(off), (*_unknown_line(unknown), *neither)


def _unknown_line(names: list[str]) -> tuple[str, ...]:
    if not names:
        return ()
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    said = ", ".join(f"{name:.80}" for name in names[:_MOST_NAMED])
    return (f"{OPTION}: this device has no pass {said}{more}; it has ALL, {', '.join(sorted(_ALL_PASSES))}",)
