"""Reads the value flow of RunConfigs out of one file, as `config_flow` has it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from tf2npu.frameworks.base import ParsedNodes
from tf2npu.frameworks.config_flow import NOTHING, UNKNOWN, ConfigFlow, FlowCall, FlowFunction, Place, pruned
from tf2npu.frameworks.other_frameworks import OTHER_FRAMEWORKS
from tf2npu.frameworks.tensorflow1.estimator_names import (
    CONFIG_POSITION,
    ESTIMATOR,
    REMOVED,
    RUN_CONFIG,
    RUN_CONFIG_PARAMETERS,
    WRAPPED,
)
from tf2npu.scanner.flow_scopes import FlowScope, Function, ScopeReader, always_leaves, decorators
from tf2npu.scanner.input_roles import LIBRARIES, Target
from tf2npu.scanner.names import canonical, is_framework, root_of
from tf2npu.scanner.syntax import chain, walk

_WORDS = ("estimator", "runconfig", "run_config")
_HANDED_ON = re.compile(r"[(,=]\s*(?:config|cfg)\s*[,)]|\breturn (?:config|cfg)\b|\.\w*(?:config|cfg)\s*=[^=]")
_SINKS = {ESTIMATOR: CONFIG_POSITION, **WRAPPED}  # a TPUEstimator takes configs of its own only
_FOREIGN = LIBRARIES | OTHER_FRAMEWORKS.keys()
_KNOWN_DECORATORS = frozenset({"staticmethod", "classmethod", "property"})
_COPIED_WRAPPER = "npu_run_config_init"
"""A function that scripts of the first releases carry a copy of: its config has the entry of the NPU already."""
_COPIES = frozenset({"copy.copy", "copy.deepcopy"})
_WITH_KEYS = ("var:", "attr:", "import:", "result:", "call:", "method:", "dict:")
_PLAIN = (ast.Constant, ast.Name, ast.Attribute, ast.Call, ast.keyword)


def may_hand_on(text: str) -> bool:
    """Whether a text makes a config, gives one to an Estimator, or hands on what is called config or cfg."""
    lower = text.lower()
    if any(word in lower for word in _WORDS):
        return True
    return ("config" in text or "cfg" in text) and _HANDED_ON.search(text) is not None


def gather_config_flow(module: ast.Module, has_stars: bool, text: str) -> ConfigFlow:
    """The flow of a file that may hand a config on.

    In a file with comments that keep code as it is no config can become another one.
    """
    try:
        reader = ScopeReader(module)
        flow = _Flow(reader, has_stars, "tf2npu:" in text).gather()
    except RecursionError:
        return ConfigFlow(is_whole=False)
    reader.release()
    return flow


def without_flow(nodes: ParsedNodes, targets: Mapping[str, Target], has_stars: bool) -> ConfigFlow | None:
    """The names of other files that a file without configs to hand on calls or uses, in ways not followed; None for none.

    targets: names that it imports and where they come from.
    """
    followed = {name: target for name, target in targets.items() if target[0] > 0 or root_of(target[1]) not in _FOREIGN}
    used: set[str] = set()
    for _, root, attributes in nodes.chains if followed or has_stars else ():
        if root in followed:
            level, dotted = followed[root]
            used.add(f"import:{level}:{dotted}{attributes}")
        elif has_stars and root not in targets and not attributes:
            used.add(f"import:-1:{root}")
    return ConfigFlow(used=frozenset(used)) if used else None


class _Flow:
    def __init__(self, reader: ScopeReader, has_stars: bool, is_kept: bool) -> None:
        self.reader = reader
        self.has_stars = has_stars
        self.is_kept = is_kept
        self.edges: dict[tuple[str, str], None] = {}  # in the order in which they were found
        self.spread = {
            keyword.value.id for call, _ in reader.calls for keyword in call.keywords
            if keyword.arg is None and isinstance(keyword.value, ast.Name)
        }  # fmt: skip

    def gather(self) -> ConfigFlow:
        used = frozenset(self._used())
        functions = dict(self._functions())
        classes = {s.path: tuple(self._bases(s)) for s in self.reader.scopes if s.kind == "class"}
        self._variables()
        self._stores()
        self._returns()
        calls = tuple(dict.fromkeys(self._calls()))
        estimators = tuple(self._estimators())
        self._open_dictionaries()
        read = frozenset(n.attr for n, _ in self.reader.loads if isinstance(n, ast.Attribute) and id(n) not in self.reader.taken)
        return pruned(ConfigFlow(tuple(self.edges), calls, functions, classes, estimators, used, read))

    def _edge(self, target: str, source: str) -> None:
        self.edges[target, source] = None

    def _give(self, target: str, value: ast.expr | None, scope: FlowScope) -> None:
        for source in self._sources(value, scope):
            self._edge(target, source)

    # What an expression holds.

    def _sources(self, node: ast.expr | None, scope: FlowScope) -> list[str]:
        if isinstance(node, ast.Constant):
            return [NOTHING if node.value is None else UNKNOWN]
        if isinstance(node, ast.Name):
            return [self._name(node, scope)]
        if isinstance(node, ast.IfExp):
            return self._sources(node.body, scope) + self._sources(node.orelse, scope)
        if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or):
            first = [f"some:{source}" for value in node.values[:-1] for source in self._sources(value, scope)]
            return [s for s in first if s != f"some:{NOTHING}"] + self._sources(node.values[-1], scope)
        if isinstance(node, ast.NamedExpr):
            return self._sources(node.value, scope)
        if isinstance(node, ast.Attribute):
            return [self._attribute(node, scope)]
        if isinstance(node, ast.Subscript):
            return [_of_key(source, _key(node.slice)) for source in self._sources(node.value, scope)]
        if isinstance(node, ast.Dict):
            return [self._dictionary(node, list(zip(node.keys, node.values, strict=True)), scope)]
        return self._call(node, scope) if isinstance(node, ast.Call) else [UNKNOWN]

    def _name(self, node: ast.Name, scope: FlowScope) -> str:
        owner = scope.owner(node.id)
        if owner is None:
            return f"import:-1:{node.id}" if self.has_stars else UNKNOWN
        kinds = set(owner.kinds[node.id])
        if kinds == {"import"}:
            return self._imported(owner, node.id)
        if kinds - {"value", "param"}:
            return UNKNOWN
        if owner.kind == "class":
            return f"attr:{owner.path}:{node.id}"
        restarts = [r for r in owner.restarts.get(node.id, []) if r.end_line < node.lineno] if owner is scope else []
        is_given = any(first <= node.lineno <= last for first, last in scope.given.get(node.id, ()))
        return ("some:" if is_given else "") + f"var:{owner.path}:{node.id}" + (f"@{restarts[-1].line}" if restarts else "")

    def _imported(self, owner: FlowScope, name: str, parts: tuple[str, ...] = ()) -> str:
        """The node of something imported; of a framework's names those that give nothing to follow are unknown."""
        if len(owner.imports[name]) != 1:
            return UNKNOWN
        level, dotted = next(iter(owner.imports[name]))
        is_foreign = level == 0 and (is_framework(dotted) or root_of(dotted) in _FOREIGN)
        return UNKNOWN if is_foreign else f"import:{level}:{'.'.join([dotted, *parts])}"

    def _framework(self, node: ast.expr, scope: FlowScope) -> str:
        """Qualified name of what a chain of attributes of an imported framework or library means, or ""."""
        root, parts = chain(node)
        owner = scope.owner(root) if root else None
        if owner is None or set(owner.kinds[root]) != {"import"}:
            return ""
        names = {canonical(".".join([dotted, *parts])) for level, dotted in owner.imports[root] if level == 0}
        return names.pop() if len(names) == 1 else ""

    def _attribute(self, node: ast.Attribute, scope: FlowScope) -> str:
        root, parts = chain(node)
        receiver = scope.receiver
        if receiver is not None and root == receiver[0]:
            return f"attr:{receiver[1].path}:{parts[0]}" if len(parts) == 1 else UNKNOWN
        owner = scope.owner(root) if root else None
        if owner is None:
            return UNKNOWN
        if set(owner.kinds[root]) == {"import"}:
            return self._imported(owner, root, tuple(parts))
        if owner.kinds[root] == ["class"] and len(parts) == 1:
            return f"attr:{owner.inner[root].path}:{parts[0]}"
        return UNKNOWN

    def _dictionary(self, node: ast.expr, pairs: list[tuple[ast.expr | None, ast.expr]], scope: FlowScope) -> str:
        name = f"dict:{node.lineno}:{node.col_offset}"
        for key, value in pairs:
            self._give(_of_key(name, _key(key)) if _key(key) else f"{name}[*]", value if _key(key) else None, scope)
        return name

    def _call(self, node: ast.Call, scope: FlowScope) -> list[str]:
        name = self._framework(node.func, scope)
        if name == RUN_CONFIG:
            return [f"made:{node.lineno}:{node.col_offset}" if self._can_become_npu(node, scope) else UNKNOWN]
        if isinstance(node.func, ast.Name) and node.func.id == _COPIED_WRAPPER:
            return [UNKNOWN]
        if name in _COPIES and node.args:
            return self._sources(node.args[0], scope)
        if isinstance(node.func, ast.Name) and node.func.id == "dict" and scope.owner("dict") is None and not node.args:
            return [self._dictionary(node, [(ast.Constant(k.arg), k.value) for k in node.keywords], scope)]
        if isinstance(node.func, ast.Attribute) and not is_framework(name):
            if node.func.attr == "replace" and _is_plain_copy(node):
                return self._sources(node.func.value, scope)
            if node.func.attr == "get" and node.args and _key(node.args[0]):
                found = [_of_key(source, _key(node.args[0])) for source in self._sources(node.func.value, scope)]
                return found + [source for default in node.args[1:2] for source in self._sources(default, scope)]
        return [_result_of(self._target(node.func, scope))]

    def _target(self, func: ast.expr, scope: FlowScope) -> str:
        """The target of a call, as in FlowCall, or ""."""
        root, parts = chain(func)
        owner = scope.owner(root) if root else None
        receiver = scope.receiver
        if isinstance(func, ast.Attribute) and (not root or (receiver is not None and root == receiver[0] and len(parts) == 1)):
            return self._method(func, receiver)
        if owner is None:
            return f"import:-1:{root}" if root and not parts and self.has_stars else ""
        if set(owner.kinds[root]) == {"import"}:
            return self._imported(owner, root, tuple(parts)).replace(UNKNOWN, "")
        if owner.kinds[root] in (["function"], ["class"]) and not parts:
            return f"{owner.kinds[root][0]}:{owner.inner[root].path}"
        if owner.kinds[root] == ["class"] and len(parts) == 1:
            return f"base:{owner.inner[root].path}:{parts[0]}"
        return f"method:{parts[-1]}" if parts else ""

    def _method(self, func: ast.Attribute, receiver: tuple[str, FlowScope] | None) -> str:
        base = func.value
        if receiver is not None and isinstance(base, ast.Call) and isinstance(base.func, ast.Name) and base.func.id == "super":
            return f"super:{receiver[1].path}:{func.attr}"
        is_self = receiver is not None and isinstance(base, ast.Name)
        return f"self:{receiver[1].path}:{func.attr}" if is_self and receiver is not None else f"method:{func.attr}"

    def _can_become_npu(self, node: ast.Call, scope: FlowScope) -> bool:
        """Whether a RunConfig can be renamed, with what the NPU does not have taken out."""
        positionals = [arg for arg in node.args if not isinstance(arg, ast.Starred)]
        if (
            self.is_kept
            or not _starts_alone(node)
            or len(positionals) < len(node.args)
            or len(positionals) > len(RUN_CONFIG_PARAMETERS)
        ):
            return False
        given = [*zip(RUN_CONFIG_PARAMETERS, positionals, strict=False), *((k.arg, k.value) for k in node.keywords)]
        return all(name is not None and (name not in REMOVED or self._can_go(value, scope)) for name, value in given)

    def _can_go(self, value: ast.expr, scope: FlowScope) -> bool:
        """Whether nothing else relies on an argument: no name is given in it, and nothing there decides about other code."""
        for node in walk(value):
            if not isinstance(node, _PLAIN) or (isinstance(node, ast.Name) and node.id in self.spread):
                return False
            name = self._framework(node, scope) if isinstance(node, (ast.Name, ast.Attribute)) else ""
            if is_framework(name) and ".distribute" not in name and name.count("."):
                return False
        return True

    # What the statements of the file give to what.

    def _functions(self) -> Iterator[tuple[str, FlowFunction]]:
        for scope in self.reader.scopes:
            if isinstance(scope.node, Function) and scope.parent is not None:
                arguments = scope.node.args
                ordered = [*arguments.posonlyargs, *arguments.args]
                pairs = list(zip(ordered[len(ordered) - len(arguments.defaults) :], arguments.defaults, strict=True))
                pairs += [(a, d) for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if d is not None]
                defaults = {one.arg: self._one_node(value, scope.parent) for one, value in pairs}
                names = decorators(scope.node)
                kind = next((n for n in names if n in ("classmethod", "staticmethod")), "method")
                kind = kind if scope.parent.kind == "class" else "function"
                is_decorated = not set(names) <= _KNOWN_DECORATORS or scope.path in self.reader.generators
                parameters = tuple(one.arg for one in [*ordered, *arguments.kwonlyargs])
                yield scope.path, FlowFunction(parameters, defaults, kind, is_decorated)

    def _one_node(self, value: ast.expr, scope: FlowScope) -> str:
        """One node for the sources of an expression."""
        sources = self._sources(value, scope)
        if len(sources) == 1:
            return sources[0]
        name = f"var::<{value.lineno}:{value.col_offset}>"
        for source in sources:
            self._edge(name, source)
        return name

    def _bases(self, scope: FlowScope) -> Iterator[str]:
        for base in getattr(scope.node, "bases", []):
            root, parts = chain(base)
            owner = (scope.parent or scope).owner(root) if root else None
            if owner is None:
                yield "" if root == "object" and not parts else UNKNOWN
            elif set(owner.kinds[root]) == {"import"}:
                name = self._imported(owner, root, tuple(parts))
                yield "" if name == UNKNOWN and self._framework(base, scope.parent or scope) else name
            else:
                yield f"class:{owner.inner[root].path}" if owner.kinds[root] == ["class"] and not parts else UNKNOWN

    def _variables(self) -> None:
        for scope in self.reader.scopes:
            for name, all_assigned in scope.assigned.items():
                node = f"attr:{scope.path}:{name}" if scope.kind == "class" else f"var:{scope.path}:{name}"
                restarts = scope.restarts.get(name, [])
                for number, restart in enumerate(restarts):
                    older = f"{node}@{restarts[number - 1].line}" if number else node
                    if restart.is_default:
                        self._edge(f"{node}@{restart.line}", f"some:{older}")
                for assigned in all_assigned:
                    versions = [node, *(f"{node}@{r.line}" for r in restarts if r.line <= assigned.line)]
                    for source in self._sources(assigned.value, assigned.scope):
                        for version in versions:
                            self._edge(version, source)
                if name in self.reader.nonlocals or set(scope.kinds[name]) - {"value", "param"}:
                    self._edge(node, UNKNOWN)

    def _stores(self) -> None:
        for target, value, scope in self.reader.attribute_stores:
            node = self._attribute(target, scope)
            self._give(node if node.startswith("attr:") else f"attr:*:{target.attr}", value, scope)
        for stored, value, scope in self.reader.key_stores:
            for base in self._sources(stored.value, scope):
                base, key = base.removeprefix("some:").partition("@")[0], _key(stored.slice)
                self._give(_of_key(base, key) if key else f"{base}[*]", value if key else None, scope)

    def _returns(self) -> None:
        valued: set[str] = set()
        for node, scope in self.reader.returns:
            valued.add(scope.path)
            if node.value is None:
                self._edge(f"result:{scope.path}", NOTHING)
            else:
                self._give(f"result:{scope.path}", node.value, scope)
        for scope in self.reader.scopes:
            if isinstance(scope.node, Function):
                if not always_leaves(scope.node.body):
                    self._edge(f"result:{scope.path}", NOTHING)
                if decorators(scope.node) == ["property"] and scope.parent is not None:
                    self._edge(f"attr:{scope.parent.path}:{scope.node.name}", f"result:{scope.path}")

    def _calls(self) -> Iterator[FlowCall]:
        for node, scope in self.reader.calls:
            target = self._target(node.func, scope)
            if not target:
                continue
            is_open = any(isinstance(arg, ast.Starred) for arg in node.args)
            given = [(str(n), arg) for n, arg in enumerate(node.args) if not isinstance(arg, ast.Starred)]
            given += [(keyword.arg or "**", keyword.value) for keyword in node.keywords]
            yield FlowCall(target, tuple((name, self._one_node(value, scope)) for name, value in given), is_open)

    def _estimators(self) -> Iterator[tuple[Place, str, bool]]:
        for node, scope in self.reader.calls:
            name = self._framework(node.func, scope)
            if name not in _SINKS or any(isinstance(arg, ast.Starred) for arg in node.args):
                continue
            by_name = [keyword.value for keyword in node.keywords if keyword.arg == "config"]
            value = next(iter(by_name or node.args[_SINKS[name] : _SINKS[name] + 1]), None)
            if value is not None:
                can_change = name == ESTIMATOR and not self.is_kept and all(keyword.arg for keyword in node.keywords)
                yield (node.lineno, node.col_offset), self._one_node(value, scope), can_change and _starts_alone(node)

    def _used(self) -> Iterator[str]:
        """Functions and classes that are passed on, chosen or kept, so that they are called out of sight."""
        callable_kinds = {"function", "class", "import"}
        roots = {name for scope in self.reader.scopes for name, kinds in scope.kinds.items() if callable_kinds & set(kinds)}
        for node, scope in self.reader.loads:
            if id(node) not in self.reader.taken and (self.has_stars or chain(node)[0] in roots):
                target = self._target(node, scope)
                if target.startswith(("function:", "class:", "import:")):
                    yield target

    def _open_dictionaries(self) -> None:
        """Adds unknown values under any key of dictionaries that are passed on or changed by a method."""
        keyed = {target.rpartition("[")[0] for target, _ in self.edges if target.endswith("]")}
        keyed |= {target for target, source in self.edges if source.startswith("dict:")}
        for node, scope in self.reader.loads:
            if isinstance(node, ast.Name) and id(node) not in self.reader.taken:
                name = self._name(node, scope).removeprefix("some:").partition("@")[0]
                if name in keyed:
                    self._edge(f"{name}[*]", UNKNOWN)


def _key(node: ast.expr | None) -> str:
    """The key that a constant is, or ""."""
    is_key = isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier()
    return str(node.value) if is_key and isinstance(node, ast.Constant) else ""


def _of_key(source: str, key: str) -> str:
    if source.startswith("some:"):
        return _of_key(source[5:], key)
    return f"{source}[{key}]" if key and source.startswith(_WITH_KEYS) else UNKNOWN


def _result_of(target: str) -> str:
    """The node of what a call gives."""
    kind, _, name = target.partition(":")
    kinds = {"function": "result", "import": "call", "self": "method", "base": "method"}
    return f"{kinds[kind]}:{name}" if kind in kinds else UNKNOWN


def _is_plain_copy(node: ast.Call) -> bool:
    """Whether a call is `config.replace(name=value)` without what an NPURunConfig does not have."""
    return not node.args and all(keyword.arg is not None and keyword.arg not in REMOVED for keyword in node.keywords)


def _starts_alone(node: ast.Call) -> bool:
    """Whether a callee is a name or a chain of attributes without parentheses, so that both parsers say the same of its place."""
    return chain(node.func)[0] != "" and (node.lineno, node.col_offset) == (node.func.lineno, node.func.col_offset)
