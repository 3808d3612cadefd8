"""A message for several places of a file stands at the first, with the places of the others."""

from __future__ import annotations

import json

import tf2npu

_START = "import tensorflow as tf\nimport numpy as np\n"


def told(source: str, rule: str, path: str = "a.py") -> list[tuple[int, str]]:
    found = [f for f in tf2npu.convert_source(source, path).findings if f.rule == rule]
    return [(f.span.line, f.message.partition(" The file has ")[2]) for f in found]


def test_a_name_that_is_gone_is_told_once_and_another_one_by_itself() -> None:
    source = f"{_START}a = np.int(1)\nb = np.int(2), np.int(3)\nc = np.bool(1)\nd = np.int(4)\n"
    assert told(source, "NPU960") == [(3, "3 such places; the others: 4, 6."), (5, "")]


def test_open_sizes_are_told_once_however_many_there_are() -> None:
    source = f"{_START}a = tf.placeholder(tf.float32, [None, 3])\nb = tf.placeholder(tf.int32, (2, None, None))\n"
    assert told(source, "NPU922") == [(3, "2 such places; the others: 4.")]


def test_a_place_that_a_comment_keeps_is_not_among_them() -> None:
    source = f"{_START}a = np.int(1)\nb = np.int(2)  # tf2npu: ignore[NPU960]\n"
    assert told(source, "NPU960") == [(3, "")]


def test_what_is_decided_place_by_place_is_told_at_each() -> None:
    made = "tf.setdiff1d(a, b)"
    assert told(f"{_START}d = {made}\ne = {made}\n", "NPU921") == [(3, ""), (4, "")]


def test_more_than_twenty_places_are_counted_and_not_all_named() -> None:
    ((line, others),) = told(_START + "a = np.int(1)\n" * 30, "NPU960")
    assert (line, others) == (3, f"30 such places; the others: {', '.join(map(str, range(4, 24)))}, ....")


def test_places_of_a_notebook_have_their_cell() -> None:
    """The lines of the joined code, which stood there, are nowhere to be seen in a notebook."""
    cells = [
        _START,
        "# nothing",
        "x = 1\na = np.int(1)\nq = tf.contrib.ffmpeg",
        "b = np.int(2)",
        "q = tf.contrib.ffmpeg",
    ]
    made = [{"cell_type": "code", "metadata": {}, "source": c, "outputs": [], "execution_count": None} for c in cells]
    notebook = json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 2})
    assert told(notebook, "NPU960", "a.ipynb") == [(2, "2 such places; the others: cell 3:1.")]
    assert told(notebook, "NPU968", "a.ipynb") == [(3, "2 such places; the others: cell 4:1.")]
