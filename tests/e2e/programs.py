"""The programs that the end-to-end tests run, and how to start them as child processes."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from tests import fork_server

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
EXAMPLES = ROOT / "examples"
N_STEPS = 20


@dataclass(frozen=True)
class ProgramUnderTest:
    """A script, with the arguments that end it soon after step 20 and those that switch its dropout off."""

    name: str
    script: str
    arguments: tuple[str, ...]
    without_dropout: tuple[str, ...] = ()
    source: Path = EXAMPLES  # the folder that is converted
    is_all_on_device: bool = True  # no floating-point op of the training step is left to the host


PROGRAMS = (
    ProgramUnderTest("lenet_estimator", "lenet_estimator/train.py", ("--steps=20",), ("--dropout_rate=0",)),
    ProgramUnderTest("alexnet_session", "alexnet_session/finetune.py", ("--steps=20",), ("--keep_prob=1",)),
    ProgramUnderTest("keras_cnn", "keras_cnn/mnist_cnn.py", ("--epochs=1",), ("--dropout=0",)),
    ProgramUnderTest("transformer", "transformer/run_classifier.py", ("--steps=20", "--warmup_steps=10"),
                     ("--dropout=0",), is_all_on_device=False),
)  # fmt: skip

NEWCOMERS = tuple(
    ProgramUnderTest(name, f"{name}.py", *arguments, source=HERE / "newcomers", is_all_on_device=False)
    for name, arguments in {
        "mlp_feed_dict": [("--steps=20",)],
        "monitored_training": [("--steps=20",)],
        "keras_two_inputs": [("--epochs=1",), ("--dropout=0",)],
    }.items()
)
"""Programs written without the converter in mind and committed before it saw them."""
EVERY_PROGRAM = PROGRAMS + NEWCOMERS

# TensorFlow against itself: each setting gives the same program a different order of summation.
SETTINGS: dict[str, Mapping[str, str]] = {
    f"onednn={onednn} threads={threads}": {"TF_ENABLE_ONEDNN_OPTS": onednn, "TF_NUM_INTRAOP_THREADS": threads}
    for onednn in ("1", "0")
    for threads in ("2", "1")
}


def run_child(arguments: list[str | Path], environment: Mapping[str, str] | None = None) -> str:
    """Runs a script in a process in which TensorFlow is imported already; returns stdout, or fails with its stderr."""
    quiet = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"}
    done = fork_server.python(arguments, {**os.environ, **quiet, **(environment or {})})
    if done.returncode:
        raise AssertionError(f"exit {done.returncode} of {' '.join(map(str, arguments))}\n{done.stderr[-6000:]}")
    return done.stdout


def record(program: ProgramUnderTest, side: str, mode: str, source: Path, work: Path,
           environment: Mapping[str, str] | None = None) -> dict[str, list[float]]:  # fmt: skip
    """Losses and durations of the steps of `program` as found below `source`; its checkpoint is `work`/step0."""
    work.mkdir(parents=True, exist_ok=True)
    written, model_dir = work / f"{side}-{mode}.json", work / f"model-{side}-{mode}"
    shutil.rmtree(model_dir, ignore_errors=True)
    run_child([HERE / "recorded_run.py", side, mode, work / "step0", written, source / program.script,
               *program.arguments, f"--model_dir={model_dir}"], environment)  # fmt: skip
    return json.loads(written.read_text())


def record_losses(program: ProgramUnderTest, side: str, mode: str, source: Path, work: Path,
                  environment: Mapping[str, str] | None = None) -> list[float]:  # fmt: skip
    """The first losses of `program` without dropout."""
    program = replace(program, arguments=program.arguments + program.without_dropout)
    losses = record(program, side, mode, source, work, environment)["losses"]
    assert len(losses) >= N_STEPS, f"{program.name} made {len(losses)} steps"
    return losses[:N_STEPS]
