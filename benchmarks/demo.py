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
from dataclasses import dataclass
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


def main(out: Path) -> int:
    convert(out)
    print("\ntraining the converted scripts on the simulated device")
    all_good = True
    for demonstration in DEMONSTRATIONS:
        good, line = train(demonstration, out)
        print(("ok   " if good else "FAIL ") + line, flush=True)
        all_good = all_good and good
    print(f"\nthe report of the conversion: {out.resolve() / 'tf2npu-report' / 'index.html'}")
    print("why a migrated script's loss differs from the original's, once one does:")
    print(f"    {CONVERTER} check examples/lenet_estimator/train.py -- --model_dir={out / 'checked_model'}")
    return 0 if all_good else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
