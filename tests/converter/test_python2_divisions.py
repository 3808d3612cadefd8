"""Divisions of Python 2: those of whole numbers become `//`, those that may be are told, the rest is left."""

from __future__ import annotations

import time

import pytest

from tf2npu.python2.divisions import open_divisions, with_whole_divisions

pytestmark = pytest.mark.each_python


@pytest.mark.parametrize(
    ("code", "after"),
    [
        ("n = len(a) / 2", "n = len(a) // 2"),
        ("a = 6\nb = a * 3 / a", "a = 6\nb = a * 3 // a"),
        ("for i in range(9):\n    x = i / 3", "for i in range(9):\n    x = i // 3"),
        ("for i, y in enumerate(z):\n    x = (i + 1) / 3", "for i, y in enumerate(z):\n    x = (i + 1) // 3"),
        ("n = 8\nn /= 2", "n = 8\nn //= 2"),
        ("h = x.shape[1] / 2", "h = x.shape[1] // 2"),
        ("B = 64\ndef f():\n    return len(x) / B", "B = 64\ndef f():\n    return len(x) // B"),
        ("p.add_argument('--n', type=int)\nn = len(a) / args.n", "p.add_argument('--n', type=int)\nn = len(a) // args.n"),
        ("tf.flags.DEFINE_integer('n', 2, '')\nn = 9 / FLAGS.n", "tf.flags.DEFINE_integer('n', 2, '')\nn = 9 // FLAGS.n"),
        ("s = 'ä'; n = len(s) / 2", "s = 'ä'; n = len(s) // 2"),
        ("n = (len(a)) / (2)", "n = (len(a)) // (2)"),
        ("n = 2 ** 3 / 4 / 2", "n = 2 ** 3 // 4 // 2"),
        ("for i in range(a / b):\n    pass", "for i in range(a // b):\n    pass"),
        ("def f(a, b):\n    n = a / b\n    return range(n - 1)", "def f(a, b):\n    n = a // b\n    return range(n - 1)"),
        ("p = n * (n - 1) / 2\ny = tf.reshape(x, [-1, p * k])", "p = n * (n - 1) // 2\ny = tf.reshape(x, [-1, p * k])"),
        ("n = x.get_shape().as_list()[-1] / 2", "n = x.get_shape().as_list()[-1] // 2"),
        ("y = x[a / b:]", "y = x[a // b:]"), ("y = [0] * (a / b)", "y = [0] * (a // b)"),
        ("n = a.count_nonzero() / 2", "n = a.count_nonzero() // 2"),
        ("x = i / n\ny = i % n\nz = a[x]", "x = i // n\ny = i % n\nz = a[x]"),
        ("def f(d, n):\n    return [2 * i / d for p in range(n) for i in range(d)]",
         "def f(d, n):\n    return [2 * i // d for p in range(n) for i in range(d)]"),
        ("def f(d):\n    for i in range(d):\n        x = d / 2", "def f(d):\n    for i in range(d):\n        x = d // 2"),
        ("def f(d):\n    a = np.zeros([d, 2])\n    return d / 2", "def f(d):\n    a = np.zeros([d, 2])\n    return d // 2"),
        ("for i in range(9):\n    x = i / np.power(2, i)", "for i in range(9):\n    x = i // np.power(2, i)"),
        ("n = read()\nn = int(n)\nx = n / 2", "n = read()\nn = int(n)\nx = n // 2"),
        ("n, m = read()\nn, m = int(n), int(m)\nx = n / m", "n, m = read()\nn, m = int(n), int(m)\nx = n // m"),
        ("def g():\n    def f(a):\n        return a / 2\n    return f(4) + f(len(x))",
         "def g():\n    def f(a):\n        return a // 2\n    return f(4) + f(len(x))"),
        ("class D:\n    def f(self):\n        self.m = self.a / self.b\n        return x[:self.m]",
         "class D:\n    def f(self):\n        self.m = self.a // self.b\n        return x[:self.m]"),
        ("h = tf.tile(t, [b, 1, s / 2 ** len(a)])", "h = tf.tile(t, [b, 1, s // 2 ** len(a)])"),
        ("w = tensorflow.get_variable('w', shape=[a / 2])", "w = tensorflow.get_variable('w', shape=[a // 2])"),
        ("n = max(len(a), 3) / 2", "n = max(len(a), 3) // 2"),
        ("x = 10\ndef f():\n    return tf.log(x)\ny = x / 3", "x = 10\ndef f():\n    return tf.log(x)\ny = x // 3"),
    ],
)  # fmt: skip
def test_divisions_of_whole_numbers_are_written_with_two_signs(code: str, after: str) -> None:
    assert with_whole_divisions(code) == after
    assert not open_divisions(after)


@pytest.mark.parametrize(
    "code",
    [
        "x = n / 2.0", "x = 1 / np.log2(rank + 2)", "t = time.time() - start\nx = n / t", "s = 0.0\ns += 1\nx = s / n",
        "x = math.log(2) / math.log(i + 2)", "x = (a + 1.0) / n", "x = float(n) / len(a)",
        "s = 0.0\nfor x in a:\n    s += x\nm = s / n", "s = 0.0\nfor x in a:\n    s = s + x\nm = s / n",
        "x = a.astype(np.float32) / b", "x = tf.reduce_sum(tf.cast(a, tf.float32)) / b", "n = int(len(a) / batch_size)",
        "n = math.floor(a / b)",
        "n = int(num_channels[i] / 4)", "import time\nt = 0\nfor i in a:\n    t += time.time() - b\nx = t / n",
        "class M:\n    def f(self):\n        self.m = tf.to_float(x)\n        return self.m / n",
        "a, b = read()\na, b = float(a), float(b)\nx = 1 / (a - b + 1)",
        "class M:\n    def f(self):\n        n, self.m = 0, 0.0\n        self.m += read()\n        return self.m / n",
        "class M:\n    def f(self):\n        self.m = g(x)\n        y = tf.sigmoid(self.m)\n        return tf.sign(self.m) / 2",
        "y = g(x)\nz = tf.log(y)\nw = y / 2", "y = g(x)\nt = Adam(1).minimize(y)\nw = y / n",
        "x = tf.placeholder(tf.float32, [None, 3])\ny = x[:, 0] / n", "x = tf.placeholder('float')\ny = tf.pow(x - z, 2) / n",
        "c = tf.reduce_mean(tf.log(p))\n_, v = sess.run([step, c], feed_dict=d)\nt = v / n", "v = tf.log(p).eval() / n",
        "w = tf.Variable(tf.zeros([3]))\ny = w / n", "w = tf.get_variable('w', [3])\ny = w / n",
        "def f(p):\n    m = np.max(np.sqrt(np.sum(p ** 2, axis=1)))\n    return p / m", "x = np.array([1, 2.5]) / n",
        "for d in a:\n    d = np.array(d, dtype=np.float32)\n    d[:, 0:2] /= n", "x = a.mean() / n",
        "x = np.random.random() / n",
        "def g():\n    def f(a, b):\n        return a / b\n    return f(1, 2.0) + f(tf.exp(x), b=tf.log(y))",
        "def f(x):\n    return tf.exp(x)\ny = f(a) / n", "x = np.pi / n", "x = n / math.pi",
        "from numpy import linalg as la\nx = v / la.norm(v)", "from math import sqrt\nx = n / sqrt(2)",
        "import numpy as N\nx = N.mean(a) / 2", "from tensorflow.python.ops import nn_ops\nx = nn_ops.softmax(y) / n",
        "from time import time\nx = (time() - a) / n",
        "x = sum([0.0, n]) / m",
        "class M:\n    @property\n    def p(self):\n        return np.mean(self.a)\n    def f(self):\n        return self.p / n",
    ],
)  # fmt: skip
def test_divisions_of_real_numbers_stay_and_need_no_word(code: str) -> None:
    assert with_whole_divisions(code) == code and not open_divisions(code)


@pytest.mark.parametrize(
    "code",
    [
        "def f(a, b=2):\n    return a / b", "n = 1\nn = read()\nx = len(a) / n", "n = 1\nn += read()\nx = 3 / n",
        "def f():\n    global n\n    n = 0.5\nn = 2\nx = 3 / n", "class C:\n    n = 2\n    def f(self):\n        return 3 / n",
        "n = 2 ** -1\nx = 3 / n", "x = 3 / sum(a)", "from m import n\nx = 3 / n", "x = len(a) / args.size",
        "p.add_argument('--n', type=int)\np.add_argument('--n', type=float)\nx = 3 / args.n", "n = 1\nn = n + d\nx = 2 / n",
        "n = int((a - b) / c)", "t = 1\nfor i in a:\n    t += time.time() - b\nx = t / n",
        "n = math.ceil(a / b)", "s = 0.0\ns = read()\nx = s / n", "y = d[a / b]",
        "n = a / b\nn = c\nr = range(n)", "s = 0.0\ns = s + t\ns = u\nx = s / n",
        "class M:\n    def f(self):\n        self.m = 1.0\n        self.m = x\n        return self.m / n",
        "n = read()\nif a:\n    n = float(n)\nx = n / m", "n = float(a)\nfor i in b:\n    x = n / m\n    n = i",
        "def f(d, a):\n    if a:\n        return range(d)\n    return d / 2",
        "def f(d):\n    d = g(d)\n    x = range(d)\n    d = h(d)\n    return d / 2",
        "x = i / n\ny = i % n\nz = d.get(x)", "x = i / n\ny = j % n\nz = a[x]", "x = math.factorial(n) / m",
        "def g():\n    def f(a):\n        return a / 2\n    return map(f, x), f(4)", "def f(a):\n    return a / 2\ny = f(4)",
        "def g():\n    def f(a):\n        return a / 2\n    return f(*x) + f(4)",
        "def g():\n    def f(a, b=x):\n        return b / 2\n    return f(4) + f(4, 2)",
        "x = tf.placeholder(tf.int32)\ny = x / n", "x = np.zeros(3, np.int32) / n",
        "w = tf.get_variable('w', initializer=k)\ny = w / n",
        "def f(x):\n    if x:\n        return 1\n    return tf.exp(x)\ny = f(a) / n", "x = sum([a, b]) / m",
        "x = max(0.0, a) / m",
        "_, v = sess.run([step, c])\nt = v / n", "y = g(x)\nz = tf.log(y)\ny = h(x)\nw = y / 2",
        "m = 1.0\nclass M:\n    def f(self, m):\n        self.m = m\n        return self.m / n",
        "from m import sqrt\nx = n / sqrt(2)",
        "from numpy import *\nx = n / frac(2)",
        "from math import sqrt\ndef f(sqrt):\n    return n / sqrt(2)",
        "x = env.run(10) / 2", "x = tf.count_nonzero(y, dtype=t) / n",
        "a, b = env.run([1, 2])\nx = a / b", "x = np.array([1, 2]).dot(y) / 2", "x = K.mean(y) / 2",
        "class M:\n    def mean(self):\n        return 1\n    def f(self):\n        return self.mean / 2",
    ],
)  # fmt: skip
def test_divisions_that_may_be_of_either_are_told(code: str) -> None:
    assert with_whole_divisions(code) == code and len(open_divisions(code)) == 1


HYPOTHESIS = """
class H:
    def __init__(self, parts):
        self.parts = parts
    def extend(self, part):
        return H(parts=self.parts + [part])
    @property
    def total(self):
        return sum(self.parts)
    def mean(self):
        return self.total / len(self.parts)
start = H([0.0])
"""


@pytest.mark.parametrize(
    "code",
    [
        HYPOTHESIS, "def f(a, b=1.0):\n    return a / b\nx = f(3)", "def f(a):\n    return a / n\nf(a=2.5)",
        "def f(a):\n    return g(a)\ndef g(b):\n    return b / n\nf(tf.exp(x))",
    ],
)  # fmt: skip
def test_arguments_are_what_all_calls_give_where_no_other_file_can_call(code: str) -> None:
    assert not open_divisions(code, lambda name: True)
    assert len(open_divisions(code)) == 1


@pytest.mark.parametrize(
    "code",
    [
        HYPOTHESIS.replace("[0.0]", "[0]"), HYPOTHESIS + "start.parts.pop()\n", HYPOTHESIS + "class G(H): pass\n",
        HYPOTHESIS + "H(x)\n", HYPOTHESIS + "y = map(H, x)\n", "def f(a, b=1):\n    return a / b\nx = f(c)",
        "def f(a, b):\n    a, b = g(a)\n    return a / b\nf(1.0, 2.0)", "def f(a):\n    return a / b\nf(*[1.0])",
        "@g\ndef f(a):\n    return a / b\nf(1.0)",
    ],
)  # fmt: skip
def test_arguments_that_a_call_does_not_settle_are_told(code: str) -> None:
    assert len(open_divisions(code, lambda name: True)) == 1


def test_long_chains_of_assignments_take_neither_the_stack_nor_time() -> None:
    begin = time.perf_counter()
    for step in ("x = x + 1\n", "x = x / y + x % y\n", "y, x = x + y, y + x\nz = x / y\n"):
        code = "y = 1.0\nx = 2\n" + step * 1000
        assert with_whole_divisions(code + "z = x / 3") and open_divisions(code + "z = x / 3") is not None
    names = "".join(f"a{n} = b{n} + c{n}\nb{n} = c{n} + a{n}\nc{n} = a{n - 1} + b{n - 1}\n" for n in range(1, 400))
    assert open_divisions(f"def f():\n    return a9 / b9\n{names}") == [2]
    assert time.perf_counter() - begin < 30


def test_a_comment_between_the_sides_leaves_the_division_to_a_person() -> None:
    code = "n = (len(a)  # rows / columns\n     / 2)\n"
    assert with_whole_divisions(code) == code and open_divisions(code) == [1]
