"""Collective operations of the backend hccl, against what torch.distributed's documentation says that each gives."""

from __future__ import annotations

import torch
import torch_npu

from tests.legs.torch import collective_cases as cases


def test_reductions_of_every_operator_and_type(four):
    for rank, found in enumerate(four(cases.reductions)):
        device = f"npu:{rank}"
        wanted = {"SUM": [10, 8], "MAX": [4, 2], "MIN": [1, 2], "PRODUCT": [24, 16], "AVG": [2.5, 2]}
        assert {name: found.pop(name) for name in wanted} == {name: (device, value) for name, value in wanted.items()}
        assert found.pop("torch.bool") == [True, True]
        assert set(map(tuple, found.values())) == {(6, 4)}


def test_tensors_go_from_rank_to_rank(four):
    everybody = [[rank, 10 * rank] for rank in range(4)]
    for rank, found in enumerate(four(cases.movements)):
        assert found["broadcast"] == [1, 10]
        assert found["all_gather"] == found["all_gather_single"] == everybody
        assert found["all_gather of other sizes"] == [[place] * (place + 1) for place in range(4)]
        assert found["gather"] == (everybody if rank == 0 else None)
        assert found["scatter"] == [rank, rank]


def test_sums_of_which_each_rank_has_a_part(four):
    for rank, found in enumerate(four(cases.sums_of_parts)):
        assert found["reduce"] == [10 if rank == 0 else rank + 1]  # the others keep theirs
        assert found["reduce_scatter"] == [4 * rank + 6]
        assert found["reduce_scatter_single"] == [6 * rank]


def test_each_rank_sends_a_part_to_each(four):
    for rank, found in enumerate(four(cases.all_to_all)):
        assert found["list"] == found["single"] == [10 * place + rank for place in range(4)]
        assert found["uneven"] == [place for place in range(4) for _ in range(place + rank)]


def test_messages_in_a_ring_while_each_waits_for_another(four):
    for rank, found in enumerate(four(cases.messages)):
        assert found == {"ring": (rank - 1) % 4, "batched": (rank - 1) % 4}


def test_objects_of_python(four):
    for rank, found in enumerate(four(cases.objects)):
        assert found == {"gathered": [{"rank": place} for place in range(4)], "shared": ["from 0"], "own": [rank]}


def test_operations_that_are_waited_for_later(pair):
    for found in pair(cases.works):
        assert found == {"good": [True] * 5, "sums": [2, 6, 5, 7, 9], "future": [2.0]}


def test_groups_of_some_ranks_and_of_the_hosts(four):
    for rank, found in enumerate(four(cases.groups)):
        assert found == {"pair": 2 if rank < 2 else 1, "host": 4, "backends": ("hccl", "gloo")}


def test_what_hccl_refuses_is_refused_in_a_line(pair):
    for found in pair(cases.refused):
        assert found["host"].startswith("No backend type associated with device type cpu")
        assert found["double"].startswith("HCCL allreduce: Unsupported data type torch.float64")
        assert found["operator"] == "Cannot use ReduceOp.BOR with HCCL"
        assert "Tensors must be contiguous" in found["gaps"]
        assert "dense" in found["sparse"]
        assert "name the rank" in found["anybody"]
        assert "output has 3 elements and has to have 2 times those of input, 2" in found["whole"]


def test_ranks_that_disagree_are_told_and_go_on(four):
    for rank, found in enumerate(four(cases.disagreements)):
        assert "rank 0 allreduce SUM float32[4]; rank 1 allreduce SUM float32[5]" in found["sizes"]
        assert "rank 0 broadcast from 0 float32[1]; ranks 1, 2, 3 barrier" in found["operations"]
        assert rank or found["message"] == "hccl: recv from rank 1 float32[4]: that rank sends float32[5]"
        assert found["afterwards"] == "4.0"


def test_observers_are_told_of_operations_with_their_bytes(pair):
    for rank, found in enumerate(pair(cases.told)):
        facts = {"bytes": 400, "ranks": 2}
        assert found == [("hccl::allreduce", facts, rank), ("hccl::allgather", facts, rank)]


def test_there_is_hccl():
    assert torch.distributed.is_hccl_available()
    assert torch_npu.distributed.is_hccl_available()
    assert torch.distributed.get_default_backend_for_device("npu") == "hccl"
