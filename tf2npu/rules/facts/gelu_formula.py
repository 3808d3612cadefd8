"""Recognition of a GELU by its values: an expression is evaluated at some points and compared with the two known forms."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import libcst as cst

from tf2npu.scanner.scopes import Scope
from tf2npu.scanner.sites import Site

_POINTS = (-6.0, -3.1, -1.7, -0.9, -0.3, -0.05, 0.0, 0.04, 0.25, 0.8, 1.3, 2.2, 3.7, 5.9)
"""Points at which two formulas are compared: both tails, both sides of zero, zero itself, and where the forms of GELU differ
most."""
# The two forms differ by up to 4.7e-4; constants written with seven digits move the values by less than 1e-6.
_TOLERANCE = 4e-6


class NotAFormula(Exception):
    """The expression holds something that is not plain arithmetic of its argument."""


def gelu_tanh(x: float) -> float:
    """0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), as the NPU computes it."""
    return 0.5 * x * (1.0 + math.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * x**3)))


def gelu_erf(x: float) -> float:
    """x times the standard normal distribution function."""
    return 0.5 * x * (1.0 + math.erf(x / math.sqrt(2.0)))


def _identity(x: float, *_: Any) -> float:
    return x


_UNARY: dict[str, Callable[..., float]] = {
    "tanh": math.tanh, "erf": math.erf, "sqrt": math.sqrt, "exp": math.exp, "square": lambda x: x * x,
    "negative": lambda x: -x, "sigmoid": lambda x: 1.0 / (1.0 + math.exp(-x)), "rsqrt": lambda x: 1.0 / math.sqrt(x),
    "cast": _identity, "constant": _identity, "convert_to_tensor": _identity, "identity": _identity, "float": float,
    "float32": float, "erfc": math.erfc,
}  # fmt: skip
_BINARY: dict[str, Callable[[float, float], float]] = {
    "pow": lambda x, y: x**y, "multiply": lambda x, y: x * y, "add": lambda x, y: x + y, "power": lambda x, y: x**y,
    "subtract": lambda x, y: x - y, "divide": lambda x, y: x / y, "truediv": lambda x, y: x / y, "div": lambda x, y: x / y,
}  # fmt: skip
_OPERATORS: dict[type, Callable[[float, float], float]] = {
    cst.Add: lambda x, y: x + y, cst.Subtract: lambda x, y: x - y, cst.Multiply: lambda x, y: x * y,
    cst.Divide: lambda x, y: x / y, cst.Power: lambda x, y: x**y,
}  # fmt: skip
_CASTS = frozenset({"cast", "float", "float32"})
_CONSTANTS = {"pi": math.pi, "e": math.e}
_LIBRARIES = ("tensorflow.", "numpy.", "math.", "np.", "builtins.")


@dataclass
class Formula:
    """An arithmetic expression of one argument, with the local variables it is written in."""

    site: Site
    scope: Scope
    argument: str
    result: cst.BaseExpression
    locals: dict[str, cst.BaseExpression]
    uses_tensorflow: bool = False
    n_reads: int = 0  # how often the argument was asked for

    def kind(self) -> str:
        """tanh, erf, or an empty text when it is neither form of GELU computed by TensorFlow."""
        try:
            values = [self._value(self.result, x, 0) for x in _POINTS]
        except (NotAFormula, ArithmeticError, ValueError, TypeError):
            return ""
        if not self.uses_tensorflow:
            return ""
        for name, reference in (("tanh", gelu_tanh), ("erf", gelu_erf)):
            if all(abs(v - reference(x)) <= _TOLERANCE for v, x in zip(values, _POINTS, strict=True)):
                return name
        return ""

    def _value(self, node: Any, x: float, depth: int) -> float:
        if depth > 60:
            raise NotAFormula
        if isinstance(node, (cst.Integer, cst.Float)):
            return float(node.evaluated_value)
        if isinstance(node, cst.Name):
            return self._name(node.value, x, depth)
        if isinstance(node, cst.BinaryOperation) and type(node.operator) in _OPERATORS:
            left, right = self._value(node.left, x, depth + 1), self._value(node.right, x, depth + 1)
            return _OPERATORS[type(node.operator)](left, right)
        if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, (cst.Minus, cst.Plus)):
            value = self._value(node.expression, x, depth + 1)
            return -value if isinstance(node.operator, cst.Minus) else value
        if isinstance(node, cst.Call):
            return self._call(node, x, depth)
        if isinstance(node, cst.Attribute):
            name = self._library_name(node)
            if name in _CONSTANTS:
                return _CONSTANTS[name]
        raise NotAFormula

    def _name(self, name: str, x: float, depth: int) -> float:
        if name in self.locals:
            return self._value(self.locals[name], x, depth + 1)
        if name == self.argument:
            self.n_reads += 1
            return x
        bindings = self.scope.lookup(name)
        if len(bindings) == 1 and bindings[0].kind == "value":
            return self._value(bindings[0].node, x, depth + 1)
        raise NotAFormula

    def _call(self, node: cst.Call, x: float, depth: int) -> float:
        name = self._library_name(node.func)
        args = [a.value for a in node.args if a.keyword is None or a.keyword.value in ("x", "y", "value")]
        if any(a.star for a in node.args) or not args:
            raise NotAFormula
        if name in _UNARY:
            before, value = self.n_reads, self._value(args[0], x, depth + 1)
            if name in _CASTS and self.n_reads > before and not self._keeps_dtype(node, args[1:], x, depth):
                raise NotAFormula  # the operator's result has the dtype of its input
            return _UNARY[name](value)
        if name in _BINARY and len(args) >= 2:
            return _BINARY[name](self._value(args[0], x, depth + 1), self._value(args[1], x, depth + 1))
        raise NotAFormula

    def _keeps_dtype(self, node: cst.Call, others: list[cst.BaseExpression], x: float, depth: int) -> bool:
        """Whether a cast is one to the dtype of something that is made of the argument."""
        named = [a.value for a in node.args if a.keyword is not None and a.keyword.value == "dtype"]
        for wanted in (*named, *others):
            if isinstance(wanted, cst.Attribute) and wanted.attr.value == "dtype":
                before = self.n_reads
                self._value(wanted.value, x, depth + 1)
                return self.n_reads > before
        return False

    def _library_name(self, node: cst.BaseExpression) -> str:
        name = self.site.script.name_of(node, self.scope)
        if name is None or not name.startswith(_LIBRARIES):
            raise NotAFormula
        last = name.rpartition(".")[2]
        if name.startswith("tensorflow.") and last in ("tanh", "erf", "erfc", "sigmoid"):
            self.uses_tensorflow = True
        return last
