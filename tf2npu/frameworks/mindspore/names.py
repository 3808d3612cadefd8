"""Names of MindSpore r1.0 and r1.1: one spelling of each, and those that MindSpore 2.10 has no more."""

from __future__ import annotations

import csv
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = "mindspore"
_CHANGED = Path(__file__).with_name("changed_names.csv")
_SPELLINGS = (
    (re.compile(r"^mindspore\.ops\.(?:operations|functional|composite)\.(?:\w+\.)*(\w+)$"), r"mindspore.ops.\1"),
    (re.compile(r"^mindspore\.nn\.(?:layer|optim|loss|wrap|metrics)\.(?:\w+\.)*(\w+)$"), r"mindspore.nn.\1"),
    (re.compile(r"^mindspore\.common\.(?:api|tensor|parameter|dtype|seed)\.(\w+)$"), r"mindspore.\1"),
    (re.compile(r"^mindspore\.common\.(\w+)$"), r"mindspore.\1"),
    (re.compile(r"^mindspore\.train\.(?:model|serialization|loss_scale_manager|dataset_helper|amp)\.(\w+)$"), r"mindspore.\1"),
    (re.compile(r"^mindspore\.train\.(\w+)$"), r"mindspore.\1"),
)
"""Modules that hand on the names of others: a name is known by the shortest path."""


class Changed(NamedTuple):
    """A name or setting that MindSpore 2.10 does not have.  instead: what to write, as the end of a sentence."""

    kind: str
    name: str
    instead: str


@cache
def canonical(name: str) -> str:
    """The shortest spelling of a name."""
    for pattern, spelling in _SPELLINGS:
        found = pattern.match(name)
        if found is not None and (found[1][0].isupper() or found[1] in _FUNCTIONS):
            return found.expand(spelling)
    return name


_FUNCTIONS = frozenset({
    "check_bprop", "control_depend", "core", "env_add", "env_getitem", "env_setitem", "isinstance_", "issubclass_", "make_ref",
    "ms_function", "neg_tensor", "pack", "parse_print", "same_type_shape", "sparse_tensor_get_dense_shape",
    "sparse_tensor_get_indices", "sparse_tensor_get_values",
})  # fmt: skip
"""Functions that changed; modules, which begin with a small letter as well, keep their paths."""


@cache
def changed(kind: str) -> dict[str, Changed]:
    """The names that changed.  kind: "name", "module", "context" or "parallel".

    Source: the lists `__all__` of r1.1, looked up in MindSpore 2.10; its set_context called with each setting.
    """
    with _CHANGED.open(encoding="utf-8", newline="") as file:
        rows = [Changed(**row) for row in csv.DictReader(file)]
    return {row.name: row for row in rows if row.kind == kind}
