"""Python's scopes and what each name in them is bound to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import libcst as cst


@dataclass
class Binding:
    """One thing that gives a name its meaning.

    kind: import (`target` is the dotted name, `module` and `level` what was written), value (`node` is the expression),
    function, class, param (`index` is its position) or other (loop variable, unpacking, deletion: meaning unknown).
    """

    kind: str
    node: Any = None
    scope: Scope | None = None  # where `node` is evaluated
    target: str = ""
    level: int = 0
    index: int = -1


@dataclass(eq=False)
class Scope:
    """A module, function, class, lambda or comprehension."""

    kind: str  # module | function | class | lambda | comprehension
    node: cst.CSTNode | None = None
    parent: Scope | None = None
    names: dict[str, list[Binding]] = field(default_factory=dict)
    stars: list[Binding] = field(default_factory=list)  # `from x import *`
    outer_names: dict[str, str] = field(default_factory=dict)  # name -> global | nonlocal
    attributes: dict[str, list[Binding]] = field(default_factory=dict)  # class: what is assigned to self.x, cls.x, Class.x
    returns: list[tuple[cst.BaseExpression, Scope]] = field(default_factory=list)  # function: returned expressions

    @property
    def module(self) -> Scope:
        scope = self
        while scope.parent is not None:
            scope = scope.parent
        return scope

    def bind(self, name: str, binding: Binding) -> None:
        """Add a meaning of a name, in the scope a `global` or `nonlocal` statement sends it to."""
        self._owner(name).names.setdefault(name, []).append(binding)

    def _owner(self, name: str) -> Scope:
        how = self.outer_names.get(name)
        if how == "global":
            return self.module
        if how == "nonlocal":
            outer = self.parent.lookup_scope(name) if self.parent else None
            return outer or self
        return self

    def lookup_scope(self, name: str) -> Scope | None:
        """The scope in which a name used here is bound; class scopes are invisible to the functions inside them."""
        scope: Scope | None = self.module if self.outer_names.get(name) == "global" else self
        is_own = True
        while scope is not None:
            if name in scope.names and (is_own or scope.kind != "class"):
                return scope
            if scope.kind != "comprehension":
                is_own = False
            scope = scope.parent
        return None

    def lookup(self, name: str) -> list[Binding]:
        """Every binding of a name that is used in this scope; empty when it is not bound in this file."""
        scope = self.lookup_scope(name)
        return scope.names[name] if scope else []

    @property
    def function(self) -> Scope | None:
        """The innermost function (not lambda) around this place, or None at module level."""
        scope: Scope | None = self
        while scope is not None and scope.kind != "function":
            scope = scope.parent
        return scope

    @property
    def enclosing_class(self) -> Scope | None:
        """The class whose method this scope is or lies in, or None."""
        scope: Scope | None = self
        while scope is not None and scope.kind != "class":
            scope = scope.parent
        return scope

    def is_inside(self, other: Scope) -> bool:
        """Whether this scope is `other` or lies in it."""
        scope: Scope | None = self
        while scope is not None:
            if scope is other:
                return True
            scope = scope.parent
        return False
