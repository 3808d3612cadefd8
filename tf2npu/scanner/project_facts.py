"""The facts of all files of a tree together: which import leads where, what reaches what."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Any

from tf2npu.findings import Seen
from tf2npu.frameworks.tensorflow1.config_pairs import ModuleFinder, paired_calls
from tf2npu.frameworks.tensorflow1.load_order import files_with_old_names, packages_run_first
from tf2npu.frameworks.tensorflow1.project_dialects import ToldDialects, told_dialects
from tf2npu.scanner.config_flow import ConfigFlow, Place
from tf2npu.scanner.console_scripts import is_project_settings
from tf2npu.scanner.entries import RUNNING
from tf2npu.scanner.facts import FileFacts
from tf2npu.scanner.import_graph import imported_by, importers_of
from tf2npu.scanner.input_roles import InputUse, Target, spread_roles
from tf2npu.scanner.names import belong_to_tensorflow, canonical, is_framework, is_horovod, is_tensorflow
from tf2npu.scanner.python2_projects import python2_projects


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
    of_tensorflow: frozenset[str] = (
        frozenset()
    )  # these, those that reach Horovod's or the NPU's part for it, and what they import
    keras_nets: frozenset[str] = frozenset()  # files that use a Keras model, directly or through the project
    training: frozenset[str] = frozenset()  # files that train, directly or through the project
    imported: frozenset[str] = frozenset()  # files that another file imports
    entries: frozenset[str] = frozenset()  # files that are run
    starting: frozenset[str] = frozenset()  # files that are run and reach Horovod
    started: frozenset[str] = frozenset()  # these, and what they import
    returns: dict[tuple[str, str], str] = field(default_factory=dict)  # (file, function) -> qualified name of what it gives
    commands: dict[str, frozenset[str]] = field(default_factory=dict)  # file -> functions that installed commands run
    with_horovod: frozenset[str] = frozenset()  # files that import Horovod, directly or through the project
    of_horovod: frozenset[str] = frozenset()  # files that cannot be loaded without Horovod, and what only those import
    borrowers: dict[tuple[str, str], str] = field(default_factory=dict)  # (file, name of Horovod) -> file that imports it there
    dialects: ToldDialects = field(default_factory=ToldDialects)  # files that belong to scripts for TensorFlow 2
    input_uses: dict[tuple[str, str], frozenset[InputUse]] = field(default_factory=dict)  # (file, function) -> roles
    with_old_names: frozenset[str] = frozenset()  # files whose import needs what npu_bridge has back, theirs or one's they import
    run_first: frozenset[str] = frozenset()  # of these, files of packages that are run before an entry script
    python2: dict[str, str] = field(default_factory=dict)  # file of a project that is Python 2 -> the file that tells
    config_pairs: dict[str, frozenset[Place]] = field(default_factory=dict)  # file -> RunConfigs and Estimators that meet

    @classmethod
    def merge(cls, facts: Iterable[FileFacts]) -> ProjectFacts:
        """Merge the facts of the files of a tree; the order given does not matter."""
        files = {f.path: f for f in sorted(facts, key=lambda f: f.path)}
        project = cls(files, {f.module_path: p for p, f in files.items() if not is_project_settings(p)})
        edges = {path: project._imported_files(f) for path, f in files.items()}
        tensorflow = {p for p, f in files.items() if any(lv == 0 and is_tensorflow(m) for lv, m in f.imports)}
        project.reaching = importers_of(tensorflow, edges)
        project.reached = imported_by(project.reaching, edges)
        others = {p for p, f in files.items() if belong_to_tensorflow({m for lv, m in f.imports if lv == 0})}
        project.of_tensorflow = project.reached | importers_of(others, edges)
        nets, runs = {p for p, f in files.items() if f.uses_keras_net}, {p for p, f in files.items() if f.runs_keras}
        inside = importers_of({p for p, f in files.items() if f.has_estimator}, edges) - importers_of(runs, edges)
        project.keras_nets = importers_of(nets, edges) - inside  # an Estimator runs the models it is made of itself
        trains = {p for p, f in files.items() if f.trains and p in project.reaching}
        project.training = importers_of(trains, edges) & project.reaching
        project.with_horovod = importers_of({p for p, f in files.items() if f.has_horovod}, edges)
        project.borrowers = project._find_borrowers()
        project.dialects = told_dialects(files, edges)
        functions = {(p, name): fact for p, f in files.items() for name, fact in f.functions.items()}
        calls = [(p, call) for p, f in files.items() for call in f.calls]
        project.input_uses = spread_roles(functions, calls, project._find_function)
        project.returns = project._returns()
        project.commands = project._commands()
        project.imported = imported = frozenset(t for path, targets in edges.items() for t in targets if t != path)
        project.entries = frozenset(path for path, f in files.items() if project._is_entry(f, path in imported))
        project.entries -= project._of_other_frameworks()
        scripts = {path for path, f in files.items() if f.starts_horovod and path not in imported}
        project.starting = (project.entries | scripts) & project.with_horovod
        project.started = project.starting | imported_by(project.starting, edges)
        project.of_horovod = project._only_with_horovod(edges)
        project.with_old_names = files_with_old_names(files, project._run_by)
        project.run_first = packages_run_first(files, project.entries & project.reaching, project.with_old_names)
        project.python2 = python2_projects(files, edges)
        project.config_pairs = project._config_pairs(edges)
        nothing: dict[str, Any] = {  # nine tenths of the memory
            "functions": {}, "calls": (), "returns": {}, "run_targets": (), "loads": (), "config_flow": None,
        }  # fmt: skip
        known: dict[Any, Any] = {}
        project.files = {path: replace(f, **nothing, **_with_shared_names(f, known)) for path, f in files.items()}
        return project

    def including(self, facts: FileFacts) -> ProjectFacts:
        """The project with one more file that no other one imports, such as a notebook."""
        path = facts.path
        whole = replace(self, files={**self.files, path: facts})
        targets = whole._imported_files(facts)
        is_reaching = any(level == 0 and is_tensorflow(m) for level, m in facts.imports) or targets & self.reaching
        whole.reaching |= {path} if is_reaching else set()
        is_of_it = belong_to_tensorflow({m for level, m in facts.imports if level == 0}) or targets & self.of_tensorflow
        whole.of_tensorflow |= {path} if is_of_it or is_reaching else set()
        inside = facts.has_estimator and not facts.runs_keras
        whole.keras_nets |= {path} if (facts.uses_keras_net and not inside) or targets & self.keras_nets else set()
        whole.with_horovod |= {path} if facts.has_horovod or targets & self.with_horovod else set()
        whole.of_horovod |= (
            {path} if facts.needs_horovod or whole._files_of(path, facts.loads) & self.of_horovod & self.with_horovod else set()
        )
        needs = facts.needs_npu_bridge or whole._run_by(facts) & self.with_old_names
        whole.with_old_names |= {path} if needs else set()
        whole.training |= {path} if facts.trains or targets & self.training else set()
        whole.entries |= {path} if whole._is_entry(facts, False) else set()
        starts = path in whole.with_horovod and (path in whole.entries or facts.starts_horovod)
        whole.starting |= {path} if starts else set()
        whole.started |= {path} if starts else set()
        functions = {(path, name): fact for name, fact in facts.functions.items()}
        calls = [(path, call) for call in facts.calls if call.target[0] < 0]
        whole.input_uses = self.input_uses | spread_roles(functions, calls, whole._find_function)
        return whole

    def imports_of(self, path: str) -> frozenset[str]:
        """The files of the tree that a file imports."""
        return self._imported_files(self.files[path])

    def has_importer(self, path: str, which: Callable[[FileFacts], bool]) -> bool:
        """Whether one of the files that import `path` is such a file."""
        return any(which(f) and path in self._imported_files(f) for p, f in self.files.items() if p != path)

    @property
    def distribution_kinds(self) -> tuple[str, ...]:
        """Kinds of distribution seen anywhere: horovod, tf, parameter-server."""
        return tuple(sorted({kind for f in self.files.values() for kind, _ in f.distribution}))

    @property
    def distribution(self) -> dict[str, tuple[Seen, ...]]:
        """The places where each kind of distribution was seen."""
        return {kind: self.distribution_places(kind) for kind in self.distribution_kinds}

    def distribution_places(self, kind: str) -> tuple[Seen, ...]:
        """The places where a kind of distribution was seen, in path and line order."""
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
            facts = self.files[path]
            return (path, dotted) if dotted in facts.functions or depth > 10 else self._by_star(facts, dotted, depth)
        module, _, name = dotted.rpartition(".")
        found = self.find_module(path, level, module) if module or level else None
        if found is None or depth > 10:
            return None
        facts = self.files[found]
        if name in facts.functions:
            return found, name
        if name in facts.exports:
            return self._find_function(found, facts.exports[name], depth + 1)
        return self._by_star(facts, name, depth) if name not in facts.definitions else None

    def _by_star(self, facts: FileFacts, name: str, depth: int) -> tuple[str, str] | None:
        """The function that a name of a file means by one of its star imports; the last one counts."""
        stars = [(level, f"{module}.{name}" if module else name) for level, module in reversed(facts.stars)]
        found = (self._find_function(facts.path, target, depth + 1) for target in stars if not name.startswith("_"))
        return next((function for function in found if function is not None), None)

    def star_source(self, path: str, level: int, module: str, name: str, depth: int = 0) -> str | None:
        """The file that defines a name which `from module import *` gives, where it is one of the project's own."""
        target = self.find_module(path, level, module) if depth <= 10 else None
        if target is None or name.startswith("_"):
            return None
        facts = self.files[target]
        if name in facts.definitions:
            return target
        found = (self.star_source(target, *star, name, depth + 1) for star in reversed(facts.stars))
        return next((file for file in found if file is not None), None)

    def returned_by(self, path: str, level: int, dotted: str, depth: int = 0) -> str | None:
        """Qualified name of what a function of the project gives, when that is followed; through re-exports."""
        module, _, name = dotted.rpartition(".")
        found = self.find_module(path, level, module) if module or level else None
        if found is None or depth > 10:
            return None
        if (found, name) in self.returns:
            return self.returns[found, name]
        facts = self.files[found]
        if name in facts.exports:
            return self.returned_by(found, *facts.exports[name], depth + 1)
        stars = reversed(facts.stars) if name not in facts.definitions and not name.startswith("_") else ()
        given = (self.returned_by(found, star, f"{inner}.{name}" if inner else name, depth + 1) for star, inner in stars)
        return next((kind for kind in given if kind is not None), None)

    def _returns(self) -> dict[tuple[str, str], str]:
        given = {(path, name): self._final(path, name) for path, facts in self.files.items() for name in facts.returns}
        return {key: name for key, name in given.items() if name is not None}

    def _final(self, path: str, function: str, depth: int = 0) -> str | None:
        """The qualified name of what a function returns, through the functions whose result it hands on; None if not known."""
        given = self.files[path].returns.get(function)
        if isinstance(given, str) or given is None or depth > 10:
            return given if isinstance(given, str) else None
        further = self._find_function(path, given)
        return self._final(*further, depth + 1) if further is not None else None

    def _is_entry(self, facts: FileFacts, is_imported: bool) -> bool:
        """Whether a file is run: it has a guard, a command runs it, or nobody imports it and it works when it is loaded."""
        path = facts.path
        if facts.has_main_guard or path in self.commands or PurePosixPath(path).name == "__main__.py":
            return True
        is_member = any(level > 0 for level, _ in facts.loads)  # such a file cannot be run by its path
        targets = () if is_member else facts.run_targets
        return not is_imported and (facts.runs or any(self._works(path, target) for target in targets))

    def _of_other_frameworks(self) -> frozenset[str]:
        """Files that do not import TensorFlow, and load another framework and at most what can do without TensorFlow."""
        loading = {path: self._files_of(path, facts.loads) for path, facts in self.files.items()}
        others = importers_of({path for path, facts in self.files.items() if facts.needs_other_framework}, loading)
        if not others:
            return others
        bound = {path for path, facts in self.files.items() if any(lv == 0 and is_tensorflow(m) for lv, m in facts.loads)}
        own = {path for path in others if any(lv == 0 and is_tensorflow(m) for lv, m in self.files[path].imports)}
        return others - importers_of(bound, loading) - own

    def _works(self, path: str, target: Target) -> bool:
        """Whether something that is called opens a session, or is in a file that trains or starts Horovod."""
        level, dotted = target
        if level < 0:
            return any(self._starts_work(self.star_source(path, *star, dotted)) for star in self.files[path].stars)
        if self.resolve(path, level, dotted) in RUNNING:
            return True
        parts = dotted.split(".")
        found = (self.find_module(path, level, ".".join(parts[:n])) for n in range(len(parts), 0, -1))
        return self._starts_work(next((file for file in found if file is not None), None))

    def _starts_work(self, path: str | None) -> bool:
        return path in self.training or path in self.keras_nets or path in self.with_horovod

    def _commands(self) -> dict[str, frozenset[str]]:
        """Files and functions that setup scripts and settings name, through re-exports."""
        found: dict[str, set[str]] = {}
        for path, facts in self.files.items():
            for module, function in facts.commands:
                file = self._installed(PurePosixPath(path).parent.parts, tuple(module.split(".")))
                if file is not None:
                    file, name = self._defining(file, function)
                    found.setdefault(file, set()).add(name)
        return {path: frozenset(names) for path, names in found.items()}

    def _defining(self, path: str, name: str, depth: int = 0) -> tuple[str, str]:
        """The file that defines a name of `path`, as far as it can be followed, and its name there."""
        facts = self.files[path]
        level, dotted = facts.exports.get(name, (0, ""))
        module, _, inner = dotted.rpartition(".")
        further = self.find_module(path, level, module) if module or level else None
        return (path, name) if further is None or depth > 10 else self._defining(further, inner, depth + 1)

    def _installed(self, folder: tuple[str, ...], parts: tuple[str, ...]) -> str | None:
        """File of a module that is installed from a folder: in it, in its `src`, or in the one place below that fits."""
        for at in (folder + parts, (*folder, "src", *parts)):
            if at in self.modules:
                return self.modules[at]
        below = [path for at, path in self.modules.items() if at[: len(folder)] == folder and at[-len(parts) :] == parts]
        return below[0] if len(below) == 1 else None

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

    def _only_with_horovod(self, edges: dict[str, frozenset[str]]) -> frozenset[str]:
        loading = {path: self._files_of(path, facts.loads) for path, facts in self.files.items()}
        needing = importers_of({path for path, facts in self.files.items() if facts.needs_horovod}, loading)
        others = self.entries - needing
        return needing | (imported_by(needing, edges) - others - imported_by(others, edges))

    def loaded_by(self, path: str, level: int, module: str) -> frozenset[str]:
        """Files of the tree that an import of a module runs: the module's, and those of the packages around it."""
        parts = module.split(".")
        return self._files_of(path, [(level, ".".join(parts[:n])) for n in range(bool(level) ^ 1, len(parts) + 1)])

    def _run_by(self, facts: FileFacts) -> frozenset[str]:
        """Files of the tree that the imports of a file run."""
        return frozenset[str]().union(*(self.loaded_by(facts.path, *imported) for imported in facts.imports))

    def _find_borrowers(self) -> dict[tuple[str, str], str]:
        lenders = {path for path, facts in self.files.items() if facts.has_horovod}
        found: dict[tuple[str, str], str] = {}
        for path, facts in self.files.items() if lenders else ():
            for level, dotted in facts.imports:
                module, _, name = dotted.rpartition(".")
                lender = self.find_module(path, level, module) if module or level else None
                found |= {(lender, name): path} if lender in lenders and self._is_horovod(lender, name) else {}
            for level, module in facts.stars:
                lender = self.find_module(path, level, module) or ""
                names = self.files[lender].exports if lender in lenders else {}
                found |= {(lender, name): path for name in names if self._is_horovod(lender, name)}
        return {key: path for key, path in found.items() if key[0] != path}

    def _is_horovod(self, path: str, name: str) -> bool:
        level, dotted = self.files[path].exports.get(name, (0, ""))
        return level == 0 and is_horovod(dotted)

    def _config_pairs(self, edges: dict[str, frozenset[str]]) -> dict[str, frozenset[Place]]:
        flows = {path: f.config_flow for path, f in self.files.items() if f.config_flow is not None}
        told = self.dialects
        staying = {*told.of_adapter2, *told.for_tensorflow2, *told.on_tensorflow2}
        staying |= {path for path, f in self.files.items() if f.dialect == "2" or f.is_too_deep}
        unread = [path for path, f in self.files.items() if not (flows[path].is_whole if path in flows else f.is_python)]
        opened = frozenset(target for path in unread for target in edges[path])
        finder = ModuleFinder(
            self.find_module,
            lambda path: self.files[path].exports,
            lambda path: self.files[path].stars,
            lambda path: self.files[path].definitions,
        )
        notebooks = {path: self._followed_files(path, flow) for path, flow in flows.items() if not self.files[path].imports}
        return paired_calls(flows, edges | notebooks, frozenset(staying), opened, finder)

    def _followed_files(self, path: str, flow: ConfigFlow) -> frozenset[str]:
        """The files that the config flow of a notebook, whose imports are not gathered, leads to."""
        names = [name.split(":") for name in {*flow.used, *(call.target for call in flow.calls)} if name.startswith("import:")]
        parts = [(int(level), dotted.split(".")) for _, level, dotted in names if int(level) >= 0]
        return self._files_of(path, [(level, ".".join(part[:n])) for level, part in parts for n in range(1, len(part) + 1)])

    def _imported_files(self, facts: FileFacts) -> frozenset[str]:
        return self._files_of(facts.path, facts.imports)

    def _files_of(self, path: str, imports: Iterable[Target]) -> frozenset[str]:
        """Files of the tree that imports in `path` refer to."""
        found = (self.find_module(path, level, module) for level, module in imports)
        return frozenset(file for file in found if file is not None)


def _with_shared_names(facts: FileFacts, known: dict[Any, Any]) -> dict[str, Any]:
    """Names and imports of a file, each the one object that `known` has for it: most of them are in many files."""
    return {
        "imports": tuple(known.setdefault(one, one) for one in facts.imports),
        "exports": {known.setdefault(name, name): known.setdefault(target, target) for name, target in facts.exports.items()},
        "definitions": frozenset(known.setdefault(name, name) for name in facts.definitions),
    }
