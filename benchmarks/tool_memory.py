"""Prints the peak memory of predict, tune, a profiled run and check over that of the plain run, for examples and a wide network.

python -m benchmarks.tool_memory [NAME ...]
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from benchmarks.loop_memory import TOOLS, peak_megabytes
from tests.e2e.programs import EXAMPLES, PROGRAMS

WIDE = """
import numpy as np
import tensorflow as tf

x, y = tf.placeholder(tf.float32, [None, 64, 64, 3]), tf.placeholder(tf.int64, [None])
tf.set_random_seed(1)
h = x
for number, channels in enumerate((32, 32, 64, 64, 128)):
    h = tf.nn.relu(tf.layers.batch_normalization(tf.layers.conv2d(h, channels, 3, padding="same"), training=True))
    h = tf.layers.max_pooling2d(h, 2, 2) if number % 2 else h
logits = tf.layers.dense(tf.layers.dense(tf.layers.flatten(h), 256, activation=tf.nn.relu), 10)
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
train = tf.train.AdamOptimizer(1e-4).minimize(loss)
random = np.random.RandomState(0)
images, labels = random.rand(16, 64, 64, 3).astype(np.float32), random.randint(0, 10, 16)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for step in range(5):
        print(session.run([loss, train], {x: images, y: labels})[0])
"""
"""Five convolutions over 16 images: what its step computes is 0.55 GB, and its variables are 0.1 GB."""


def measure(name: str, script: list[str], folder: Path) -> None:
    """Print the row of a script.  folder: that it is in, which is a copy."""
    (folder / "profile").mkdir()

    def peak(words: list[str]) -> float | None:
        model = [] if name == "wide" else [f"--model_dir={tempfile.mkdtemp(dir=folder)}"]
        return peak_megabytes([*words, *script, *model], folder)

    plain = peak(["run", "--all-sessions"])
    ratios = [f"{found / plain:.2f}" if plain and (found := peak(words)) else "failed" for words in TOOLS.values()]
    print(f"| {name} | {plain or 0:.0f} | {' | '.join(ratios)} |", flush=True)


def main(names: list[str]) -> None:
    scripts = {program.name: [program.script, *program.arguments] for program in PROGRAMS} | {"wide": ["train.py"]}
    print(f"| script | plain run, MB | {' | '.join(TOOLS)} |\n|---|---|{'---|' * len(TOOLS)}", flush=True)
    for name in names or scripts:
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place) / "copy"
            shutil.copytree(EXAMPLES, folder)
            (folder / "train.py").write_text(WIDE)
            measure(name, scripts[name], folder)


if __name__ == "__main__":
    main(sys.argv[1:])
