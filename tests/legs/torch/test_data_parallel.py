"""DistributedDataParallel on simulated devices, against one process of PyTorch on the CPU that has the whole batch."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

from tests.legs.torch import data_parallel_cases as cases

TOLERANCE = 1e-6


def is_same(one, other, tolerance=0.0) -> bool:
    """Whether the weights of two models are the same; by default to the bit."""
    return all(np.abs(np.subtract(a, b)).max() <= tolerance for a, b in zip(one, other, strict=True))


def agreed(found, name):
    """The weights that all ranks have.  Raises: AssertionError where a bit differs."""
    assert all(is_same(found[0][name], other[name]) for other in found[1:]), name
    return found[0][name]


def test_two_and_four_ranks_train_as_one_does(pair, four):
    alone = cases.alone(cases.Perceptron)
    for ranks in (pair, four):
        found = ranks(cases.settings)
        for name in found[0]:
            assert is_same(agreed(found, name), alone, TOLERANCE), name


def test_gradients_that_go_by_hooks(pair):
    found, alone = pair(cases.hooks), cases.alone(cases.Perceptron)
    assert is_same(agreed(found, "allreduce"), alone, TOLERANCE)
    assert is_same(agreed(found, "built in"), alone, TOLERANCE)
    assert is_same(agreed(found, "float16"), alone, 2e-3)  # float16 has 11 bits


def test_gradients_of_several_passes_are_summed_before_they_are_exchanged(four):
    found, alone = four(cases.accumulation), cases.alone(cases.Perceptron)
    assert is_same(agreed(found, "plain"), alone, TOLERANCE)
    assert is_same(agreed(found, "views"), alone, TOLERANCE)


def test_networks_of_images(four):
    found = four(cases.images)
    assert is_same(agreed(found, "group norm"), cases.alone(lambda: cases.Images(lambda n: nn.GroupNorm(2, n))), TOLERANCE)
    assert is_same(agreed(found, "channels last"), found[0]["group norm"], TOLERANCE)
    # each rank normalises by its own part, so that running statistics differ until rank 0's are sent: the weights do not
    names = list(cases.Images().state_dict())
    trained = [place for place, name in enumerate(names) if "running" not in name]
    assert is_same([found[0]["batch norm"][at] for at in trained], [found[3]["batch norm"][at] for at in trained])
    assert is_same(agreed(found, "synchronised"), cases.alone(cases.Images), TOLERANCE)


def test_layers_that_are_not_used(pair):
    found = pair(cases.unused)
    alone = cases.alone(lambda: cases.Perceptron(has_unused=True))
    assert is_same(agreed(found, "trained"), alone, TOLERANCE)
    assert is_same(agreed(found, "static"), alone, TOLERANCE)
    assert is_same(found[0]["sometimes"], found[1]["sometimes"])
    assert np.abs(found[0]["sometimes"]).max() > 0
    for rank in found:
        assert rank["never"] is None
        assert rank["refusal"].startswith("Expected to have finished reduction in the prior iteration")
        assert "parameter 4 (sometimes.weight)" in rank["refusal"] and "find_unused_parameters=True" in rank["refusal"]


def test_ranks_with_more_steps_than_others(pair):
    found = pair(cases.uneven)
    assert is_same(found[0], found[1])


def test_mixed_precision_and_clipped_gradients(pair):
    found = pair(cases.mixed_precision)
    assert is_same(found[0], found[1])
    torch.manual_seed(0)
    assert not is_same(found[0], cases.weights(cases.Perceptron()), 1e-4)  # it has learnt


def test_an_optimizer_whose_state_is_divided_among_ranks(pair):
    found = pair(cases.shared_optimizer)
    assert is_same(agreed(found, "divided"), agreed(found, "whole"))


def test_models_that_are_refused(pair):
    for rank in pair(cases.refused):
        assert rank["count"].startswith("DDP expects same model across all ranks")
        assert rank["sparse"].endswith("make the embedding with sparse=False")


def test_an_error_in_backward_is_the_user_s_own(pair):
    for found in pair(cases.error_in_backward):
        assert found[0] == "division by zero"
        assert found[1].startswith("Expected to have finished reduction in the prior iteration")


def test_parameters_that_are_divided_among_ranks(pair):
    found, alone = pair(cases.sharded), cases.alone(cases.Perceptron)
    assert is_same(agreed(found, "wrapped"), alone, TOLERANCE)
    assert is_same(agreed(found, "by parameter"), alone, TOLERANCE)


def test_tensors_of_which_each_rank_has_rows(pair):
    whole = [[0, 1], [2, 3], [4, 5], [6, 7]]
    for rank, found in enumerate(pair(cases.divided_tensors)):
        assert found["part"] == whole[2 * rank : 2 * rank + 2]
        assert found["sum"] == 28
        assert found["doubled"] == [[2 * a, 2 * b] for a, b in whole]
        assert found["all_reduce"] == [2, 2]
