"""Programs with the API that guides of MindSpore r1.0 and r1.1 use run from the command line, each in a process of its own."""

from __future__ import annotations

import os
import re
from pathlib import Path

from tests import fork_server

ROOT = Path(__file__).parents[3]
PROGRAMS = Path(__file__).parent / "programs"


def printed(name: str, folder: Path) -> str:
    """The output of a program, which ran on the device whole."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    ended = fork_server.tf2npu(["run", "--frontend", "mindspore", PROGRAMS / name], environment, folder)
    assert ended.returncode == 0, ended.stderr
    assert "tf2npu's package for a simulated Ascend device" in ended.stderr and "100.00 % of" in ended.stderr
    return ended.stdout


def numbers(pattern: str, text: str) -> list[float]:
    """The numbers that a pattern finds."""
    return list(map(float, re.findall(pattern, text)))


def test_a_step_with_labels_of_zero_has_losses_of_zero_and_moves_the_weights(tmp_path: Path) -> None:
    text = printed("zero_labels.py", tmp_path)
    assert "losses (32,)" in text and text.count("0.") == 32
    assert abs(numbers(r"weight (\S+)", text)[0] - (1 - 0.5 * 32 / 6)) < 1e-5  # the gradient is softmax - labels, of 32 rows


def test_a_loop_over_a_sunk_dataset_gives_an_empty_tuple_an_epoch(tmp_path: Path) -> None:
    text = printed("lenet_loop.py", tmp_path)
    losses = numbers(r"inputs 0 loss (\S+)", text)
    assert len(losses) == 6 and losses[-1] < 0.1 < losses[0]
    assert numbers(r"accuracy (\S+)", text) == [1.0]


def test_a_model_trains_with_a_sink_size_and_is_restored(tmp_path: Path) -> None:
    text = printed("model_sink.py", tmp_path)
    losses = numbers(r"epoch: \d step: 16, loss is (\S+)", text)
    assert len(losses) == 3 and losses[-1] < 0.05
    assert text.count("epoch time:") == 3
    assert numbers(r"metrics {'Accuracy': (\S+)}", text) == numbers(r"restored {'Accuracy': (\S+)}", text) == [1.0]
    files = sorted(path.name for path in tmp_path.glob("*.ckpt"))
    assert files == ["small-2_16.ckpt", "small-3_16.ckpt"]  # the limit is two


def test_a_second_derivative_is_twelve_in_both_modes(tmp_path: Path) -> None:
    assert printed("second_derivative.py", tmp_path).splitlines() == ["second 12.0", "function 5.0"] * 2


def test_a_residual_network_trains_in_mixed_precision(tmp_path: Path) -> None:
    text = printed("small_resnet.py", tmp_path)
    losses = numbers(r"step \d+ loss (\S+) Float32", text)
    assert len(losses) == 4 and losses[-1] < 0.1 < losses[0]
    assert numbers(r"metrics {'acc': (\S+)}", text) == [1.0]
