"""Memory by name that embedding scripts share between processes; here it is the host's, and of this process alone."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
import tensorflow as tf
from npu_bridge._log import recorded
from npu_bridge.estimator.npu import npu_scope

_blocks: dict[str, np.ndarray] = {}


def _check_int(value: object) -> None:
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError(f"mem_size must be an int, got {value!r}")


def _check_list(value: object) -> None:
    if not isinstance(value, list | tuple):
        raise ValueError(f"remote_var_list must be a list or tuple, got {type(value).__name__}")


def init_rdma_pool(mem_size: int) -> None:
    """Reserve memory that other hosts may read; recorded, for there is no other host."""
    _check_int(mem_size)
    recorded("npu_plugin.init_rdma_pool", "no other host reads this one's memory")


def rdma_remote_register(remote_var_list: Sequence[Any]) -> None:
    """Offer variables to other hosts; recorded."""
    _check_list(remote_var_list)
    recorded("npu_plugin.rdma_remote_register", "no other host reads this one's memory")


def rdma_remote_init(remote_var_list: Sequence[Any], mem_size: int) -> None:
    """Both steps in one; recorded."""
    _check_list(remote_var_list)
    _check_int(mem_size)
    recorded("npu_plugin.rdma_remote_init", "no other host reads this one's memory")


def malloc_shared_memory(var_name: str, shape: Sequence[int], data_type: int) -> tuple[int, int]:
    """Address and bytes of zeroed memory under a name.  data_type: one of tf_adapter's numbers.

    Raises: RuntimeError when the name is taken with another size.
    """
    size = prod(int(extent) for extent in shape) * tf.as_dtype(data_type).size
    block = _blocks.setdefault(var_name, np.zeros(size, np.uint8))
    if block.nbytes != size:
        raise RuntimeError(f"{var_name} holds {block.nbytes} bytes already, {size} are asked for")
    return block.ctypes.data, block.nbytes


def get_var_addr_and_size(var_name: str) -> tuple[int, int]:
    """Address and bytes of memory made by ``malloc_shared_memory``; RuntimeError for another name."""
    if not isinstance(var_name, str):
        raise ValueError(f"var_name must be a str, got {var_name!r}")
    if var_name not in _blocks:
        raise RuntimeError(f"there is no memory named {var_name!r}; known: {', '.join(sorted(_blocks)) or 'none'}")
    return _blocks[var_name].ctypes.data, _blocks[var_name].nbytes


def get_rdma_cache(data_type: tf.DType, shape: Sequence[int], name: str = "rdma_w") -> tf.Variable:
    """A variable of zeros in the other memory type, into which remote rows are read."""
    with npu_scope.npu_mem_type_scope():
        return tf.get_variable(name=name, shape=shape, dtype=data_type, initializer=tf.zeros_initializer())
