"""`if`, `while`, `and`, `or`, `not` on tensors: a graph does what Python does with the same numbers."""

from __future__ import annotations

import numpy as np
import pytest
from mindspore import Parameter, Tensor, context, ms_function, nn

from tests.one_item import together


@pytest.fixture(autouse=True)
def graph_mode():
    context.set_context(mode=context.GRAPH_MODE)


def branch(x, y):
    if x > 0:
        z = y + 1
    else:
        z = y - 1
    return z


def no_else(x, y):
    if x > 0:
        y = y * 3
    return y


def chain(x, y):
    if x > 2:
        y = y * 2
    elif x > 0:
        y = y * 3
    else:
        y = y * 5
    return y


def returns(x, y):
    if x > 2:
        return y * 2
    if x > 0:
        return y * 3
    y = y + 1
    return y


def returns_one_side(x, y):
    if x > 0:
        y = y + 1
        if y > 3:
            return y * 10
    return y - 1


def loop(x, y):
    while y < 20:
        y = y * 2
        x = x + 1
    return x + y


def nested_loop(x, y):
    total = y * 0
    while y > 0:
        inner = x * 1
        while inner < 4:
            inner = inner + 1
            total = total + 1
        y = y - 1
    return total


def joined(x, y):
    if (x > 0 and y > 0) or not x > -2:
        return x + y
    return x - y


def expression(x, y):
    return (x + 1 if x > y else y + 1) * 2


def python_values(x, y):
    parts = []
    for i in range(3):
        if i == 1:
            continue
        parts.append(x * i)
    while len(parts) < 4:
        parts.append(y)
    return parts[0] + parts[1] + parts[2] + parts[3]


def helper(x, y):
    return branch(x, y) + returns(y, x)


FUNCTIONS = (
    branch, no_else, chain, returns, returns_one_side, loop, nested_loop, joined, expression, python_values, helper,
)  # fmt: skip
VALUES = [(x, y) for x in (-3.0, -1.0, 0.5, 2.0, 3.0) for y in (-2.0, 1.0, 3.0)]


@together("function", FUNCTIONS, lambda function: function.__name__)
def test_a_graph_does_what_python_does(function):
    compiled = ms_function(function)
    for x, y in VALUES:
        if function is loop and y <= 0:
            continue
        wanted = function(np.float32(x), np.float32(y))
        assert compiled(Tensor(x), Tensor(y)).asnumpy() == pytest.approx(wanted), (x, y)


class Counter(nn.Cell):
    """Writes parameters in branches and loops."""

    def __init__(self):
        super().__init__()
        self.n_calls = Parameter(Tensor(0.0))
        self.n_large = Parameter(Tensor(0.0))
        self.last = Parameter(Tensor(0.0))

    def construct(self, x):
        self.n_calls += 1
        if x > 2:
            self.n_large += 1
            self.last = self.n_large * 10
        else:
            self.last = self.last - 1
        while x > 0:
            self.n_calls += 1
            x = x - 1
        return self.last + self.n_calls * 1000


def test_writes_keep_the_order_of_the_program():
    net, (n_calls, n_large, last) = Counter(), (0.0, 0.0, 0.0)
    for x in (1.0, 3.0, 0.0, 5.0, 2.0):
        n_calls += 1
        n_large, last = (n_large + 1, (n_large + 1) * 10) if x > 2 else (n_large, last - 1)
        n_calls += x
        assert net(Tensor(x)).asnumpy() == last + n_calls * 1000
        assert [one.asnumpy() for one in net.get_parameters()] == [n_calls, n_large, last]


class Private(nn.Cell):
    def __init__(self):
        super().__init__()
        self.__scale = 3

    def construct(self, x):
        return x * self.__scale if x > 0 else super().__class__.__name__ and x


def test_private_names_and_closures_stay():
    assert Private()(Tensor(2.0)).asnumpy() == 6
    factor = 4

    @ms_function
    def scaled(x):
        if x > 0:
            x = x * factor
        return x

    assert scaled(Tensor(2.0)).asnumpy() == 8


def breaks(x, y):
    for _ in range(3):
        if x > 0:
            break
        x = x + 1
    return x + y


def different_types(x, y):
    if x > 0:
        z = y
    else:
        z = y > 0
    return z


def different_things(x, y):
    if x > 0:
        z = y
    else:
        z = "no tensor"
    return z


def growing(x, y):
    while x > 0:
        y = (y, y)
        x = x - 1
    return y


def changing_shape(x, y):
    while x > 0:
        y = y.view((1,)) if y.shape == () else y
        x = x - 1
    return y


def asks_for_a_value(x, y):
    if x > 0:
        y = Tensor(y.asnumpy() + 1)
    return y


def asks_numpy(x, y):
    return np.exp(x) + y


REFUSED = (
    (breaks, "the test at .*test_control_flow.py:[0-9]+ is on a tensor, and its `break` cannot be a part of the graph"),
    (
        different_types,
        r"z is float32 \(\) in one branch of the test at .*:[0-9]+, and bool \(\) in the other",
    ),
    (different_things, "z is a tensor in one branch of the test at .*:[0-9]+, and 'no tensor' in the other"),
    (growing, "the loop at .*test_control_flow.py:[0-9]+ changes how many values x, y have: a list cannot grow in it"),
    (changing_shape, "y is float32 \\(\\) before the loop at .*:[0-9]+, and float32 \\(1,\\) after a turn"),
    (
        asks_for_a_value,
        r"asnumpy\(\) of a tensor in construct \(.*test_control_flow.py:[0-9]+\): in a graph it has no value",
    ),
    (asks_numpy, "a call of numpy of a tensor in construct \\(.*test_control_flow.py:[0-9]+\\)"),
)


@together("case", REFUSED, lambda case: case[0].__name__)
def test_what_no_graph_can_have_is_refused_with_its_line(case):
    function, message = case
    with pytest.raises((TypeError, RuntimeError), match=message):
        ms_function(function)(Tensor(1.0), Tensor(2.0))


class OneOrNoAxis(nn.Cell):
    """A flag has one axis in one branch, and none in the other: ShapeJoin of r1.1 makes it one axis."""

    def __init__(self, is_longer_first):
        super().__init__()
        self.is_longer_first = is_longer_first

    def construct(self, x, flag):
        if x > 0:
            flag = flag if self.is_longer_first else flag.sum()
        else:
            flag = flag.sum() if self.is_longer_first else flag
        return flag


@pytest.mark.parametrize("is_longer_first", [True, False])
@pytest.mark.parametrize("x", [1.0, -1.0])
def test_one_axis_and_none_become_one(is_longer_first, x):
    found = OneOrNoAxis(is_longer_first)(Tensor(x), Tensor(np.array([3.0], np.float32)))
    assert found.shape == (1,) and found.asnumpy() == [3.0]
