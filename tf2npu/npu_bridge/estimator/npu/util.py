"""Checks, rank size, per-op attributes and the iteration loop."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import tensorflow as tf
from npu_bridge.estimator.npu._gradient_parts import (
    GradDivisionItem,
    add_grads_and_vars,
    fair_division,
    get_all_grad_item,
    get_gid_by_grad,
    get_gid_by_weight,
)
from npu_bridge.estimator.npu._iterations import IterationPerLoop, create_or_get_var, register_func, set_iteration_per_loop

from npu_runtime.importers.tensorflow.device_calls import set_attribute

__all__ = [
    "GradDivisionItem",
    "IterationPerLoop",
    "add_grads_and_vars",
    "check_aoe_mode",
    "check_bool_type",
    "check_mstune_mode",
    "check_nonnegative_integer",
    "check_not_none",
    "check_path",
    "check_positive_integer",
    "check_profiling_options",
    "convert_bool_to_int",
    "create_or_get_var",
    "fair_division",
    "format_string",
    "get_all_grad_item",
    "get_gid_by_grad",
    "get_gid_by_weight",
    "get_ranksize",
    "get_value",
    "global_dict_init",
    "keep_tensors_dtypes",
    "npu_compile",
    "register_func",
    "set_graph_exec_config",
    "set_iteration_per_loop",
    "set_op_input_tensor_multi_dims",
    "set_op_tensor_max_range",
    "set_op_tensor_max_size",
    "set_value",
    "variable_initializer_in_host",
]

AOE_MODES = ("1", "2", "3", "4")


def check_not_none(value: object, name: str) -> None:
    """Raises: ValueError when ``value`` is None."""
    if value is None:
        raise ValueError(f"{name} must not be None")


def check_positive_integer(value: object, name: str) -> None:
    """Raises: TypeError when ``value`` is not an int, ValueError when it is not above 0."""
    _check_integer(value, name)
    if value <= 0:
        raise ValueError(f"{name} must be > 0, got {value}")


def check_nonnegative_integer(value: object, name: str) -> None:
    """Raises: TypeError when ``value`` is not an int, ValueError when it is below 0."""
    _check_integer(value, name)
    if value < 0:
        raise ValueError(f"{name} must be >= 0, got {value}")


def _check_integer(value: object, name: str) -> None:
    if not isinstance(value, int):
        raise TypeError(f"{name} must be an int, got {value!r} of type {type(value).__name__}")


def check_bool_type(value: object, name: str) -> None:
    """Raises: TypeError when ``value`` is not a bool."""
    if not isinstance(value, bool):
        raise TypeError(f"{name} must be a bool, got {value!r} of type {type(value).__name__}")


def check_path(path: str) -> str:
    """The real path of an existing folder that can be read and written; else ValueError."""
    if not isinstance(path, str) or not os.path.isdir(path):
        raise ValueError(f"{path!r} is not an existing folder")
    if not os.access(path, os.R_OK | os.W_OK):
        raise ValueError(f"{path!r} cannot be read and written")
    return os.path.realpath(path)


def check_aoe_mode(aoe_mode: str) -> None:
    """Raises: ValueError for a tuning mode that is not '1', '2', '3' or '4'."""
    if aoe_mode not in AOE_MODES:
        raise ValueError(f"aoe_mode must be one of {', '.join(AOE_MODES)}, got {aoe_mode!r}")


def check_mstune_mode(mstune_mode: str) -> None:
    """``check_aoe_mode`` under the name of an older release."""
    if mstune_mode not in AOE_MODES:
        raise ValueError(f"mstune_mode must be one of {', '.join(AOE_MODES)}, got {mstune_mode!r}")


def check_profiling_options(profiling_options: str | Sequence[str] | None = ()) -> None:
    """Raises: ValueError when profiling is on without options."""
    if not profiling_options:
        raise ValueError("profiling_options must be given when profiling is enabled")


def format_string(value: object, name: str) -> str:
    """The text, "" for None; TypeError naming ``name`` when it is not text."""
    if value is not None and not isinstance(value, str):
        raise TypeError(f"{name} must be a str, got {value!r} of type {type(value).__name__}")
    return value or ""


def convert_bool_to_int(value: bool) -> int:
    """1 for True, 0 for False; TypeError when ``value`` is not a bool."""
    check_bool_type(value, "value")
    return int(value)


def get_ranksize() -> str:
    """The number of ranks that take part, as text: RANK_SIZE, else CM_WORKER_SIZE, else '1'.

    Raises: ValueError when both are set.
    """
    rank_size, worker_size = os.getenv("RANK_SIZE"), os.getenv("CM_WORKER_SIZE")
    if rank_size is not None and worker_size is not None:
        raise ValueError(f"RANK_SIZE={rank_size} and CM_WORKER_SIZE={worker_size} are both set; unset one of them")
    return rank_size or worker_size or "1"


_values: dict[str, Any] | None = None


def global_dict_init() -> None:
    """Empty the dictionary of ``set_value`` and ``get_value``."""
    global _values
    _values = {}


def set_value(key: str, value: object) -> None:
    """Keep a value under ``key``; NameError before ``global_dict_init``."""
    _dictionary()[key] = value


def get_value(key: str, def_value: object = None) -> Any:
    """The value kept under ``key``, or ``def_value``; NameError before ``global_dict_init``."""
    return _dictionary().get(key, def_value)


def _dictionary() -> dict[str, Any]:
    if _values is None:
        raise NameError("npu_bridge.util: call global_dict_init (or init_resource) first")
    return _values


Fetch = tf.Operation | tf.Tensor | str | Sequence[Any]


def set_graph_exec_config(
    fetch: Fetch,
    dynamic_input: bool = False,
    dynamic_graph_execute_mode: str = "dynamic_execute",
    dynamic_inputs_shape_range: str | None = None,
    is_train_graph: bool = False,
    experimental_config: Any = None,
) -> Fetch:
    """Write how the graph behind ``fetch`` shall be executed onto the operations of ``fetch``; gives ``fetch`` back.

    Raises: ValueError for an unknown mode, or a fetch that is no operation, tensor, tensor name, list or tuple.
    """
    if dynamic_graph_execute_mode not in ("lazy_recompile", "dynamic_execute"):
        raise ValueError(
            f"dynamic_graph_execute_mode must be 'lazy_recompile' or 'dynamic_execute', got {dynamic_graph_execute_mode!r}"
        )
    attributes: dict[str, int | bool | str] = {
        "_graph_dynamic_input": dynamic_input,
        "_graph_dynamic_graph_execute_mode": dynamic_graph_execute_mode,
        "_graph_dynamic_inputs_shape_range": dynamic_inputs_shape_range or "",
        "_is_train_graph": is_train_graph,
    }
    memory = getattr(experimental_config, "_graph_memory_optimize_config", None)
    if memory is not None and memory._recompute is not None:
        attributes["_recompute_mode"] = memory._recompute
    for operation in _operations(fetch):
        for name, value in attributes.items():
            set_attribute(operation, name, value)
    return fetch


def _operations(fetch: Fetch) -> list[tf.Operation]:
    if isinstance(fetch, list | tuple):
        return [operation for item in fetch for operation in _operations(item)]
    if isinstance(fetch, str):
        return [tf.get_default_graph().get_tensor_by_name(fetch).op]
    if isinstance(fetch, tf.Operation):
        return [fetch]
    if isinstance(fetch, tf.Tensor | tf.Variable):
        return [fetch.op]
    raise ValueError(f"fetch must be an operation, a tensor, a tensor name, or a list or tuple of them, got {fetch!r}")


def variable_initializer_in_host(var_list: Sequence[tf.Variable]) -> tf.Operation:
    """An operation ``var_in_host`` that initialises the variables."""
    return tf.variables_initializer(var_list, name="var_in_host")


def npu_compile(sess: tf.Session, *fetches: Any) -> None:
    """Compile the graphs behind ``fetches`` now, by running them."""
    sess.run(list(fetches))


def keep_tensors_dtypes(graph: tf.Graph, input_tensors: Sequence[str]) -> None:
    """Let the operations behind the named tensors keep their dtypes under mixed precision.

    Raises: ValueError when ``input_tensors`` is no list or tuple of tensor names.
    """
    if not isinstance(input_tensors, list | tuple):
        raise ValueError(f"input_tensors must be a list or tuple of tensor names, got {type(input_tensors).__name__}")
    for name in input_tensors:
        if not isinstance(name, str):
            raise ValueError(f"input_tensors must hold tensor names, got {name!r}")
        set_attribute(graph.get_tensor_by_name(name).op, "_keep_dtype", 1)


def set_op_tensor_max_range(tensor: tf.Tensor, max_shape: str) -> None:
    """Note the largest shape that the operation behind ``tensor`` will give."""
    set_attribute(tensor.op, "_op_max_shape", max_shape)


def set_op_tensor_max_size(tensor: tf.Tensor, max_size: int) -> None:
    """Note the largest size in bytes that the operation behind ``tensor`` will give."""
    set_attribute(tensor.op, "_op_max_size", max_size)


def set_op_input_tensor_multi_dims(tensor: tf.Tensor, input_shape: str, input_dims: str) -> None:
    """Note the shapes that the operation behind ``tensor`` may take."""
    set_attribute(tensor.op, "_subgraph_multi_dims_input_shape", input_shape)
    set_attribute(tensor.op, "_subgraph_multi_dims_input_dims", input_dims)
