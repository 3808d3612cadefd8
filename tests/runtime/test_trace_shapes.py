"""Shapes that change from step to step: told with the input, the shapes and the user's line, as an NPU compiles for each."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from npu_runtime.session import run_log
from npu_runtime.trace.shapes import MOST_SHAPES, MetShapes, document, lines
from tests.runtime.device import device_session


@pytest.fixture(autouse=True)
def empty_log():
    run_log().clear()
    yield
    run_log().clear()


def test_each_new_shape_is_told_with_its_input_and_line() -> None:
    with tf.Graph().as_default(), device_session() as session:
        x, scale = tf.placeholder(tf.float32, [None, 3], "x"), tf.placeholder(tf.float32, [], "scale")
        made = tf.reduce_sum(x * scale)
        for n in (4, 5, 6, 7, 8, 9, 10, 4, 5):
            session.run(made, {x: np.ones((n, 3), "f"), scale: 2.0})  # the line that is told
        told = run_log().document()
    source = Path(__file__).read_text(encoding="utf-8").splitlines()
    place = f"{__file__}:{next(n for n, line in enumerate(source, 1) if line.endswith('# the line that is told'))}"
    assert told["new_shapes"] == 6 > told["recompilations"] > 0
    assert told["shape_changes"] == [
        {"input": "x:0", "count": 7, "shapes": ["[4,3]", "[5,3]", "[6,3]", "[7,3]"], "places": [place]}
    ]
    first, second, *_ = run_log().digest()
    assert f"{told['recompilations']} recompilations for 6 new shapes, for each of which an NPU compiles" in first
    assert second == f"  x:0 had 7 shapes: [4,3], [5,3], [6,3], [7,3] and 3 more, run at {place}"


def test_the_batches_of_an_input_pipeline_are_told_too() -> None:
    with tf.Graph().as_default(), device_session() as session:
        batch = tf.data.make_one_shot_iterator(tf.data.Dataset.range(10).batch(4)).get_next()
        made = tf.reduce_sum(tf.cast(batch, tf.float32))
        for _ in range(3):
            session.run(made)
        (change,) = run_log().document()["shape_changes"]
    assert (change["count"], change["shapes"]) == (2, ["[4]", "[2]"]) and "IteratorGetNext" in change["input"]


def test_one_shape_is_not_worth_a_word() -> None:
    with tf.Graph().as_default(), device_session() as session:
        x = tf.placeholder(tf.float32, [None], "x")
        for _ in range(3):
            session.run(x * 2.0, {x: np.ones(4, "f")})
        assert run_log().document()["shape_changes"] == [] and run_log().document()["new_shapes"] == 0
        assert "shape" not in run_log().digest()[0]


def test_what_is_kept_of_ever_new_shapes_is_bounded() -> None:
    met = MetShapes()
    for n in range(MOST_SHAPES + 5):
        met.meet((n,), f"train.py:{n}")
    (entry,) = document([("x:0", met)])
    assert (entry["count"], len(entry["shapes"]), len(entry["places"])) == (MOST_SHAPES, 4, 3)
    assert lines([("x:0", met)])[0].startswith(f"x:0 had {MOST_SHAPES} shapes: [0], [1], [2], [3] and {MOST_SHAPES - 4} more")
