"""Many drawn calls in one TensorFlow session, compared with the kernels."""

from __future__ import annotations

import dataclasses
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from npu_runtime import dtypes as dt
from npu_runtime.device.variable import Variable
from npu_runtime.errors import DeviceError
from tests.kernels import oracle
from tests.kernels.generated import checks
from tests.kernels.harness import Case, Var, call, call_small, kernel_of
from tests.kernels.test_contract import _strided

seen: set[str] = set()
"""Keys of the cases compared in this process: a case drawn twice counts once."""
by_op: Counter[str] = Counter()


@dataclass(frozen=True)
class Drawn:
    """One call.  check: see `checks`.  terms: of each sum.  is_strided: whether the kernel gets views with gaps.

    relative: in the place of the type's tolerance, for "close".  absolute: what cancellation leaves.
    n_outputs: those after them are for TensorFlow's own use.
    exact: the float64 result where TensorFlow's own is not it.
    """

    case: Case
    check: str = "exact"
    terms: int = 1
    is_strided: bool = False
    relative: float | None = None
    absolute: float = 0.0
    n_outputs: int | None = None
    exact: np.ndarray | None = None

    @property
    def key(self) -> str:
        arrays = [(v.shape, v.dtype.name, v.tobytes()) for v in self.case.flat() if isinstance(v, np.ndarray)]
        return repr((self.case.op, sorted(self.case.attrs.items(), key=str), arrays, self.is_strided))

    def text(self) -> str:
        inputs = [v.read() if isinstance(v, Variable) else v for v in self.case.flat()]
        return f"{self.case.op} {self.case.attrs} strided={self.is_strided} " + " ".join(
            f"{v.dtype.name}{list(v.shape)}={np.array2string(v, threshold=60)}" for v in inputs
        )


@dataclass
class Expected:
    """outputs and values of variables by TensorFlow, the same in float64 and of magnitudes, or what it raised."""

    outputs: list[np.ndarray]
    states: list[np.ndarray]
    wide: list[np.ndarray]
    magnitudes: list[np.ndarray]
    error: tf.errors.OpError | None = None


def compare(batch: list[Drawn]) -> list[str]:
    """Every call whose result is wrong, in words."""
    todo = [one for one in batch if is_on_device(one.case)]
    problems = []
    for one, expected in zip(todo, expect(todo), strict=True):
        seen.add(one.key)
        by_op[one.case.op] += 1
        problems += [f"{problem}\n  {one.text()}" for problem in differences(one, expected)]
    return problems


def is_on_device(one: Case) -> bool:
    """Whether the device takes the call: type and combination."""
    made = kernel_of(one)
    types = [v.dtype.name for v in one.flat()]
    allowed = made.dtypes.get("T", dt.ALL)
    is_typed = "T" not in made.dtypes or not types or any(t in allowed for t in types)
    return is_typed and not (made.refuse and made.refuse(one.specs(), made.bind(one.attrs)))


def expect(batch: list[Drawn]) -> list[Expected]:
    """All in one session; one by one when something raises, to find what."""
    try:
        return _run(batch)
    except (tf.errors.OpError, ValueError, TypeError) as error:
        if len(batch) == 1:
            return [Expected([], [], [], [], _as_op_error(error))]
        return [_run_alone(one) for one in batch]


def _run_alone(one: Drawn) -> Expected:
    return expect([one])[0]


def _as_op_error(error: Exception) -> tf.errors.OpError:
    """The error as one of TensorFlow's kernels: its shape functions raise the same while the graph is built."""
    return error if isinstance(error, tf.errors.OpError) else tf.errors.InvalidArgumentError(None, None, str(error))


def _run(batch: list[Drawn]) -> list[Expected]:
    with tf.Graph().as_default(), tf.device("/cpu:0"):
        nodes = [oracle.node(one.case) for one in batch]
        wide = [oracle.node(_in_float64(one.case))[0] if one.check in ("ulp", "sum") else [] for one in batch]
        sizes = [oracle.node(_magnitudes(one.case))[0] if one.check == "sum" else [] for one in batch]
        with oracle.plain_session() as session:
            session.run(tf.global_variables_initializer())
            results, wides, magnitudes, _ = session.run([[n[0] for n in nodes], wide, sizes, [n[1] for n in nodes]])
            states = session.run([n[2] for n in nodes])
    return [Expected(*parts) for parts in zip(results, states, wides, magnitudes, strict=True)]


def _in_float64(one: Case) -> Case:
    return dataclasses.replace(one, inputs=tuple(_map(_to_float64, v) for v in one.inputs), attrs=_attrs_in_float64(one.attrs))


def _magnitudes(one: Case) -> Case:
    wide = _in_float64(one)
    return dataclasses.replace(
        wide, inputs=tuple(_map(lambda v: np.abs(v) if v.dtype == np.float64 else v, v) for v in wide.inputs)
    )


def _map(function: Any, value: Any) -> Any:
    if isinstance(value, list):
        return [function(v) for v in value]
    return Var(function(value.value), value.kind) if isinstance(value, Var) else function(value)


def _to_float64(x: np.ndarray) -> np.ndarray:
    return x.astype(np.float64) if x.dtype.name in dt.FLOATS else x


def _attrs_in_float64(attrs: dict[str, Any]) -> dict[str, Any]:
    return {
        name: "float64" if value in dt.FLOATS else value for name, value in attrs.items() if not isinstance(value, (list, dict))
    } | {name: value for name, value in attrs.items() if isinstance(value, (list, dict))}


def differences(one: Drawn, expected: Expected) -> list[str]:
    """Faults of our result, in words."""
    inputs = [_strided(v) if one.is_strided and not isinstance(v, Variable) else v for v in one.case.flat()]
    try:
        with np.errstate(all="ignore"):
            made = [v.read() if isinstance(v, Variable) else v for v in call(one.case, inputs)]
    except DeviceError as error:
        if expected.error is None:
            return [f"raised {error.code}: {error.message}; TensorFlow did not"]
        code = type(expected.error).__name__.removesuffix("Error")
        return [] if error.code == code else [f"raised {error.code}, TensorFlow {code}: {_reason(expected.error)}"]
    if expected.error is not None:
        return [f"TensorFlow raised: {_reason(expected.error)}; the kernel did not"]
    states = [v.read() for v in inputs if isinstance(v, Variable)]
    results = [*zip(made, expected.outputs, strict=True)][: one.n_outputs]
    pairs = [*results, *zip(states, expected.states, strict=True)]
    problems = []
    for index, (mine, theirs) in enumerate(pairs):
        problems += _difference(one, index, mine, np.asarray(theirs), expected)
    return problems + _differences_of_small(one.case, inputs, made)


def _differences_of_small(one: Case, inputs: list[Any], made: list[np.ndarray]) -> list[str]:
    """Results of the function for these very shapes that have other bits than those of the kernel."""
    if any(not isinstance(value, np.ndarray) for value in made):
        return []
    with np.errstate(all="ignore"):
        found = [(is_planned, call_small(one, inputs, made, is_planned)) for is_planned in (False, True)]
    return [
        f"the function for {'planned ' * is_planned}outputs of this shape gives other bits"
        for is_planned, values in found
        if values is not None and any(a.tobytes() != b.tobytes() for a, b in zip(values, made, strict=True))
    ]


def _reason(error: tf.errors.OpError) -> str:
    """The message without the traceback in front and the node behind."""
    return error.message.split("[[")[0].strip().splitlines()[-1]


def _difference(one: Drawn, index: int, mine: np.ndarray, theirs: np.ndarray, expected: Expected) -> list[str]:
    if not isinstance(mine, np.ndarray) or (mine.shape, mine.dtype) != (theirs.shape, theirs.dtype):
        return [f"output {index} is {type(mine).__name__} {mine.dtype}{mine.shape}, not {theirs.dtype}{theirs.shape}"]
    is_float = mine.dtype.name in dt.FLOATS
    if one.check == "exact" or not is_float:
        wrong, wide = checks.wrong_exact(mine, theirs), theirs
    elif one.check == "close":
        wrong, wide = checks.wrong_close(mine, theirs, one.relative or checks.CLOSE[mine.dtype.name], one.absolute), theirs
    else:
        wide = np.asarray(expected.wide[index], np.float64) if one.exact is None else one.exact
        if one.check == "ulp":
            wrong = checks.wrong_ulp(mine, theirs, wide)
        else:
            wrong = checks.wrong_sum(mine, theirs, wide, np.asarray(expected.magnitudes[index]), one.terms)
    if not np.any(wrong):
        return []
    place = tuple(int(n) for n in np.argwhere(wrong)[0]) if np.ndim(wrong) else ()
    values = f"{mine[place]!r}, TensorFlow {theirs[place]!r}, exactly {wide[place]!r}"
    return [f"output {index}{list(place)} of {_inputs_at(one, mine.shape, place)}: {values} ({np.sum(wrong)} wrong)"]


def _inputs_at(one: Drawn, shape: tuple[int, ...], place: tuple[int, ...]) -> list[Any]:
    """The elements that an element-wise result comes from."""
    arrays = [v for v in one.case.flat() if isinstance(v, np.ndarray)]
    ends = [(v, shape[len(shape) - v.ndim :]) for v in arrays if v.ndim <= len(shape)]
    fitting = [v for v, end in ends if all(m in (1, n) for m, n in zip(v.shape, end, strict=True))]
    return [np.broadcast_to(v, shape)[place] for v in fitting]
