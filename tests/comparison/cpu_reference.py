"""Reference files of a step on TensorFlow's CPU, made with its own debugger."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf
from tensorflow.python.debug.lib import debug_data, debug_utils

_KINDS = "fiub"


def plain_config() -> tf.ConfigProto:
    """Without optimizers, which would merge most nodes into others."""
    config = tf.ConfigProto()
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    config.graph_options.optimizer_options.opt_level = tf.OptimizerOptions.L0
    return config


def write_reference(session: tf.Session, step: Any, feeds: Mapping[tf.Tensor, np.ndarray], folder: Path) -> None:
    """Run a step, and write every tensor of numbers that it makes or is fed."""
    with TemporaryDirectory() as dumped:
        options = tf.RunOptions()
        debug_utils.watch_graph(options, session.graph, debug_urls=[f"file://{dumped}"])
        session.run(step, feeds, options=options)
        for tensor in debug_data.DebugDumpDir(dumped).dumped_tensor_data:
            value = tensor.get_tensor()
            if isinstance(value, np.ndarray) and value.dtype.kind in _KINDS and not tensor.node_name.startswith("_"):
                _write(folder, tensor.node_name, tensor.output_slot, tensor.timestamp, value)
    for placeholder, value in feeds.items():
        _write(folder, placeholder.op.name, 0, 1, value)


def _write(folder: Path, node: str, output: int, timestamp: int, value: np.ndarray) -> None:
    name = node.replace("/", "_").replace(".", "_")
    np.save(folder / f"{name}.{output}.{timestamp:016d}.npy", value, allow_pickle=False)
