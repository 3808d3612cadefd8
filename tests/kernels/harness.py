"""A kernel case is data; the oracle, contract and coverage tests all read the same list."""

from __future__ import annotations

import functools
import importlib
import pkgutil
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from npu_runtime import dtypes as dt
from npu_runtime.device.variable import Variable
from npu_runtime.graph.spec import Spec
from npu_runtime.kernels.base import Kernel, all_kernels
from tests.one_item import together


@dataclass(frozen=True)
class Var:
    """An input that is a variable: `kind` ref or resource, starting at `value`."""

    value: np.ndarray
    kind: str = "resource"


@dataclass(frozen=True)
class Case:
    """One call. inputs: arrays, Var, or a list of arrays for a list input. attrs: as in the NodeDef (types by name).

    rtol/atol: only where the op's conditioning needs more than the default of the dtype, with a reason beside it.
    checks: "value" compares with TensorFlow's CPU kernel; "shape" only shape and dtype (random ops have own tests).
    """

    op: str
    inputs: tuple[Any, ...]
    attrs: dict[str, Any] = field(default_factory=dict)
    rtol: float | None = None
    atol: float | None = None
    checks: str = "value"
    id: str = ""

    def flat(self) -> list[Any]:
        """The inputs as the kernel gets them, fresh copies."""
        flat: list[Any] = []
        for value in self.inputs:
            flat.extend(value if isinstance(value, list) else [value])
        return [_fresh(value) for value in flat]

    def specs(self) -> list[Spec]:
        """Complete specs of the inputs, constants with their value."""
        return [spec_of(value) for value in self.flat()]


def _fresh(value: Any) -> Any:
    if isinstance(value, Var):
        variable = Variable("v", value.value.dtype, is_ref=value.kind == "ref")
        variable.assign(value.value)
        return variable
    return np.array(value)


def spec_of(value: Any) -> Spec:
    if isinstance(value, Variable):
        return Spec(value.read().shape, value.dtype.name)
    return Spec(value.shape, value.dtype.name, value)


def case(op: str, *inputs: Any, id: str = "", rtol: float | None = None, atol: float | None = None,
         checks: str = "value", **attrs: Any) -> Case:  # fmt: skip
    return Case(op, inputs, attrs, rtol, atol, checks, id)


def arr(*shape: int, dtype: str = "float32", low: float = -2.0, high: float = 2.0, seed: int = 0) -> np.ndarray:
    """Deterministic values of a shape: uniform in [low, high) for floats, integers in that range otherwise."""
    rng = np.random.default_rng(zlib.crc32(repr((shape, dtype, seed)).encode()))
    if dtype == "bool":
        return rng.random(shape) < 0.5
    if dtype in dt.INTEGERS or dtype.startswith("uint"):
        low = max(low, 0) if dtype.startswith("uint") else low
        return rng.integers(int(low), max(int(high), int(low) + 1), shape).astype(dt.to_numpy(dtype))
    return rng.uniform(low, high, shape).astype(dt.to_numpy(dtype))


def i32(*values: Any) -> np.ndarray:
    """i32(1, 2) is a vector, i32([[1], [2]]) takes the shape of the list."""
    return np.array(values[0] if len(values) == 1 and isinstance(values[0], list) else values, np.int32)


def scalar(value: Any, dtype: str = "float32") -> np.ndarray:
    return np.array(value, dt.to_numpy(dtype))


@functools.cache
def all_cases() -> list[Case]:
    """CASES of every module in the folders of tests/kernels/cases."""
    package = importlib.import_module("tests.kernels.cases")
    modules = sorted(m.name for m in pkgutil.walk_packages(package.__path__, "tests.kernels.cases.") if not m.ispkg)
    assert len(modules) >= 66, "cases that nobody sees test nothing"
    return [one for module in modules for one in importlib.import_module(module).CASES]


def case_ids(cases: list[Case]) -> list[str]:
    seen: dict[str, int] = {}
    ids = []
    for one in cases:
        seen[one.op] = seen.get(one.op, -1) + 1
        ids.append(f"{one.op}-{one.id or seen[one.op]}")
    return ids


def kernel_of(one: Case) -> Kernel:
    return all_kernels()[one.op]


def call(one: Case, inputs: list[Any], **extra: Any) -> list[Any]:
    """Run the kernel; outputs as a list."""
    made = kernel_of(one)
    keywords = {**made.bind(one.attrs), **extra}
    if made.is_stateful:
        keywords.setdefault("state", {})
    result = made.function(*inputs, **keywords)
    return list(result) if isinstance(result, tuple) else [] if result is None else [result]


def call_small(one: Case, inputs: list[Any], outputs: list[np.ndarray], is_planned: bool) -> list[np.ndarray] | None:
    """The same by the kernel's function for these very shapes; None where it has none.  outputs: what the call gives."""
    if any(isinstance(value, Variable) for value in inputs):
        return None
    specs = [Spec(value.shape, value.dtype.name) for value in outputs]
    function = kernel_of(one).function_for(one.specs(), specs, one.attrs, is_planned)
    if function is None:
        return None
    buffers = [np.full(value.shape, 1, value.dtype) for value in outputs]
    out = {"out": buffers[0] if len(buffers) == 1 else tuple(buffers)} if is_planned and kernel_of(one).takes_out else {}
    result = function(*inputs, **out)
    made = list(result) if isinstance(result, tuple) else [result]
    assert not out or all(value is buffer for value, buffer in zip(made, buffers, strict=True))
    return made


def each_op(check: Callable[..., None]) -> Callable[..., None]:
    """Makes a check of one case a test for each op, of all its cases."""
    cases = all_cases()
    return together("one", cases, case_ids(cases), by=lambda one: one.op)(check)
