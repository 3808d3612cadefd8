"""The API table held against a live TensorFlow: its TF1 names are all known, with their parameters."""

from __future__ import annotations

import inspect
import types
from collections.abc import Iterator
from typing import Any

import pytest
import tensorflow.compat.v1 as tf

from tests.converter_api.inputs import RAW
from tf2npu.api_support.table import signatures, table

NEWER = frozenset((RAW / "tensorflow_2_15_only.txt").read_text(encoding="utf-8").split())
MODULES = ("", "nn", "math", "train", "layers", "losses", "metrics", "image", "data", "io", "estimator", "linalg", "summary")


def public(module: str) -> Iterator[tuple[str, Any]]:
    found = getattr(tf, module) if module else tf
    for name in dir(found):
        value = getattr(found, name)
        if not name.startswith("_") and callable(value) and not isinstance(value, types.ModuleType):
            yield f"tensorflow.{module + '.' if module else ''}{name}", value


@pytest.mark.parametrize("module", MODULES)
def test_every_name_is_in_the_table(module: str) -> None:
    absent = [name for name, _ in public(module) if table().find(name) is None]
    assert absent == []


@pytest.mark.parametrize("module", MODULES)
def test_functions_that_stayed_have_these_parameters(module: str) -> None:
    """Later versions append parameters, and rename none of a TF1 function; a handful were made positional-only or dropped."""
    differing = []
    for name, value in public(module):
        api = table().find(name)
        recorded = signatures().get(api.name, "") if api else ""
        if name in NEWER or not inspect.isfunction(value) or not recorded:
            continue
        now = set(inspect.signature(value).parameters)
        then = {part.partition("=")[0].strip(" *") for part in recorded.strip("()").split(", ")}
        if not {n for n in then if n.isidentifier()} <= now | {"kwargs", "args"}:
            differing.append(name)
    assert len(differing) <= 3, differing
