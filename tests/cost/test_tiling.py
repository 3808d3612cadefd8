"""Tilings fit the buffers they name, the default rule is fixed, and a record gives back what it was made of."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npu_formats.device.chip import Chip, load_chip
from npu_runtime.cost.cube import default_tiling, product_cost
from npu_runtime.cost.tiling import FRACTAL, Product, Tiling, default_candidates
from npu_runtime.cost.tiling_record import FIELDS, read_tiling, tiling_record
from npu_runtime.errors import InvalidArgument
from tests.cost.shapes import CHIPS, PRODUCTS, product


@given(PRODUCTS, CHIPS)
def test_every_candidate_fits_the_buffers(given: Product, chip: Chip):
    candidates = list(default_candidates(given, chip))
    assert candidates
    for tiling in candidates:
        assert tiling.fits(chip, given.element_bytes)
        assert tiling.base_m % FRACTAL == tiling.base_n % FRACTAL == tiling.base_k % given.depth_block == 0


@given(PRODUCTS, CHIPS)
def test_the_default_is_the_fastest_candidate(given: Product, chip: Chip):
    best = min(product_cost(given, chip, tiling).us for tiling in default_candidates(given, chip))
    assert product_cost(given, chip).us == product_cost(given, chip, default_tiling(given, chip)).us == best


@given(PRODUCTS, CHIPS, st.integers(0, 8), st.booleans())
def test_a_record_gives_back_its_tiling(given: Product, chip: Chip, row_group: int, is_double: bool):
    tiling = replace(default_tiling(given, chip), row_group=row_group, is_l0_double=is_double)
    record = tiling_record(given, tiling, chip)
    assert tuple(record) == FIELDS and all(type(value) is int and value >= 0 for value in record.values())
    made = read_tiling(record, given, chip)
    assert replace(made, depth_parts=1) == replace(tiling, depth_parts=1)
    assert product_cost(given, chip, made).us <= product_cost(given, chip, tiling).us


@given(PRODUCTS, CHIPS)
def test_a_record_fits_l1_and_the_cores(given: Product, chip: Chip):
    record = tiling_record(given, default_tiling(given, chip), chip)
    tiles = record["depthA1"] * record["baseM"] + record["depthB1"] * record["baseN"]
    assert tiles * record["baseK"] * given.element_bytes <= chip.l1_bytes
    assert 1 <= record["usedCoreNum"] <= chip.n_cores
    assert record["depthA1"] == record["stepM"] * record["stepKa"] * 2


def test_a_record_of_a_known_product():
    """A product of 1024 on 32 cores: sixteen tiles of 256 x 256, or thirty-two of 128 x 256, which leave no core idle."""
    record = tiling_record(product(1024, 1024, 1024), Tiling(128, 256, 64), load_chip("Ascend910A"))
    assert (record["usedCoreNum"], record["singleCoreM"], record["singleCoreN"], record["singleCoreK"]) == (32, 128, 256, 1024)
    assert (record["dbL0A"], record["dbL0C"], record["l2MTileCnt"], record["l2MTileBlock"]) == (2, 2, 1, 0)


def test_a_bad_record_says_what_to_do():
    chip, given = load_chip("Ascend910B2"), product(512, 512, 512)
    record = tiling_record(given, default_tiling(given, chip), chip)
    with pytest.raises(InvalidArgument, match="baseM must be whole numbers; leave the record out"):
        read_tiling({**record, "baseM": 0}, given, chip)
    with pytest.raises(InvalidArgument, match=r"Ascend910B2 do not hold 1024 x .* tune again"):
        read_tiling({**record, "baseM": 1024}, given, chip)


def test_tuning_has_something_to_find():
    """Sides that are no powers of two, or groups of rows, beat the default for some products; else tuning would be for show."""
    chip, odd = load_chip("Ascend910A"), product(1000, 1000, 1000)
    default = default_tiling(odd, chip)
    tried = (
        replace(default, base_m=m, base_n=n, base_k=max(16, min(65536 // (4 * max(m, n)) // 16 * 16, 1008)))
        for m in range(16, 257, 16) for n in range(16, 257, 16)
    )  # fmt: skip
    fitting = [tiling for tiling in tried if tiling.fits(chip, 2)]
    assert min(product_cost(odd, chip, tiling).us for tiling in fitting) < product_cost(odd, chip).us


def test_a_sum_over_k_is_split_where_cores_are_left():
    chip = load_chip("Ascend910A")
    assert default_tiling(product(16, 16, 65536), chip).depth_parts > 1
    assert default_tiling(product(8192, 8192, 65536), chip).depth_parts == 1


VALUES = st.one_of(st.integers(-5, 5000), st.integers(0, 2**70), st.booleans(), st.none(), st.floats(), st.text(max_size=3))


@given(PRODUCTS, CHIPS, st.sampled_from((*FIELDS, "other")), VALUES)
def test_a_changed_record_is_another_tiling_or_an_error(given: Product, chip: Chip, name: str, value: object):
    """Reading gives a tiling whose record has every field as it was given, or else nothing."""
    record = {**tiling_record(given, default_tiling(given, chip), chip), name: value}
    try:
        made = read_tiling(record, given, chip)
    except InvalidArgument as error:
        assert "tune again" in str(error) or "leave the record out" in str(error)
    else:
        assert {**tiling_record(given, made, chip), "usedCoreNum": record["usedCoreNum"]} == record
        assert all(type(one) is int for one in record.values()) and made.fits(chip, given.element_bytes)
        assert made.base_m % FRACTAL == made.base_n % FRACTAL == made.base_k % given.depth_block == 0


@pytest.mark.parametrize(
    "change",
    [{"iterateOrder": 7}, {"baseM": 24}, {"dbL0A": 1}, {"usedCoreNum": 99}, {"l2MTileBlock": 3}, {"baseM": True}, {"x": 1}],
    ids=str,
)
def test_a_record_of_no_tiling_is_refused(change: dict[str, int]):
    chip, given = load_chip("Ascend910A"), product(512, 512, 512)
    with pytest.raises(InvalidArgument, match=r"tiling record: .*(tune again|leave the record out)"):
        read_tiling({**tiling_record(given, default_tiling(given, chip), chip), **change}, given, chip)
