"""RunConfigs and Estimators of a project that meet, so that both become the NPU's: reachability in their value flow."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from tf2npu.frameworks.config_flow import NOTHING, UNKNOWN, ConfigFlow, FlowCall, FlowFunction, Place
from tf2npu.scanner.import_graph import connected
from tf2npu.scanner.input_roles import Target

_MOST = 2000
"""The most nodes that are looked at for one Estimator. A config that comes from so many places is as good as unknown."""
_DEEPEST = 20
"""The most re-exports and bases that are followed, which may lead in a circle."""
At = tuple[str, str]
"""A file, and a node or the path of a function or class in it."""


@dataclass(frozen=True)
class ModuleFinder:
    """Look-up of names from file to file.  module: (file, level, module) -> file.  exports: names that a file imports.

    stars: modules that it star-imports.  definitions: other names that it gives values.
    """

    module: Callable[[str, int, str], str | None]
    exports: Callable[[str], Mapping[str, Target]]
    stars: Callable[[str], Iterable[Target]]
    definitions: Callable[[str], frozenset[str]]


def paired_calls(
    flows: Mapping[str, ConfigFlow],
    imports: Mapping[str, frozenset[str]],
    staying: frozenset[str],
    opened: frozenset[str],
    finder: ModuleFinder,
) -> dict[str, frozenset[Place]]:
    """Places of the RunConfigs and Estimators of each file that become NPURunConfigs and NPUEstimators together.

    imports: for each file the files that it imports; those that none leads to from each other share no object.
    staying: files that are not converted.  opened: files that others import which are not understood.
    """
    found: dict[str, frozenset[Place]] = {}
    for paths in connected(imports) if any(flow.estimators for flow in flows.values()) else ():
        part = {path: flows[path] for path in paths if path in flows}
        if any(flow.estimators for flow in part.values()):
            found |= _paired(part, staying, _Graph(part, staying, opened, finder))
    return found


def _paired(flows: Mapping[str, ConfigFlow], staying: frozenset[str], graph: _Graph) -> dict[str, frozenset[Place]]:
    found = [
        (path, place, graph.origins((path, node)), can_change and path not in staying)
        for path, flow in flows.items()
        for place, node, can_change in flow.estimators
    ]
    kept = {origin for _, _, origins, can_change in found if not can_change for origin in origins}
    pairs: dict[str, set[Place]] = {}
    for path, place, origins, can_change in found:
        is_known = bool(origins) and all(node.startswith("made:") for _, node in origins)
        if can_change and is_known and not origins & kept:
            pairs.setdefault(path, set()).add(place)
            for file, node in origins:
                line, column = node.split(":")[1:]
                pairs.setdefault(file, set()).add((int(line), int(column)))
    return {path: frozenset(places) for path, places in pairs.items()}


class _Graph:
    def __init__(
        self, flows: Mapping[str, ConfigFlow], staying: frozenset[str], opened: frozenset[str], finder: ModuleFinder
    ) -> None:
        self.flows = flows
        self.staying = staying
        self.opened = opened
        self.finder = finder
        self.edges: dict[At, list[str]] = {}
        self.imported_edges: dict[At, list[At]] = {}
        self.of_attribute: dict[str, list[At]] = {}  # what is stored in attributes of objects that are not known
        self.subclasses: dict[At, list[At]] = {}
        self.callers: dict[At, list[tuple[str, FlowCall, int]]] = {}  # function -> calls, with the number of arguments before
        self.method_calls: dict[str, list[tuple[str, FlowCall]]] = {}  # calls of methods of objects whose class is not told
        self.open_functions: set[At] = set()
        self.meanings: dict[At, list[At]] = {}  # of names that are imported
        self.variables = {(path, node) for path, flow in flows.items() for node, _ in flow.edges if node.startswith("var::")}
        self.read_attributes = {name for flow in flows.values() for name in flow.attributes}
        for path, flow in flows.items():
            self._add_classes(path, flow)
        for path, flow in flows.items():
            self._add_edges(path, flow)
        for path, flow in flows.items():
            self._add_calls(path, flow)
            self._add_used(path, flow)

    # What is built once.

    def _add_classes(self, path: str, flow: ConfigFlow) -> None:
        for name in flow.classes:
            for base in self._bases((path, name)):
                if base is not None:
                    self.subclasses.setdefault(base, []).append((path, name))

    def _add_edges(self, path: str, flow: ConfigFlow) -> None:
        for target, source in flow.edges:
            self.edges.setdefault((path, target), []).append(source)
            if target.startswith("attr:*:"):
                self.of_attribute.setdefault(target[7:].partition("[")[0], []).append((path, source))
            elif target.startswith("import:"):
                base, key = _parts(target)
                for at in self._imported(path, base):
                    self.imported_edges.setdefault((at[0], at[1] + key), []).append((path, source))

    def _add_calls(self, path: str, flow: ConfigFlow) -> None:
        for call in flow.calls:
            if call.target.startswith(("self:", "method:")):
                self.method_calls.setdefault(call.target.rpartition(":")[2], []).append((path, call))
            for function, before in self._called(path, call.target):
                self.callers.setdefault(function, []).append((path, call, before))

    def _add_used(self, path: str, flow: ConfigFlow) -> None:
        for target in flow.used:
            kind, _, name = target.partition(":")
            places = [(path, f"{kind}:{name}")] if kind != "import" else self._imported(path, target)
            for file, node in places:
                what, _, inner = node.partition(":")
                if what == "function":
                    self.open_functions.add((file, inner))
                elif what == "class":
                    self.open_functions.update(self._constructors((file, inner)))
                elif what == "var":
                    self.edges.setdefault((file, f"{node}[*]"), []).append(UNKNOWN)

    # Where the value of a node comes from.

    def origins(self, start: At) -> set[At]:
        """The nodes without any before them that a value may come from: `made`, None or unknown."""
        todo, seen, found = [(start, True)], set[tuple[At, bool]](), set[At]()
        while todo:
            state = todo.pop()
            if state in seen:
                continue
            seen.add(state)
            (path, node), with_none = state
            if len(seen) > _MOST:
                return {(path, UNKNOWN)}
            if node.startswith("some:"):  # it may stand there twice
                todo.append(((path, node[5:]), False))
            elif node.startswith("made:") or node == UNKNOWN:
                found.add((path, UNKNOWN if path in self.staying else node))
            elif node == NOTHING:
                found |= {(path, node)} if with_none else set()
            else:
                todo += [(at, with_none) for at in self._before(path, node)]
        return found

    def _before(self, path: str, node: str) -> list[At]:
        base, key = _parts(node)
        kind, _, name = base.partition(":")
        if kind == "dict" and not key:
            return [(path, UNKNOWN)]
        if not key:
            return self._sources(path, base, kind, name)
        whole = base.partition("@")[0]
        own = self._stored(path, whole + key) + self._stored(path, f"{whole}[*]")
        if kind == "dict":
            return own
        behind = self._sources(path, base, kind, name)
        return own + [_with_key(at, key) for at in behind if at[1] != NOTHING]

    def _stored(self, path: str, node: str) -> list[At]:
        return [(path, source) for source in self.edges.get((path, node), [])] + self.imported_edges.get((path, node), [])

    def _sources(self, path: str, base: str, kind: str, name: str) -> list[At]:
        if kind == "var":
            return self._of_variable(path, base, name)
        if kind == "attr":
            owner, _, attribute = name.partition(":")
            return self._of_attribute(path, owner, attribute)
        if kind == "result":
            return self._of_function((path, name))
        if kind == "method":
            owner, _, method = name.partition(":")
            return self._of_method((path, owner), method)
        if kind in ("import", "call"):
            found = self._imported(path, f"import:{name}")
            return [self._value(at, kind == "call") for at in found] or [(path, UNKNOWN)]
        return [(path, UNKNOWN)]

    def _value(self, at: At, is_call: bool) -> At:
        path, node = at
        kind, _, name = node.partition(":")
        if is_call:
            return (path, f"result:{name}") if kind == "function" else (path, UNKNOWN)
        return at if kind in ("var", "attr") else (path, UNKNOWN)

    def _of_variable(self, path: str, base: str, name: str) -> list[At]:
        scope, _, variable = name.partition(":")
        found = self._stored(path, base)
        if not scope:
            found += self.of_attribute.get(variable.partition("@")[0], [])
        function = self.flows[path].functions.get(scope)
        if function is not None and variable in function.parameters:
            found += self._of_parameter((path, scope), function, variable)
        return found or [(path, UNKNOWN)]

    def _of_parameter(self, at: At, function: FlowFunction, name: str) -> list[At]:
        """The nodes that the callers of a function give for a parameter; its default where a call gives none."""
        calls = list(self.callers.get(at, []))
        if function.kind != "function":
            of_name = self.method_calls.get(at[1].rpartition(".")[2], [])
            calls += [(path, call, self._n_bound(at)) for path, call in of_name]
        if not calls or self._is_open(at, function):
            return [(at[0], UNKNOWN)]
        found: list[At] = []
        for path, call, before in calls:
            given = self._given(path, call, function, name, before)
            if given is None:
                default = function.defaults.get(name)
                given = [(at[0], default)] if default is not None else []
            found += given
        return found

    def _given(self, path: str, call: FlowCall, function: FlowFunction, name: str, before: int) -> list[At] | None:
        position = str(function.parameters.index(name) - before)
        named = dict(call.arguments)
        spread = [node for key, node in call.arguments if key == "**"]
        if name in named or position in named:
            return [(path, named.get(name, named.get(position, UNKNOWN)))]
        if call.is_open:
            return [(path, UNKNOWN)]
        return [_with_key((path, node), f"[{name}]") for node in spread] or None

    def _is_open(self, at: At, function: FlowFunction) -> bool:
        """Whether a function may have callers that are not seen."""
        path, name = at
        is_taken = function.kind != "function" and name.rpartition(".")[2] in self.read_attributes
        return function.is_decorated or at in self.open_functions or is_taken or path in self.opened

    def _of_function(self, at: At) -> list[At]:
        function = self.flows[at[0]].functions.get(at[1])
        if function is None or function.is_decorated:
            return [(at[0], UNKNOWN)]
        return self._stored(at[0], f"result:{at[1]}") or [(at[0], UNKNOWN)]

    # Classes.

    def _bases(self, at: At) -> Iterator[At | None]:
        """The bases of a class: None for one that is not the project's own and may do anything."""
        for base in self.flows[at[0]].classes[at[1]]:
            kind, _, name = base.partition(":")
            if kind == "class":
                yield at[0], name
            elif base:
                found = (
                    [place for place in self._imported(at[0], base) if place[1].startswith("class:")] if kind == "import" else []
                )
                yield (found[0][0], found[0][1][6:]) if found else None

    def _family(self, at: At) -> tuple[set[At], bool]:
        """A class with all that it extends, that extend it, and that those extend; whether all of them are known."""
        todo, seen, is_whole = [at], set[At](), True
        while todo:
            one = todo.pop()
            if one in seen or one[1] not in self.flows[one[0]].classes:
                continue
            seen.add(one)
            bases = list(self._bases(one))
            is_whole = is_whole and None not in bases and one[0] not in self.opened
            todo += [base for base in bases if base is not None] + self.subclasses.get(one, [])
        return seen, is_whole

    def _of_attribute(self, path: str, owner: str, attribute: str) -> list[At]:
        family, is_whole = self._family((path, owner)) if owner != "*" else (set(), False)
        found = list(self.of_attribute.get(attribute, []))
        for file, name in sorted(family):
            found += self._stored(file, f"attr:{name}:{attribute}")
        return found if found and is_whole else [(path, UNKNOWN)]

    def _of_method(self, at: At, method: str) -> list[At]:
        family, is_whole = self._family(at)
        given = [(file, f"{name}.{method}", self.flows[file].functions) for file, name in sorted(family)]
        found = [(file, f"result:{function}") for file, function, all_of_file in given if function in all_of_file]
        is_whole = is_whole and not any(f"{function}#2" in all_of_file for _, function, all_of_file in given)
        return found if found and is_whole else [(at[0], UNKNOWN)]

    def _constructors(self, at: At) -> list[At]:
        """The `__init__` that a call of a class runs, in it or in its bases."""
        return self._inherited(at, "__init__")

    def _inherited(self, at: At, method: str, depth: int = 0) -> list[At]:
        path, name = at
        if depth > _DEEPEST or name not in self.flows[path].classes:
            return []
        if f"{name}.{method}" in self.flows[path].functions:
            return [(path, f"{name}.{method}")]
        return [found for base in self._bases(at) if base is not None for found in self._inherited(base, method, depth + 1)]

    # Calls and imports.

    def _called(self, path: str, target: str) -> Iterator[tuple[At, int]]:
        """The functions that a call may reach, each with the number of parameters that it does not give."""
        kind, _, name = target.partition(":")
        if kind == "import":
            for file, node in self._imported(path, target):
                yield from self._called(file, node) if node.startswith(("function:", "class:")) else ()
        elif kind == "function":
            yield (path, name), self._n_bound((path, name), by_class=True)
        elif kind == "class":
            yield from ((at, 1) for at in self._constructors((path, name)))
        elif kind == "base":
            owner, _, method = name.partition(":")
            yield from ((at, self._n_bound(at, by_class=True)) for at in self._inherited((path, owner), method))
        elif kind == "super":
            owner, _, method = name.partition(":")
            for base in self._bases((path, owner)):
                yield from ((at, 1) for at in self._inherited(base, method)) if base is not None else ()

    def _n_bound(self, at: At, by_class: bool = False) -> int:
        """The number of parameters that a call of a method does not give: `self`, but for a call by the class, or `cls`."""
        kind = self.flows[at[0]].functions[at[1]].kind
        return int(kind == "classmethod" or (kind == "method" and not by_class))

    def _imported(self, path: str, node: str, depth: int = 0) -> list[At]:
        """The nodes of the project that an imported name means: `function:`, `class:`, `var:` or `attr:`, at most one."""
        if (path, node) not in self.meanings:
            self.meanings[path, node] = []  # until it is known: names may be imported in a circle
            self.meanings[path, node] = self._found(path, node, depth) if depth <= _DEEPEST else []
        return self.meanings[path, node]

    def _found(self, path: str, node: str, depth: int) -> list[At]:
        level, _, dotted = node.removeprefix("import:").partition(":")
        parts = dotted.split(".")
        if level == "-1":
            return self._by_star(path, parts, depth)
        for cut in range(len(parts) - 1, -1, -1):
            file = self.finder.module(path, int(level), ".".join(parts[:cut])) if cut or int(level) else None
            if file is not None:
                return self._in_file(file, parts[cut:], depth)
        return []

    def _in_file(self, file: str, rest: list[str], depth: int) -> list[At]:
        flow = self.flows.get(file, ConfigFlow())
        whole = ".".join(rest)
        exported = self.finder.exports(file).get(rest[0])
        is_variable = (file, f"var::{rest[0]}") in self.variables
        kinds = [whole in flow.functions, whole in flow.classes, is_variable, exported is not None]
        is_unread = not any(kinds[:3]) and rest[0] in self.finder.definitions(file)
        if sum(kinds) + is_unread > 1 or f"{whole}#2" in flow.functions or f"{whole}#2" in flow.classes:
            return []
        if whole in flow.functions:
            return [(file, f"function:{whole}")]
        if whole in flow.classes:
            return [(file, f"class:{whole}")]
        if len(rest) == 2 and rest[0] in flow.classes:
            return [(file, f"attr:{rest[0]}:{rest[1]}")]
        if is_variable:
            return [(file, f"var::{rest[0]}")] if len(rest) == 1 else []
        if exported is not None:
            level, dotted = exported
            return self._imported(file, f"import:{level}:{'.'.join([dotted, *rest[1:]])}", depth + 1)
        return self._by_star(file, rest, depth)

    def _by_star(self, file: str, rest: list[str], depth: int) -> list[At]:
        """The node that a name means by the star imports of a file, where only one of them has it."""
        found: list[At] = []
        for level, module in self.finder.stars(file) if not rest[0].startswith("_") else ():
            source = self.finder.module(file, level, module)
            meant = self._imported(file, f"import:{level}:{'.'.join([module, *rest] if module else rest)}", depth + 1)
            if source is not None and not meant and rest[0] in self.finder.definitions(source):
                return []
            found += meant
        return found if len(found) == 1 else []


def _parts(node: str) -> tuple[str, str]:
    """A node without its key, and the key with its brackets."""
    base, bracket, key = node.partition("[")
    return base, bracket + key


def _with_key(at: At, key: str) -> At:
    """The value of a key of what a node holds."""
    path, node = at
    while node.startswith("some:"):
        node = node[5:]
    if node == UNKNOWN or node.startswith("made:") or "[" in node:
        return path, UNKNOWN
    return path, node + key
