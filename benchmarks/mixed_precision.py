"""Whether mixed precision with loss scaling learns as well as fp32: LeNet, ResNet-20 and a Transformer, on the device.

    python -m benchmarks.mixed_precision [--seeds 6] [--only resnet20]

Converts the examples, scales their loss as a person would, and trains each with the graph's own types and with
allow_mix_precision from the same initial weights. Exit code 1 when a mean test accuracy is more than a point below fp32's.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
CONVERTER = Path(sys.executable).with_name("tf2npu")
ALLOWED = 0.01

_MANAGER = "ExponentialUpdateLossScaleManager(2.0 ** 24, 1000, decr_every_n_nan_or_inf=1, decr_ratio=0.5)"


@dataclass(frozen=True)
class Training:
    """script: below the folder of the examples, or of this benchmark.  edits: file -> (text, what a person writes instead).
    arguments: with {seed}.
    """

    name: str
    script: str
    arguments: tuple[str, ...]
    edits: tuple[tuple[str, str, str], ...] = ()


_IMPORTED = "import tensorflow as tf\n"
_NPU = _IMPORTED + "from npu_bridge.npu_init import *\n"
TRAININGS = (
    Training(
        "lenet", "lenet_estimator/train.py", ("--clean", "--seed={seed}"),
        (
            ("lenet_estimator/lenet.py", _IMPORTED, _NPU),
            (
                "lenet_estimator/lenet.py", "        train_op = optimizer.minimize(",
                f"        optimizer = NPULossScaleOptimizer(optimizer, {_MANAGER})\n        train_op = optimizer.minimize(",
            ),
        ),
    ),
    Training("resnet20", "", ("--seed={seed}",)),
    Training(
        "transformer", "transformer/run_classifier.py", ("--seed={seed}",),
        (
            ("transformer/optimization.py", _IMPORTED, _NPU),
            (
                "transformer/optimization.py", "    grads = tf.gradients(loss, tvars)\n",
                f"    optimizer = NPULossScaleOptimizer(optimizer, {_MANAGER})\n"
                "    grads = [grad for grad, _ in optimizer.compute_gradients(loss, tvars)]\n",
            ),
        ),
    ),
)  # fmt: skip


def prepare(out: Path) -> None:
    """Converted examples: `plain` as they are, `scaled` with a scaled loss."""
    for name in ("plain", "scaled"):
        code = subprocess.run([CONVERTER, "convert", ROOT / "examples", out / name], check=False, capture_output=True).returncode
        if code not in (0, 1):
            sys.exit(f"tf2npu convert ended with exit code {code}")
    for training in TRAININGS:
        for file, old, new in training.edits:
            path = out / "scaled" / file
            text = path.read_text(encoding="utf-8")
            if text.count(old) != 1:
                sys.exit(f"{file} has changed: {old!r} is there {text.count(old)} times")
            path.write_text(text.replace(old, new), encoding="utf-8")


def train(training: Training, seed: int, is_mixed: bool, out: Path) -> tuple[float, str]:
    """Test accuracy of one training, and what its run log says about precision."""
    mode = "allow_mix_precision" if is_mixed else "must_keep_origin_dtype"
    folder = out / ("scaled" if is_mixed else "plain")
    arguments = [argument.format(seed=seed) for argument in training.arguments]
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    if training.script:
        command = [folder / training.script, *arguments, f"--model_dir={out / f'{training.name}_{mode}_{seed}'}"]
        environment["TF2NPU_OPTIONS"] = json.dumps({"precision_mode": mode})
    else:
        command = [Path(__file__).parent / "mixed/resnet20.py", *arguments, f"--precision_mode={mode}"]
        command += ["--loss_scale"] if is_mixed else []
    done = subprocess.run([sys.executable, *command], env=environment, capture_output=True, text=True, check=False)
    found = re.search(r"Test accuracy: ([0-9.]+)", done.stdout)
    if done.returncode or not found:
        sys.exit(f"{training.name}, {mode}: exit code {done.returncode}\n{done.stderr[-3000:]}")
    said = [line.split("precision: ", 1)[1] for line in done.stderr.splitlines() if "  precision: " in line]
    return float(found.group(1)), "; ".join(said)


def compare(training: Training, seeds: range, out: Path) -> bool:
    """Trains one network both ways from every seed; prints a line; whether mixed precision is as good."""
    started = time.monotonic()
    pairs = [[train(training, seed, is_mixed, out) for is_mixed in (False, True)] for seed in seeds]
    wanted, reached = (sum(pair[side][0] for pair in pairs) / len(pairs) for side in (0, 1))
    is_good = reached >= wanted - ALLOWED
    each = ", ".join(f"{pair[0][0]:.4f}/{pair[1][0]:.4f}" for pair in pairs)
    print(f"{training.name:12} fp32 {wanted:.4f}, mixed {reached:.4f}: {'as good' if is_good else 'WORSE'} "
          f"(each: {each}; {pairs[0][1][1]}; {time.monotonic() - started:.0f} s)", flush=True)  # fmt: skip
    return is_good


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--seeds",
        type=int,
        default=6,
        help="trainings from that many seeds, whose mean counts (one differs from the next by a point; six tell a point)",
    )
    parser.add_argument("--only", choices=[training.name for training in TRAININGS])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        prepare(Path(folder))
        chosen = [training for training in TRAININGS if options.only in (None, training.name)]
        good = [compare(training, range(11, 11 + options.seeds), Path(folder)) for training in chosen]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
