"""The APIs of frameworks that a script refers to, how often, and where first."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

import libcst as cst

from tf2npu.api_support.table import Api, ApiTable
from tf2npu.findings import ApiUse, Verdict
from tf2npu.frameworks.base import Framework
from tf2npu.frameworks.registry import known
from tf2npu.scanner.import_names import imported_modules
from tf2npu.scanner.names import canonical, root_of
from tf2npu.scanner.scopes import Scope
from tf2npu.scanner.script import Script
from tf2npu.scanner.tree_walk import dotted_name, first_key, root_name

_LOOK_UPS = {"getattr", "hasattr", "setattr", "delattr"}
_PASSED = "the module itself is handed on, so what is used of it is not seen"
_COMPUTED = "the name is computed while the program runs"
_SEVERAL = "its name has several meanings in this file"
_NO_MEMBER = "no attribute that its class is known to have"
_OWN_MODULE = re.compile(r"\.(?:python|core)(?:\.|$)")
"""Part of a module's path below which TensorFlow's own code lies; the resolver gives such a module the name of a public one."""
_MAKING = frozenset(("function", "class", "member"))
"""Kinds of APIs that may make nodes: constants such as tf.float32 and modules make none."""


Place = tuple[cst.CSTNode, Scope]


@dataclass
class _Seen:
    """References that share a name, with their scopes, in source order by kind of site."""

    places: list[Place]


class ApiUses:
    """Collects references of one script, each with the name that the resolver gave it."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self._frameworks = known()
        self._by_root = {root: framework for framework in script.frameworks for root in framework.api_roots}
        self._seen: dict[tuple[str, str], _Seen] = {}  # (name, why it is unknown, or "") -> references
        self._plain: dict[str, _Seen] = {}  # by names that are neither modules nor of objects: such a name is always noted so
        self._locals = self._imported_names()
        for node, scope in script.walked.imports:
            self._see_import(node, scope)

    def see(self, name: str | None, node: cst.BaseExpression, scope: Scope) -> None:
        """Note one reference; names of other libraries and instances are none."""
        if name is None:
            if self._locals:
                self._see_unresolved(node, scope)
        elif name in self._plain:
            self._plain[name].places.append((node, scope))
        elif name.startswith(self._frameworks.api_prefixes):
            module, is_dictionary, member = name.partition(".__dict__")
            if is_dictionary and "()" not in module:
                self._see_dictionary(module, member, node, scope)
            elif name in self._table(name).modules:
                self._see_module(name, node, scope)
            elif "()" not in name:
                self._plain[name] = self._add(name, node, scope)
            elif not name.endswith("()") and not self._is_own_attribute(name, node, scope):
                self._add(name, node, scope)
        elif name in self._frameworks.api_modules:
            self._see_module(name, node, scope)
        elif name == "builtins.getattr":
            self._see_look_up(self.script.walked.parents.get(id(node)), scope)

    def _see_look_up(self, call: cst.CSTNode | None, scope: Scope) -> None:
        """`getattr(tf, name)`: a reference to tf.name where the name is written out, else to something unknown."""
        if not isinstance(call, cst.Call) or len(call.args) < 2:
            return
        base = self.script.name_of(call.args[0].value, scope)
        if base is None or not _is_listed(base) or base.endswith("()"):
            return
        self._see_named(base, call.args[1].value, call, scope)

    def _see_dictionary(self, module: str, member: str, node: cst.BaseExpression, scope: Scope) -> None:
        """`tf.__dict__[name]` and `tf.__dict__.get(name)` are as `getattr(tf, name)`; else the module is handed on."""
        parent: Any = self.script.walked.parents.get(id(node))
        if member == ".get" and isinstance(parent, cst.Call) and parent.func is node and parent.args:
            self._see_named(module, parent.args[0].value, parent, scope)
        elif not member and isinstance(parent, cst.Subscript) and (key := first_key(parent)) is not None:
            self._see_named(module, key, parent, scope)
        else:
            self._add(module, node, scope, _PASSED)

    def _see_named(self, module: str, wanted: cst.BaseExpression, place: cst.CSTNode, scope: Scope) -> None:
        if isinstance(wanted, cst.SimpleString) and isinstance(wanted.evaluated_value, str):
            self._add(canonical(f"{module}.{wanted.evaluated_value}"), place, scope)
        else:
            self._add(f"{module}.*", place, scope, _COMPUTED)

    def _see_unresolved(self, node: cst.BaseExpression, scope: Scope) -> None:
        """A chain from a name that is TensorFlow's by one of its bindings and something else by another."""
        root = root_name(node)
        if root not in self._locals:
            return
        name = dotted_name(node)
        targets = [b.target for b in scope.lookup(root) if b.kind == "import" and b.level == 0 and _is_listed(b.target)]
        if targets:
            self._add(canonical(targets[0] + name[len(root) :]), node, scope, _SEVERAL)

    def _see_module(self, name: str, node: cst.BaseExpression, scope: Scope) -> None:
        """A bare module: fine as the value of an assignment, which the resolver follows; elsewhere a way out of sight."""
        parent: Any = self.script.walked.parents.get(id(node))
        if isinstance(parent, cst.Attribute):
            self._add(canonical(f"{name}.{parent.attr.value}"), node, scope)
        elif isinstance(parent, cst.Arg):
            call: Any = self.script.walked.parents.get(id(parent))
            is_look_up = isinstance(call, cst.Call) and isinstance(call.func, cst.Name) and call.func.value in _LOOK_UPS
            if not is_look_up or "." in name:
                self._add(name, node, scope, "" if is_look_up else _PASSED)
        elif not isinstance(parent, (cst.Assign, cst.AnnAssign)):
            self._add(name, node, scope, _PASSED)
        elif "." in name:
            self._add(name, node, scope)

    def _is_own_attribute(self, name: str, node: cst.BaseExpression, scope: Scope) -> bool:
        """Whether an attribute that TensorFlow's class lacks was looked up on the user's own subclass of it."""
        if not isinstance(node, cst.Attribute) or self._table(name).find(name) is not None:
            return False
        base = self.script.name_of(node.value, scope)
        return base is not None and base.startswith("user:")

    def _table(self, name: str) -> ApiTable:
        """The table that has a name, which is that of its framework."""
        apis: ApiTable = self._framework(name).apis()
        return apis

    def _framework(self, name: str) -> Framework:
        """The framework that a name belongs to: of its releases the one that the script is written for."""
        return self._by_root.get(root_of(name)) or self._frameworks.of(name)

    def _add(self, name: str, node: cst.CSTNode, scope: Scope, why: str = "") -> _Seen:
        seen = self._seen.get((name, why))
        if seen is None:
            seen = self._seen[name, why] = _Seen([])
        seen.places.append((node, scope))
        return seen

    def _see_import(self, node: cst.Import | cst.ImportFrom, scope: Scope) -> None:
        """Names that an import statement refers to; `import tensorflow as tf` alone refers to none."""
        if isinstance(node, cst.Import):
            dotted = [(dotted_name(alias.name), alias) for alias in node.names]
            found: list[tuple[str, cst.CSTNode]] = [(name, alias) for name, alias in dotted if "." in name]
        elif node.relative or node.module is None:
            return
        elif isinstance(node.names, cst.ImportStar):
            found = [(dotted_name(node.module), node.names)]
        else:
            found = [(f"{dotted_name(node.module)}.{dotted_name(alias.name)}", alias) for alias in node.names]
        for name, place in found:
            if _is_listed(name):
                self._add(canonical(name), place, scope)

    def _imported_names(self) -> frozenset[str]:
        """Local names that an import of a framework binds."""
        found = set()
        for node, scope in self.script.walked.imports:
            if not isinstance(node.names, cst.ImportStar):
                for alias in node.names:
                    name = alias.asname.name if alias.asname else alias.name
                    local = root_of(dotted_name(name))
                    if any(b.kind == "import" and b.level == 0 and _is_listed(b.target) for b in scope.lookup(local)):
                        found.add(local)
        return frozenset(found)

    def with_verdict(self, verdict: Verdict) -> list[tuple[str, Api, list[Place]]]:
        """APIs with a verdict that the script refers to: the name that was resolved, the API, and where, in source order."""
        found = []
        for (name, why), seen in self._seen.items():
            api = None if why else self._table(name).find(name)
            if api is not None and api.verdict is verdict:
                found.append((name, api, sorted(seen.places, key=lambda place: self.script.tree.span(place[0]))))
        return found

    def of_no_version(self) -> list[tuple[str, list[Place]]]:
        """Names below a public module of a framework that its table does not have, of whatever release, with their places."""
        found = []
        for (name, why), seen in self._seen.items():
            module, _, last = name.rpartition(".")
            table = self._table(name)
            is_public = module in table.modules and self._frameworks.is_fully_known(module) and not last.startswith("_")
            is_absent = is_public and table.find(name) is None and not table.holds(name)
            if not why and is_absent and not self._comes_from_star(seen) and not self._is_of_own_module(name, seen):
                found.append((name, sorted(seen.places, key=lambda place: self.script.tree.span(place[0]))))
        return found

    def _is_of_own_module(self, name: str, seen: _Seen) -> bool:
        """Whether a name was reached through a module that TensorFlow is written in, which has more than the public one."""
        last = name.rpartition(".")[2]
        if any(_OWN_MODULE.search(dotted_name(node)) for node, _ in seen.places):
            return True
        asked = {module for node, _ in self.script.walked.imports for module in imported_modules(node)}
        return any(name in (canonical(own), canonical(f"{own}.{last}")) for own in asked if _OWN_MODULE.search(own))

    def result(self) -> list[ApiUse]:
        """A use for each API, sorted by name."""
        uses: dict[tuple[str, str], ApiUse] = {}
        for (name, why), seen in self._seen.items():
            use = self._judged(name, why, seen)
            if use is not None:
                same = uses.get((use.name, use.note))
                if same is not None:
                    use = replace(use, count=use.count + same.count, line=min(use.line, same.line))
                uses[use.name, use.note] = use
        return [uses[key] for key in sorted(uses)]

    def by_line(self) -> dict[int, list[str]]:
        """The APIs whose nodes a line may make, as their rows name them, by the first line of each reference."""
        found: dict[int, set[str]] = {}
        for (name, why), seen in self._seen.items():
            api, covered = (None, name) if why else self._table(name).reach(name)
            if api is None or api.kind not in _MAKING:
                continue
            for node, _ in seen.places:
                found.setdefault(self.script.lines.position(self.script.tree.span(node)[0])[0], set()).add(covered)
        return {line: sorted(names) for line, names in sorted(found.items())}

    def _judged(self, name: str, why: str, seen: _Seen) -> ApiUse | None:
        api, covered = (None, name) if why else self._table(name).reach(name)
        if api is None and not why and self._comes_from_star(seen):
            return None
        first = min(self.script.tree.span(node)[0] for node, _ in seen.places)
        line, count = self.script.lines.position(first)[0], len(seen.places)
        if api is None:
            note = why or (_NO_MEMBER if "()" in name else self._framework(name).no_api)
            return ApiUse(name.replace("()", ""), Verdict.UNKNOWN, count, line, note=note)
        return ApiUse(covered, api.verdict, count, line, api.rule, api.note)

    @staticmethod
    def _comes_from_star(seen: _Seen) -> bool:
        """Whether only a star import could have given this name a meaning: then it is somebody else's."""
        node, scope = seen.places[0]
        root = root_of(dotted_name(node))
        return bool(root) and scope.lookup_scope(root) is None


def _is_listed(name: str) -> bool:
    return f"{name}.".startswith(known().api_prefixes)
