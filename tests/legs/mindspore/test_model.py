"""Model trains, evaluates and predicts as numpy does, sunk or not, in both modes; what it cannot do it says."""

from __future__ import annotations

import re

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
import pytest
from mindspore import Tensor, context, nn
from mindspore.train.callback import Callback, LossMonitor

from tests.legs.mindspore.small_training import BATCH, ROWS, Matrix, SquaredError, columns, dataset, model, trained_by_numpy

STEPS = ROWS // BATCH


class Losses(Callback):
    """Keeps (epoch, step, loss)."""

    def __init__(self):
        self.kept = []

    def step_end(self, run_context):
        told = run_context.original_args()
        self.kept.append((told.cur_epoch_num, told.cur_step_num, float(told.net_outputs.asnumpy())))


@pytest.fixture(autouse=True)
def graph_mode():
    before = {name: context.get_context(name) for name in ("mode", "device_target")}
    context.set_context(mode=context.GRAPH_MODE)
    yield
    context.set_context(**before)


@pytest.mark.parametrize("mode", [context.GRAPH_MODE, context.PYNATIVE_MODE])
@pytest.mark.parametrize("is_sunk", [False, True])
def test_training_is_that_of_numpy(is_sunk, mode):
    context.set_context(mode=mode)
    network, trainer = model()
    losses = Losses()
    trainer.train(3, dataset(), callbacks=losses, dataset_sink_mode=is_sunk)
    wanted, weight = trained_by_numpy(3 * STEPS)
    np.testing.assert_allclose(network.weight.asnumpy(), weight, rtol=1e-5, atol=1e-6)
    every = STEPS if is_sunk and mode == context.GRAPH_MODE else 1
    assert [step for _, step, _ in losses.kept] == list(range(every, 3 * STEPS + 1, every))
    np.testing.assert_allclose([loss for *_, loss in losses.kept], wanted[every - 1 :: every], rtol=1e-4)


def test_a_sunk_epoch_of_fewer_steps_goes_on_in_the_data():
    network, trainer = model()
    losses = Losses()
    trainer.train(3, dataset(), callbacks=losses, sink_size=3)
    wanted, weight = trained_by_numpy(9)
    assert [(epoch, step) for epoch, step, _ in losses.kept] == [(1, 3), (2, 6), (3, 9)]
    np.testing.assert_allclose([loss for *_, loss in losses.kept], wanted[2::3], rtol=1e-4)
    np.testing.assert_allclose(network.weight.asnumpy(), weight, rtol=1e-5, atol=1e-6)


def test_a_second_training_begins_with_the_first_row():
    network, trainer = model()
    trainer.train(1, dataset(), sink_size=3)
    trainer.train(1, dataset(), sink_size=3)
    weight = trained_by_numpy(3, first=trained_by_numpy(3)[1])[1]
    np.testing.assert_allclose(network.weight.asnumpy(), weight, rtol=1e-5, atol=1e-6)


def test_the_target_cpu_trains_without_sinking_and_says_so(capsys):
    context.set_context(device_target="CPU")
    losses = Losses()
    model()[1].train(1, dataset(), callbacks=losses)
    assert len(losses.kept) == STEPS
    assert 'cannot be sunk on the target "CPU"' in capsys.readouterr().err
    with pytest.raises(RuntimeError, match="dataset_sink_mode=False"):
        ms.DatasetHelper(dataset())


@pytest.mark.parametrize("is_sunk", [False, True])
def test_eval_gives_the_metrics_of_all_batches(is_sunk):
    network, trainer = model(metrics={"mse", "mae", "loss"})
    inputs, labels = columns()
    wrong = inputs @ network.weight.asnumpy() - labels
    found = trainer.eval(dataset(), dataset_sink_mode=is_sunk)
    assert found == pytest.approx(
        {"mse": (wrong**2).sum() / ROWS, "mae": np.abs(wrong).sum() / ROWS, "loss": np.mean(wrong**2)}, rel=1e-5
    )


def test_eval_within_a_training_leaves_the_network_training():
    network, trainer = model(metrics={"mse"})
    seen = []

    class Evaluate(Callback):
        def step_end(self, run_context):
            trainer.eval(dataset(), dataset_sink_mode=False)
            seen.append(network.training)

    trainer.train(1, dataset(), callbacks=Evaluate(), dataset_sink_mode=False)
    assert seen == [True] * STEPS
    trainer.eval(dataset())
    assert not network.training


def test_eval_indexes_say_what_an_own_eval_network_gives():
    class Own(nn.Cell):
        def __init__(self, network):
            super().__init__(auto_prefix=False)
            self.network = network

        def construct(self, data, label):
            outputs = self.network(data)
            return label, outputs, (outputs - label).mean()

    network = Matrix()
    evaluator = ms.Model(network, metrics={"mse": nn.MSE(), "loss": nn.Loss()}, eval_network=Own(network), eval_indexes=[2, 1, 0])
    inputs, labels = columns()
    wrong = inputs @ network.weight.asnumpy() - labels
    assert evaluator.eval(dataset()) == pytest.approx({"mse": (wrong**2).sum() / ROWS, "loss": wrong.mean()}, rel=1e-4)


def test_predict_gives_the_outputs_of_the_trained_network():
    network, trainer = model()
    trainer.train(1, dataset())
    inputs = columns()[0]
    found = trainer.predict(Tensor(inputs)).asnumpy()
    np.testing.assert_allclose(found, inputs @ network.weight.asnumpy(), rtol=1e-5)


def test_dataset_helper_and_a_connected_network_do_an_epoch_a_call():
    trainer = model()[1]
    helper = ms.DatasetHelper(dataset(), dataset_sink_mode=True, sink_size=2)
    connected = ms.connect_network_with_dataset(trainer.train_network, helper)
    losses = []
    for _ in range(3):
        for inputs in helper:
            assert inputs == ()
            losses.append(float(connected(*inputs).asnumpy()))
    assert helper.sink_size() == 2
    np.testing.assert_allclose(losses, trained_by_numpy(6)[0][1::2], rtol=1e-4)
    with pytest.raises(RuntimeError, match="dataset_sink_mode=True"):
        ms.connect_network_with_dataset(trainer.train_network, ms.DatasetHelper(dataset(), dataset_sink_mode=False))


BAD = {
    "a sink_size of 0": (lambda: model()[1].train(1, dataset(), sink_size=0), ValueError, "sink_size=0: -1 for the whole"),
    "a sink_size of -2": (lambda: ms.DatasetHelper(dataset(), sink_size=-2), ValueError, "sink_size=-2"),
    "a last batch of another shape": (lambda: model()[1].train(2, dataset(30)), ValueError, "drop_remainder=True"),
    "the same in an evaluation": (lambda: model(metrics={"mse"})[1].eval(dataset(30)), ValueError, "drop_remainder=True"),
    "a third column, sunk": (
        lambda: model()[1].train(1, dataset(n_columns=3)),
        ValueError,
        "3 columns, and WithLossCell.construct takes 2 inputs (data, label)",
    ),
    "a third column": (lambda: model()[1].train(1, dataset(n_columns=3), dataset_sink_mode=False), ValueError, "has 3 columns"),
    "a missing column": (
        lambda: ms.Model(nn.WithLossCell(Matrix(), SquaredError())).train(1, dataset(n_columns=1)),
        ValueError,
        "1 columns, and WithLossCell.construct takes 2 inputs",
    ),
    "an empty dataset": (lambda: model()[1].train(1, dataset(4, drop_remainder=True)), ValueError, "has no batch"),
    "a list for a dataset": (lambda: model()[1].train(1, [1, 2]), TypeError, "list is no dataset of mindspore.dataset"),
    "no epoch": (lambda: model()[1].train(0, dataset()), ValueError, "epoch=0"),
    "an unknown argument": (lambda: model(loss_scale=2), ValueError, "Model(loss_scale=...)"),
    "an unknown level": (lambda: model(amp_level="O1"), ValueError, "amp_level|level='O1'"),
    "no metrics": (lambda: model()[1].eval(dataset()), ValueError, "needs metrics"),
    "metrics without a loss": (lambda: ms.Model(Matrix(), metrics={"acc"}), ValueError, "loss_fn= or eval_network="),
    "a list of metrics": (lambda: model(metrics=["acc"]), TypeError, "a set of names"),
    "an unknown metric": (lambda: model(metrics={"auc"}), KeyError, "there is no metric 'auc'"),
    "a scale without an optimizer": (
        lambda: ms.Model(Matrix(), SquaredError(), loss_scale_manager=ms.FixedLossScaleManager()),
        ValueError,
        "needs optimizer=",
    ),
    "a callback of another kind": (lambda: model()[1].train(1, dataset(), callbacks=[print]), TypeError, "is none"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_does_not_fit_is_said(case):
    call, kind, words = BAD[case]
    with pytest.raises(kind) as raised:
        call()
    assert any(part in str(raised.value) for part in words.split("|"))


def test_the_loss_that_is_no_number_ends_the_training(capsys):
    with pytest.raises(ValueError, match=r"epoch: 1 step: \d+. Invalid loss, terminating training"):
        model(rate=1e30)[1].train(1, dataset(), callbacks=LossMonitor(), dataset_sink_mode=False)
    assert re.match(r"epoch: 1 step: 1, loss is [\d.]+\n", capsys.readouterr().out)


@pytest.mark.parametrize("is_sunk", [False, True])
def test_a_rate_for_fewer_steps_ends_the_training_after_them(is_sunk):
    network = Matrix()
    optimizer = nn.Momentum(network.trainable_params(), [0.1, 0.2], 0.9)
    with pytest.raises(ValueError, match=r"^the learning rate has 2 values[^\n]*$"):
        ms.Model(network, SquaredError(), optimizer).train(1, dataset(), dataset_sink_mode=is_sunk)


@pytest.mark.parametrize("is_sunk", [False, True])
def test_what_a_program_s_own_function_raises_is_told(is_sunk):
    def broken(data):
        raise KeyError("mine")

    rows = ds.NumpySlicesDataset(columns(), ["data", "label"], shuffle=False).map(broken, ["data"]).batch(BATCH)
    with pytest.raises(RuntimeError, match="broken failed on row 0: KeyError: 'mine'"):
        model()[1].train(1, rows, dataset_sink_mode=is_sunk)


def test_a_training_goes_on_from_its_checkpoint(tmp_path):
    def trainer_of(network):
        groups = [{"params": network.trainable_params(), "weight_decay": 0.01}]
        return ms.Model(network, SquaredError(), nn.Adam(groups, nn.piecewise_constant_lr([6, 12], [0.1, 0.05])))

    first, second, path = Matrix(), Matrix(), str(tmp_path / "a.ckpt")
    through, resumed = trainer_of(first), trainer_of(second)
    through.train(1, dataset())
    ms.save_checkpoint(through.train_network, path)
    through.train(2, dataset())
    assert ms.load_param_into_net(resumed.train_network, ms.load_checkpoint(path)) == []
    resumed.train(2, dataset())
    np.testing.assert_array_equal(first.weight.asnumpy(), second.weight.asnumpy())
