"""Names that scripts take from the native extension: data type numbers for shared memory, option keys, and start and stop."""

from __future__ import annotations

import tensorflow as tf
from npu_bridge.estimator.npu import npu_plugin

DT_FLOAT = tf.float32.as_datatype_enum
DT_DOUBLE = tf.float64.as_datatype_enum
DT_INT32 = tf.int32.as_datatype_enum
DT_UINT8 = tf.uint8.as_datatype_enum
DT_INT16 = tf.int16.as_datatype_enum
DT_INT8 = tf.int8.as_datatype_enum
DT_INT64 = tf.int64.as_datatype_enum
DT_BOOL = tf.bool.as_datatype_enum
DT_UINT16 = tf.uint16.as_datatype_enum
DT_HALF = tf.float16.as_datatype_enum
DT_UINT32 = tf.uint32.as_datatype_enum
DT_UINT64 = tf.uint64.as_datatype_enum

# Keys of the options that PluginInit takes.
OPTION_EXEC_ENABLE_SCOPE_FUSION_PASSES = "ge.exec.enableScopeFusionPasses"
OPTION_EXEC_HCCL_FLAG = "ge.exec.hcclFlag"
OPTION_EXEC_PROFILING_BPPONIT_OPTIONS = "ge.exec.profilingBpPointOptions"
OPTION_EXEC_PROFILING_FPPONIT_OPTIONS = "ge.exec.profilingFpPointOptions"
OPTION_EXEC_PROFILING_MODE = "ge.exec.profilingMode"
OPTION_EXEC_PROFILING_OPTIONS = "ge.exec.profilingOptions"
OPTION_GRAPH_RUN_MODE = "ge.graphRunMode"

map_string_string = dict


def PluginInit(options: dict[str, str]) -> None:
    """Start the device."""
    del options


def PluginFinalize() -> None:
    """Stop the device."""
    npu_plugin.npu_resource_shutdown()


def NpuClose() -> None:
    """Stop the device at the end of the process."""
    npu_plugin.npu_close()
