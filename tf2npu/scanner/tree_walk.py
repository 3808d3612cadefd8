"""The one walk over a syntax tree: scopes, bindings, calls, references, functions and assignments, in source order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any

import libcst as cst

from tf2npu.frameworks.registry import known
from tf2npu.scanner.scopes import Binding, Scope

_LAYOUT_FIELDS = frozenset({
    "lpar",
    "rpar",
    "leading_lines",
    "lines_after_decorators",
    "header",
    "footer",
    "comma",
    "semicolon",
    "dot",
    "equal",
    "colon",
    "trailing_whitespace",
    "lbracket",
    "rbracket",
    "lbrace",
    "rbrace",
    "newline",
    "asynchronous",
    "empty_lines",
    "indent",
})  # fmt: skip
# Kinds of fields, by type: nodes are of abstract classes, for which isinstance is slow where it says no.
SEQUENCES = frozenset({tuple, list})
NO_NODES = frozenset({type(None), str, bool, cst.MaybeSentinel})
_NESTED_BODIES = (cst.GeneratorExp, cst.ListComp, cst.SetComp, cst.DictComp)


@dataclass
class Walked:
    """The nodes and scopes that the walk found. Every list is in source order."""

    module_scope: Scope
    calls: list[tuple[cst.Call, Scope]] = field(default_factory=list)
    references: list[tuple[cst.BaseExpression, Scope]] = field(default_factory=list)
    functions: list[tuple[cst.FunctionDef, Scope, Scope]] = field(default_factory=list)  # node, outer and own scope
    lambdas: list[tuple[cst.Lambda, Scope, Scope]] = field(default_factory=list)
    classes: list[tuple[cst.ClassDef, Scope, Scope]] = field(default_factory=list)
    attribute_assigns: list[tuple[cst.Attribute, cst.BaseExpression, Scope]] = field(default_factory=list)
    aug_assigns: list[tuple[cst.AugAssign, Scope]] = field(default_factory=list)
    imports: list[tuple[cst.Import | cst.ImportFrom, Scope]] = field(default_factory=list)
    ifs: list[tuple[cst.If, Scope]] = field(default_factory=list)
    strings: list[cst.BaseExpression] = field(default_factory=list)
    string_scopes: list[Scope] = field(default_factory=list)  # of each of them
    parents: dict[int, cst.CSTNode] = field(default_factory=dict)
    scope_of: dict[int, Scope] = field(default_factory=dict)  # function, lambda and class nodes -> their own scope

    def ancestors(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """Parents of a node, innermost first."""
        parent = self.parents.get(id(node))
        while parent is not None:
            yield parent
            parent = self.parents.get(id(parent))

    def references_beside_calls(self) -> Iterator[tuple[cst.BaseExpression, Scope]]:
        """The references without those that are called: these stand among the calls."""
        for node, scope in self.references:
            parent = self.parents.get(id(node))
            if not (type(parent) is cst.Call and parent.func is node):
                yield node, scope

    def release(self) -> None:
        """Let go of the tree: scopes, bindings and nodes refer to each other, and the garbage collector is slow at so many."""
        for scope in self.scope_of.values():
            scope.names.clear()
            scope.attributes.clear()
            scope.returns.clear()
            scope.stars.clear()


def walk(module: cst.Module) -> Walked:
    """Walk a module once."""
    scope = Scope("module", module)
    walker = _Walker(Walked(scope))
    walker.found.scope_of[id(module)] = scope
    walker.children(module, scope)
    walker.give_classes()
    walker.handlers.clear()  # each refers to the walker: what it found would wait for the garbage collector
    return walker.found


@cache
def child_fields(kind: type) -> tuple[str, ...]:
    """The fields of a kind of nodes that may hold nodes other than layout."""
    names = (f.name for f in fields(kind))
    return tuple(n for n in names if n not in _LAYOUT_FIELDS and not n.startswith(("whitespace", "_")))


class _Walker:
    def __init__(self, found: Walked) -> None:
        self.found = found
        self.by_name: list[tuple[str, str, Binding]] = []  # `name.attribute = value`
        self.handlers: dict[type, Callable[[Any, Scope], None]] = {
            cst.Name: self.name, cst.Attribute: self.attribute, cst.Call: self.call,
            cst.FunctionDef: self.function, cst.Lambda: self.lambda_, cst.ClassDef: self.class_,
            cst.Import: self.import_, cst.ImportFrom: self.import_from,
            cst.Assign: self.assign, cst.AnnAssign: self.ann_assign, cst.AugAssign: self.aug_assign,
            cst.NamedExpr: self.named_expr, cst.For: self.for_, cst.WithItem: self.with_item,
            cst.ExceptHandler: self.except_handler, cst.ExceptStarHandler: self.except_handler,
            cst.Global: self.outer, cst.Nonlocal: self.outer, cst.Return: self.return_, cst.If: self.if_,
            cst.Del: self.delete, cst.MatchAs: self.match_capture, cst.MatchStar: self.match_capture,
            cst.MatchMapping: self.match_mapping,
            cst.SimpleString: self.string, cst.ConcatenatedString: self.string, cst.FormattedString: self.string,
            cst.TemplatedString: self.string,
        }  # fmt: skip
        for comprehension in _NESTED_BODIES:
            self.handlers[comprehension] = self.comprehension

    def visit(self, node: Any, scope: Scope, parent: cst.CSTNode) -> None:
        self.found.parents[id(node)] = parent
        handler = self.handlers.get(type(node))
        if handler is not None:
            handler(node, scope)
        else:
            self.children(node, scope)

    def children(self, node: Any, scope: Scope, skip: tuple[str, ...] = ()) -> None:
        kind: Any = type(node)
        for name in child_fields(kind):
            if name in skip:
                continue
            value = getattr(node, name)
            if type(value) in SEQUENCES:
                for item in value:
                    self.visit(item, scope, node)
            elif type(value) not in NO_NODES:
                self.visit(value, scope, node)

    def name(self, node: cst.Name, scope: Scope) -> None:
        self.found.references.append((node, scope))

    def attribute(self, node: cst.Attribute, scope: Scope) -> None:
        """A maximal dotted chain is one reference; what its root holds is walked on."""
        self.found.references.append((node, scope))
        base: Any = node
        while type(base) is cst.Attribute:
            self.found.parents[id(base.value)] = base
            base = base.value
        if not isinstance(base, cst.Name):
            self.visit(base, scope, self.found.parents[id(base)])

    def call(self, node: cst.Call, scope: Scope) -> None:
        self.found.calls.append((node, scope))
        self.visit(node.func, scope, node)
        for arg in node.args:
            self.found.parents[id(arg)] = node
            self.visit(arg.value, scope, arg)

    def string(self, node: cst.BaseExpression, scope: Scope) -> None:
        self.found.strings.append(node)
        self.found.string_scopes.append(scope)
        if not isinstance(node, cst.SimpleString):
            self.children(node, scope)

    def function(self, node: cst.FunctionDef, scope: Scope) -> None:
        for decorator in node.decorators:
            self.visit(decorator, scope, node)
        scope.bind(node.name.value, Binding("function", node, scope))
        own = self._open("function", node, scope)
        self.found.functions.append((node, scope, own))
        self.parameters(node.params, scope, own, node)
        if node.returns is not None:
            self.visit(node.returns, scope, node)
        self.visit(node.body, own, node)

    def lambda_(self, node: cst.Lambda, scope: Scope) -> None:
        own = self._open("lambda", node, scope)
        self.found.lambdas.append((node, scope, own))
        self.parameters(node.params, scope, own, node)
        self.visit(node.body, own, node)

    def _open(self, kind: str, node: cst.CSTNode, scope: Scope) -> Scope:
        own = Scope(kind, node, scope)
        self.found.scope_of[id(node)] = own
        return own

    def parameters(self, params: cst.Parameters, outer: Scope, own: Scope, parent: cst.CSTNode) -> None:
        """Bind the parameters inside; defaults and annotations are evaluated outside."""
        for index, param in enumerate([*params.posonly_params, *params.params, *params.kwonly_params]):
            own.bind(param.name.value, Binding("param", param, own, index=index))
            for value in (param.default, param.annotation):
                if value is not None:
                    self.visit(value, outer, param)
            self.found.parents[id(param)] = parent
        for star in (params.star_arg, params.star_kwarg):
            if isinstance(star, cst.Param):
                own.bind(star.name.value, Binding("other", star, own))
                if star.annotation is not None:
                    self.visit(star.annotation, outer, star)

    def class_(self, node: cst.ClassDef, scope: Scope) -> None:
        for decorator in node.decorators:
            self.visit(decorator, scope, node)
        for arg in [*node.bases, *node.keywords]:
            self.visit(arg.value, scope, node)
        scope.bind(node.name.value, Binding("class", node, scope))
        own = self._open("class", node, scope)
        self.found.classes.append((node, scope, own))
        self.visit(node.body, own, node)

    def comprehension(self, node: Any, scope: Scope) -> None:
        own = self._open("comprehension", node, scope)
        clause, is_first = node.for_in, True
        while clause is not None:
            self.found.parents[id(clause)] = node
            self.visit(clause.iter, scope if is_first else own, clause)
            self.target(clause.target, own, None)
            for condition in clause.ifs:
                self.visit(condition.test, own, clause)
            clause, is_first = clause.inner_for_in, False
        self.children(node, own, skip=("for_in",))

    def import_(self, node: cst.Import, scope: Scope) -> None:
        self.found.imports.append((node, scope))
        for alias in node.names:
            dotted = known().published(dotted_name(alias.name))
            if alias.asname is not None and isinstance(alias.asname.name, cst.Name):
                scope.bind(alias.asname.name.value, Binding("import", node, scope, target=dotted))
            else:
                root = dotted.split(".")[0]
                scope.bind(root, Binding("import", node, scope, target=root))

    def import_from(self, node: cst.ImportFrom, scope: Scope) -> None:
        self.found.imports.append((node, scope))
        module = known().published(dotted_name(node.module)) if node.module is not None else ""
        level = len(node.relative)
        if isinstance(node.names, cst.ImportStar):
            scope.stars.append(Binding("import", node, scope, target=module, level=level))
            return
        for alias in node.names:
            name = alias.name.value if isinstance(alias.name, cst.Name) else dotted_name(alias.name)
            local = alias.asname.name.value if alias.asname and isinstance(alias.asname.name, cst.Name) else name
            target = f"{module}.{name}" if module else name
            scope.bind(local, Binding("import", node, scope, target=target, level=level))

    def assign(self, node: cst.Assign, scope: Scope) -> None:
        self.visit(node.value, scope, node)
        for target in node.targets:
            self.found.parents[id(target)] = node
            self.found.parents[id(target.target)] = target
            self.target(target.target, scope, node.value)

    def ann_assign(self, node: cst.AnnAssign, scope: Scope) -> None:
        self.visit(node.annotation, scope, node)
        if node.value is not None:
            self.visit(node.value, scope, node)
            self.found.parents[id(node.target)] = node
            self.target(node.target, scope, node.value)

    def aug_assign(self, node: cst.AugAssign, scope: Scope) -> None:
        self.found.aug_assigns.append((node, scope))
        self.visit(node.value, scope, node)
        self.found.parents[id(node.target)] = node
        self.target(node.target, scope, None)

    def named_expr(self, node: cst.NamedExpr, scope: Scope) -> None:
        self.visit(node.value, scope, node)
        owner = scope
        while owner.kind == "comprehension" and owner.parent is not None:
            owner = owner.parent
        self.target(node.target, owner, node.value)

    def target(self, node: Any, scope: Scope, value: Any) -> None:
        """Bind what an assignment writes to; `value` is None where the value is not an expression of this file."""
        if isinstance(node, cst.Name):
            kind = "other" if value is None else "value"
            scope.bind(node.value, Binding(kind, value, scope))
        elif isinstance(node, cst.Attribute):
            self._attribute_target(node, scope, value)
        elif isinstance(node, (cst.Tuple, cst.List)):
            values: list[Any] = [None] * len(node.elements)
            if isinstance(value, (cst.Tuple, cst.List)) and len(value.elements) == len(values):
                values = [e.value if isinstance(e, cst.Element) else None for e in value.elements]
            for element, part in zip(node.elements, values, strict=True):
                self.target(element.value, scope, part)
        elif isinstance(node, cst.CSTNode):
            self.children(node, scope)

    def _attribute_target(self, node: cst.Attribute, scope: Scope, value: Any) -> None:
        base = node.value
        method = scope.function
        if isinstance(base, cst.Name):
            binding = Binding("value" if value is not None else "other", value, scope)
            if method is not None and is_self(base.value, method):
                assert method.parent is not None
                method.parent.attributes.setdefault(node.attr.value, []).append(binding)
            else:
                self.by_name.append((base.value, node.attr.value, binding))
        if value is not None:
            self.found.attribute_assigns.append((node, value, scope))
        self.found.parents[id(base)] = node
        self.visit(base, scope, node)

    def give_classes(self) -> None:
        """Bind what is assigned to attributes of classes by their names, now that all classes are known."""
        for name, attribute, binding in self.by_name:
            assert binding.scope is not None
            meant = binding.scope.lookup(name)
            if len(meant) == 1 and meant[0].kind == "class":
                self.found.scope_of[id(meant[0].node)].attributes.setdefault(attribute, []).append(binding)

    def for_(self, node: cst.For, scope: Scope) -> None:
        self.visit(node.iter, scope, node)
        self.target(node.target, scope, None)
        self.children(node, scope, skip=("iter", "target"))

    def with_item(self, node: cst.WithItem, scope: Scope) -> None:
        self.visit(node.item, scope, node)
        if node.asname is not None:
            self.target(node.asname.name, scope, node.item)

    def except_handler(self, node: Any, scope: Scope) -> None:
        if node.type is not None:
            self.visit(node.type, scope, node)
        if node.name is not None:
            self.target(node.name.name, scope, None)
        self.visit(node.body, scope, node)

    def outer(self, node: Any, scope: Scope) -> None:
        how = "global" if isinstance(node, cst.Global) else "nonlocal"
        for item in node.names:
            scope.outer_names[item.name.value] = how

    def return_(self, node: cst.Return, scope: Scope) -> None:
        if node.value is not None:
            self.visit(node.value, scope, node)
            if scope.function is not None:
                scope.function.returns.append((node.value, scope))

    def if_(self, node: cst.If, scope: Scope) -> None:
        self.found.ifs.append((node, scope))
        self.children(node, scope)

    def delete(self, node: cst.Del, scope: Scope) -> None:
        self.children(node, scope)

    def match_capture(self, node: Any, scope: Scope) -> None:
        if node.name is not None:
            self.target(node.name, scope, None)
        self.children(node, scope, skip=("name",))

    def match_mapping(self, node: cst.MatchMapping, scope: Scope) -> None:
        if node.rest is not None:
            self.target(node.rest, scope, None)
        self.children(node, scope, skip=("rest",))


def is_self(name: str, method: Scope) -> bool:
    """Whether a name is the first parameter of this method."""
    if method.parent is None or method.parent.kind != "class":
        return False
    bindings = method.names.get(name, [])
    return len(bindings) == 1 and bindings[0].kind == "param" and bindings[0].index == 0


def first_key(node: cst.Subscript) -> cst.BaseExpression | None:
    """The expression in the brackets of a subscript, the first of several; None for a slice."""
    index = node.slice[0].slice
    return index.value if isinstance(index, cst.Index) else None


def dotted_name(node: Any) -> str:
    """`a.b.c` of a Name or Attribute chain; an empty text for anything else."""
    parts: list[str] = []
    while isinstance(node, cst.Attribute):
        parts.append(node.attr.value)
        node = node.value
    if not isinstance(node, cst.Name):
        return ""
    parts.append(node.value)
    return ".".join(reversed(parts))


def root_name(node: Any) -> str:
    """`a` of a Name or Attribute chain `a.b.c`; an empty text for anything else."""
    while isinstance(node, cst.Attribute):
        node = node.value
    return node.value if isinstance(node, cst.Name) else ""
