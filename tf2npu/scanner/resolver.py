"""Expressions to qualified names: `fw.nn.dropout` -> "framework.nn.dropout", `ds.map(f)` -> "framework.data.Dataset()".

A name that ends in "()" is an instance of what stands before. "user:N" is the N-th class of the file, "user:N()" an instance
of it. None means unknown: rules then leave the code alone.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

import libcst as cst

from tf2npu.frameworks.registry import known
from tf2npu.scanner.project_facts import ProjectFacts
from tf2npu.scanner.scopes import Binding, Scope
from tf2npu.scanner.tree_walk import Walked

_BUILTINS = frozenset(dir(builtins))
_CYCLE = "<cycle>"
_Key = tuple[str, int, str]


class Resolver:
    """Resolves expressions of one file, with the exports of its project.

    What a name means is the one meaning of all its bindings. Bindings may refer to each other in circles (`x = x.map(f)`): a
    meaning starts as unknown-so-far and is formed again until nothing changes, at most three times for each name.
    """

    def __init__(self, walked: Walked, path: str, project: ProjectFacts) -> None:
        self.frameworks = known()
        self.walked = walked
        self.path = path
        self.project = project
        self._known: dict[int, str | None] = {}
        self._meanings: dict[_Key, str | None] = {}
        self._open: dict[_Key, Callable[[], str | None]] = {}  # meanings that may still change, and how to form them
        self._forming: set[_Key] = set()
        self._met_circle = False
        self._used_as: dict[tuple[int, str], str] | None = None
        self._classes = {id(node): number for number, (node, _, _) in enumerate(walked.classes)}

    def qualify(self, node: cst.BaseExpression, scope: Scope) -> str | None:
        """Qualified name of an expression, or None."""
        name = self._qualify(node, scope)
        if self._open:
            if self._met_circle:
                self._settle()
                name = self._qualify(node, scope)
            self._open.clear()
            self._known[id(node)] = name
        return None if name == _CYCLE else name

    def qualify_name(self, name: str, scope: Scope) -> str | None:
        """Qualified name of what a name means in a scope, whether or not it is written there; or None."""
        meaning = self._name(name, scope)
        if self._met_circle:
            self._settle()
            meaning = self._name(name, scope)
        self._open.clear()
        return None if meaning == _CYCLE else meaning

    def _qualify(self, node: cst.BaseExpression, scope: Scope) -> str | None:
        key = id(node)
        if key in self._known:
            return self._known[key]
        name = self._compute(node, scope)
        if not self._open:
            self._known[key] = name
        return name

    def _meaning(self, key: _Key, form: Callable[[], str | None]) -> str | None:
        """The meaning of a name, attribute or function result, as far as is known by now."""
        if key in self._forming:
            self._met_circle = True
        elif key not in self._meanings:
            self._meanings[key] = _CYCLE
            self._open[key] = form
            self._form(key, form)
        return self._meanings[key]

    def _form(self, key: _Key, form: Callable[[], str | None]) -> bool:
        """Form a meaning once more; whether it changed. It only ever goes from nothing to None, a name, and unknown."""
        self._forming.add(key)
        try:
            formed = form()
        finally:
            self._forming.discard(key)
        before = self._meanings[key]
        self._meanings[key] = formed if before == _CYCLE else self._agreed([before, formed])
        return self._meanings[key] != before

    def _settle(self) -> None:
        changed = True
        while changed:
            n_open = len(self._open)
            changes = [self._form(key, form) for key, form in reversed(list(self._open.items()))]
            changed = any(changes) or len(self._open) > n_open
        self._met_circle = False

    def _compute(self, node: Any, scope: Scope) -> str | None:
        kind = type(node)  # millions of times, and nodes are of abstract classes, for which isinstance is slow
        if kind is cst.Name:
            return self._name(node.value, scope)
        if kind is cst.Attribute:
            return self._attribute(node, scope)
        if kind is cst.Call:
            return self._call(node, scope)
        if isinstance(node, cst.NamedExpr):
            return self._qualify(node.value, scope)
        if isinstance(node, cst.IfExp):
            return self._agreed([self._qualify(node.body, scope), self._qualify(node.orelse, scope)])
        if isinstance(node, cst.BooleanOperation):
            return self._agreed([self._qualify(node.left, scope), self._qualify(node.right, scope)])
        return None

    def _name(self, name: str, scope: Scope) -> str | None:
        if name in ("None", "True", "False"):
            return name
        owner = scope.lookup_scope(name)
        if owner is not None:
            bindings = owner.names[name]
            return self._meaning(
                ("name", id(owner), name), lambda: self._or_by_use(owner, name, [self._binding(b, name) for b in bindings])
            )
        known = self._from_stars(name, scope) or (f"builtins.{name}" if name in _BUILTINS else None)
        return known or self._or_by_use(scope.module, name, [None])

    def _or_by_use(self, owner: Scope, name: str, meanings: list[str | None]) -> str | None:
        """The one meaning of a name; where it has none, what its uses say it is."""
        agreed = self._agreed(meanings)
        if agreed not in (None, _CYCLE):
            return agreed
        if self._used_as is None:
            self._used_as = self._objects_by_use()
        used_as = self._used_as.get((id(owner), name))
        return used_as if used_as is not None and set(meanings) <= {None, _CYCLE, "None", used_as} else agreed

    def _objects_by_use(self) -> dict[tuple[int, str], str]:
        facts = self.project.files.get(self.path)
        found: dict[tuple[int, str], str] = {}
        for framework in self.frameworks:
            if self.project.is_reaching(self.path, framework.name):
                found = {**framework.objects_by_use(self.walked, facts), **found}
        return found

    def _from_stars(self, name: str, scope: Scope) -> str | None:
        if not (stars := scope.module.stars):
            return None
        found: list[str | None] = []
        known = self.frameworks.adapters
        adapters = {s.target: known[own] for s in stars if (own := self.frameworks.canonical(s.target)) in known}
        for star in stars:
            if star.target in adapters and star.level == 0:
                if name in adapters[star.target].names:
                    found.append(self.frameworks.canonical(f"{star.target}.{name}"))
            elif star.level == 0 and self.frameworks.is_known(star.target):
                if not any(name in adapter.names and name not in adapter.shared for adapter in adapters.values()):
                    found.append(self.frameworks.canonical(f"{star.target}.{name}"))
            else:
                target = f"{star.target}.{name}" if star.target else name
                is_theirs = self.project.star_source(self.path, star.level, star.target, name) is not None
                theirs = f"project:{star.level}:{target}" if is_theirs else None
                found.append(self.project.resolve(self.path, star.level, target) or theirs)
        meanings = [f for f in found if f]
        return meanings[-1] if meanings else None

    def _binding(self, binding: Binding, name: str) -> str | None:
        if binding.kind == "import":
            return self._import(binding)
        if binding.kind == "value" and binding.scope is not None:
            return self._qualify(binding.node, binding.scope)
        if binding.kind == "class":
            return f"user:{self._classes[id(binding.node)]}"
        if binding.kind == "param":
            return self._self_parameter(binding)
        return None

    def _self_parameter(self, binding: Binding) -> str | None:
        method = binding.scope
        if binding.index != 0 or method is None or method.parent is None or method.parent.kind != "class":
            return None
        kinds: set[str] = set()
        if isinstance(method.node, cst.FunctionDef):
            kinds = {d.decorator.value for d in method.node.decorators if isinstance(d.decorator, cst.Name)}
        if "staticmethod" in kinds:
            return None
        number = self._classes[id(method.parent.node)]
        return f"user:{number}" if "classmethod" in kinds else f"user:{number}()"

    def _import(self, binding: Binding) -> str | None:
        if binding.level == 0 and self.frameworks.is_known(binding.target):
            return self.frameworks.canonical(binding.target)
        found = self.project.resolve(self.path, binding.level, binding.target)
        if found is not None:
            return found
        if binding.level > 0 or self.project.defines(self.path, binding.level, binding.target):
            return f"project:{binding.level}:{binding.target}"
        return binding.target

    def _attribute(self, node: cst.Attribute, scope: Scope) -> str | None:
        base = self._qualify(node.value, scope)
        attr = node.attr.value
        if base is None or base == _CYCLE:
            return base or self._of_either_module(node.value, attr, scope)
        if base == "None":
            return None  # what is assigned elsewhere
        if base.startswith("user:"):
            return self._user_attribute(base, attr)
        if base.startswith("project:"):
            level, dotted = base.split(":")[1:]
            return self.project.resolve(self.path, int(level), f"{dotted}.{attr}") or f"{base}.{attr}"
        return self.frameworks.canonical(f"{base}.{attr}")

    def _of_either_module(self, module: cst.BaseExpression, attr: str, scope: Scope) -> str | None:
        """The name that an attribute has in all modules imported by one name, as in `try` and in `except`; or None."""
        bindings = scope.lookup(module.value) if isinstance(module, cst.Name) else []
        if any(b.kind != "import" or b.level > 0 or not self.frameworks.is_known(b.target) for b in bindings):
            return None
        return self._agreed([self.frameworks.canonical(f"{self.frameworks.canonical(b.target)}.{attr}") for b in bindings])

    def _user_attribute(self, base: str, attr: str) -> str | None:
        """Attribute of a class of this file or of an instance: assigned, defined, or inherited."""
        number = int(base[5:].removesuffix("()"))
        node, outer, own = self.walked.classes[number]
        bindings = own.attributes.get(attr, []) + own.names.get(attr, [])
        if bindings:
            return self._meaning(("attribute", number, attr), lambda: self._agreed([self._binding(b, attr) for b in bindings]))
        instance = "()" if base.endswith("()") else ""
        for arg in node.bases:
            parent = self._qualify(arg.value, outer)
            if parent is None or parent == _CYCLE:
                continue
            if parent.startswith("user:"):
                found = self._user_attribute(parent + instance, attr)
            else:
                found = self.frameworks.canonical(f"{parent}{instance}.{attr}") if self.frameworks.is_known(parent) else None
            if found is not None:
                return found
        return None

    def _call(self, node: cst.Call, scope: Scope) -> str | None:
        function = self._function(node.func, scope)
        if function is not None:
            returns = function.returns
            return self._meaning(("returns", id(function), ""), lambda: self._agreed([self._qualify(v, s) for v, s in returns]))
        name = self._qualify(node.func, scope)
        if name is None or name == _CYCLE:
            return name
        if name == "builtins.super":
            return self._super(scope)
        if name.startswith("user:"):
            return None if name.endswith("()") else f"{name}()"
        if name.startswith("project:"):
            level, dotted = name.split(":")[1:]
            return self.project.returned_by(self.path, int(level), dotted)
        return self.frameworks.returned(name)

    def _super(self, scope: Scope) -> str | None:
        owner = scope.enclosing_class
        if owner is None:
            return None
        node, outer, _ = self.walked.classes[self._classes[id(owner.node)]]
        return self._qualify(node.bases[0].value, outer) if len(node.bases) == 1 else None

    def _function(self, func: cst.BaseExpression, scope: Scope) -> Scope | None:
        """Scope of the user's function that a call reaches, when that is certain."""
        if not isinstance(func, cst.Name):
            return None
        bindings = scope.lookup(func.value)
        if len(bindings) == 1 and bindings[0].kind == "function":
            return self.walked.scope_of[id(bindings[0].node)]
        return None

    @staticmethod
    def _agreed(names: list[str | None]) -> str | None:
        """The one meaning that several bindings share; a None constant or a self-reference does not count against it."""
        rest = {n for n in names if n not in ("None", _CYCLE)}
        if len(rest) == 1:
            return rest.pop()
        if not rest and names:
            return "None" if "None" in names else _CYCLE
        return None
