"""Keeps TensorFlow's remarks about TF1 names away from a TF1 script's output."""

from __future__ import annotations

import logging
import os
import warnings
from importlib import import_module

from npu_bridge._tf1.journal import Journal

_REMARKS = (
    r"`tf\.layers\.",
    r"`tf\.nn\.rnn_cell\.",
    r"`layer\.(apply|add_variable|updates)",
    r"`Model\.",
    r".*is deprecated and will be removed",
    r"You are saving your model as an HDF5 file",
    r"To make it possible to preserve tf\.data options",
)


def before_tensorflow() -> None:
    """Drop the informational lines of TensorFlow's C++ side unless the user asked for a level."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "1")


def apply(journal: Journal) -> None:
    """Switch deprecation notices off: a script that is meant for TF 1.15 cannot follow their advice."""
    deprecation = import_module("tensorflow.python.util.deprecation")
    journal.set(vars(deprecation), "_PRINT_DEPRECATION_WARNINGS", False)
    logger = logging.getLogger("tensorflow")
    logger.addFilter(_is_no_notice)
    journal.on_undo(lambda: logger.removeFilter(_is_no_notice))
    before = len(warnings.filters)
    for remark in _REMARKS:
        warnings.filterwarnings("ignore", message=remark, category=UserWarning)
    added = warnings.filters[: len(warnings.filters) - before]
    journal.on_undo(lambda: [warnings.filters.remove(entry) for entry in added if entry in warnings.filters])


def _is_no_notice(record: logging.LogRecord) -> bool:
    """False for the notices that some old classes log when they are made."""
    return " is deprecated" not in record.getMessage()
