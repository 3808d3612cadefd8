"""Code that findings tell a person to write gives the numbers of the code in the place of which it comes."""

from __future__ import annotations

import numpy as np
import tensorflow.compat.v1 as tf

from tf2npu.convert import convert_source

X = np.arange(12, dtype=np.float32).reshape(6, 2)
MASK = np.array([True, False, True, True, False, False])


def written(source: str, rule: str) -> str:
    found = convert_source(f"import tensorflow as tf\n{source}", "m.py").findings
    (code,) = [finding.after for finding in found if finding.rule == rule]
    return code


def test_a_sum_over_what_a_mask_picks_is_that_over_the_masked_tensor() -> None:
    code = written("y = tf.boolean_mask(x, mask)", "NPU921")
    with tf.Graph().as_default(), tf.Session() as session:
        x, mask = tf.constant(X), tf.constant(MASK)
        picked, kept = tf.boolean_mask(x, mask), eval(code, {"tf": tf, "x": x, "mask": mask})
        assert kept.shape.as_list() == [6, 2]
        assert np.array_equal(session.run(tf.reduce_sum(kept, 0)), session.run(tf.reduce_sum(picked, 0)))


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
