"""`python out/x.py` in an empty environment and `tf2npu run out/x.py` are the same run, bit for bit."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

from tests.e2e.conftest import TF2NPU
from tests.e2e.programs import PROGRAMS, ProgramUnderTest
from tests.how_many import some


def run(command: list[str | Path], program: ProgramUnderTest, out: Path, model_dir: Path) -> None:
    """Trains with dropout on, so that the device's random numbers are compared too."""
    command = [*command, out / program.script, *program.arguments, f"--model_dir={model_dir}"]
    done = subprocess.run(command, env={}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-6000:]


def checkpoints(folder: Path) -> dict[str, np.ndarray]:
    """Every tensor of every checkpoint below `folder`."""
    found = {}
    for index in sorted(folder.rglob("*.index")):
        reader = tf.train.load_checkpoint(str(index.with_suffix("")))
        for name in sorted(reader.get_variable_to_shape_map()):
            if name != "_CHECKPOINTABLE_OBJECT_GRAPH":  # a description, not a number
                found[f"{index.relative_to(folder)}:{name}"] = np.asarray(reader.get_tensor(name))
    return found


def scalars(folder: Path) -> dict[str, float]:
    """Every scalar summary below `folder` but the measured speed."""
    found = {}
    for path in sorted(folder.rglob("events.out*")):
        for event in tf.compat.v1.train.summary_iterator(str(path)):
            for value in event.summary.value:
                if value.HasField("simple_value") and value.tag != "global_step/sec":
                    found[f"{path.parent.relative_to(folder)}:{event.step}:{value.tag}"] = value.simple_value
    return found


@pytest.mark.whole(but=("lenet_estimator",))
@pytest.mark.parametrize("program", some(PROGRAMS, 3), ids=lambda program: program.name)
def test_both_ways_give_the_same_bits(program, converted, tmp_path):
    run([sys.executable], program, converted(program), tmp_path / "python")
    run([TF2NPU, "run"], program, converted(program), tmp_path / "launcher")
    left, right = checkpoints(tmp_path / "python"), checkpoints(tmp_path / "launcher")
    assert left and left.keys() == right.keys()
    assert [name for name in left if left[name].tobytes() != right[name].tobytes()] == []
    assert scalars(tmp_path / "python") == scalars(tmp_path / "launcher")
    for history in (tmp_path / "python").rglob("history.csv"):
        assert history.read_text() == (tmp_path / "launcher" / history.name).read_text()
