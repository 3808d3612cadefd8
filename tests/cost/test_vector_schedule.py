"""Schedules of vector tasks: none is faster than the machine, the default is what was before, and records are checked."""

from __future__ import annotations

from dataclasses import astuple, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npu_formats.device.chip import Chip, load_chip
from npu_runtime.cost.core_task import CoreWork, core_cost
from npu_runtime.cost.fitted import load_fitted
from npu_runtime.cost.vector import VECTOR_BYTES
from npu_runtime.cost.vector_schedule import (
    EVEN,
    FIELDS,
    IN_TURNS,
    LEAST_BLOCK_BYTES,
    VectorSchedule,
    default_schedule,
    largest_tile,
    least_tile,
    read_schedule,
    schedule_record,
)  # fmt: skip
from npu_runtime.errors import InvalidArgument
from tests.cost.shapes import CHIPS, VECTOR_WORK

ROUNDING = 1e-9


@st.composite
def schedules(draw: st.DrawFn) -> tuple[VectorSchedule, Chip]:
    """Any schedule that a chip can have."""
    chip, buffers = draw(CHIPS), draw(st.integers(1, 2))
    tile = draw(st.integers(least_tile(chip) // 512, largest_tile(chip, buffers) // 512)) * 512
    block = draw(st.integers(1, chip.ub_bytes // 512)) * 512
    return VectorSchedule(
        draw(st.integers(0, 2)), block, tile, buffers, draw(st.integers(1, chip.n_vector_cores)), draw(st.integers(0, 1))
    ), chip  # fmt: skip


@given(VECTOR_WORK, schedules())
def test_no_schedule_is_faster_than_the_rooflines(work: CoreWork, made: tuple[VectorSchedule, Chip]):
    schedule, chip = made
    cost = core_cost(work, chip, schedule=schedule)
    peak_us = work.instructions / chip.n_vector_cores / chip.cube_mhz
    path_us = (
        max(work.read_bytes / chip.l2_read_rate, work.written_bytes / chip.ub_to_l2_rate) / chip.n_vector_cores / chip.cube_mhz
    )
    moved_us = (work.read_bytes + work.written_bytes - chip.l2_bytes) / (chip.hbm_gb_per_s * 1e3)
    assert cost.us * (1 + ROUNDING) >= max(peak_us, path_us, moved_us)
    assert 1 <= cost.n_blocks <= schedule.cores
    assert max(cost.cycles.values()) <= cost.total_cycles * (1 + ROUNDING)


@given(VECTOR_WORK, schedules())
def test_two_buffers_even_shares_and_more_cores_are_never_slower(work: CoreWork, made: tuple[VectorSchedule, Chip]):
    schedule, chip = made
    us = core_cost(work, chip, schedule=schedule).us
    assert core_cost(work, chip, schedule=replace(schedule, order=EVEN)).us <= us * (1 + ROUNDING)
    assert core_cost(work, chip, schedule=replace(schedule, buffers=2)).us <= us * (1 + ROUNDING)
    if schedule.order == EVEN:
        assert core_cost(work, chip, schedule=replace(schedule, cores=chip.n_vector_cores)).us <= us * (1 + ROUNDING)


@given(VECTOR_WORK, CHIPS)
def test_the_default_schedule_is_to_the_bit_what_the_model_had_before(work: CoreWork, chip: Chip):
    """The formula that the published times were fitted with."""
    cores, fitted = chip.n_vector_cores, load_fitted()

    def of_a_core(n_bytes: float) -> float:
        return max(n_bytes / cores, min(n_bytes, float(LEAST_BLOCK_BYTES)))

    moved = work.read_bytes + work.written_bytes
    memory = moved * (1.0 - max(0.0, 1.0 - moved / chip.l2_bytes)) / (chip.hbm_rate * fitted.hbm_share)
    longest = max(
        of_a_core(work.read_bytes) / chip.l2_read_rate, of_a_core(work.written_bytes) / chip.ub_to_l2_rate, memory,
        of_a_core(work.instructions * VECTOR_BYTES) / VECTOR_BYTES,
    )  # fmt: skip
    cost = core_cost(work, chip)
    assert cost == core_cost(work, chip, schedule=default_schedule(chip))
    assert cost.us == fitted.start_us + longest / chip.cube_mhz
    largest = max(work.read_bytes, work.written_bytes, work.instructions * VECTOR_BYTES)
    assert cost.n_blocks == max(1, min(cores, int(-(-largest // LEAST_BLOCK_BYTES))))


def test_a_last_round_of_tiles_costs_as_much_as_a_full_one():
    """33 tiles of 16 KB on 32 cores take two rounds; 32 and a small one take one round and the small one."""
    chip, tile = load_chip("Ascend910A"), 16384
    in_turns = replace(default_schedule(chip), tile_bytes=tile, order=IN_TURNS)

    def cycles(n_tiles: float) -> float:
        us = core_cost(CoreWork(None, 0.0, 0.0, n_tiles * tile / VECTOR_BYTES), chip, schedule=in_turns).us
        return (us - load_fitted().start_us) * chip.cube_mhz

    round_cycles = tile / VECTOR_BYTES
    assert cycles(32) == pytest.approx(round_cycles)
    assert cycles(33) == pytest.approx(2 * round_cycles)
    assert cycles(34) == cycles(64) == pytest.approx(2 * round_cycles)
    assert cycles(32.25) == pytest.approx(1.25 * round_cycles)


@given(schedules())
def test_a_record_gives_back_its_schedule(made: tuple[VectorSchedule, Chip]):
    schedule, chip = made
    record = schedule_record(schedule)
    assert tuple(record) == FIELDS and tuple(record.values()) == astuple(schedule)
    assert read_schedule(record, chip) == schedule


VALUES = st.one_of(
    st.integers(-5, 2**70), st.booleans(), st.none(), st.floats(), st.text(max_size=3), st.lists(st.integers(), max_size=2)
)  # fmt: skip


@given(schedules(), st.sampled_from((*FIELDS, "other")), VALUES)
def test_a_changed_record_is_another_schedule_or_an_error(made: tuple[VectorSchedule, Chip], name: str, value: object):
    schedule, chip = made
    record = {**schedule_record(schedule), name: value}
    try:
        read = read_schedule(record, chip)
    except InvalidArgument as error:
        assert "tune again" in str(error) or "leave the record out" in str(error)
    else:
        assert read.fits(chip) and schedule_record(read) == record and all(type(one) is int for one in record.values())


def test_a_record_of_a_larger_chip_says_what_to_do():
    larger, smaller = load_chip("Ascend910A"), load_chip("Ascend910B2")
    assert larger.ub_bytes > smaller.ub_bytes
    with pytest.raises(InvalidArgument, match=r"Ascend910B2 cannot hold 2 tiles of 65536 bytes; tune again"):
        read_schedule(schedule_record(default_schedule(larger)), smaller)
    with pytest.raises(InvalidArgument, match="wrong blockDim; leave the record out"):
        read_schedule({**schedule_record(default_schedule(smaller)), "blockDim": 49}, smaller)
