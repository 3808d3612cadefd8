"""What a file tells the rest of its project: small facts, gathered without a concrete syntax tree."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath

from tf2npu.scanner.depth import DEEPEST, is_too_deep
from tf2npu.scanner.input_roles import CallFact, FunctionFact, InputUse, RoleGatherer, Target, spread_roles
from tf2npu.scanner.names import canonical, is_framework, is_tensorflow, root_of
from tf2npu.scanner.source import SourceError, decode

_RELEVANT = re.compile(rb"tensorflow|keras|horovod|npu_bridge|tf_slim|\btf\b|\bslim\b|__main__")
_IMPORT_LINE = re.compile(r"^[ \t]*(?:import|from)[ \t]+([\w.]+)", re.MULTILINE)
_KERAS_NET = re.compile(r"^tensorflow\.keras(?:$|\.(?:Model|Sequential|models|applications|backend|callbacks|utils)\b)")
_KERAS_PARTS = re.compile(r"^tensorflow\.keras\.(?:layers|initializers|regularizers|constraints|activations|losses)\b")
_STRATEGY = re.compile(r"^tensorflow(?:\.contrib|\.compat\.v2)?\.distribute\.(?:experimental\.)?(\w*Strategy)$")
_TRAINING_CALLS = frozenset(
    {"minimize", "apply_gradients", "train_and_evaluate", "fit", "fit_generator", "create_train_op", "optimize_loss"}
)
_PARAMETER_SERVER = frozenset({"tensorflow.train.replica_device_setter", "tensorflow.train.Server"})


@dataclass(frozen=True)
class Seen:
    """Where a kind of distribution was seen."""

    path: str
    line: int
    api: str


@dataclass
class FileFacts:
    """Facts of one file; picklable, no syntax tree.

    imports: dotted modules it imports, with the level of a relative import.  exports: module-level name -> dotted target.
    stars: modules it star-imports.  definitions: names of its own functions and classes and other assigned names.
    """

    path: str
    imports: tuple[tuple[int, str], ...] = ()
    exports: dict[str, tuple[int, str]] = field(default_factory=dict)
    stars: tuple[tuple[int, str], ...] = ()
    definitions: frozenset[str] = frozenset()
    has_main_guard: bool = False
    uses_keras_net: bool = False
    distribution: tuple[tuple[str, Seen], ...] = ()
    functions: dict[str, FunctionFact] = field(default_factory=dict)
    calls: tuple[CallFact, ...] = ()
    trains: bool = False  # calls something that changes variables
    is_too_deep: bool = False  # nested beyond what the concrete syntax tree is built for in reasonable time

    @property
    def module_path(self) -> tuple[str, ...]:
        """Path as module components, `__init__` dropped."""
        return module_parts(self.path)


def mentions_relevant_module(data: bytes) -> bool:
    """Whether a file could hold anything to convert; False means it need not even be parsed."""
    return _RELEVANT.search(data) is not None


def module_parts(path: str) -> tuple[str, ...]:
    """Components of a module's path without suffix; a package stands for its `__init__`."""
    pure = PurePosixPath(path)
    parts = (*pure.parent.parts, pure.stem)
    return parts[:-1] if parts[-1] == "__init__" else parts


def gather_facts(path: str, data: bytes) -> FileFacts:
    """Facts of one file; a file that Python's own parser refuses yields the imports seen line by line."""
    if path.endswith(".ipynb"):
        return FileFacts(path)
    try:
        text = decode(data).text
    except SourceError:
        return FileFacts(path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            module = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        is_deep = isinstance(error, (RecursionError, MemoryError)) or "nested parentheses" in str(error)
        return _line_facts(path, text, is_deep and is_too_deep(text))
    try:
        facts = _Gatherer(path).gather(module)
    except RecursionError:
        return _line_facts(path, text, is_too_deep(text))
    facts.is_too_deep = len(text) > 2 * DEEPEST and _depth(module) > DEEPEST
    return facts


def _line_facts(path: str, text: str, is_deep: bool) -> FileFacts:
    imports = tuple((0, name) for name in _IMPORT_LINE.findall(text))
    return FileFacts(path, imports=imports, has_main_guard="__main__" in text, is_too_deep=is_deep)


def _depth(module: ast.Module) -> int:
    depth = 0
    level: list[ast.AST] = [module]
    while level and depth <= DEEPEST:
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        depth += 1
    return depth


class _Gatherer:
    def __init__(self, path: str) -> None:
        self.path = path
        self.imports: list[tuple[int, str]] = []
        self.stars: list[tuple[int, str]] = []
        self.exports: dict[str, tuple[int, str]] = {}
        self.definitions: set[str] = set()
        self.aliases: dict[str, str] = {}
        self.distribution: list[tuple[str, Seen]] = []
        self.keras_imported_line = 0
        self.has_keras_net = False
        self.has_keras_part = False
        self.targets: dict[str, Target] = {}  # local names of imported modules and objects that are not frameworks

    def gather(self, module: ast.Module) -> FileFacts:
        nodes = list(ast.walk(module))
        for node in nodes:
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                self.import_(node)
        self.top_level(module.body)
        for node in nodes:
            if isinstance(node, (ast.Attribute, ast.Name)):
                self.reference(node)
        roles = RoleGatherer(self.targets)
        roles.gather(module)
        uses_keras = self.has_keras_net or (self.keras_imported_line > 0 and not self.has_keras_part)
        return FileFacts(
            self.path, tuple(self.imports), self.exports, tuple(self.stars), frozenset(self.definitions),
            any(isinstance(n, ast.If) and is_main_guard(n.test) for n in nodes), uses_keras,
            tuple(self.distribution), {n: f for n, f in roles.functions.items() if f is not None}, tuple(roles.calls),
            any(isinstance(n, ast.Call) and _trains(n) for n in nodes),
        )  # fmt: skip

    def import_(self, node: ast.Import | ast.ImportFrom) -> None:
        if isinstance(node, ast.Import):
            for alias in node.names:
                self.imports.append((0, alias.name))
                local = alias.asname or root_of(alias.name)
                self.alias(local, alias.name if alias.asname else root_of(alias.name), node.lineno)
                self.target(local, 0, alias.name if alias.asname else root_of(alias.name))
                self.seen_module(alias.name, node.lineno)
            return
        module = node.module or ""
        self.imports.append((node.level, module))
        self.seen_module(module if node.level == 0 else "", node.lineno)
        for alias in node.names:
            if alias.name == "*":
                self.stars.append((node.level, module))
                continue
            target = f"{module}.{alias.name}" if module else alias.name
            self.imports.append((node.level, target))
            self.target(alias.asname or alias.name, node.level, target)
            if node.level == 0:
                self.alias(alias.asname or alias.name, target, node.lineno)

    def alias(self, local: str, target: str, line: int) -> None:
        if is_framework(target):
            self.aliases[local] = canonical(target)
            if canonical(target) == "tensorflow.keras" and local != "tensorflow":
                self.keras_imported_line = line
            self.note(canonical(target), line)

    def target(self, local: str, level: int, dotted: str) -> None:
        if level > 0 or not is_framework(dotted):
            self.targets[local] = (level, dotted)

    def seen_module(self, module: str, line: int) -> None:
        if root_of(module) == "horovod":
            self.distribution.append(("horovod", Seen(self.path, line, module)))

    def top_level(self, body: list[ast.stmt]) -> None:
        """Names bound at module level, through try and if blocks."""
        for node in body:
            if isinstance(node, ast.Import):
                for alias in node.names:
                    local = alias.asname or root_of(alias.name)
                    self.exports[local] = (0, alias.name if alias.asname else root_of(alias.name))
            elif isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    target = f"{node.module}.{alias.name}" if node.module else alias.name
                    self.exports[alias.asname or alias.name] = (node.level, target)
            elif isinstance(node, ast.Assign):
                self.assigned(node)
            elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                self.definitions.add(node.name)
            else:
                for name in ("body", "handlers", "orelse", "finalbody"):
                    for child in getattr(node, name, []):
                        self.top_level(child.body if isinstance(child, ast.ExceptHandler) else [child])

    def assigned(self, node: ast.Assign) -> None:
        target = self.dotted(node.value)
        for name in node.targets:
            if isinstance(name, ast.Name):
                if target is not None and is_framework(target):
                    self.exports[name.id] = (0, target)
                elif name.id not in self.exports:
                    self.definitions.add(name.id)

    def reference(self, node: ast.Attribute | ast.Name) -> None:
        name = self.dotted(node)
        if name is not None:
            self.note(name, node.lineno)

    def note(self, name: str, line: int) -> None:
        if _KERAS_PARTS.match(name):
            self.has_keras_part = True
        elif _KERAS_NET.match(name) and name != "tensorflow.keras":
            self.has_keras_net = True
        strategy = _STRATEGY.match(name)
        if name in _PARAMETER_SERVER or (strategy and strategy.group(1).startswith("ParameterServer")):
            self.distribution.append(("parameter-server", Seen(self.path, line, name)))
        elif strategy and strategy.group(1) != "Strategy":
            self.distribution.append(("tf", Seen(self.path, line, name)))

    def dotted(self, node: ast.expr) -> str | None:
        """Qualified name of a chain whose root is a known import."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id not in self.aliases:
            return None
        return canonical(".".join([self.aliases[node.id], *reversed(parts)]))


def _trains(call: ast.Call) -> bool:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    return name in _TRAINING_CALLS or (name == "train" and bool(call.args or call.keywords))


def is_main_guard(test: ast.expr) -> bool:
    """Whether a condition can only hold in the entry script: `__name__ == "__main__"`, reversed, or as a term of `and`."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return any(is_main_guard(value) for value in test.values)
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], ast.Eq):
        return False
    sides = [test.left, test.comparators[0]]
    names = [s.id for s in sides if isinstance(s, ast.Name)]
    texts = [s.value for s in sides if isinstance(s, ast.Constant)]
    return names == ["__name__"] and texts == ["__main__"]


@dataclass
class ProjectFacts:
    """Facts of all files of a tree, merged; picklable.

    An absolute import is looked up beside the importing file first, then in each folder above it: no project root has to be
    known, and a tree of many projects keeps them apart.
    """

    files: dict[str, FileFacts] = field(default_factory=dict)
    modules: dict[tuple[str, ...], str] = field(default_factory=dict)
    reaching: frozenset[str] = frozenset()  # files that import TensorFlow, directly or through the project
    reached: frozenset[str] = frozenset()  # files that one of those imports, directly or through others
    keras_nets: frozenset[str] = frozenset()  # files that use a Keras model, directly or through the project
    training: frozenset[str] = frozenset()  # files that train, directly or through the project
    imported: frozenset[str] = frozenset()  # files that another file imports
    input_uses: dict[tuple[str, str], frozenset[InputUse]] = field(default_factory=dict)  # (file, function) -> roles

    @classmethod
    def merge(cls, facts: Iterable[FileFacts]) -> ProjectFacts:
        """Merge the facts of the files of a tree; the order given does not matter."""
        files = {f.path: f for f in sorted(facts, key=lambda f: f.path)}
        project = cls(files, {f.module_path: f.path for f in files.values()})
        edges = {path: project._imported_files(f) for path, f in files.items()}
        tensorflow = {p for p, f in files.items() if any(lv == 0 and is_tensorflow(m) for lv, m in f.imports)}
        project.reaching = _spread(tensorflow, edges)
        project.reached = _imported_by(project.reaching, edges)
        project.keras_nets = _spread({p for p, f in files.items() if f.uses_keras_net}, edges)
        project.training = _spread({p for p, f in files.items() if f.trains and p in project.reaching}, edges) & project.reaching
        functions = {(p, name): fact for p, f in files.items() for name, fact in f.functions.items()}
        calls = [(p, call) for p, f in files.items() for call in f.calls]
        project.input_uses = spread_roles(functions, calls, project._find_function)
        project.imported = frozenset(t for path, targets in edges.items() for t in targets if t != path)
        project.files = {path: replace(f, functions={}, calls=()) for path, f in files.items()}  # nine tenths of the memory
        return project

    def including(self, facts: FileFacts) -> ProjectFacts:
        """The project with one more file that no other one imports, such as a notebook."""
        path = facts.path
        whole = replace(self, files={**self.files, path: facts})
        targets = whole._imported_files(facts)
        is_reaching = any(level == 0 and is_tensorflow(m) for level, m in facts.imports) or targets & self.reaching
        whole.reaching |= {path} if is_reaching else set()
        whole.keras_nets |= {path} if facts.uses_keras_net or targets & self.keras_nets else set()
        functions = {(path, name): fact for name, fact in facts.functions.items()}
        calls = [(path, call) for call in facts.calls if call.target[0] < 0]
        whole.input_uses = self.input_uses | spread_roles(functions, calls, whole._find_function)
        return whole

    @property
    def distribution_kinds(self) -> tuple[str, ...]:
        """Kinds of distribution seen anywhere: horovod, tf, parameter-server."""
        return tuple(sorted({kind for f in self.files.values() for kind, _ in f.distribution}))

    @property
    def distribution(self) -> dict[str, tuple[Seen, ...]]:
        """Where each kind of distribution was seen."""
        return {kind: self.distribution_places(kind) for kind in self.distribution_kinds}

    def distribution_places(self, kind: str) -> tuple[Seen, ...]:
        """Where a kind of distribution was seen, in path and line order."""
        places = {s for f in self.files.values() for k, s in f.distribution if k == kind}
        return tuple(sorted(places, key=lambda s: (s.path, s.line, s.api)))

    def find_module(self, path: str, level: int, module: str) -> str | None:
        """File that an import in `path` refers to, or None when it is not in the tree."""
        parts = tuple(module.split(".")) if module else ()
        folder = PurePosixPath(path).parent.parts
        if level > 0:
            base = folder[: len(folder) - (level - 1)]
            return self.modules.get(base + parts)
        for depth in range(len(folder), -1, -1):
            found = self.modules.get(folder[:depth] + parts)
            if found is not None and parts:
                return found
        return None

    def resolve(self, path: str, level: int, dotted: str, depth: int = 0) -> str | None:
        """Qualified name of something a project module exports, e.g. `compat.tf` -> `tensorflow`.

        A name that a project module defines itself comes back as None, like one that is not in the tree.
        """
        if depth > 20:
            return None
        parts = dotted.split(".")
        for cut in range(len(parts) - 1, -1, -1):
            target = self.find_module(path, level, ".".join(parts[:cut]))
            if target is not None and target != path:
                return self._exported(target, parts[cut:], depth)
        return None

    def _exported(self, path: str, rest: list[str], depth: int) -> str | None:
        facts = self.files[path]
        if rest[0] in facts.exports:
            level, dotted = facts.exports[rest[0]]
            full = ".".join([dotted, *rest[1:]])
            if level == 0 and is_framework(full):
                return canonical(full)
            return self.resolve(path, level, full, depth + 1)
        if rest[0] in facts.definitions:
            return None
        for level, module in facts.stars:
            if level == 0 and is_framework(module):
                return canonical(".".join([module, *rest]))
            found = self.resolve(path, level, ".".join([module, *rest]), depth + 1)
            if found is not None:
                return found
        return None

    def _find_function(self, path: str, target: Target, depth: int = 0) -> tuple[str, str] | None:
        """File and name of the project function that a call target refers to, through re-exports."""
        level, dotted = target
        if level < 0:
            return path, dotted
        module, _, name = dotted.rpartition(".")
        found = self.find_module(path, level, module) if module or level else None
        if found is None or depth > 10:
            return None
        facts = self.files[found]
        if name in facts.functions:
            return found, name
        return self._find_function(found, facts.exports[name], depth + 1) if name in facts.exports else None

    def star_names(self, path: str, level: int, module: str) -> frozenset[str]:
        """Names that `from module import *` binds, as far as the tree tells."""
        target = self.find_module(path, level, module)
        if target is None:
            return frozenset()
        facts = self.files[target]
        return frozenset(n for n in {*facts.exports, *facts.definitions} if not n.startswith("_"))

    def defines(self, path: str, level: int, dotted: str) -> bool:
        """Whether a dotted import refers to the project's own code."""
        parts = dotted.split(".")
        return any(self.find_module(path, level, ".".join(parts[:n])) is not None for n in range(len(parts), 0, -1))

    def _imported_files(self, facts: FileFacts) -> frozenset[str]:
        found = (self.find_module(facts.path, level, module) for level, module in facts.imports)
        return frozenset(path for path in found if path is not None)


def _imported_by(start: frozenset[str], edges: dict[str, frozenset[str]]) -> frozenset[str]:
    """Files that one of `start` imports, directly or through others."""
    reached: set[str] = set()
    todo = list(start)
    while todo:
        new = edges[todo.pop()] - reached
        reached |= new
        todo.extend(new)
    return frozenset(reached)


def _spread(start: set[str], edges: dict[str, frozenset[str]]) -> frozenset[str]:
    """Files from which one of `start` is reached along imports."""
    importers: dict[str, list[str]] = {}
    for path, targets in edges.items():
        for target in targets:
            importers.setdefault(target, []).append(path)
    reached, todo = set(start), list(start)
    while todo:
        for path in importers.get(todo.pop(), ()):
            if path not in reached:
                reached.add(path)
                todo.append(path)
    return frozenset(reached)
