"""Code that findings tell a person to write gives the numbers of the code in the place of which it comes."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf2npu.engine.convert_file import convert_source

X = np.arange(12, dtype=np.float32).reshape(6, 2)


def written(source: str, rule: str) -> str:
    found = convert_source(f"import tensorflow as tf\n{source}", "m.py").findings
    (code,) = [finding.after for finding in found if finding.rule == rule]
    return code


@pytest.mark.parametrize("of_mask", [1, 2, 3])
@pytest.mark.parametrize("call", ["tf.boolean_mask(x, mask)", "tf.boolean_mask(tf.abs(x), mask & mask)"])
@pytest.mark.parametrize("rows", [6, None])
def test_a_sum_over_what_a_mask_picks_is_that_over_the_masked_tensor(of_mask: int, call: str, rows: int | None) -> None:
    code = written(f"y = {call}", "NPU921")
    values = np.random.default_rng(of_mask).normal(size=(6, 4, 3)).astype(np.float32)
    values[0, 0, 0] = np.inf  # which times 0 is no 0
    chosen = np.random.default_rng(0).random(values.shape[:of_mask]) < 0.5
    chosen.flat[0] = False
    with tf.Graph().as_default(), tf.Session() as session:
        x, mask = tf.placeholder(tf.float32, [rows, 4, 3]), tf.placeholder(tf.bool, [rows, *chosen.shape[1:]])
        names: dict[str, object] = {"tf": tf, "x": x, "mask": mask}
        picked = eval(call, names)
        exec(code, names)
        assert names["kept"].shape.as_list() == [rows, 4, 3]
        fed = {x: values, mask: chosen}
        kept = session.run(names["kept"], fed)
    with tf.Session(graph=picked.graph) as session:
        wanted = session.run(picked, fed)
    assert np.array_equal(kept[chosen], wanted) and not kept[~chosen].any()


def test_padded_suppression_selects_the_same_boxes() -> None:
    code = written("i = tf.image.non_max_suppression(boxes, scores, 5, 0.3)", "NPU921")
    boxes = np.array([[0, 0, 1, 1], [0, 0.1, 1, 1.1], [2, 2, 3, 3]], np.float32)
    names: dict[str, object] = {"tf": tf, "boxes": boxes, "scores": np.array([0.9, 0.8, 0.7], np.float32)}
    with tf.Graph().as_default(), tf.Session() as session:
        exec(code, names)
        selected, n_selected = session.run([names["selected"], names["n_selected"]])
        wanted = session.run(tf.image.non_max_suppression(boxes, names["scores"], 5, 0.3))
    assert selected.shape == (5,) and np.array_equal(selected[:n_selected], wanted)


def test_gradients_in_a_graph_come_in_pairs_as_those_of_eager_execution() -> None:
    code = written("import tensorflow.contrib.eager as tfe\ng = tfe.implicit_gradients(loss_fn)", "NPU944")
    with tf.Graph().as_default(), tf.Session() as session:
        weight = tf.Variable(3.0)
        gradients = eval(code, {"tf": tf, "loss_fn": lambda x: tf.reduce_sum(weight * x)})
        ((gradient, variable),) = gradients(tf.constant(X))
        session.run(tf.global_variables_initializer())
        assert variable is weight and session.run(gradient) == X.sum()
