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
        ("def f(sess):\n    for i in range(99):\n        sess.run(tf.assign(lr, i))", "tf.assign"),
        ("def f(self):\n    while True:\n        self.sess.run([self.op, self.lr.assign(0.1)])", "self.lr.assign"),
        (
            "def f(sess):\n    for i in range(99):\n        if i % 100 == 0:\n            sess.run(fetches=tf.argmax(y, 1))",
            "tf.argmax",
        ),
        ("def f(sess):\n    return [sess.run(tf.gather(x, i)) for i in range(99)]", "tf.gather"),
        ("v = tf.Variable(0)\nwith tf.Session() as s:\n    for i in range(99):\n        s.run(v.assign(f(i)))", "v.assign"),
        ("with tf.Session() as s:\n    for i in range(99):\n        print(tf.reduce_sum(x).eval())", "tf.reduce_sum"),
        (
            "def f(sess):\n    for i in range(99):\n        acc = tf.reduce_mean(y)\n        print(sess.run(acc))",
            "tf.reduce_mean",
        ),
        (
            "for k in range(99):\n    with tf.Session() as s:\n        for i in range(99):\n            s.run(tf.square(x))",
            "tf.square",
        ),
    ],
)
def test_what_is_made_in_every_turn_is_named(code: str, made: str) -> None:
    (message,) = messages(code)
    assert message.startswith(f"Made anew in every turn of the loop are {made}, ")


@pytest.mark.parametrize(
    "code",
    [
        "def f(sess):\n    sess.run(tf.global_variables_initializer())",
        "op = tf.assign(lr, p)\ndef f(sess):\n    for i in range(99):\n        sess.run(op, {p: i})",
        "def f(sess):\n    for x in sess.run(tf.range(99)):\n        print(x)",
        "for k in range(3):\n    with tf.Graph().as_default(), tf.Session() as s:\n        s.run(tf.tables_initializer())",
        "for k in range(3):\n    tf.reset_default_graph()\n    build()\n    with tf.Session() as s:\n        s.run(tf.square(x))",
        "def f(sess):\n    for i in range(99):\n        sess.run(tf.get_collection('train'))",
        "def f(sess):\n    for i in range(99):\n        print(sess.run([v for v in tf.trainable_variables()]))",
        "def f(sess):\n    for i in range(99):\n        sess.run(step, {lr: rate(i)})",
        "for x in data:\n    def step(sess):\n        return sess.run(tf.square(y))",
        "def f(pipeline):\n    for i in range(99):\n        pipeline.run(frame.assign(a=i))",
        "def f(sess):\n    for i in range(99):\n        y = model(i)\n        sess.run(y)",
    ],
)
def test_what_is_made_once_is_not(code: str) -> None:
    assert messages(code) == []


@pytest.mark.parametrize(
    ("code", "after"),
    [
        ("        s.run(tf.assign(v, 0.5 * i))", "        v.load(0.5 * i, s)"),
        ("        s.run(v.assign(args.rate))", "        v.load(args.rate, s)"),
        ("        r = 0.1\n        s.run(v.assign(r / (i + 1)))", "        r = 0.1\n        v.load(r / (i + 1), s)"),
        ("        s.run(v.assign(np.sqrt(x)))", "        v.load(np.sqrt(x), s)"),
        ("        s.run(v.assign(w))", ""),  # may be a tensor
        ("        s.run(v.assign(tf.sqrt(x)))", ""),
        ("        s.run([v.assign(1.0)])", ""),
        ("        y = s.run(v.assign(1.0))", ""),
        ("        s.run(w.assign(1.0))", ""),  # may be no variable
        ("        s.run(v.assign(1.0), {x: i})", ""),
        ("        s.run(v.assign_add(1.0))", ""),
    ],
)
def test_a_number_is_loaded_into_a_variable(code: str, after: str) -> None:
    head = f"import numpy as np\n{TF}v = tf.Variable(0.0)\nwith tf.Session() as s:\n    for i in range(99):\n"
    result = convert_source(f"{head}{code}\n", "m.py")
    assert (after in result.after.decode()) if after else (code in result.after.decode())


@pytest.mark.parametrize(
    ("code", "path", "level"),
    [
        ("def f(sess):\n    for epoch in range(n):\n        sess.run(tf.assign(lr, r()))", "m.py", "info"),
        ("def f(sess):\n    for e in range(args.num_epochs):\n        sess.run(tf.assign(lr, r()))", "m.py", "info"),
        ("def f(sess):\n    for epoch in d:\n        for b in d:\n            sess.run(tf.assign(lr, r()))", "m.py", "manual"),
        ("def f(sess):\n    for k in [1, 2, 3]:\n        sess.run(tf.square(x))", "m.py", "info"),
        ("def f(sess):\n    for b in d:\n        for k in [1, 2, 3]:\n            sess.run(tf.square(x))", "m.py", "manual"),
        ("def f(sess):\n    for k in d:\n        sess.run(tf.square(x))", "test_m.py", "info"),
        ("def f(sess):\n    for k in d:\n        sess.run(tf.square(x))", "m.py", "manual"),
    ],
)
def test_a_loop_of_few_turns_costs_little(code: str, path: str, level: str) -> None:
    (found,) = [f for f in convert_source(TF + code + "\n", path).findings if f.rule == "NPU954"]
    assert found.level.value == level
