"""Converts the six examples, trains them on the simulated device and checks how well they learned.

`make demo` runs it; what it makes stays in the folder that is named:

    python -m benchmarks.demo demo-out
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parent.parent
CONVERTER = Path(sys.executable).with_name("tf2npu")


@dataclass(frozen=True)
class Demonstration:
    """A script below examples/ and the test accuracy that it has to reach."""

    script: str
    accuracy: float


DEMONSTRATIONS = (
    Demonstration("lenet_estimator/train.py", 0.90),
    Demonstration("alexnet_session/finetune.py", 0.90),
    Demonstration("keras_cnn/mnist_cnn.py", 0.90),
    Demonstration("transformer/run_classifier.py", 0.95),
    Demonstration("keras_fit_tf2/train.py", 0.92),
    Demonstration("custom_loop_tf2/train.py", 0.92),
)


def convert(out: Path) -> None:
    """Converts examples/ into `out`; exit 1 of the converter means that it left work to a person, which is no failure."""
    code = subprocess.run([CONVERTER, "convert", ROOT / "examples", out], check=False).returncode
    if code not in (0, 1):
        sys.exit(f"tf2npu convert ended with exit code {code}")


def train(demonstration: Demonstration, out: Path) -> tuple[bool, str]:
    """Trains one converted script from scratch; returns whether it is good enough, and a line that says so."""
    script = out / demonstration.script
    shutil.rmtree(script.parent / "model", ignore_errors=True)
    log = out / f"{script.parent.name}.log"
    started = time.monotonic()
    with log.open("w") as stderr:
        done = subprocess.run([sys.executable, str(script)], env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
                              stdout=subprocess.PIPE, stderr=stderr, text=True, check=False)  # fmt: skip
    found = re.search(r"Test accuracy: ([0-9.]+)", done.stdout)
    if done.returncode or not found:
        return False, f"{demonstration.script}: exit code {done.returncode}, see {log}"
    reached = float(found.group(1))
    good = reached >= demonstration.accuracy
    share = re.search(r"([0-9.]+) % of \S+ floating-point operations on the device", log.read_text(errors="replace"))
    return good, (f"{demonstration.script:30} test accuracy {reached:.3f} (wanted {demonstration.accuracy:.2f}), "
                  f"{share.group(1) if share else '?'} % of the work on the device, "
                  f"{time.monotonic() - started:.0f} s, log {log}")  # fmt: skip


@dataclass(frozen=True)
class Unconverted:
    """A script that runs as it is, the options of its run, and what its output has to say: a number, and its bounds."""

    script: str
    options: tuple[str, ...]
    says: str
    least: float
    most: float


PYTORCH_DEMONSTRATIONS = (
    Unconverted("examples_pytorch/image_amp/train.py", (), r"Test accuracy: ([0-9.]+)", 0.90, 1.0),
    Unconverted("examples_pytorch/gpt_ddp/train.py", ("--devices", "2"), r"step 100 loss ([0-9.]+)", 0.0, 1.1),
)


MINDSPORE_DEMONSTRATIONS = (
    Unconverted("examples_mindspore/lenet/train.py", ("--frontend", "mindspore"), r"Test accuracy: ([0-9.]+)", 0.90, 1.0),
)


def python_with_torch() -> str:
    """An interpreter that has PyTorch: this one, or that of the leg torch; "" where neither has."""
    leg = ROOT / ".venv-torch" / "bin" / "python"
    return sys.executable if find_spec("torch") else str(leg) if leg.exists() else ""


def run(demonstration: Unconverted, python: str, out: Path) -> tuple[bool, str]:
    """Runs one script as it is; returns whether what it says is right, and a line about it."""
    script = Path(demonstration.script)
    log, started = out / f"{script.parent.parent.name}_{script.parent.name}.log", time.monotonic()
    words = [Path(python).with_name("tf2npu"), "run", *demonstration.options, ROOT / script]
    with log.open("w") as stderr:
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=stderr, text=True, check=False)
    found = re.search(demonstration.says, done.stdout)
    if done.returncode or not found:
        return False, f"{demonstration.script}: exit code {done.returncode}, see {log}"
    number = float(found.group(1))
    return demonstration.least <= number <= demonstration.most, (
        f"{demonstration.script:30} {found.group(0)}, as it is on simulated NPUs, {time.monotonic() - started:.0f} s, log {log}"
    )


def pytorch(out: Path) -> bool:
    """Runs the examples for PyTorch where it is installed; returns whether all were right."""
    python = python_with_torch()
    if not python:
        print('left out: the examples for PyTorch, which is not installed (make setup LEGS="core torch")')
        return True
    return all_right(PYTORCH_DEMONSTRATIONS, python, out)


def all_right(demonstrations: Sequence[Unconverted], python: str, out: Path) -> bool:
    """Runs scripts as they are, a line each; returns whether all were right."""
    told = [run(demonstration, python, out) for demonstration in demonstrations]
    print("\n".join(("ok   " if good else "FAIL ") + line for good, line in told), flush=True)
    return all(good for good, _ in told)


def main(out: Path) -> int:
    convert(out)
    print("\ntraining the converted scripts on the simulated device")
    all_good = True
    for demonstration in DEMONSTRATIONS:
        good, line = train(demonstration, out)
        print(("ok   " if good else "FAIL ") + line, flush=True)
        all_good = all_good and good
    all_good = all_right(MINDSPORE_DEMONSTRATIONS, sys.executable, out) and all_good
    all_good = pytorch(out) and all_good
    print(f"\nthe report of the conversion: {out.resolve() / 'tf2npu-report' / 'index.html'}")
    print("why a migrated script's loss differs from the original's, once one does:")
    print(f"    {CONVERTER} check examples/lenet_estimator/train.py -- --model_dir={out / 'checked_model'}")
    return 0 if all_good else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
