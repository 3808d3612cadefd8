"""The kernel registry: one function that computes one TensorFlow op, and what the compiler must know of it."""

from __future__ import annotations

import functools
import importlib
import inspect
import pkgutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from npu_runtime import dtypes as dt
from npu_runtime.cost.work import Estimate, no_work
from npu_runtime.errors import InvalidArgument
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels.variable_access import shape_text

Refuse = Callable[[Sequence[Spec], dict[str, Any]], "str | None"]
Small = Callable[[Sequence[Spec], Sequence[Spec], Mapping[str, Any], bool], "Callable[..., Any] | None"]
"""small(inputs, outputs, attrs, is_planned): a function with the kernel's inputs and `out` that gives the same bits for arrays of
these complete specs without looking at them first, or None where the kernel's own is as good.  is_planned: `out` is given."""
_RESERVED = frozenset({"out", "state"})
_RANKS = ("scalar", "vector", "matrix")
ALWAYS_IGNORED = frozenset({"N", "container", "shared_name"})
"""Attributes without a meaning for the values: list lengths (the inputs are there) and names of resources."""


@dataclass(frozen=True)
class Kernel:
    """One op on the device.

    op: TensorFlow op type.  function(*inputs, out=None, state=..., **attrs): see `kernel`.  unit: the hardware unit it
    occupies: "cube", "vector", "scalar" or "memory".  dtypes: allowed types by type attribute; attributes not named
    allow every type of the device.  inplace: inputs whose buffer output 0 may take over.  attrs: attributes the function
    wants.  ignores: attributes that do not change the values.  refuse: reason why these specs cannot run here, or None.
    takes_text: whether an input may be a string, which the kernel only shows.  small: see Small; None: no such function.
    """

    op: str
    function: Callable[..., Any]
    unit: str
    shape: Callable[..., Any]
    estimate: Estimate
    dtypes: Mapping[str, frozenset[str]]
    inplace: tuple[int, ...] = ()
    ignores: frozenset[str] = frozenset()
    refuse: Refuse | None = None
    attrs: frozenset[str] = field(default_factory=frozenset)
    takes_out: bool = False
    is_stateful: bool = False
    takes_text: bool = False
    small: Small | None = None

    def bind(self, attrs: Mapping[str, Any]) -> dict[str, Any]:
        """The attributes the function takes, out of all a node has."""
        return {name: attrs[name] for name in self.attrs if name in attrs}

    def function_for(
        self, inputs: Sequence[Spec], outputs: Sequence[Spec], attrs: Mapping[str, Any], is_planned: bool
    ) -> Callable[..., Any] | None:  # fmt: skip
        """The function of `small` for these specs, or None."""
        if self.small is None or not all(spec.is_complete for spec in (*inputs, *outputs)):
            return None
        return self.small(inputs, outputs, attrs, is_planned)

    def infer(self, inputs: Sequence[Spec], attrs: Mapping[str, Any]) -> list[Shape]:
        """Shapes of all outputs as far as the input specs tell."""
        shapes = self.shape(*inputs, **self.bind(attrs))
        return list(shapes) if isinstance(shapes, list) else [shapes]

    def work(self, inputs: Sequence[Spec], outputs: Sequence[Spec], attrs: Mapping[str, Any]) -> float:
        """Floating-point operations for complete specs."""
        return float(self.estimate(inputs, outputs, dict(attrs)))


_REGISTRY: dict[str, Kernel] = {}


def kernel(
    *ops: str,
    unit: str,
    shape: Callable[..., Any],
    dtypes: frozenset[str] | Mapping[str, frozenset[str]] = dt.ALL,
    estimate: Estimate = no_work,
    inplace: tuple[int, ...] = (),
    ignores: Sequence[str] = (),
    refuse: Refuse | None = None,
    takes_text: bool = False,
    ranks: Mapping[str, int] | None = None,
    small: Small | None = None,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function as the kernel of one or more ops.

    The function takes the op's inputs positionally (flattened: a list input arrives as several), TensorFlow's attributes
    as keyword-only parameters of the same name, and optionally
      out=None    a buffer to write output 0 into (a tuple of buffers when there are several outputs); entries may be None.
                  A kernel that is given a buffer must fill it and return it.
      state       a dict private to (session, node): generators, counters.
    Inputs are numpy arrays (never to be changed unless `out` is one of them), or `Variable` for ref and resource inputs.
    It returns an array or a tuple of arrays whose dtype is the op's; scalars are 0-d arrays; a ref output is the Variable.
    `shape(*specs, **attrs)` returns a Shape, or a list of Shapes for several outputs; it copes with unknown shapes.
    `dtypes` as a set is about attribute T.  `refuse(specs, attrs)` says why a node cannot run here.  `ranks`: of inputs that
    must have one, by parameter; numpy would take a vector of one element for a scalar, which TensorFlow's kernels refuse.
    `small`: see Small.
    """

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        parameters = inspect.signature(function).parameters.values()
        keywords = frozenset(p.name for p in parameters if p.kind is p.KEYWORD_ONLY)
        by_attr = dtypes if isinstance(dtypes, Mapping) else {"T": dtypes}
        for op in ops:
            if op in _REGISTRY:
                raise ValueError(f"two kernels for {op}: {_REGISTRY[op].function} and {function}")
            _REGISTRY[op] = Kernel(
                op, _with_ranks(function, ranks or {}), unit, shape, estimate, by_attr, inplace, frozenset(ignores), refuse,
                keywords - _RESERVED, "out" in keywords, "state" in keywords, takes_text, small,
            )  # fmt: skip
        return function

    return register


def _with_ranks(function: Callable[..., Any], ranks: Mapping[str, int]) -> Callable[..., Any]:
    """The function behind a look at the ranks of inputs.  Raises: InvalidArgument."""
    names = [name for name, p in inspect.signature(function).parameters.items() if p.kind is p.POSITIONAL_ONLY or name in ranks]
    wanted = [(names.index(name), rank, name) for name, rank in ranks.items()]
    if not wanted:
        return function

    @functools.wraps(function)
    def checked(*inputs: Any, **keywords: Any) -> Any:
        for place, rank, name in wanted:
            if inputs[place].ndim != rank:
                raise InvalidArgument(f"{name} must be a {_RANKS[rank]}, but has shape {shape_text(inputs[place].shape)}")
        return function(*inputs, **keywords)

    return checked


@cache
def all_kernels() -> Mapping[str, Kernel]:
    """Every kernel by op type, sorted; imports the modules of this package and of its folders once."""
    package = sys.modules[__package__]
    for module in sorted(m.name for m in pkgutil.walk_packages(package.__path__, f"{__package__}.")):
        importlib.import_module(module)
    return dict(sorted(_REGISTRY.items()))
