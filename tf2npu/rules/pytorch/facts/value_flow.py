"""The way of the value of an expression: into a device position of PyTorch, or into a variable that holds a device.

Only this file is followed: names, attributes, defaults of parameters, options of a command line, and what functions return.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import libcst as cst

from tf2npu.rules.facts.constant_values import literal_text
from tf2npu.rules.pytorch.facts.device_positions import BACKEND, DEVICE, named, of_argument
from tf2npu.rules.pytorch.facts.text_families import is_literal_type
from tf2npu.scanner.scopes import Scope
from tf2npu.scanner.script import Script
from tf2npu.scanner.script_facts import fact
from tf2npu.scanner.tree_walk import first_key

_DEEPEST = 12
"""The most variables between a text and the place that takes it; in real scripts there are up to five."""
_MOST_STEPS = 200
"""The most places that are looked at for one text: a name that is used everywhere would lead through the whole file."""
_LOOK_UPS = frozenset(("get", "getattr", "getenv", "pop", "setdefault"))
"""Functions that give their last argument where there is nothing else."""
_ABOUT_OWNER = frozenset(("startswith", "endswith", "find", "count", "index", "append", "add"))
"""Methods whose argument is compared with their object, or becomes a member of it."""


def kind_of_value(script: Script, node: cst.CSTNode, scope: Scope) -> str:
    """The kind of value that the place of an expression takes: "device", "backend", or nothing where that is not told."""
    return _Flow(script).kind(node, scope)


class _Flow:
    """One question; variables that it has been through are not followed again."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.parents = script.walked.parents
        self.seen: set[tuple[int, str]] = set()
        self.steps = 0

    def kind(self, node: cst.CSTNode, scope: Scope) -> str:
        """The kind of value that is taken at the place of a node."""
        self.steps += 1
        parent: Any = self.parents.get(id(node))
        if parent is None or self.steps > _MOST_STEPS:
            return ""
        return next((found for found in self._ways(node, parent, scope) if found), "")

    def _ways(self, node: cst.CSTNode, parent: Any, scope: Scope) -> Iterator[str]:
        if isinstance(parent, (cst.IfExp, cst.BooleanOperation)):
            if getattr(parent, "test", None) is not node:
                yield self.kind(parent, scope)
        elif isinstance(parent, cst.BinaryOperation):
            is_sum = isinstance(parent.operator, cst.Add)
            if (parent.left is node and isinstance(parent.operator, cst.Modulo)) or (
                is_sum and (parent.left is node or _is_collection(node))
            ):
                yield self.kind(parent, scope)
        elif isinstance(parent, cst.Attribute):
            yield from self._of_method(parent, scope)
        elif isinstance(parent, (cst.FormattedStringExpression, cst.FormattedString)):
            if isinstance(parent, cst.FormattedString) or self._begins(parent):
                yield self.kind(parent, scope)
        elif isinstance(parent, cst.Arg):
            yield from self._of_argument(parent, scope)
        elif isinstance(parent, (cst.Assign, cst.AnnAssign, cst.NamedExpr)):
            yield from self._of_assignment(parent, scope)
        elif isinstance(parent, cst.Param):
            yield from self._of_parameter(parent)
        elif isinstance(parent, cst.Return):
            yield from self._of_return(scope)
        elif isinstance(parent, (cst.Comparison, cst.ComparisonTarget)):
            yield from self._of_comparison(node, parent, scope)
        elif isinstance(parent, (cst.Element, cst.DictElement)):
            yield from self._of_element(node, parent, scope)
        elif isinstance(parent, (cst.Tuple, cst.List, cst.Set, cst.Dict)):
            yield self.kind(parent, scope)
        elif isinstance(parent, cst.Index):
            yield from self._of_type(parent, scope)
        elif isinstance(parent, cst.For) and parent.iter is node and isinstance(parent.target, cst.Name):
            yield self._of_name(parent.target.value, scope)

    def _begins(self, part: cst.FormattedStringExpression) -> bool:
        """Whether a value is the beginning of a formatted text."""
        whole = self.parents.get(id(part))
        return isinstance(whole, cst.FormattedString) and whole.parts[0] is part

    def _of_method(self, attribute: cst.Attribute, scope: Scope) -> Iterator[str]:
        call = self.parents.get(id(attribute))
        if isinstance(call, cst.Call) and call.func is attribute and attribute.attr.value in ("format", "lower", "strip"):
            yield self.kind(call, scope)

    def _of_argument(self, arg: cst.Arg, scope: Scope) -> Iterator[str]:
        call = self.parents.get(id(arg))
        if not isinstance(call, cst.Call) or arg.star:
            return
        keyword = arg.keyword.value if arg.keyword is not None else ""
        position = call.args.index(arg)
        yield of_argument(self.script.name_of(call.func, scope), call.func, position, keyword)
        yield from self._of_option(call, position, keyword)
        last = call.func.attr.value if isinstance(call.func, cst.Attribute) else getattr(call.func, "value", "")
        if last in _LOOK_UPS and position > 0:
            yield named(_text(call.args[position - 1].value))
            yield self.kind(call, scope)
        elif last in _ABOUT_OWNER and position == 0 and isinstance(call.func, cst.Attribute):
            yield self.holds(call.func.value, scope)
        elif last in ("str", "cast") and position == len(call.args) - 1:
            yield self.kind(call, scope)
        elif isinstance(call.func, cst.Name):
            yield from self._of_own_function(call, position, keyword, scope)

    def _of_option(self, call: cst.Call, position: int, keyword: str) -> Iterator[str]:
        """A default or a choice of an option, of argparse (`add_argument("--device", default="cuda")`), click, or absl."""
        if not call.args or not (keyword in ("default", "choices", "const") or (position == 1 and not keyword)):
            return
        options = [_text(arg.value) for arg in call.args if arg.keyword is None or arg.keyword.value in ("dest", "name")]
        is_define = "DEFINE" in self.script.tree.source(call.func)
        if not is_define and not any(option.startswith("-") for option in options):
            return
        names = [option.lstrip("-").replace("-", "_") for option in options if option and option.lstrip("-").isprintable()]
        for name in names if keyword else names[:1]:
            yield named(name) or self._of_attribute(name)

    def _of_own_function(self, call: cst.Call, position: int, keyword: str, scope: Scope) -> Iterator[str]:
        """An argument of a function of the file: what its parameter is taken for."""
        bindings = scope.lookup(call.func.value) if isinstance(call.func, cst.Name) else []
        if len(bindings) != 1 or bindings[0].kind != "function":
            return
        function = bindings[0].node
        own = self.script.walked.scope_of[id(function)]
        params = [*function.params.posonly_params, *function.params.params]
        name = keyword or (params[position].name.value if position < len(params) else "")
        if name:
            yield named(name) or self._of_name(name, own)

    def _of_assignment(self, parent: Any, scope: Scope) -> Iterator[str]:
        targets = [t.target for t in parent.targets] if isinstance(parent, cst.Assign) else [parent.target]
        if isinstance(parent, cst.NamedExpr):
            yield self.kind(parent, scope)
        for target in targets:
            if isinstance(target, cst.Name):
                yield named(target.value) or self._of_name(target.value, scope)
            elif isinstance(target, cst.Attribute):
                yield named(target.attr.value) or self._of_attribute(target.attr.value)
            elif isinstance(target, cst.Subscript) and (key := first_key(target)) is not None:
                yield named(_text(key))

    def _of_parameter(self, param: cst.Param) -> Iterator[str]:
        function = self.parents.get(id(param))
        own = self.script.walked.scope_of.get(id(function))
        yield named(param.name.value) or (self._of_name(param.name.value, own) if own is not None else "")

    def _of_type(self, index: cst.Index, scope: Scope) -> Iterator[str]:
        """A choice of a `Literal[...]` that is the type of a parameter or of a variable."""
        is_choice = False
        for ancestor in self.script.walked.ancestors(index):
            is_choice = is_choice or is_literal_type(ancestor)
            if isinstance(ancestor, cst.Annotation) and is_choice:
                owner = self.parents.get(id(ancestor))
                yield from self._of_parameter(owner) if isinstance(owner, cst.Param) else self._of_assignment(owner, scope)
            if isinstance(ancestor, (cst.Annotation, cst.BaseSmallStatement)):
                return

    def _of_return(self, scope: Scope) -> Iterator[str]:
        function = scope.function
        if function is None or not isinstance(function.node, cst.FunctionDef):
            return
        name = function.node.name.value
        yield named(name)
        for node, where in self.script.references_to(name) if function.parent is not None else ():
            call = self.parents.get(id(node))
            if isinstance(node, cst.Name) and isinstance(call, cst.Call) and call.func is node and self._enters(id(call), name):
                yield self.kind(call, where)

    def _of_comparison(self, node: cst.CSTNode, parent: Any, scope: Scope) -> Iterator[str]:
        comparison = self.parents.get(id(parent)) if isinstance(parent, cst.ComparisonTarget) else parent
        if not isinstance(comparison, cst.Comparison) or len(comparison.comparisons) != 1:
            return
        target = comparison.comparisons[0].comparator
        other = comparison.left if target is node else target
        if other is not node:
            yield self.holds(other, scope)

    def _of_element(self, node: cst.CSTNode, parent: Any, scope: Scope) -> Iterator[str]:
        """A member of a collection. The key of a dictionary is a device where the dictionary is a map of devices."""
        whole = self.parents.get(id(parent))
        if isinstance(parent, cst.DictElement) and parent.value is node:
            yield named(_text(parent.key))
        if isinstance(whole, cst.Dict):
            yield self._of_map(whole, scope)
        elif whole is not None:
            yield self.kind(whole, scope)

    def _of_map(self, node: cst.Dict, scope: Scope) -> str:
        """The kind of a dictionary's keys and values: devices where it is given as map_location."""
        parent: Any = self.parents.get(id(node))
        if isinstance(parent, cst.Arg):
            call: Any = self.parents.get(id(parent))
            keyword = parent.keyword.value if parent.keyword is not None else ""
            is_map = keyword == "map_location" or self.script.name_of(call.func, scope) in ("torch.load", "torch.jit.load")
            return DEVICE if is_map else ""
        if isinstance(parent, cst.Assign) and isinstance(parent.targets[0].target, cst.Name):
            return DEVICE if parent.targets[0].target.value == "map_location" else ""
        return ""

    def holds(self, node: Any, scope: Scope) -> str:
        """The kind of value that an expression has, by its name or by what it is made of."""
        if isinstance(node, cst.Call):
            return self._of_result(node, scope)
        if self.script.name_of(node, scope) in ("torch.device()", "torch.device().type"):
            return DEVICE
        if isinstance(node, cst.Attribute):
            if node.attr.value == "type":
                return self.holds(node.value, scope)
            return named(node.attr.value) or self._of_attribute(node.attr.value)
        if isinstance(node, cst.Subscript):
            key = first_key(node)
            return named(_text(key)) if key is not None else ""
        return named(node.value) or self._of_name(node.value, scope) if isinstance(node, cst.Name) else ""

    def _of_result(self, call: cst.Call, scope: Scope) -> str:
        """The kind of value that a call gives: `dist.get_backend()`, `str(device)`, `name.lower()`."""
        if not isinstance(call.func, cst.Attribute):
            is_text = isinstance(call.func, cst.Name) and call.func.value == "str" and len(call.args) == 1
            return self.holds(call.args[0].value, scope) if is_text else ""
        if call.func.attr.value == "get_backend":
            return BACKEND
        return self.holds(call.func.value, scope) if call.func.attr.value in ("lower", "strip") else ""

    def _of_name(self, name: str, scope: Scope) -> str:
        """The kind of value that a variable holds, by the places where it is used."""
        owner = scope.lookup_scope(name)
        if owner is None or not self._enters(id(owner), name):
            return ""
        uses = ((node, at) for node, at in self.script.references_to(name) if at.lookup_scope(name) is owner)
        return next((kind for node, at in uses if isinstance(node, cst.Name) and (kind := self.kind(node, at))), "")

    def _of_attribute(self, name: str) -> str:
        """The same of an attribute, whatever object has it: `args.where`."""
        if not self._enters(0, name):
            return ""
        uses = _attributes(self.script).get(name, [])
        return next((kind for node, at in uses if (kind := self.kind(node, at))), "")

    def _enters(self, owner: int, name: str) -> bool:
        """Whether a variable has not been followed yet, and the way is not too long."""
        is_new = (owner, name) not in self.seen and len(self.seen) < _DEEPEST
        self.seen.add((owner, name))
        return is_new


@fact
def _attributes(script: Script) -> dict[str, list[tuple[cst.Attribute, Scope]]]:
    """The uses of attributes by their names."""
    found: dict[str, list[tuple[cst.Attribute, Scope]]] = {}
    for node, scope in script.walked.references:
        if isinstance(node, cst.Attribute):
            found.setdefault(node.attr.value, []).append((node, scope))
    return found


def _is_collection(node: Any) -> bool:
    """Whether an expression is a list or a tuple that is written out, also one of a choice."""
    return isinstance(node.body if isinstance(node, cst.IfExp) else node, (cst.List, cst.Tuple))


def _text(node: Any) -> str:
    """The text of a literal; empty for anything else."""
    return literal_text(node) or ""
