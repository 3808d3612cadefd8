"""Small sessions with a dump, and what lies in its folders."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from npu_formats.vendor.dump_file import DumpHeader, read_header
from tests.runtime.device import device_session


def lenet() -> tuple[tf.Tensor, tf.Operation]:
    """A convolutional network of images named x and labels named y: its loss and its training step."""
    x, y = tf.placeholder(tf.float32, [None, 28, 28, 1], "x"), tf.placeholder(tf.int32, [None], "y")
    hidden = tf.layers.conv2d(x, 6, 5, activation=tf.nn.relu, name="conv1")
    hidden = tf.layers.flatten(tf.layers.max_pooling2d(hidden, 2, 2, name="pool1"), name="flat")
    logits = tf.layers.dense(hidden, 10, name="fc")
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits), name="loss")
    return loss, tf.train.MomentumOptimizer(0.01, 0.9).minimize(loss)


def batch(number: int) -> dict[str, np.ndarray]:
    draw = np.random.RandomState(number)
    return {"x:0": draw.rand(8, 28, 28, 1).astype(np.float32), "y:0": draw.randint(0, 10, 8)}


def train(n_steps: int, make: Callable[[], Any] = lenet, **options: Any) -> list[bytes]:
    """The losses of a training and then its variables, as bytes."""
    with tf.Graph().as_default():
        tf.set_random_seed(3)
        fetched = make()
        with device_session(**options) as session:
            session.run(tf.global_variables_initializer())
            found = [session.run(list(fetched), batch(number))[0] for number in range(n_steps)]
            found += session.run(tf.global_variables())
    return [np.asarray(value).tobytes() for value in found]


def run(make: Callable[[], Any], feeds: Any = None, n_runs: int = 1, **options: Any) -> Any:
    """The values of a graph's tensors in the last of some runs behind the initialisation of its variables."""
    with tf.Graph().as_default():
        fetched = make()
        with device_session(**options) as session:
            session.run(tf.global_variables_initializer())
            return [session.run(fetched, feeds) for _ in range(n_runs)][-1]


def steps(folder: Path) -> dict[str, dict[str, Path]]:
    """Folders by model name and then by step."""
    found: dict[str, dict[str, Path]] = {}
    for path in sorted(folder.glob("*/*/*/*/*")):
        found.setdefault(path.parent.parent.name, {})[path.name] = path
    return found


def last_model(folder: Path) -> dict[str, Path]:
    """The step folders of the model that was loaded last."""
    models = steps(folder)
    return models[max(models, key=lambda name: int(name.rpartition("_")[2]))]


def headers(folder: Path) -> dict[str, list[DumpHeader]]:
    """The headers of a step's dump files, by operator in the order of time."""
    found: dict[str, list[DumpHeader]] = {}
    for path in folder.iterdir():
        header = read_header(path)
        found.setdefault(header.op_name, []).append(header)
    return {name: sorted(those, key=lambda header: header.time_us) for name, those in found.items()}
