"""Kinds of values in a file that is read for its dialect: datasets, tensors, and Keras models, told by what names were given.

Facts are gathered from Python's own tree, before other files are known; so what is not certain within the file has no kind.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from tf2npu.frameworks.tensorflow1.api_return_types import DATASET, returned
from tf2npu.scanner.syntax import chain

TENSOR = "tensor"
MODEL = "tensorflow.keras.Model()"
SUBCLASS = "subclassed model"
"""An object of a class of the file that derives from the Keras model."""
_DEEPEST = 40
"""Values that are followed through names and calls; a longer chain has no kind."""
_FUNCTION = 0
"""The id that stands for the scope of what functions of the module return; no scope has it."""
_MODELS = re.compile(r"tensorflow\.keras\.(?:models\.)?(?:Model|Sequential)(?:\(\))?$")
_CALLED = re.compile(r"tensorflow\.keras\.(?:layers|losses|metrics|applications)\.[\w.]+\(\)$")
"""Objects of Keras whose call computes a tensor."""
_TENSORS = re.compile(
    r"tensorflow\.(?:constant|convert_to_tensor|cast|ones|zeros|ones_like|zeros_like|range|linspace|eye|fill|reshape|transpose"
    r"|expand_dims|squeeze|one_hot|concat|stack|matmul|square|sqrt|exp|abs|sin|cos|tanh|sigmoid|argmax|equal|where|add|subtract"
    r"|multiply|divide|reduce_\w+|random_\w+|truncated_normal|random\.(?:normal|uniform|truncated_normal|shuffle|categorical|stateless_\w+)"
    r"|nn\.(?:relu|softmax|sigmoid|log_softmax|l2_normalize)|math\.\w+|linalg\.(?:matmul|norm)|image\.resize)$"
)
"""Functions that give one tensor, in every release."""


@dataclass
class Scope:
    """The names of a module, a class or a function; `self.x` is a name of the class.

    given: for each name what it was given, None for what cannot be followed.  items: the iterables whose items it is, in a loop.
    function: the name of a function of the module; empty for any other.
    """

    parent: Scope | None = None
    given: dict[str, list[ast.expr | None]] = field(default_factory=dict)
    items: dict[str, list[ast.expr]] = field(default_factory=dict)
    function: str = ""

    def holder(self, name: str) -> Scope | None:
        """The innermost scope that gives a name a value."""
        scope: Scope | None = self
        while scope is not None and name not in scope.given and name not in scope.items:
            scope = scope.parent
        return scope


class ValueKinds:
    """Tells the kind of an expression: a qualified instance as `api_return_types` names them, TENSOR, SUBCLASS, or None.

    aliases: local name -> qualified name of what is imported of a framework.  subclasses: classes of the file that derive from
    the Keras model.  returns: for each function of the module what it returns, with the scope of that.
    """

    def __init__(self, aliases: Mapping[str, str], canonical: Callable[[str], str], subclasses: frozenset[str]) -> None:
        self.aliases, self.canonical, self.subclasses = aliases, canonical, subclasses
        self.returns: dict[str, list[tuple[ast.expr | None, Scope]]] = {}
        self._known: dict[tuple[int, str], str | None] = {}

    def dotted(self, node: ast.expr) -> str:
        """The qualified name of a chain of attributes that starts at an import of a framework; else nothing."""
        root, parts = chain(node)
        return self.canonical(".".join([self.aliases[root], *parts])) if root in self.aliases else ""

    def kind(self, node: ast.expr | None, scope: Scope, depth: int = 0) -> str | None:
        """The kind of an expression."""
        if node is None or depth > _DEEPEST:
            return None
        if isinstance(node, (ast.Name, ast.Attribute)):
            return self._of_name(name_given(node), scope, depth + 1)
        if isinstance(node, ast.Call):
            return self._of_call(node, scope, depth + 1)
        if any(self.kind(part, scope, depth + 1) == TENSOR for part in _operands(node)):
            return TENSOR
        return None

    def _of_name(self, name: str, scope: Scope, depth: int) -> str | None:
        """The one kind of all that a name was given; where it is given something of itself, the kind of the rest."""
        holder = scope.holder(name)
        if holder is None:
            return None
        key = id(holder), name
        if key not in self._known:
            self._known[key] = None  # a name that is given something of itself is not followed again
            kinds = {self.kind(value, holder, depth) for value in holder.given.get(name, []) if not _starts_with(value, name)}
            kinds |= {TENSOR if self.kind(one, holder, depth) == DATASET else None for one in holder.items.get(name, [])}
            self._known[key] = kinds.pop() if len(kinds) == 1 else None
        return self._known[key]

    def _of_call(self, call: ast.Call, scope: Scope, depth: int) -> str | None:
        name = self.dotted(call.func)
        if name:
            return TENSOR if _TENSORS.match(name) else returned(name)
        if isinstance(call.func, ast.Name) and call.func.id in self.subclasses:
            return SUBCLASS
        if isinstance(call.func, ast.Name) and call.func.id in self.returns:
            return self._of_function(call.func.id, depth)
        if isinstance(call.func, ast.Attribute):
            return self._of_method(self.kind(call.func.value, scope, depth), call.func.attr)
        called = self.kind(call.func, scope, depth)
        return TENSOR if called is not None and (is_model(called) or _CALLED.match(called)) else None

    def _of_function(self, name: str, depth: int) -> str | None:
        """The one kind of all that a function returns; one that returns what it gives itself is not followed again."""
        key = _FUNCTION, name
        if key not in self._known:
            self._known[key] = None
            kinds = {self.kind(value, inner, depth) for value, inner in self.returns[name]}
            self._known[key] = kinds.pop() if len(kinds) == 1 else None
        return self._known[key]

    def _of_method(self, receiver: str | None, method: str) -> str | None:
        if receiver is None or receiver in (SUBCLASS, TENSOR):
            return None
        if method == "result" and receiver.startswith("tensorflow.keras.metrics."):
            return TENSOR
        return returned(f"{receiver}.{method}")


def name_given(node: ast.AST) -> str:
    """The name under which a scope keeps what this target is given: `x`, or `self.x`; nothing for another target."""
    if isinstance(node, ast.Name):
        return node.id
    is_own = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"
    return f"self.{node.attr}" if is_own and isinstance(node, ast.Attribute) else ""


def is_model(kind: str | None) -> bool:
    """Whether a kind is a Keras model, of whatever class."""
    return kind is not None and (kind == SUBCLASS or _MODELS.match(kind) is not None)


def is_model_class(name: str) -> bool:
    """Whether a qualified name is the Keras model as a class."""
    return not name.endswith("()") and _MODELS.match(name) is not None


def _operands(node: ast.expr) -> Iterator[ast.expr]:
    """The parts of an expression of which one tensor makes a tensor of the whole."""
    if isinstance(node, ast.BinOp):
        yield from (node.left, node.right)
    elif isinstance(node, ast.Compare):
        yield node.left
    elif isinstance(node, ast.UnaryOp):
        yield node.operand
    elif isinstance(node, ast.Subscript):
        yield node.value


def _starts_with(value: ast.expr | None, name: str) -> bool:
    """Whether a value is made of the name that gets it, as in `data = data.batch(8)`."""
    while isinstance(value, (ast.Call, ast.Attribute)) and name_given(value) != name:
        value = value.func if isinstance(value, ast.Call) else value.value
    return value is not None and name_given(value) == name
