"""Spread of TensorFlow's tensors between its own runs: oneDNN on and off, one thread and two.

    python -m benchmarks.tensor_spread

`tf2npu compare` takes its limits for float32 from this: ten times the spread.  A convolutional network with batch normalisation
and a recurrent one take a training step, with the graph's optimizers off so that every node has its tensor.  Each float tensor of
a run is compared with that of the first run; sums that cancel are left out, as they are when tensors are compared.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tf2npu.comparison.extra_metrics import measures
from tf2npu.comparison.metrics import figures
from tf2npu.comparison.verdicts import DISTANCE, DIVERGENCE

RUNS = {
    "oneDNN, 2 threads": ("1", 2),
    "oneDNN, 1 thread": ("1", 1),
    "no oneDNN, 2 threads": ("0", 2),
    "no oneDNN, 1 thread": ("0", 1),
}
_CANCELLED = 1e-6
"""A tensor this much smaller than the largest one of its network's step is what is left of a sum that cancels."""


def convolutional(tf: Any) -> Any:
    """Loss of a small network with two convolutions and batch normalisation."""
    rng = np.random.default_rng(1)
    net = tf.constant(rng.normal(size=(16, 28, 28, 3)), tf.float32)
    for n, n_channels in enumerate((16, 32)):
        net = tf.layers.conv2d(net, n_channels, 5, padding="same", name=f"conv{n}")
        net = tf.nn.relu(tf.layers.batch_normalization(net, training=True, name=f"bn{n}"))
        net = tf.layers.max_pooling2d(net, 2, 2)
    net = tf.layers.dense(tf.layers.flatten(net), 64, tf.nn.relu)
    return tf.losses.sparse_softmax_cross_entropy(rng.integers(0, 10, 16), tf.layers.dense(net, 10))


def recurrent(tf: Any) -> Any:
    """Loss of an unrolled LSTM behind an embedding."""
    rng = np.random.default_rng(2)
    table = tf.get_variable("table", (100, 32))
    steps = tf.unstack(tf.nn.embedding_lookup(table, rng.integers(0, 100, (16, 12))), axis=1)
    outputs, _ = tf.nn.static_rnn(tf.nn.rnn_cell.LSTMCell(48), steps, dtype=tf.float32)
    return tf.reduce_mean(tf.square(tf.layers.dense(outputs[-1], 5) - rng.normal(size=(16, 5))))


def step(network: str, n_threads: int, out: Path) -> None:
    """All float tensors of a training step, into an npz file."""
    import tensorflow.compat.v1 as tf

    tf.disable_eager_execution()
    loss = {"convolutional": convolutional, "recurrent": recurrent}[network](tf)
    tf.train.AdamOptimizer(0.01).minimize(loss)
    config = tf.ConfigProto(intra_op_parallelism_threads=n_threads, inter_op_parallelism_threads=n_threads)
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    config.graph_options.optimizer_options.opt_level = -1
    names = [tensor.name for op in tf.get_default_graph().get_operations() for tensor in op.outputs if _is_value(tensor)]
    with tf.Session(config=config) as session:
        rng = np.random.default_rng(3)
        for variable in tf.global_variables():
            is_moment = "Adam" in variable.name or "beta" in variable.name
            variable.load(np.abs(rng.normal(size=variable.shape.as_list())) * (0.01 if is_moment else 0.1), session)
        np.savez(out, **{str(n): value for n, value in enumerate(session.run(names))}, names=names)


def _is_value(tensor: Any) -> bool:
    kinds = ("Variable", "Assign", "Init", "Apply", "Random", "Truncated", "Read")
    return (
        tensor.dtype.name == "float32"
        and not any(kind in tensor.op.type for kind in kinds)
        and "init" not in tensor.op.name.lower()
    )


def spreads(network: str, folder: Path) -> Iterator[tuple[str, str, float, float]]:
    """(run, tensor, relative distance, divergence) of each tensor against the first run."""
    found = {}
    for n, (name, (onednn, n_threads)) in enumerate(RUNS.items()):
        path = folder / f"{network}{n}.npz"
        command = [sys.executable, "-m", "benchmarks.tensor_spread", network, str(n_threads), str(path)]
        subprocess.run(command, env={**os.environ, "TF_ENABLE_ONEDNN_OPTS": onednn, "TF_CPP_MIN_LOG_LEVEL": "3"}, check=True)
        found[name] = np.load(path, allow_pickle=False)
    first, *others = found
    largest = max(float(np.abs(found[first][str(n)]).max(initial=0)) for n in range(len(found[first]["names"])))
    for other in others:
        for n, tensor in enumerate(found[first]["names"]):
            x, y = found[other][str(n)].reshape(-1), found[first][str(n)].reshape(-1)
            if np.abs(y).max(initial=0) > _CANCELLED * largest:
                values = figures(x, y, is_scalar=x.size == 1, x_file="", y_file="").values
                outside = measures(x, y, 1e-4, 1e-4).n_outside
                yield other, str(tensor), values[DISTANCE], values[DIVERGENCE] if outside else 0.0


def main() -> None:
    if len(sys.argv) == 4:
        step(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]))
        return
    with tempfile.TemporaryDirectory() as folder:
        for network in ("convolutional", "recurrent"):
            rows = list(spreads(network, Path(folder)))
            distances = np.array([row[2] for row in rows])
            worst = max(rows, key=lambda row: row[2])
            shown = ", ".join(f"{share:.0%} {np.quantile(distances, share):.2g}" for share in (0.5, 0.75, 0.9, 0.95, 0.99))
            print(f"{network}: {len(rows)} tensors, relative distance: {shown}, worst {worst[2]:.2g} ({worst[1]}, {worst[0]})")
            print(f"    worst divergence of a tensor with elements outside 1e-4: {max(row[3] for row in rows):.2g}")


if __name__ == "__main__":
    main()
