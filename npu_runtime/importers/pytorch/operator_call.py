"""Calls of PyTorch's operators as a recorder writes them down: plain values, without torch."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple


class TensorUse(NamedTuple):
    """A tensor at the door of an operator.

    storage: a number of its memory, unique for the storage's life.  shape, strides: in elements.  dtype: torch's name without
    its module, such as "float16".  is_parameter: whether it is a parameter of a module.
    """

    storage: int
    shape: tuple[int, ...]
    dtype: str
    strides: tuple[int, ...]
    is_parameter: bool

    @property
    def n_elements(self) -> int:
        return math.prod(self.shape)


class OperatorCall(NamedTuple):
    """One call of an operator on a device.

    name, overload: "aten::convolution", "default".  arguments: by position, tensors as TensorUse, lists as tuples; keywords: the
    same by name.  results: tensors, None and numbers, in order.  file, line: of the script, the first frame outside of torch.
    device: its index.
    """

    name: str
    overload: str
    arguments: tuple[Any, ...]
    keywords: dict[str, Any]
    results: tuple[Any, ...]
    file: str
    line: int
    device: int

    @property
    def is_in_place(self) -> bool:
        """Whether it changes its first argument, as a name with an underscore behind it says."""
        return self.name.endswith("_") and not self.name.endswith("__")

    @property
    def source(self) -> str:
        """ "file:line", "" if unknown."""
        return f"{self.file}:{self.line}" if self.file else ""


def tensors_in(value: Any) -> Iterator[TensorUse]:
    """The tensors of an argument, those of lists included, in order."""
    if isinstance(value, TensorUse):
        yield value
    elif isinstance(value, (tuple, list)):
        for one in value:
            yield from tensors_in(one)


def given_tensors(call: OperatorCall) -> list[TensorUse]:
    """All tensors that a call is given, `out` included."""
    return [*tensors_in(call.arguments), *tensors_in(tuple(call.keywords.values()))]


def argument(call: OperatorCall, position: int, name: str, default: Any = None) -> Any:
    """An argument that may be given by position or by name."""
    if position < len(call.arguments):
        return call.arguments[position]
    return call.keywords.get(name, default)


def changed_tensors(call: OperatorCall) -> list[TensorUse]:
    """The tensors that a call writes into, of those that it is given: `out`, and what an underscore behind the name promises."""
    given = list(tensors_in(call.keywords.get("out", ())))
    if call.is_in_place:
        positions = _CHANGED.get(call.name.partition("::")[2], (0,))
        given += [use for at in positions if at < len(call.arguments) for use in tensors_in(call.arguments[at])]
    return given


_CHANGED = {
    "_fused_adam_": (0, 2, 3, 4), "_fused_adamw_": (0, 2, 3, 4), "_fused_sgd_": (0, 2), "_fused_adagrad_": (0, 2),
    "_amp_foreach_non_finite_check_and_unscale_": (0, 1), "_amp_update_scale_": (0, 1),
}  # fmt: skip
"""Positions of what is written, for operators that change more than their first argument.  Source: their schemas in torch."""
