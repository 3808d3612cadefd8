"""``tf.contrib.tfprof.model_analyzer``: ``tf.profiler`` under its first name, with the options of its examples."""

from __future__ import annotations

from typing import Any

from tensorflow.python.profiler import model_analyzer, tfprof_logger
from tensorflow.python.profiler.model_analyzer import ALL_ADVICE, Profiler

__all__ = [
    "ALL_ADVICE",
    "FLOAT_OPS_OPTIONS",
    "PRINT_ALL_TIMING_MEMORY",
    "TRAINABLE_VARS_PARAMS_STAT_OPTIONS",
    "Profiler",
    "advise",
    "print_model_analysis",
]  # fmt: skip


def _options(select: list[str], account: str = ".*", order_by: str = "name", **least: int) -> dict[str, Any]:
    """Options of the profiler as a dictionary; least: thresholds below which an operation is left out."""
    thresholds = dict.fromkeys(("min_bytes", "min_micros", "min_params", "min_float_ops"), 0)
    patterns = {"start_name_regexes": [".*"], "trim_name_regexes": [], "show_name_regexes": [".*"], "hide_name_regexes": []}
    return {
        "max_depth": 10000, **thresholds, **least, "order_by": order_by, "account_type_regexes": [account], **patterns,
        "account_displayed_op_only": True, "select": select, "output": "stdout", "dump_to_file": "",
    }  # fmt: skip


# Source: tensorflow/contrib/tfprof/model_analyzer.py of TF 1.15.
TRAINABLE_VARS_PARAMS_STAT_OPTIONS = _options(["params"], tfprof_logger.TRAINABLE_VARIABLES)
FLOAT_OPS_OPTIONS = _options(["float_ops"], order_by="float_ops", min_float_ops=1)
PRINT_ALL_TIMING_MEMORY = _options(["micros", "bytes"], min_bytes=1, min_micros=1)


def advise(graph: Any, run_meta: Any = None, tfprof_options: Any = 0) -> Any:
    """``tf.profiler.advise``."""
    return model_analyzer.advise(graph, run_meta, tfprof_options)


def print_model_analysis(
    graph: Any, run_meta: Any = None, op_log: Any = None, tfprof_cmd: str = "scope", tfprof_options: Any = 0
) -> Any:
    """``tf.profiler.profile``: print parameters, operations or times and give them as a message."""
    return model_analyzer.profile(graph, run_meta, op_log, tfprof_cmd, tfprof_options)
