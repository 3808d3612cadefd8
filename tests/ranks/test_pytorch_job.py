"""Ranks of PyTorch: requests that cannot be met, and the port at which the ranks of a job meet."""

from __future__ import annotations

import socket

import pytest

from tf2npu.ranks import pytorch_job
from tf2npu.ranks.launch_request import LaunchRequest


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"devices": 9}, "--devices 9: a simulated host has 8 devices, npu:0 to npu:7"),
        (
            {"hosts": ("a",)},
            "--hosts is for scripts for TensorFlow: start PyTorch's ranks on several machines by its own launcher",
        ),
        ({"rank_table": "t.json"}, "--rank-table is for scripts for TensorFlow"),
        ({"devices": 2, "engine": "mpi"}, "--engine is for scripts for TensorFlow"),
    ],
)
def test_requests_that_pytorch_has_no_ranks_for(given, said):
    assert str(pytorch_job.problem_of(LaunchRequest(**given))).startswith(said)
    with pytest.raises(ValueError, match=said.partition(":")[0]):
        pytorch_job.run(LaunchRequest(**given), ["train.py"], None)


def test_ranks_of_one_machine_can_be_started():
    assert pytorch_job.problem_of(LaunchRequest(devices=8)) is None


def test_a_port_is_one_job_s_alone_and_rank_0_can_listen_there():
    """Rank 0 asks for the port by its number and with SO_REUSEADDR, as PyTorch's store does."""
    with pytorch_job._held_port() as first, pytorch_job._held_port() as second, socket.socket() as rank_0:
        number = first.getsockname()[1]
        assert number != second.getsockname()[1]
        with socket.socket() as stranger, pytest.raises(OSError, match="in use"):
            stranger.bind((pytorch_job.ADDRESS, number))
        rank_0.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        rank_0.bind((pytorch_job.ADDRESS, number))
        rank_0.listen()
