"""Prints the peak memory of predict, tune, a profiled run and check over that of the plain run, for loops of many turns.

    python -m benchmarks.loop_memory                   all loops, with 10, 100 and 1,000 turns: about an hour
    python -m benchmarks.loop_memory --only rnn --turns 10 100

Each is a process with a limit on its memory, so that a tool that takes more than it should ends, and not the machine.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

LIMIT_BYTES = 12 << 30
"""Address space of a process: ten times what any row should take, and less than a machine of 16 GB has."""
TOOLS = {
    "predict": ["predict", "--soc", "910A"], "tune": ["tune", "--soc", "910A"],
    "profile": ["run", "--all-sessions", "--profile", "profile"], "check": ["check"],
}  # fmt: skip
BEGIN = """
import sys
import numpy as np
import tensorflow as tf
T, STEPS = int(sys.argv[1]), 5
x = tf.placeholder(tf.float32, [None, T, 8])
batch = np.random.RandomState(0).rand(2, T, 8)
tf.set_random_seed(0)
"""
END = """
train = tf.train.AdamOptimizer(1e-3).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(STEPS):
        print(sess.run([loss, train], {x: batch})[0])
"""
CELL = "cell = tf.nn.rnn_cell.LSTMCell(16)\n"
LOOPS = {
    "rnn": CELL + "outputs, _ = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)\nloss = tf.reduce_mean(outputs ** 2)\n",
    "while": """
w = tf.get_variable("w", [8, 8])
loss = tf.reduce_mean(tf.while_loop(lambda i, h: i < T, lambda i, h: (i + 1, tf.tanh(tf.matmul(h, w) + h)), [0, x[:, 0]])[1])
""",
    "nested": """
w = tf.get_variable("w", [8, 8])
def inner(h):
    return tf.while_loop(lambda j, h: j < 10, lambda j, h: (j + 1, tf.tanh(tf.matmul(h, w) + h)), [0, h])[1]
loss = tf.reduce_mean(tf.while_loop(lambda i, h: i < T // 10, lambda i, h: (i + 1, inner(h)), [0, x[:, 0]])[1])
""",
    "arrays": """
w = tf.get_variable("w", [8, 8])
steps = tf.transpose(x, [1, 0, 2])
read, made = (tf.TensorArray(tf.float32, T) for _ in range(2))
read = read.unstack(steps)
def body(i, h, made):
    h = tf.tanh(tf.matmul(h, w) + read.read(i))
    return i + 1, h, made.write(i, h)
made = tf.while_loop(lambda i, h, made: i < T, body, [0, steps[0], made])[2]
loss = tf.reduce_mean(made.stack() ** 2)
""",
    "decoder": CELL + """
from tensorflow.contrib import seq2seq
helper = seq2seq.TrainingHelper(x, tf.fill([tf.shape(x)[0]], T))
decoder = seq2seq.BasicDecoder(cell, helper, cell.zero_state(tf.shape(x)[0], tf.float32), tf.layers.Dense(8))
outputs, _, _ = seq2seq.dynamic_decode(decoder)
loss = tf.reduce_mean((outputs.rnn_output - x) ** 2)
""",
    "ctc": CELL + """
outputs, _ = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)
logits = tf.transpose(tf.layers.dense(outputs, 5), [1, 0, 2])
labels = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [0, 2, 1], [2, 2])
loss = tf.reduce_mean(tf.nn.ctc_loss(labels, logits, tf.fill([tf.shape(x)[0]], T)))
""",
}  # fmt: skip


def peak_megabytes(words: list[str], folder: Path) -> float | None:
    """Peak memory of a command and what it starts, the largest process; None where it fails."""
    measuring = (
        "import resource, subprocess, sys; "
        f"resource.setrlimit(resource.RLIMIT_AS, ({LIMIT_BYTES}, {LIMIT_BYTES})); "
        "code = subprocess.run([sys.executable, '-m', 'tf2npu', *sys.argv[1:]], stdout=2).returncode; "
        "print(code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    done = subprocess.run([sys.executable, "-c", measuring, *words], cwd=folder, capture_output=True, text=True, check=False)
    code, kilobytes = map(int, done.stdout.split())
    has_failed = code not in ((0, 1) if words[0] == "check" else (0,))  # a check that tells of a difference has done its work
    if has_failed:
        print(done.stderr[-500:], file=sys.stderr)
    return None if has_failed else kilobytes / 1024


def measure(name: str, turns: int) -> None:
    """Print the row of a loop."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "train.py").write_text(BEGIN + LOOPS[name] + END)
        (folder / "profile").mkdir()
        script = ["train.py", str(turns)]
        plain = peak_megabytes(["run", "--all-sessions", *script], folder)
        peaks = [peak_megabytes([*words, *script], folder) for words in TOOLS.values()]
        ratios = [f"{peak / plain:.2f}" if peak and plain else "failed" for peak in peaks]
        print(f"| {name} | {turns} | {plain or 0:.0f} | {' | '.join(ratios)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=LOOPS, nargs="+", default=list(LOOPS))
    parser.add_argument("--turns", type=int, nargs="+", default=[10, 100, 1000])
    wanted = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    print(f"| loop | turns | plain run, MB | {' | '.join(TOOLS)} |\n|---|---|---|{'---|' * len(TOOLS)}", flush=True)
    for name in wanted.only:
        for turns in wanted.turns:
            measure(name, turns)


if __name__ == "__main__":
    main()
