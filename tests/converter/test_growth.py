"""The work that a conversion takes, counted in lines of Python that run, grows no faster than the source.

`benchmarks.growth` measures the time of the same shapes, and of larger ones.
"""

import json
import math
import sys
from functools import partial

import pytest

from benchmarks.growth import SOURCES
from tests.how_many import IS_WHOLE
from tf2npu import convert_source
from tf2npu.findings import Status

NESTED = {
    "terms of a sum",
    "attributes of a chain",
    "calls of a chain",
}  # LibCST's parser, which cannot be counted
SHAPES = sorted(SOURCES.keys() - NESTED - {"characters of a string"})


SIZES = (1, 80, 160) if IS_WHOLE else (1, 30, 60)
"""Sizes of the sources. What the first takes, every conversion does: it is taken off the work of both others."""
SLOW = "meanings of one name"
"""A shape of which one more takes a second under the trace."""


def lines_run(work) -> int:
    """Number of lines of Python that run, those of comprehensions once for each element."""
    count = 0

    def trace(frame, event, argument):
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


@pytest.mark.whole(but=[shape for shape in SHAPES if shape != SLOW])
@pytest.mark.parametrize("shape", SHAPES)
def test_work_grows_with_the_source(shape):
    make, _ = SOURCES[shape]
    name = "x.ipynb" if shape == "cells of a notebook" else "x.py"
    convert_source(make(2), name)  # what is made once a process
    small, one, two = (lines_run(partial(convert_source, make(n), name)) for n in SIZES)
    assert math.log2((two - small) / (one - small)) < 1.15


@pytest.mark.parametrize("shape", sorted(NESTED))
def test_what_is_nested_too_deeply_stays_as_it_is(shape):
    text = SOURCES[shape][0](20_000)
    result = convert_source(text)
    assert (result.status, result.after) == (Status.FAILED, text.encode())
    assert "nested too deeply" in result.findings[0].message


@pytest.mark.whole(beyond=1)
@pytest.mark.parametrize("text", [SOURCES["terms of an and"][0](25_000), SOURCES["elif"][0](12_000)], ids=["and", "elif"])
def test_what_libcst_nests_and_python_does_not_is_converted(text):
    """Its parser crashes at some ten thousand of these on the stack that a process starts with."""
    assert convert_source(text).status in (Status.CONVERTED, Status.UNCHANGED)


@pytest.mark.whole
def test_a_cell_that_nests_deeply():
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": SOURCES["elif"][0](12_000)}
    text = json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    assert convert_source(text, "x.ipynb").status is Status.CONVERTED


@pytest.mark.parametrize(
    "code", ["[" * 2000, "x = " + "1 if 1 else " * 50_000 + "0", "x = " + "not " * 50_000 + "0"], ids=["[", "if", "not"]
)
def test_a_cell_that_nobody_can_read_is_left_and_the_others_are_converted(code):
    """LibCST's parser crashes on what Python's own gives up on."""
    cells = [
        {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": source}
        for source in ("import tensorflow as tf\ns = tf.Session()", code)
    ]
    result = convert_source(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}), "x.ipynb")
    assert result.status is Status.CONVERTED
    assert any(finding.cell == 1 and "nested too deeply" in finding.message for finding in result.findings)
