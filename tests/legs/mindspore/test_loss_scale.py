"""A scaled loss trains as one that is not scaled; an overflow drops the update and moves the scale; levels of mixed precision."""

from __future__ import annotations

import itertools

import mindspore as ms
import mindspore.ops.composite as C
import mindspore.ops.functional as F
import mindspore.ops.operations as P
import numpy as np
import pytest
from mindspore import Parameter, Tensor, context, nn
from mindspore.train import amp

from tests.legs.mindspore.small_training import BATCH, ROWS, Descent, Matrix, SquaredError, dataset, model, trained_by_numpy

STEPS = ROWS // BATCH
LARGE = 2.0**20
"""A scale with which gradients of fp16 overflow here."""


@pytest.fixture(autouse=True)
def graph_mode():
    before = context.get_context("mode")
    context.set_context(mode=context.GRAPH_MODE, device_target="Ascend")
    yield
    context.set_context(mode=before, device_target="Ascend")


@pytest.mark.parametrize("is_sunk", [False, True])
@pytest.mark.parametrize("make", [ms.FixedLossScaleManager, ms.DynamicLossScaleManager])
def test_a_scaled_loss_trains_as_one_that_is_not(make, is_sunk):
    network, trainer = model(loss_scale_manager=make(64))
    trainer.train(2, dataset(), dataset_sink_mode=is_sunk)
    np.testing.assert_allclose(network.weight.asnumpy(), trained_by_numpy(2 * STEPS)[1], rtol=1e-5, atol=1e-6)
    assert trainer.train_network.scale_sense.asnumpy() == 64


def test_without_dropping_the_optimizer_scales_down():
    network = Matrix()
    optimizer = nn.Momentum(network.trainable_params(), 0.5, 0.0, loss_scale=64.0)
    manager = ms.FixedLossScaleManager(64, drop_overflow_update=False)
    ms.Model(network, SquaredError(), optimizer, loss_scale_manager=manager).train(1, dataset())
    np.testing.assert_allclose(network.weight.asnumpy(), trained_by_numpy(STEPS)[1], rtol=1e-5, atol=1e-6)


class Half(nn.Cell):
    """A network in fp16 with its loss in fp32; its forward pass overflows where it is asked to."""

    def __init__(self, network, overflows_forward=False):
        super().__init__(auto_prefix=False)
        self.network, self.loss, self.overflows_forward = network.to_float(ms.float16), SquaredError(), overflows_forward

    def construct(self, x, y):
        if self.overflows_forward:
            y = y + 0 * F.cast(F.cast(y * 1e9, ms.float16), ms.float32)
        return self.loss(F.cast(self.network(x), ms.float32), y)


_scaled_down = C.MultitypeFuncGraph("scaled_down")


@_scaled_down.register("Tensor", "Tensor")
def _(scale, gradient):
    return gradient * F.cast(P.Reciprocal()(scale), F.dtype(gradient))


class StepWithOwnStatus(nn.Cell):
    """A step as models of r1.1 write it: they read the float status themselves."""

    def __init__(self, network, optimizer, scale_update_cell):
        super().__init__(auto_prefix=False)
        self.network, self.optimizer, self.weights = network, optimizer, optimizer.parameters
        self.grad = C.GradOperation(get_by_list=True, sens_param=True)
        self.alloc_status, self.get_status = P.NPUAllocFloatStatus(), P.NPUGetFloatStatus()
        self.clear_before_grad = P.NPUClearFloatStatus()
        self.reduce_sum, self.less_equal, self.base = P.ReduceSum(keep_dims=False), P.LessEqual(), Tensor(1, ms.float32)
        self.hyper_map, self.depend_parameter_use = C.HyperMap(), P.ControlDepend(depend_mode=1)
        self.loss_scaling_manager = scale_update_cell
        self.loss_scale = Parameter(Tensor(scale_update_cell.get_loss_scale(), ms.float32), name="loss_scale")

    @C.add_flags(has_effect=True)
    def construct(self, x, y):
        loss = self.network(x, y)
        scale = self.loss_scale
        init = self.alloc_status()
        clear = self.clear_before_grad(init)
        F.control_depend(loss, init)
        self.depend_parameter_use(clear, scale)
        gradients = self.grad(self.network, self.weights)(x, y, P.Cast()(scale, ms.float32))
        gradients = self.hyper_map(F.partial(_scaled_down, scale), gradients)
        flag = self.get_status(init)
        total = self.reduce_sum(init, (0,))
        F.control_depend(gradients, flag)
        F.control_depend(flag, total)
        overflow = cond = self.less_equal(self.base, total)
        if self.loss_scaling_manager is not None:
            overflow = self.loss_scaling_manager(self.loss_scale, cond)
        if overflow:
            done = False
        else:
            done = self.optimizer(gradients)
        return F.depend((loss, cond, scale), done)


class DerivedStep(nn.TrainOneStepWithLossScaleCell):
    """A step that is derived from MindSpore's, with its operators."""

    def construct(self, *inputs):
        loss = self.network(*inputs)
        init = self.alloc_status()
        self.clear_status(init)
        scale = self.scale_sense
        gradients = self.grad(self.network, self.weights)(*inputs, C.ones_like(loss) * F.cast(scale, F.dtype(loss)))
        gradients = self.grad_reducer(self.hyper_map(F.partial(_scaled_down, scale), gradients))
        self.get_status(init)
        cond = self.less_equal(self.base, self.reduce_sum(init, (0,)))
        if self.loss_scaling_manager(self.scale_sense, cond):
            done = False
        else:
            done = self.optimizer(gradients)
        return F.depend((loss, cond, scale), done)


STEP_CELLS = [nn.TrainOneStepWithLossScaleCell, StepWithOwnStatus, DerivedStep]


def steps(kind, first_scale, **options):
    """(network, what each step gives) of a step cell with a dynamic scale."""
    network = Matrix()
    optimizer = nn.Momentum(network.trainable_params(), 0.1, 0.9)
    update = nn.DynamicLossScaleUpdateCell(first_scale, 2, 1000)
    step = kind(Half(network, **options), optimizer, update).set_train()
    rows = dataset().create_tuple_iterator(num_epochs=1)
    return network, [tuple(one.asnumpy() for one in step(*row)) for row in rows]


@pytest.mark.parametrize("kind", STEP_CELLS)
def test_an_overflow_of_fp16_drops_the_update_and_halves_the_scale(kind):
    network, given = steps(kind, LARGE)
    assert [bool(overflow) for _, overflow, _ in given] == [True] * STEPS
    np.testing.assert_array_equal(network.weight.asnumpy(), np.full((4, 3), 0.1, np.float32))
    assert np.isfinite([loss for loss, *_ in given]).all()
    scales = [float(scale) for *_, scale in given]
    assert [after / before for before, after in itertools.pairwise(scales)] == [0.5] * (STEPS - 1)


@pytest.mark.parametrize("scale", [LARGE, 16.0])
def test_a_step_in_python_reads_the_status_of_the_operators_before(scale):
    context.set_context(mode=context.PYNATIVE_MODE)
    network, given = steps(StepWithOwnStatus, scale)
    assert [bool(overflow) for _, overflow, _ in given] == [scale == LARGE] * STEPS
    assert (network.weight.asnumpy() == np.float32(0.1)).all() == (scale == LARGE)


@pytest.mark.parametrize("kind", STEP_CELLS)
def test_a_scale_that_fits_updates(kind):
    network, given = steps(kind, 16.0)
    assert [bool(overflow) for _, overflow, _ in given] == [False] * STEPS
    assert not np.allclose(network.weight.asnumpy(), 0.1, atol=1e-3)


@pytest.mark.parametrize("kind", STEP_CELLS)
def test_an_overflow_of_the_forward_pass_is_cleared_before_the_gradients(kind):
    network, given = steps(kind, 16.0, overflows_forward=True)
    assert [bool(overflow) for _, overflow, _ in given] == [False] * STEPS
    np.testing.assert_allclose(network.weight.asnumpy(), steps(kind, 16.0)[0].weight.asnumpy(), rtol=1e-3)


@pytest.mark.parametrize("window", [1, 2, 3])
def test_the_cell_moves_the_scale_as_the_manager(window):
    manager = ms.DynamicLossScaleManager(8, scale_factor=2, scale_window=window)
    cell = manager.get_update_cell()
    scale, found, wanted = Parameter(Tensor(8.0), name="scale"), [], []
    for overflow in (False, False, True, False, False, False, False, True, True, True, True, False):
        assert bool(cell(scale, Tensor(overflow)).asnumpy()) == overflow
        manager.update_loss_scale(overflow)
        found.append(float(scale.asnumpy()))
        wanted.append(float(manager.get_loss_scale()))
    assert found == wanted  # the cell counts its window from the last change, the manager from the last overflow: no matter here


def test_a_manager_gives_up_after_too_many_overflows():
    manager = ms.DynamicLossScaleManager()
    with pytest.raises(RuntimeError, match="1001 steps in a row overflowed"):
        for _ in range(1002):
            manager.update_loss_scale(True)


class WithNorm(nn.Cell):
    """A product and a batch normalization."""

    def __init__(self):
        super().__init__()
        self.matrix, self.norm = Matrix(), nn.BatchNorm1d(3)
        self.types = []

    def construct(self, x):
        x = self.matrix(x)
        self.types.append(x.dtype)
        x = self.norm(x)
        self.types.append(x.dtype)
        return x


def test_levels_of_mixed_precision_cast_what_those_of_r1_1_do():
    seen = {}
    for level in ("O0", "O2", "O3", "auto"):
        network = WithNorm()
        network.__dict__["types"] = []
        trainer = ms.Model(network, SquaredError(), Descent(network.trainable_params()), amp_level=level, loss_scale_manager=None)
        names = [one.name for one in network.get_parameters()]
        trainer.train(1, dataset(), dataset_sink_mode=False)
        norm = network.norm
        is_wrapped = type(norm).__name__ == "OutputTo16"
        seen[level] = network.types[:2], is_wrapped, {one.dtype for one in network.get_parameters()}, names
    names = ["matrix.weight", "norm.moving_mean", "norm.moving_variance", "norm.gamma", "norm.beta"]
    half, whole, stored = [ms.float16] * 2, [ms.float32] * 2, {ms.float32}
    assert seen["O0"] == (whole, False, stored, names)
    assert seen["O2"] == (half, True, stored, names)
    assert seen["O3"] == seen["auto"] == (half, False, stored, names)


def test_a_level_brings_its_scale_unless_one_is_given():
    def network_of(**options):
        network = Matrix()
        return amp.build_train_network(network, Descent(network.trainable_params()), SquaredError(), **options)

    assert isinstance(network_of(level="O2"), nn.TrainOneStepWithLossScaleCell)
    assert network_of(level="O2").scale_sense.asnumpy() == 2**24
    assert not isinstance(network_of(level="O2", loss_scale_manager=None), nn.TrainOneStepWithLossScaleCell)
    assert not isinstance(network_of(level="O3"), nn.TrainOneStepWithLossScaleCell)
    assert network_of(loss_scale_manager=ms.FixedLossScaleManager(4, False)).sens == 4


def test_a_scale_that_python_gives_is_read_anew():
    network = Matrix()
    step = nn.TrainOneStepWithLossScaleCell(Half(network), nn.Momentum(network.trainable_params(), 0.1, 0.9), Tensor([16.0]))
    row = next(dataset().create_tuple_iterator(num_epochs=1))
    assert not step(*row)[1].asnumpy()
    step.set_sense_scale(Tensor([LARGE]))
    _, overflow, scale = step(*row)
    assert overflow.asnumpy() and scale.asnumpy() == LARGE


BAD = {
    "a scale below 1": (lambda: ms.FixedLossScaleManager(0.5), ValueError, "loss_scale=0.5"),
    "a first scale below 1": (lambda: ms.DynamicLossScaleManager(0.5), ValueError, "init_loss_scale=0.5"),
    "no window": (lambda: ms.DynamicLossScaleManager(scale_window=0), ValueError, "scale_window=0"),
    "no factor": (lambda: ms.DynamicLossScaleManager(scale_factor=0), ValueError, "scale_factor=0"),
    "a vector of scales": (
        lambda: nn.TrainOneStepWithLossScaleCell(Half(Matrix()), Descent([]), Tensor([1.0, 2.0])),
        ValueError,
        r"\(\) or \(1,\), not \(2,\)",
    ),
    "a number as scale": (lambda: nn.TrainOneStepWithLossScaleCell(Half(Matrix()), Descent([]), 8.0), TypeError, "not float"),
    "an unknown option": (
        lambda: amp.build_train_network(Matrix(), Descent([]), loss_scale=2),
        ValueError,
        "build_train_network",
    ),
    "an optimizer of another kind": (lambda: amp.build_train_network(Matrix(), 3), TypeError, "a Cell, not int"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_does_not_fit_is_said(case):
    call, kind, words = BAD[case]
    with pytest.raises(kind, match=words):
        call()
