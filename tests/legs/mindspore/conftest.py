"""The tests of the leg mindspore: the project's package on the path, as `tf2npu run --frontend mindspore` puts it there."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
sys.path[:0] = [str(ROOT), str(ROOT / "tf2npu" / "adapters" / "mindspore")]


@pytest.fixture(params=["GRAPH_MODE", "PYNATIVE_MODE"], ids=["graph", "pynative"])
def mode(request):
    """Lets a test run in both modes."""
    from mindspore import context

    before = context.get_context("mode")
    context.set_context(mode=getattr(context, request.param))
    yield context.get_context("mode")
    context.set_context(mode=before)
