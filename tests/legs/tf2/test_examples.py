"""The examples of TensorFlow 2 learn on the device as they do on TensorFlow, and go on from their checkpoints."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests import fork_server
from tests.legs.tf2 import sides
from tests.legs.tf2.child import QUIET

EXAMPLES = Path(__file__).parents[3] / "examples"
START = "\nimport npu_device as npu\nnpu.open().as_default()\n"
"""Lines of a migrated script, behind its imports."""
FIGURE = re.compile(r"(?:loss|accuracy|mean|rate):? (\d+\.\d+)", re.IGNORECASE)


def printed(example: str, side: str, folder: Path, *words: str) -> str:
    """The lines that an example prints on a side."""
    source = EXAMPLES / example / "train.py"
    script = folder / f"{side}.py"
    text = source.read_text(encoding="utf-8")
    script.write_text(text.replace("\nHERE = ", f"{START}\nHERE = ", 1) if side == sides.DEVICE else text, encoding="utf-8")
    options = [f"--model_dir={folder / side}", *words]
    done = fork_server.python([script, *options], {**os.environ, **QUIET}, folder)
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout


def figures(text: str) -> list[float]:
    return [float(found) for found in FIGURE.findall(text)]


@pytest.mark.parametrize(
    ("example", "words"),
    [("keras_fit_tf2", [f"--data_dir={EXAMPLES / 'data'}", "--epochs=1"]), ("custom_loop_tf2", ["--steps=80"])],
)
def test_an_example_prints_on_the_device_what_it_prints_on_tensorflow(example: str, words: list[str], tmp_path: Path) -> None:
    plain, device = (printed(example, side, tmp_path, *words) for side in sides.SIDES)
    assert len(figures(plain)) > 2
    assert figures(device) == pytest.approx(figures(plain), rel=1e-2, abs=2e-3)


@pytest.mark.whole
def test_a_loop_goes_on_from_the_checkpoint_of_the_other_side(tmp_path: Path) -> None:
    printed("custom_loop_tf2", sides.DEVICE, tmp_path, "--steps=40")
    os.rename(tmp_path / sides.DEVICE, tmp_path / sides.PLAIN)
    text = printed("custom_loop_tf2", sides.PLAIN, tmp_path, "--steps=80")
    assert "going on behind step 40" in text and "step 80" in text
