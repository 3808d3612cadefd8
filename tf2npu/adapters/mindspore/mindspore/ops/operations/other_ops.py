"""Operators that write parameters."""

from __future__ import annotations

from typing import Any

from mindspore.ops.primitive import WritingPrimitive, as_type_of


class Assign(WritingPrimitive):
    """Puts a value into a parameter."""

    def write(self, variables: list[Any], *nodes: Any, **attrs: Any) -> Any:
        return variables[0].assign(as_type_of(variables[0], nodes[0]))


class AssignAdd(WritingPrimitive):
    """Adds a value to a parameter."""

    def write(self, variables: list[Any], *nodes: Any, **attrs: Any) -> Any:
        return variables[0].assign_add(as_type_of(variables[0], nodes[0]))


class AssignSub(WritingPrimitive):
    """Subtracts a value from a parameter."""

    def write(self, variables: list[Any], *nodes: Any, **attrs: Any) -> Any:
        return variables[0].assign_sub(as_type_of(variables[0], nodes[0]))
