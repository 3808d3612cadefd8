"""Two ranks with DATA_PARALLEL train as one with twice the batch; collectives give what numpy does of both ranks' tensors."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from mindspore import Tensor, context, nn, ops
from mindspore.communication import management

from tests.legs.mindspore.small_training import BATCH, INPUTS, OUTPUTS, ROWS, columns

ROOT = Path(__file__).parents[3]
RANKS = (0, 1)


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """The arrays that each rank has saved."""
    folder = tmp_path_factory.mktemp("ranks")
    program = Path(__file__).parent / "rank_program.py"
    command = [sys.executable, "-m", "tf2npu", "run", "--frontend", "mindspore", "--devices", "2", str(program), str(folder)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    ended = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
    assert ended.returncode == 0, ended.stderr[-3000:]
    return [dict(np.load(folder / f"{rank}.npz")) for rank in RANKS]


def test_ranks_that_work_alone_are_told_what_makes_them_one_training(tmp_path):
    (tmp_path / "train.py").write_text("import mindspore\n")
    command = [sys.executable, "-m", "tf2npu", "run", "--frontend", "mindspore", "--devices", "2", "train.py"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    ended = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300)
    assert ended.returncode == 0 and "parallel_mode=ParallelMode.DATA_PARALLEL" in ended.stderr, ended.stderr
    assert "tf2npu convert" not in ended.stderr


def momentum(n_steps, rate=0.1):
    """The matrix after steps of momentum over whole batches, by numpy."""
    inputs, labels = columns()
    weight, speed = np.full((INPUTS, OUTPUTS), 0.1), 0.0
    for step in range(n_steps):
        at = slice(step * BATCH % ROWS, step * BATCH % ROWS + BATCH)
        x, y = inputs[at].astype(np.float64), labels[at].astype(np.float64)
        wrong = x @ weight - y
        speed = 0.9 * speed + x.T @ wrong * 2 / wrong.size
        weight = weight - rate * speed
    return weight


N_STEPS = 2 * ROWS // BATCH


def test_ranks_have_their_numbers(found):
    assert [(int(one["rank"]), int(one["local rank"]), int(one["in the group"])) for one in found] == [(0, 0, 1), (1, 1, 0)]


def test_collectives_are_those_of_numpy(found):
    given = [np.arange(4, dtype=np.float32).reshape(2, 2) + 10 * rank for rank in RANKS]
    for rank in RANKS:
        wanted = {
            "sum": sum(given), "largest": np.maximum(*given), "gathered": np.concatenate(given), "of rank 1": given[1],
            "scattered": sum(given)[rank : rank + 1], "gradient": 2 * given[rank] * len(RANKS),
        }  # fmt: skip
        for name, value in wanted.items():
            np.testing.assert_array_equal(found[rank][name], value, err_msg=name)


@pytest.mark.parametrize("is_sunk", [False, True])
def test_two_ranks_are_one_with_twice_the_batch(found, is_sunk):
    for one in found:
        np.testing.assert_allclose(one[f"mean {is_sunk}"], momentum(N_STEPS), rtol=1e-5, atol=1e-5)


def test_without_gradients_mean_gradients_are_added(found):
    for one in found:
        np.testing.assert_allclose(one["total"], momentum(N_STEPS, rate=0.2), rtol=1e-5, atol=1e-5)


def test_parameter_broadcast_gives_all_the_parameters_of_rank_0(found):
    for one in found:
        np.testing.assert_allclose(one["broadcast"], momentum(N_STEPS), rtol=1e-5, atol=1e-5)


def test_the_overflow_of_one_rank_drops_the_update_of_all(found):
    np.testing.assert_array_equal(found[0]["overflow"], np.full((INPUTS, OUTPUTS), 0.1, np.float32))
    np.testing.assert_array_equal(found[1]["overflow"], np.full((INPUTS, OUTPUTS), 3e38, np.float32))


@pytest.fixture
def is_up():
    context.set_context(device_target="Ascend")
    management.init()
    yield
    management.release()
    context.reset_auto_parallel_context()


def test_a_process_of_its_own_is_rank_0_of_1(is_up):
    assert (management.get_rank(), management.get_group_size(), management.get_local_rank_size()) == (0, 1, 1)
    np.testing.assert_array_equal(ops.AllReduce()(Tensor([1.0, 2.0])).asnumpy(), [1, 2])


BAD = {
    "another library": (lambda: management.init("nccl"), RuntimeError, 'an Ascend NPU has "hccl"'),
    "a library that is no text": (lambda: management.init(3), TypeError, "a text"),
    "a group that is no text": (lambda: management.get_rank(3), TypeError, "the name of a group"),
    "a group that is not there": (lambda: management.get_rank("ours"), ValueError, "there is no group 'ours'"),
    "the group of all": (lambda: management.destroy_group("hccl_world_group"), ValueError, "that create_group made"),
    "ranks that are no list": (lambda: management.create_group("ours", 0), TypeError, "a list of ranks"),
    "a rank that is not there": (lambda: management.create_group("ours", [0, 7]), ValueError, "below 1"),
    "another reduction": (lambda: ops.AllReduce("mean"), ValueError, "one of min, max, prod, sum"),
    "no degree": (lambda: nn.DistributedGradReducer([], True, 0), ValueError, "degree=0"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_does_not_fit_is_said(case, is_up):
    call, kind, words = BAD[case]
    with pytest.raises(kind, match=words):
        call()


def test_a_call_before_init_is_said():
    management.release()
    with pytest.raises(RuntimeError, match=r"init\(\) first"):
        management.get_rank()
