"""The ten figures against what the vendor's program says of 28 pairs of arrays."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tf2npu.comparison.metrics import figures
from tf2npu.comparison.tensors.block_sums import BLOCK, block_sums

CASES = json.loads((Path(__file__).parents[1] / "fixtures" / "compare" / "metric_cases.json").read_text())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_a_case_has_the_figures_of_the_vendors_program(case):
    arrays = [
        np.array([value(text, dtype) for text in case[side]], dtype) for side, dtype in zip(SIDES, case["dtypes"], strict=True)
    ]
    found = figures(*arrays, is_scalar=len(arrays[0]) == 1, x_file="L", y_file="R")
    assert found.row() == case["figures"]
    assert ",".join(found.reasons) == case["reason"]


SIDES = ("device", "reference")


def value(text: object, dtype: str) -> object:
    if dtype == "bool":
        return str(text) in ("True", "true", "1")
    return int(str(text)) if "int" in dtype else float(str(text))


@pytest.mark.parametrize("n", [1, 7, 128, 129, 4097, BLOCK, BLOCK + 1, 200_001, 1_000_003])
def test_sums_in_blocks_have_the_bits_of_numpys_sum(n):
    values = np.random.default_rng(n).normal(size=n).astype(np.float32)
    assert block_sums(n, lambda part: (values[part],))[0].tobytes() == values.sum().tobytes()
