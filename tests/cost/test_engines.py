"""Costs of the engines beside the AI cores: limits that their links and cores set, and the sums of textbooks."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npu_formats.device.chip import Chip, load_chip
from npu_runtime.cost.ai_cpu import RANDOMS_PER_US, START_US, ai_cpu_cost
from npu_runtime.cost.collective import collective_cost, collective_time, hccs_gb_per_s
from npu_runtime.cost.fitted import load_fitted
from npu_runtime.cost.host import get_next_cost, issue_cost
from npu_runtime.cost.memory_copy import TO_DEVICE, TO_HOST, copy_cost
from npu_runtime.cost.runtime_ops import loop_turn_cost, runtime_cost
from tests.cost.shapes import BYTES, CHIPS

COLLECTIVES = st.sampled_from(
    ["HcomAllReduce", "HcomReduceScatter", "HcomAllGather", "HcomBroadcast", "HcomReduce", "HcomAllToAllV", "HcomSend"]
)
RANKS = st.integers(1, 256)


@pytest.mark.parametrize(
    ("n", "a_server", "soc", "n_bytes", "us"),
    [
        (8, 8, "Ascend910A", 240e6, 350 + 2 * 7 / 8 * 240e6 / 30e3),
        (2, 8, "Ascend910A", 240e6, 350 + 240e6 / 30e3),
        (4, 1, "Ascend910A", 240e6, 350 + 2 * 3 / 4 * 240e6 / 12.5e3),
        (16, 8, "Ascend910A", 240e6, 350 + 2 * 7 / 8 * 240e6 / 30e3 + 2 * 1 / 2 * 240e6 / 8 / 12.5e3),
        (512, 8, "Ascend910A", 240e6, 350 + 2 * 7 / 8 * 240e6 / 30e3 + 2 * 63 / 64 * 240e6 / 8 / 12.5e3),
        (8, 8, "Ascend910A", 4e3, 350 + 2 * 7 / 8 * 4e3 / 30e3),
        (8, 8, "Ascend910B2", 240e6, 350 + 2 * 7 / 8 * 240e6 / (7 * 28e3)),
        (2, 8, "Ascend910B2", 240e6, 350 + 240e6 / 28e3),
    ],
    ids=["server", "pair", "four servers", "two servers of 8", "64 servers of 8", "few bytes", "mesh", "one link of a mesh"],
)  # fmt: skip
def test_an_all_reduce_takes_what_its_links_take(n: int, a_server: int, soc: str, n_bytes: float, us: float):
    """0.35 ms and 2 (n - 1) / n of the bytes over each link: HCCS 30 GB/s on the first generation, RoCE 12.5 GB/s."""
    assert collective_cost("HcomAllReduce", n_bytes, n, a_server, load_chip(soc)).us == pytest.approx(us)


@pytest.mark.parametrize(
    ("op", "us"),
    [
        ("HcomAllGather", 350 + 7 / 8 * 8 * 240e6 / 30e3),
        ("HcomReduceScatter", 350 + 7 / 8 * 240e6 / 30e3),
        ("HcomBroadcast", 350 + 2 * 7 / 8 * 240e6 / 30e3),
        ("HcomReduce", 350 + 2 * 7 / 8 * 240e6 / 30e3),
        ("HcomAllToAllV", 350 + 7 / 8 * 240e6 / 30e3),
        ("HcomSend", 350 + 240e6 / 30e3),
    ],
)
def test_the_other_collectives_of_a_server(op: str, us: float):
    """Of what each rank gives; an all-gather makes eight times as much of it."""
    assert collective_cost(op, 240e6, 8, 8, load_chip("Ascend910A")).us == pytest.approx(us)


def test_a_long_ring_takes_its_steps():
    """2 (7 + 511) steps of 2 us are more than 0.35 ms, when 4096 ranks add up one number."""
    us = collective_time("HcomAllReduce", 4.0, 4096, 8, load_chip("Ascend910A")).start_us
    assert us == pytest.approx(load_fitted().start_us + 2 * (7 + 511) * 2.0)


@given(st.integers(2, 8), CHIPS)
def test_a_server_sends_no_more_than_all_its_links(n: int, chip: Chip):
    assert chip.hccs_gb_per_s / chip.hccs_links <= hccs_gb_per_s(n, chip) <= chip.hccs_gb_per_s


@given(COLLECTIVES, BYTES, BYTES, RANKS, st.sampled_from([1, 2, 4, 8]), CHIPS)
def test_more_bytes_never_take_less_time(op: str, n_bytes: float, added: float, n: int, a_server: int, chip: Chip):
    assert collective_cost(op, n_bytes + added, n, a_server, chip).us >= collective_cost(op, n_bytes, n, a_server, chip).us


@given(BYTES, st.integers(1, 32), CHIPS)
def test_an_all_reduce_is_a_reduce_scatter_and_an_all_gather(n_bytes: float, servers: int, chip: Chip):
    n = 8 * servers
    both = [collective_cost("HcomReduceScatter", n_bytes, n, 8, chip), collective_cost("HcomAllGather", n_bytes / n, n, 8, chip)]
    assert collective_cost("HcomAllReduce", n_bytes, n, 8, chip).us == pytest.approx(sum(cost.us for cost in both) - 350)


@given(st.floats(1e8, 1e9), CHIPS)
def test_servers_are_farther_apart_than_chips(n_bytes: float, chip: Chip):
    """Eight ranks of one server against as many, each on a server of its own."""
    near, far = (collective_cost("HcomAllReduce", n_bytes, 8, a_server, chip) for a_server in (8, 1))
    assert near.us < far.us and far.bound == "RoCE"


def test_a_single_rank_waits_for_nobody():
    assert collective_cost("HcomAllReduce", 1e9, 1, 8, load_chip("Ascend910A")).us == load_fitted().start_us


@given(BYTES, CHIPS, st.sampled_from([TO_DEVICE, TO_HOST]))
def test_a_copy_is_no_faster_than_pcie(n_bytes: float, chip: Chip, direction: str):
    """Sixteen lanes of 16 Gbit/s, of whose 130 bits 128 are data.  Source: PCI Express 4.0."""
    cost = copy_cost(n_bytes, direction, chip)
    assert cost.us >= n_bytes / (16 * 16 / 8 * 128 / 130 * 1e3)
    moved = cost.traffic["hbm"]
    assert (moved.written, moved.read) == ((n_bytes, 0.0) if direction == TO_DEVICE else (0.0, n_bytes))


def test_a_large_copy_is_as_fast_as_measured():
    """64 MiB of registered memory to a 910B4: 23.4 GB/s.  Source: DeepSpeed, issue 8531."""
    n_bytes = 64 * 2**20
    assert n_bytes / copy_cost(n_bytes, TO_DEVICE, load_chip("Ascend910B4")).us / 1e3 == pytest.approx(23.4, rel=0.02)


@given(st.floats(1e4, 1e9), CHIPS)
def test_a_queued_batch_is_taken_faster(n_bytes: float, chip: Chip):
    assert get_next_cost(n_bytes, True, chip).us < get_next_cost(n_bytes, False, chip).us


@pytest.mark.parametrize(("numbers", "published"), [(1, 31), (18, 40), (96, 31), (288, 34), (576, 32)])
def test_a_small_sum_on_the_ai_cpu(numbers: int, published: float):
    """Running sums of 64-bit integers on a die of the A3.  Source: FlagGems-vllm, pull request 818."""
    cost = ai_cpu_cost(8.0 * numbers, 8.0 * numbers, numbers, load_chip("Ascend910_93"))
    assert cost.us == pytest.approx(published, rel=0.3)


@given(CHIPS, BYTES, BYTES, st.floats(0.0, 1e9))
def test_cores_of_the_ai_cpu_share_the_work(chip: Chip, read: float, written: float, numbers: float):
    one, two = (
        ai_cpu_cost(read, written, 0.0, replace(chip, ai_cpu_cores=n), random_numbers=numbers).us - START_US for n in (2, 4)
    )
    assert two == pytest.approx(one / 2)


def test_masks_of_bert_fit_beside_its_forward_pass():
    """Else the published step (C4, 357 ms) would wait for them."""
    masks = 24 * (96 * 16 * 128 * 128 + 2 * 96 * 128 * 1024)
    assert masks / RANDOMS_PER_US / load_chip("Ascend910A").ai_cpu_cores < 357e3 / 3


def test_the_host_and_the_scheduler_are_short():
    assert issue_cost().us == load_fitted().issue_us
    assert runtime_cost("Switch").us == runtime_cost("Merge").us < loop_turn_cost().us < load_fitted().start_us
