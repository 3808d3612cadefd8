"""Methods that pandas dropped."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from npu_bridge._log import once
from npu_bridge._tf1.journal import Journal


def add(journal: Journal, pandas: ModuleType) -> None:
    """Bring ``as_matrix`` back. Source: release notes of pandas 1.0."""
    for owner in (pandas.DataFrame, pandas.Series):
        if not hasattr(owner, "as_matrix"):
            owner.as_matrix = _as_matrix
            journal.on_undo(lambda owner=owner: delattr(owner, "as_matrix"))


def _as_matrix(table: Any, columns: Any = None) -> Any:
    once("pandas' as_matrix is gone since this script was written; here it works, today write to_numpy()")
    return table.values if columns is None else table[columns].values
