"""Runs in a loop that make ops, so that each is compiled anew."""

from __future__ import annotations

import pytest

from tf2npu.engine.convert_file import convert_source

TF = "import tensorflow as tf\n"


def messages(code: str) -> list[str]:
    return [f.message for f in convert_source(TF + code, "m.py").findings if f.rule == "NPU954"]


@pytest.mark.parametrize(
    ("code", "made"),
    [
        ("def f(sess):\n    for i in range(9):\n        sess.run(tf.assign(lr, i))", "tf.assign"),
        ("def f(self):\n    while True:\n        self.sess.run([self.op, self.lr.assign(0.1)])", "self.lr.assign"),
        (
            "def f(sess):\n    for i in range(9):\n        if i % 100 == 0:\n            sess.run(fetches=tf.argmax(y, 1))",
            "tf.argmax",
        ),
        ("def f(sess):\n    return [sess.run(tf.gather(x, i)) for i in range(9)]", "tf.gather"),
        ("v = tf.Variable(0)\nwith tf.Session() as s:\n    for i in range(9):\n        s.run(v.assign(i))", "v.assign"),
        ("with tf.Session() as s:\n    for i in range(9):\n        print(tf.reduce_sum(x).eval())", "tf.reduce_sum"),
        ("def f(sess):\n    for i in range(9):\n        acc = tf.reduce_mean(y)\n        print(sess.run(acc))", "tf.reduce_mean"),
        (
            "for k in range(3):\n    with tf.Session() as s:\n        for i in range(9):\n            s.run(tf.square(x))",
            "tf.square",
        ),
    ],
)
def test_what_is_made_in_every_turn_is_named(code: str, made: str) -> None:
    (message,) = messages(code)
    assert message.startswith(f"Made anew in every turn of the loop: {made}. ")


@pytest.mark.parametrize(
    "code",
    [
        "def f(sess):\n    sess.run(tf.global_variables_initializer())",
        "op = tf.assign(lr, p)\ndef f(sess):\n    for i in range(9):\n        sess.run(op, {p: i})",
        "def f(sess):\n    for x in sess.run(tf.range(9)):\n        print(x)",
        "for k in range(3):\n    with tf.Graph().as_default(), tf.Session() as s:\n        s.run(tf.tables_initializer())",
        "for k in range(3):\n    tf.reset_default_graph()\n    build()\n    with tf.Session() as s:\n        s.run(tf.square(x))",
        "def f(sess):\n    for i in range(9):\n        sess.run(tf.get_collection('train'))",
        "def f(sess):\n    for i in range(9):\n        print(sess.run([v for v in tf.trainable_variables()]))",
        "def f(sess):\n    for i in range(9):\n        sess.run(step, {lr: rate(i)})",
        "for x in data:\n    def step(sess):\n        return sess.run(tf.square(y))",
        "def f(pipeline):\n    for i in range(9):\n        pipeline.run(frame.assign(a=i))",
        "def f(sess):\n    for i in range(9):\n        y = model(i)\n        sess.run(y)",
    ],
)
def test_what_is_made_once_is_not(code: str) -> None:
    assert messages(code) == []
