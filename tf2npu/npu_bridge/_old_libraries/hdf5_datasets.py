"""Attributes of datasets that h5py dropped."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from npu_bridge._log import once
from npu_bridge._tf1.journal import Journal


def add(journal: Journal, h5py: ModuleType) -> None:
    """Bring ``value`` back. Source: release notes of h5py 3.0."""
    owner = h5py.Dataset
    if not hasattr(owner, "value"):
        owner.value = property(_value)
        journal.on_undo(lambda: delattr(owner, "value"))


def _value(dataset: Any) -> Any:
    """The whole of a dataset: an array, or a scalar."""
    once("h5py's Dataset.value is gone since this script was written; here it works, today write dataset[()]")
    return dataset[()]
