"""Callbacks are told of each moment in order; those of r1.1 print, save and stop as its pages say."""

from __future__ import annotations

import os
import re

import mindspore as ms
import numpy as np
import pytest
from mindspore import context
from mindspore.train.callback import (
    Callback,
    CheckpointConfig,
    LearningRateScheduler,
    LossMonitor,
    ModelCheckpoint,
    RunContext,
    SummaryCollector,
    TimeMonitor,
    _InternalCallbackParam,
)

from tests.legs.mindspore.small_training import BATCH, ROWS, dataset, model, trained_by_numpy

STEPS = ROWS // BATCH
MOMENTS = ("begin", "epoch_begin", "step_begin", "step_end", "epoch_end", "end")


class Listener(Callback):
    """Keeps the names of moments; stops after a step."""

    def __init__(self, last_step=None):
        self.heard, self.last_step = [], last_step

    def __enter__(self):
        self.heard.append("enter")
        return self

    def __exit__(self, *err):
        self.heard.append("exit")


def _listen(moment):
    def hear(self, run_context):
        self.heard.append(moment)
        if moment == "step_end" and run_context.original_args().cur_step_num == self.last_step:
            run_context.request_stop()

    return hear


for _moment in MOMENTS:
    setattr(Listener, _moment, _listen(_moment))


@pytest.fixture(autouse=True)
def graph_mode():
    before = context.get_context("mode")
    context.set_context(mode=context.GRAPH_MODE)
    yield
    context.set_context(mode=before)


def epoch(n_steps):
    return ["epoch_begin", *["step_begin", "step_end"] * n_steps, "epoch_end"]


@pytest.mark.parametrize("is_sunk", [False, True])
def test_moments_come_in_order(is_sunk):
    listener = Listener()
    model()[1].train(2, dataset(), callbacks=[listener], dataset_sink_mode=is_sunk)
    assert listener.heard == ["enter", "begin", *epoch(1 if is_sunk else STEPS) * 2, "end", "exit"]


def test_a_callback_stops_the_training():
    listener = Listener(last_step=2)
    network, trainer = model()
    trainer.train(3, dataset(), callbacks=listener, dataset_sink_mode=False)
    assert listener.heard == ["enter", "begin", *epoch(2), "end", "exit"]
    np.testing.assert_allclose(network.weight.asnumpy(), trained_by_numpy(2)[1], rtol=1e-5)


def test_callbacks_are_told_what_those_of_r1_1_are():
    seen = {}

    class Look(Callback):
        def epoch_end(self, run_context):
            seen.update(run_context.original_args())

    network, trainer = model()
    data = dataset()
    trainer.train(1, data, callbacks=Look(), sink_size=3)
    wanted = {"epoch_num": 1, "cur_epoch_num": 1, "cur_step_num": 3, "batch_num": 3, "mode": "train", "device_number": 1}
    assert wanted.items() <= seen.items()
    assert seen["network"] is network and seen["train_network"] is trainer.train_network and seen["train_dataset"] is data
    with pytest.raises(AttributeError, match="'lr'"):
        _InternalCallbackParam(mode="train").lr  # noqa: B018


@pytest.mark.parametrize(("is_sunk", "times"), [(False, 1), (False, 3), (True, 1), (False, 0)])
def test_loss_monitor_prints_every_so_many_steps(is_sunk, times, capsys):
    model()[1].train(2, dataset(), callbacks=LossMonitor(times), dataset_sink_mode=is_sunk)
    losses = trained_by_numpy(2 * STEPS)[0]
    steps = [step for step in range(1, 2 * STEPS + 1) if times and step % times == 0 and (not is_sunk or step % STEPS == 0)]
    lines = re.findall(r"epoch: (\d+) step: (\d+), loss is (\S+)\n", capsys.readouterr().out)
    assert [(int(e), int(s)) for e, s, _ in lines] == [((step - 1) // STEPS + 1, (step - 1) % STEPS + 1) for step in steps]
    np.testing.assert_allclose([float(loss) for *_, loss in lines], [losses[step - 1] for step in steps], rtol=1e-4)


@pytest.mark.parametrize("loss", [float("nan"), np.float32("inf"), np.array([1, np.nan], np.float32)])
def test_loss_monitor_refuses_a_loss_that_is_no_number(loss):
    outputs = (ms.Tensor(loss, ms.float32), ms.Tensor(True), ms.Tensor(2.0))
    told = _InternalCallbackParam(net_outputs=outputs, cur_epoch_num=2, cur_step_num=5, batch_num=STEPS)
    with pytest.raises(ValueError, match=r"epoch: 2 step: 1\. Invalid loss, terminating training"):
        LossMonitor().step_end(RunContext(told))


def test_time_monitor_prints_the_time_of_an_epoch(capsys):
    model()[1].train(2, dataset(), callbacks=TimeMonitor())
    assert len(re.findall(r"epoch time: [\d.]+ ms, per step time: [\d.]+ ms\n", capsys.readouterr().out)) == 2


def test_learning_rate_scheduler_changes_the_rate_between_steps(capsys):
    network, trainer = model()
    halves = LearningRateScheduler(lambda rate, step: rate / 2 if step == 2 else rate)
    trainer.train(1, dataset(), callbacks=[halves], dataset_sink_mode=False)
    assert capsys.readouterr().out == "At step 2, learning_rate change to 0.25\n"
    half = trained_by_numpy(STEPS, rates=[0.5, 0.5, 0.25, 0.25])[1]
    np.testing.assert_allclose(network.weight.asnumpy(), half, rtol=1e-5, atol=1e-6)


def checkpoints(folder):
    return sorted(path.name for path in folder.iterdir())


def test_checkpoints_are_named_by_epoch_and_step_and_the_oldest_go(tmp_path):
    saver = ModelCheckpoint("net", str(tmp_path), CheckpointConfig(save_checkpoint_steps=3, keep_checkpoint_max=2))
    model()[1].train(3, dataset(), callbacks=saver, dataset_sink_mode=False)
    assert checkpoints(tmp_path) == ["net-3_1.ckpt", "net-3_4.ckpt"]
    assert saver.latest_ckpt_file_name == os.path.join(os.path.realpath(tmp_path), "net-3_4.ckpt")


def test_a_sunk_training_saves_between_epochs_and_at_the_end(tmp_path):
    saver = ModelCheckpoint("net", str(tmp_path), CheckpointConfig(save_checkpoint_steps=2 * STEPS))
    model()[1].train(3, dataset(), callbacks=saver)
    assert checkpoints(tmp_path) == ["net-2_4.ckpt", "net-3_4.ckpt"]
    saved = ms.load_checkpoint(str(tmp_path / "net-2_4.ckpt"))
    np.testing.assert_allclose(saved["weight"].asnumpy(), trained_by_numpy(2 * STEPS)[1], rtol=1e-5, atol=1e-6)
    assert saved["learning_rate"].asnumpy() == np.float32(0.5)


def test_a_prefix_that_is_taken_gets_a_number(tmp_path):
    for _ in range(3):
        model()[1].train(1, dataset(), callbacks=ModelCheckpoint("net", str(tmp_path)))
    assert checkpoints(tmp_path) == ["net-1_4.ckpt", "net_1-1_4.ckpt", "net_2-1_4.ckpt"]


def test_a_network_of_its_own_is_saved(tmp_path):
    network, trainer = model()
    saver = ModelCheckpoint(directory=str(tmp_path), config=CheckpointConfig(saved_network=network))
    trainer.train(1, dataset(), callbacks=saver)
    assert set(ms.load_checkpoint(str(tmp_path / "CKP-1_4.ckpt"))) == {"weight"}


def test_checkpoint_settings_give_way_as_in_r1_1():
    both = CheckpointConfig(2, save_checkpoint_seconds=3, keep_checkpoint_max=4, keep_checkpoint_per_n_minutes=5)
    assert both.get_checkpoint_policy() == {
        "save_checkpoint_steps": 2, "save_checkpoint_seconds": None, "keep_checkpoint_max": 4,
        "keep_checkpoint_per_n_minutes": None, "saved_network": None,
    }  # fmt: skip
    assert CheckpointConfig(keep_checkpoint_max=0).keep_checkpoint_max == 1


BAD = {
    "all of them 0": (lambda: CheckpointConfig(0, 0, 0, 0), ValueError, "all of its numbers"),
    "a negative number": (lambda: CheckpointConfig(-1), ValueError, "save_checkpoint_steps=-1"),
    "a saved network of another kind": (lambda: CheckpointConfig(saved_network=3), TypeError, "a Cell or None"),
    "a prefix with a slash": (lambda: ModelCheckpoint("a/b"), ValueError, "without a slash"),
    "a config of another kind": (lambda: ModelCheckpoint(config={}), TypeError, "a CheckpointConfig"),
    "negative times": (lambda: LossMonitor(-1), ValueError, "per_print_times=-1"),
    "no summary folder": (lambda: SummaryCollector(""), ValueError, "summary_dir"),
    "a context of another kind": (lambda: RunContext([]), TypeError, "a dict"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_does_not_fit_is_said(case):
    call, kind, words = BAD[case]
    with pytest.raises(kind, match=words):
        call()


def test_a_summary_collector_says_that_it_writes_nothing(tmp_path, capsys):
    model()[1].train(1, dataset(), callbacks=SummaryCollector(str(tmp_path)))
    assert "SummaryCollector writes nothing" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
