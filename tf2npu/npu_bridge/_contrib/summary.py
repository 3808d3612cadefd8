"""``tf.contrib.summary``: summaries written by operations; ``all_summary_ops`` says which to run."""

from __future__ import annotations

from typing import Any

from tensorflow.python.ops import summary_ops_v2
from tensorflow.python.ops.summary_ops_v2 import (
    SummaryWriter,
    always_record_summaries,
    audio,
    create_file_writer,
    create_summary_file_writer,
    eval_dir,
    flush,
    generic,
    histogram,
    image,
    import_event,
    initialize,
    never_record_summaries,
    record_summaries_every_n_global_steps,
    scalar,
    should_record_summaries,
    summary_writer_initializer_op,
)

__all__ = [
    "SummaryWriter", "all_summary_ops", "always_record_summaries", "audio", "create_file_writer", "create_summary_file_writer",
    "eval_dir", "flush", "generic", "graph", "histogram", "image", "import_event", "initialize", "never_record_summaries",
    "record_summaries_every_n_global_steps", "scalar", "should_record_summaries", "summary_writer_initializer_op",
]  # fmt: skip
all_summary_ops = summary_ops_v2.all_v2_summary_ops


def graph(param: Any, step: Any = None, name: str | None = None) -> Any:
    """Write a graph, given as a string tensor or as a GraphDef, at ``step``."""
    return summary_ops_v2.graph_v1(param, step, name)
