"""Ops that are in no user's graph: whose kernels stand in kernels/fused, and who may make them."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from npu_runtime.kernels.base import all_kernels

ROOT = Path(__file__).parents[2] / "npu_runtime"
MADE_ELSEWHERE = {
    "_Copy": "by place/copy_for_host: a plain copy",
    "_Round16": "by precision/assign_precision: a rounding, element by element",
    "_VariantAddN": "by the importer: AddN of variants",
    "_VariantZerosLike": "by the importer: ZerosLike of variants",
}
"""Ops of our own that fuse nothing: who makes them."""


def folder_of(op: str) -> str:
    module = all_kernels()[op].function.__module__
    return module.removeprefix("npu_runtime.kernels.").partition(".")[0]


def test_kernels_of_ops_that_only_passes_make_stand_in_one_folder() -> None:
    own = {op for op in all_kernels() if op.startswith("_") and not op.startswith("_Npu")}
    assert {op for op in own if folder_of(op) != "fused"} == set(MADE_ELSEWHERE)
    assert {op for op in all_kernels() if folder_of(op) == "fused"} == own - set(MADE_ELSEWHERE)
    assert len(own) >= 18


@pytest.mark.parametrize("folder", ["analysis", "executor", "importers", "passes", "graph"])
def test_their_names_are_written_by_fusing_passes_only(folder: str) -> None:
    """Import-linter keeps the constants of kernels/fused from others; this finds names that are spelt out."""
    fused = {op for op in all_kernels() if folder_of(op) == "fused"}
    paths = [path for path in sorted((ROOT / folder).rglob("*.py")) if "fuse" not in path.parts]
    assert len(paths) >= 6
    for path in paths:
        spelt = {
            n.value for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.Constant) and isinstance(n.value, str)
        }
        assert not spelt & fused, path
