"""Context managers that put an attribute on every operation built inside them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

import tensorflow as tf
from npu_bridge.estimator.npu.npu_config import NpuExecutePlacement
from npu_bridge.estimator.npu.util import check_positive_integer

from npu_runtime.importers.tensorflow.device_calls import attribute


@contextmanager
def _attributes(**values: int | bool | str) -> Iterator[None]:
    graph = tf.get_default_graph()
    if tf.executing_eagerly():
        raise AttributeError("scopes of npu_scope put attributes on a graph's operations; eager execution builds none")
    with graph._attr_scope({name: attribute(value) for name, value in values.items()}):
        yield


def without_npu_compile_scope() -> AbstractContextManager[None]:
    """Operations inside stay on the host."""
    return _attributes(_without_npu_compile=True)


def npu_variable_scope(placement: NpuExecutePlacement = NpuExecutePlacement.ALL) -> AbstractContextManager[None]:
    """Variables made inside are placed where ``placement`` says; ValueError for another type."""
    if not isinstance(placement, NpuExecutePlacement):
        raise ValueError(f"placement must be an NpuExecutePlacement, got {placement!r}")
    return _attributes(_variable_placement=placement.value)


def keep_dtype_scope() -> AbstractContextManager[None]:
    """Operations inside keep their dtypes under mixed precision."""
    return _attributes(_keep_dtype=1)


def npu_stage_scope(stage: int) -> AbstractContextManager[None]:
    """Operations inside belong to a pipeline stage."""
    return _attributes(_stage_level=stage)


def npu_mem_type_scope() -> AbstractContextManager[None]:
    """Outputs of operations inside live in the other memory type."""
    return _attributes(_output_memory_type=1)


def npu_weight_prefetch_scope(buffer_pool_id: int = 0, buffer_pool_size: int = 536870912) -> AbstractContextManager[None]:
    """Weights of operations inside are fetched ahead into a pool of ``buffer_pool_size`` bytes."""
    return _attributes(_buffer_pool_id=buffer_pool_id, _buffer_pool_size=buffer_pool_size)


def op_specified_engine_scope(engine_name: str, kernel_lib_name: str) -> AbstractContextManager[None]:
    """Operations inside run on a named engine with a named kernel library."""
    return _attributes(_specified_engine_name=engine_name, _specified_kernel_lib_name=kernel_lib_name)


def npu_qos_label_scope(label: int) -> AbstractContextManager[None]:
    """Operations inside carry a quality-of-service label."""
    return _attributes(_qos_service_label=label)


def subgraph_multi_dims_scope(index: int) -> AbstractContextManager[None]:
    """Operations inside belong to a subgraph with several input shapes."""
    return _attributes(_subgraph_multi_dims_index=index)


def npu_optimizer_scope() -> AbstractContextManager[None]:
    """Operations inside belong to the optimizer."""
    return _attributes(_optimizer=True)


def disable_autofuse() -> AbstractContextManager[None]:
    """Operations inside are not fused automatically."""
    return _attributes(_disable_autofuse_scope=True)


def limit_core_num_scope(op_aicore_num: str = "0", op_vectorore_num: str = "0") -> AbstractContextManager[None]:
    """Operations inside use at most so many cores; ValueError when a count is not text of a number above 0."""
    for name, value in (("op_aicore_num", op_aicore_num), ("op_vectorore_num", op_vectorore_num)):
        if not isinstance(value, str) or not value.isdigit() or int(value) <= 0:
            raise ValueError(f"{name} must be the text of a number above 0, got {value!r}")
    return _attributes(_op_aicore_num=op_aicore_num, _op_vectorcore_num=op_vectorore_num)


def npu_recompute_scope() -> AbstractContextManager[str]:
    """A name scope whose operations may be computed again in the backward pass."""
    return tf.name_scope("NpuRecompute")


def npu_graph_slice_scope(slice_num: int | None = None) -> AbstractContextManager[str]:
    """A name scope whose operations are sliced into ``slice_num`` parts; TypeError or ValueError for a bad number."""
    check_positive_integer(slice_num, "slice_num")
    return tf.name_scope(f"SliceNum-{slice_num}-NpuGraphSlicing{slice_num}")
