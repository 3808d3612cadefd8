"""Primitives as functions."""

from __future__ import annotations

from mindspore.ops.operations import Assign

__all__ = ["assign"]

assign = Assign()
