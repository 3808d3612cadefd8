"""Small facts about a file for the rest of its project, gathered without a concrete syntax tree."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Any

from tf2npu.findings import Seen
from tf2npu.frameworks.base import FoundFacts, ParsedFile
from tf2npu.frameworks.config_flow import ConfigFlow
from tf2npu.frameworks.other_frameworks import OTHER_FRAMEWORKS
from tf2npu.frameworks.registry import known
from tf2npu.scanner.console_scripts import Command, commands_in_settings, commands_in_setup_script, is_project_settings
from tf2npu.scanner.entry_points import TopLevel
from tf2npu.scanner.input_roles import BUILTINS, LIBRARIES, CallFact, FunctionFact, RoleGatherer, Target
from tf2npu.scanner.known_modules import is_requirements, named_distributions, names_requirements
from tf2npu.scanner.module_names import bound_names, is_open
from tf2npu.scanner.names import is_framework, root_of
from tf2npu.scanner.notebooks.path import is_notebook
from tf2npu.scanner.options.defaults import Option, is_run_settings, options_in_settings, options_in_source
from tf2npu.scanner.python2.constructs import is_refused_python2
from tf2npu.scanner.required_arguments import required_arguments
from tf2npu.scanner.returned_facts import Given, ReturnGatherer
from tf2npu.scanner.syntax import Nodes, chain, parsed
from tf2npu.scanner.text.nesting_guard import DEEPEST, LONGEST_NAME, NESTED_PARENTHESES, is_too_deep, longest_name
from tf2npu.scanner.text.rewriting import kept_places, rewritten_text
from tf2npu.scanner.text.source import SourceError, decode
from tf2npu.scanner.uncalled_functions import Naming, naming

_IMPORT_LINE = re.compile(r"^[ \t]*(?:import|from)[ \t]+([\w.]+)", re.MULTILINE)


@dataclass
class Rewritten:
    """A file that is written for a sister of a framework: its facts as one for the framework, and what keeps it as it is.

    The fields are those of `frameworks.base.Rewriting`.  facts: none where something keeps it.  imports: of a notebook, which has
    none among its facts.
    """

    facts: FileFacts | None
    obstacles: tuple[Seen, ...]
    foreign: tuple[Seen, ...]
    is_wanted: bool
    is_older: bool
    modules: frozenset[str]
    imports: tuple[Target, ...] = ()


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
    distribution: tuple[tuple[str, Seen], ...] = ()
    functions: dict[str, FunctionFact] = field(default_factory=dict)
    calls: tuple[CallFact, ...] = ()
    trains: bool = False  # calls something that changes variables
    returns: dict[str, Given] = field(default_factory=dict)  # functions that give an object that is followed
    commands: tuple[Command, ...] = ()  # functions that installed commands run, as a setup script or a settings file says
    runs: bool = False  # does what it is for when it is run, such as training, not only when something in it is called
    starts: frozenset[str] = frozenset()  # frameworks by which it joins a job of several processes when it is run
    run_targets: tuple[Target, ...] = ()  # what it calls elsewhere when it is run
    flags: frozenset[str] = frozenset()  # what the frameworks found in it, by names of theirs
    loads: tuple[Target, ...] = ()  # what it imports whenever it is loaded, with no way round it
    closed: frozenset[str] = frozenset()  # attributes whose close() is used, or that a with statement closes
    keys: frozenset[str] = frozenset()  # attributes that are keys of a dictionary, as feeds have
    is_python: bool = False  # Python's own parser takes it
    classes: frozenset[str] = frozenset()  # of `definitions`, those that are classes
    is_too_deep: bool = False  # nested beyond what the concrete syntax tree is built for in reasonable time
    config_flow: ConfigFlow | None = None  # how configs go through the file
    is_python2: bool = False  # only Python 2 reads it
    evidence: Seen | None = None  # the first place that only another release of its framework can run
    options: tuple[Option, ...] = ()  # options of the command line and of settings, with the values that they have
    arguments: tuple[str, ...] | None = None  # words that its command line has to have; None where it declares no argument
    names: frozenset[str] | None = None  # that the module binds when it is loaded; None: it may have any
    named_distributions: frozenset[str] = frozenset()  # words of a file that says what a project needs
    naming: Naming | None = None  # the names that it uses and defines; None where they are not known
    rewritten: Rewritten | None = None  # what it would be, if it is written for a sister of a framework
    uses: frozenset[Target] = frozenset()  # what it uses of the modules that it imports; level -1: a name that a star may give

    @property
    def needs_other_framework(self) -> bool:
        """Whether the file cannot be loaded without a framework that is not converted."""
        others = (module for level, module in self.loads if level == 0 and root_of(module) in OTHER_FRAMEWORKS)
        return not all(map(is_framework, others))

    @property
    def module_path(self) -> tuple[str, ...]:
        """Path as module components, `__init__` dropped."""
        return module_parts(self.path)


def with_shared_names(facts: FileFacts, known: dict[Any, Any]) -> dict[str, Any]:
    """Names and imports of a file, each the one object that `known` has for it: most of them are in many files."""
    return {
        "imports": tuple(known.setdefault(one, one) for one in facts.imports),
        "exports": {known.setdefault(name, name): known.setdefault(target, target) for name, target in facts.exports.items()},
        "definitions": frozenset(known.setdefault(name, name) for name in facts.definitions),
    }


def mentions_relevant_module(data: bytes) -> bool:
    """Whether a file could hold anything to convert; False means it need not even be parsed."""
    return known().any_mentioned(data)


def module_parts(path: str) -> tuple[str, ...]:
    """Components of a module's path without suffix; a package stands for its `__init__`."""
    pure = PurePosixPath(path)
    parts = (*pure.parent.parts, pure.stem)
    return parts[:-1] if parts[-1] == "__init__" else parts


def gather_facts(path: str, data: bytes) -> FileFacts:
    """Facts of one file; a file that Python's own parser refuses yields the imports seen line by line.

    A pyproject.toml or setup.cfg tells which commands a project installs; launchers and files of settings tell options.
    """
    if is_project_settings(path) or is_requirements(path):
        commands = commands_in_settings(path, data) if is_project_settings(path) else ()
        return FileFacts(path, commands=commands, named_distributions=named_distributions(data))
    if is_run_settings(path):
        return FileFacts(path, options=options_in_settings(path, data))
    if is_notebook(path):
        return _notebook_facts(path, data)
    try:
        text = decode(data).text
    except SourceError:
        return FileFacts(path)
    return _text_facts(path, text)


def _text_facts(path: str, text: str) -> FileFacts:
    if text.count(".") > LONGEST_NAME < longest_name(text):
        return _line_facts(path, text, True)
    try:
        module = parsed(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        is_deep = isinstance(error, (RecursionError, MemoryError)) or NESTED_PARENTHESES in str(error)
        facts = _line_facts(path, text, is_deep and is_too_deep(text))
        return replace(facts, is_python2=isinstance(error, SyntaxError) and is_refused_python2(text, error))
    nodes = Nodes(module)
    try:
        facts = _Gatherer(path, text).gather(module, nodes)
    except RecursionError:
        return _line_facts(path, text, is_too_deep(text))
    facts.is_python, facts.is_too_deep = True, nodes.depth > DEEPEST
    facts.rewritten = _rewritten(path, text, module) if not facts.is_too_deep else None
    return facts


def _rewritten(path: str, text: str, module: ast.Module) -> Rewritten | None:
    """The facts of a file that is written for a sister of a framework, as one for the framework."""
    found = next((one for framework in known() if (one := framework.rewriting(path, text, module)) is not None), None)
    if found is None:
        return None
    kept = kept_places(path, text, found)
    obstacles = found.obstacles + kept
    facts = None if obstacles else _text_facts(path, rewritten_text(text, found))
    if facts is not None and not facts.is_python:
        facts, obstacles = None, (Seen(path, 1, min(found.modules)),)
    return Rewritten(facts, obstacles, found.foreign, found.is_wanted, found.is_older, found.modules)


def _notebook_facts(path: str, data: bytes) -> FileFacts:
    """The distribution of a notebook, by cell, and its config flow; nothing imports it, and other facts are for itself only."""
    from tf2npu.scanner.notebooks.cells import Notebook  # it parses cells with libcst, which facts of scripts need not load

    if not known().any_mentioned(data, is_notebook=True):
        return FileFacts(path)
    try:
        notebook = Notebook(data)
    except (SourceError, RecursionError, MemoryError):  # told when it is converted
        return FileFacts(path)
    code = gather_facts("", notebook.code.encode())
    found = [(kind, seen, *notebook.place(seen.line)) for kind, seen in code.distribution]
    places = tuple((kind, Seen(f"{path}:cell {n}", line, seen.api)) for kind, seen, n, line in found)
    rewritten = code.rewritten
    if rewritten is not None:
        obstacles, foreign = (tuple(replace(s, path=path) for s in seen) for seen in (rewritten.obstacles, rewritten.foreign))
        facts = FileFacts(path, distribution=places, config_flow=code.config_flow, naming=code.naming)
        new = facts if rewritten.facts is not None else None
        rewritten = replace(rewritten, facts=new, obstacles=obstacles, foreign=foreign, imports=code.imports)
    return FileFacts(path, distribution=places, config_flow=code.config_flow, naming=code.naming, rewritten=rewritten)


def _line_facts(path: str, text: str, is_deep: bool) -> FileFacts:
    imports = tuple((0, name) for name in _IMPORT_LINE.findall(text))
    return FileFacts(path, imports=imports, has_main_guard="__main__" in text, is_too_deep=is_deep)


class _Gatherer:
    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.text = text
        self.frameworks = known()
        self.imports: list[tuple[int, str]] = []
        self.stars: list[tuple[int, str]] = []
        self.exports: dict[str, tuple[int, str]] = {}
        self.definitions: set[str] = set()
        self.aliases: dict[str, str] = {}
        self.imported: list[tuple[str, str, int]] = []
        self.references: list[tuple[str, int]] = []
        self.assigned_names: list[str] = []
        self.targets: dict[str, Target] = {}  # local names of imported modules and objects that are not frameworks

    def gather(self, module: ast.Module, nodes: Nodes) -> FileFacts:
        has_imports = bool(nodes.of(ast.Import) or nodes.of(ast.ImportFrom))
        statements = [node for node in nodes if isinstance(node, (ast.Import, ast.ImportFrom))] if has_imports else []
        for statement in statements:
            self.import_(statement)
        self.top_level(module.body)
        for node, root, attributes in nodes.chains if self.aliases else ():
            if root in self.aliases:
                self.references.append((self.frameworks.canonical(self.aliases[root] + attributes), node.lineno))
        has_stars = any(level > 0 or not is_framework(name) for level, name in self.stars)
        roles = RoleGatherer(self.targets, has_stars)
        roles.gather(module)
        found = self.found_by_frameworks(module, nodes, statements, has_stars)
        top = TopLevel(self.dotted, self.targets, nodes, has_stars, *(one.running for one in found))
        runs, starts, targets = top.gather(module)
        return FileFacts(
            self.path, tuple(self.imports), self.exports, tuple(self.stars), frozenset(self.definitions),
            any(is_main_guard(node.test) for node in nodes.of(ast.If)),
            tuple(place for one in found for place in one.distribution),
            {n: f for n, f in roles.functions.items() if f is not None}, tuple(roles.calls), any(one.trains for one in found),
            ReturnGatherer(self.dotted, self.targets, has_stars).gather(module) if self.aliases or has_stars else {},
            commands_in_setup_script(nodes) if PurePosixPath(self.path).name == "setup.py" else (),
            runs or any(one.runs for one in found), starts, targets,
            frozenset[str]().union(*(one.flags for one in found)), tuple(_loaded(module)), frozenset(_closed(nodes)),
            frozenset(key.attr for node in nodes.of(ast.Dict) for key in node.keys if isinstance(key, ast.Attribute)),
            classes=frozenset(node.name for node in nodes.of(ast.ClassDef) if node.name in self.definitions),
            config_flow=next((one.config_flow for one in found if one.config_flow is not None), None),
            evidence=next((one.evidence for one in found if one.evidence is not None), None),
            arguments=required_arguments(self.text, nodes),
            uses=frozenset(self.uses(nodes, has_stars)), naming=naming(module, nodes, self.targets),
            options=options_in_source(nodes),
            names=None if is_open(nodes) else bound_names(module, nodes),
            named_distributions=named_distributions(self.text.encode()) if names_requirements(self.path) else frozenset(),
        )  # fmt: skip

    def found_by_frameworks(
        self, module: ast.Module, nodes: Nodes, imports: list[ast.Import | ast.ImportFrom], has_stars: bool
    ) -> list[FoundFacts]:
        file = ParsedFile(
            self.path, self.text, module, nodes, nodes.of(ast.Call), imports, self.imports,
            self.imported, self.references, self.assigned_names, self.targets, has_stars, bool(self.stars)
        )  # fmt: skip
        return [framework.facts(file) for framework in self.frameworks]

    def import_(self, node: ast.Import | ast.ImportFrom) -> None:
        if isinstance(node, ast.Import):
            for alias in node.names:
                self.imports.append((0, alias.name))
                local = alias.asname or root_of(alias.name)
                self.alias(local, alias.name if alias.asname else root_of(alias.name), node.lineno)
                self.target(local, 0, alias.name if alias.asname else root_of(alias.name))
            return
        module = node.module or ""
        self.imports.append((node.level, module))
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
        if self.frameworks.is_known(target):
            self.aliases[local] = name = self.frameworks.canonical(target)
            self.imported.append((local, name, line))

    def target(self, local: str, level: int, dotted: str) -> None:
        if level > 0 or not self.frameworks.is_known(dotted):
            self.targets[local] = (level, dotted)

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
        if target is not None:
            self.assigned_names.append(target)
        means = (0, target) if target is not None and is_framework(target) else self.exported(node.value)
        for name in node.targets:
            if isinstance(name, ast.Name):
                if means is not None:
                    self.exports[name.id] = means
                elif name.id not in self.exports:
                    self.definitions.add(name.id)

    def exported(self, value: ast.expr) -> Target | None:
        """The target of a chain of attributes whose root the module has imported, or assigned such a chain to; or None."""
        root, parts = chain(value)
        if root not in self.exports:
            return None
        level, dotted = self.exports[root]
        return level, ".".join([dotted, *parts])

    def uses(self, nodes: Nodes, has_stars: bool) -> Iterator[Target]:
        """Chains of attributes of what is imported and may be the project's own, and names that star imports may give."""
        own = {local: target for local, target in self.targets.items() if root_of(target[1]) not in LIBRARIES or target[0] > 0}
        for _, root, attributes in nodes.chains if own or has_stars else ():
            if attributes:
                if root in own:
                    level, dotted = own[root]
                    yield level, f"{dotted}{attributes}"
            elif has_stars and not (root in self.definitions or root in BUILTINS):
                yield -1, root

    def dotted(self, node: ast.expr) -> str | None:
        """Qualified name of a chain whose root is a known import."""
        root, parts = chain(node)
        return self.frameworks.canonical(".".join([self.aliases[root], *parts])) if root in self.aliases else None


def _loaded(module: ast.Module) -> Iterator[Target]:
    """Modules that the statements of a module import, and the names, which may be modules."""
    for node in module.body:
        if isinstance(node, ast.Import):
            yield from ((0, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            start = node.module or ""
            yield node.level, start
            yield from ((node.level, f"{start}.{alias.name}" if start else alias.name) for alias in node.names)


def _closed(nodes: Nodes) -> Iterator[str]:
    """Attributes that are closed: `x.sess.close`, `with x.sess`."""
    for node in nodes.of(ast.Attribute):
        if node.attr == "close" and isinstance(node.value, ast.Attribute):
            yield node.value.attr
    blocks: list[ast.With | ast.AsyncWith] = [*nodes.of(ast.With), *nodes.of(ast.AsyncWith)]
    for block in blocks:
        yield from (item.context_expr.attr for item in block.items if isinstance(item.context_expr, ast.Attribute))


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
