"""Divisions of Python 2: those of whole numbers become `//`, those that may be are told, the rest is left."""

from __future__ import annotations

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
    ],
)  # fmt: skip
def test_divisions_that_may_be_of_either_are_told(code: str) -> None:
    assert with_whole_divisions(code) == code and len(open_divisions(code)) == 1


def test_a_comment_between_the_sides_leaves_the_division_to_a_person() -> None:
    code = "n = (len(a)  # rows / columns\n     / 2)\n"
    assert with_whole_divisions(code) == code and open_divisions(code) == [1]
