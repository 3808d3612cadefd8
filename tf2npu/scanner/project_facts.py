"""The facts of all files of a tree together: which import leads where, what reaches what."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from tf2npu.findings import Seen
from tf2npu.frameworks.base import Framework, ProjectPart
from tf2npu.frameworks.registry import known
from tf2npu.scanner.console_scripts import is_project_settings
from tf2npu.scanner.facts import FileFacts, with_shared_names
from tf2npu.scanner.import_graph import imported_by, importers_of
from tf2npu.scanner.input_roles import InputUse, Target, spread_roles
from tf2npu.scanner.known_modules import is_requirements
from tf2npu.scanner.module_names import folder_parts
from tf2npu.scanner.names import canonical, is_framework, root_of
from tf2npu.scanner.options.defaults import is_run_settings, merged_options
from tf2npu.scanner.python2.projects import python2_projects
from tf2npu.scanner.rewritten_programs import rewritten_programs
from tf2npu.scanner.uncalled_functions import uncalled, unshared


@dataclass(frozen=True)
class Reach:
    """The files of a tree that have to do with one framework.

    reaching: those that import it, directly or through the project.  reached: those that one of these imports.
    """

    reaching: frozenset[str] = frozenset()
    reached: frozenset[str] = frozenset()


@dataclass
class ProjectFacts:
    """Facts of all files of a tree, merged; picklable.

    An absolute import is looked up beside the importing file first, then in each folder above it: no project root has to be
    known, and a tree of many projects keeps them apart.
    """

    files: dict[str, FileFacts] = field(default_factory=dict)
    modules: dict[tuple[str, ...], str] = field(default_factory=dict)
    reaching: frozenset[str] = frozenset()  # files that import a framework, directly or through the project
    reached: frozenset[str] = frozenset()  # files that one of those imports, directly or through others
    reach: dict[str, Reach] = field(default_factory=dict)  # the same for each framework
    training: frozenset[str] = frozenset()  # files that train, directly or through the project
    distributed: frozenset[str] = frozenset()  # files of programs in which a kind of distribution was seen
    imported: frozenset[str] = frozenset()  # files that another file imports
    entries: frozenset[str] = frozenset()  # files that are run
    uncalled: frozenset[str] = frozenset()  # functions that nothing in the tree names
    returns: dict[tuple[str, str], str] = field(default_factory=dict)  # (file, function) -> qualified name of what it gives
    commands: dict[str, frozenset[str]] = field(default_factory=dict)  # file -> functions that installed commands run
    input_uses: dict[tuple[str, str], frozenset[InputUse]] = field(default_factory=dict)  # (file, function) -> roles
    python2: dict[str, str] = field(default_factory=dict)  # file of a project that is Python 2 -> the file that tells
    unshared: dict[str, frozenset[str]] = field(default_factory=dict)  # file of these -> names of it that no other file names
    rewritten: frozenset[str] = frozenset()  # files that are brought from a sister of a framework to the framework
    older: frozenset[str] = frozenset()  # of these, files of programs that are older than the next release of the framework
    kept: dict[str, tuple[Seen, ...]] = field(default_factory=dict)  # files that are not, and the places that keep them
    parts: dict[str, ProjectPart] = field(default_factory=dict)  # what each framework knows of the tree
    options: dict[str, frozenset[str]] = field(default_factory=dict)  # option -> values that it has, as texts
    without: dict[str, frozenset[str]] = field(default_factory=dict)  # files of another framework that can do without this one
    run: frozenset[str] = frozenset()  # entry scripts that reach a framework, and all that they load
    named_distributions: frozenset[str] = frozenset()  # words of the files that say what the project needs

    @classmethod
    def merge(cls, facts: Iterable[FileFacts]) -> ProjectFacts:
        """Merge the facts of the files of a tree; the order given does not matter."""
        files = {f.path: f for f in sorted(facts, key=lambda f: f.path)}
        options = merged_options(files.values())
        files = {path: f for path, f in files.items() if is_requirements(path) or not is_run_settings(path)}
        sources = {p: f for p, f in files.items() if not is_project_settings(p) and not is_requirements(p)}
        project = cls(files, {f.module_path: p for p, f in sources.items()}, options=options)
        files = project.files = project._rewritten_files()
        edges = {path: project.imports_of(path) for path in files}
        project._find_reach(edges)
        trains = {p for p, f in files.items() if f.trains and p in project.reaching}
        project.training = importers_of(trains, edges) & project.reaching
        programs = importers_of({p for p, f in files.items() if f.distribution}, edges)
        project.distributed = programs | imported_by(programs, edges)
        project.parts = {framework.name: framework.part() for framework in known()}
        for part in project.parts.values():
            part.begin(project, edges)
        functions = {(p, name): fact for p, f in files.items() for name, fact in f.functions.items()}
        calls = [(p, call) for p, f in files.items() for call in f.calls]
        project.input_uses = spread_roles(functions, calls, project._find_function)
        project.returns = project._returns()
        project.commands = project._commands()
        project.imported = imported = frozenset(t for path, targets in edges.items() for t in targets if t != path)
        project.entries = frozenset(path for path, f in files.items() if project._is_entry(f, path in imported))
        project.entries -= project._of_other_frameworks()
        project.without = {framework.name: project._doing_without(framework, edges) for framework in known()}
        for part in project.parts.values():
            part.finish(project, edges)
        project.python2 = python2_projects(files, edges)
        starts = project.entries & project.reaching
        project.run = starts | imported_by(starts, edges)
        project.named_distributions = frozenset[str]().union(*(f.named_distributions for f in files.values()))
        naming = {path: facts.naming for path, facts in files.items()}
        project.uncalled = uncalled(naming, project.find_module)
        project.unshared = unshared(naming, {path: facts.definitions for path, facts in files.items() if path in project.python2})
        project._forget_details()
        return project

    def _rewritten_files(self) -> dict[str, FileFacts]:
        """The facts of all files, of those that are rewritten as they will be."""
        found = rewritten_programs(self.files, self.files_of, self.find_module)
        self.rewritten, self.older, self.kept = frozenset(found.files), frozenset(found.older), found.kept
        return {path: found.files.get(path, facts) for path, facts in self.files.items()}

    def _find_reach(self, edges: dict[str, frozenset[str]]) -> None:
        by_modules: dict[frozenset[str], Reach] = {}  # releases of a framework share theirs
        for framework in known():
            if framework.bound_by not in by_modules:
                reaching = importers_of({p for p, f in self.files.items() if framework.is_bound_by(f.imports)}, edges)
                by_modules[framework.bound_by] = Reach(reaching, imported_by(reaching, edges))
            self.reach[framework.name] = by_modules[framework.bound_by]
        found = [reach for reach in by_modules.values() if reach.reaching]
        self.reaching = frozenset[str]().union(*(reach.reaching for reach in found))
        self.reached = frozenset[str]().union(*(reach.reached for reach in found))

    def _forget_details(self) -> None:
        """Drops what only merging needs, which is nine tenths of the memory, and has one object for each name."""
        dropped: dict[str, Any] = {"functions": {}, "returns": {}, "uses": frozenset(), "named_distributions": frozenset()}
        dropped |= {"naming": None, "rewritten": None} | dict.fromkeys(("calls", "run_targets", "loads", "options"), ())
        known_names: dict[Any, Any] = {}
        self.files = {
            path: replace(facts, config_flow=None, **dropped, **with_shared_names(facts, known_names))
            for path, facts in self.files.items()
        }

    def including(self, facts: FileFacts) -> ProjectFacts:
        """The project with one more file that no other one imports, such as a notebook."""
        path = facts.path
        if path in self.rewritten and facts.rewritten is not None and facts.rewritten.facts is not None:
            facts = replace(facts.rewritten.facts, path=path)
        whole = replace(self, files={**self.files, path: facts})
        targets = whole.imports_of(path)
        whole.reach = {
            framework.name: self._reach_including(framework, path, framework.is_bound_by(facts.imports), targets)
            for framework in known()
        }
        whole.reaching |= {path} if any(path in reach.reaching for reach in whole.reach.values()) else set()
        whole.training |= {path} if facts.trains or targets & self.training else set()
        whole.distributed |= {path} if facts.distribution or targets & self.distributed else set()
        whole.entries |= {path} if whole._is_entry(facts, False) else set()
        whole.parts = {name: part.including(whole, facts, targets) for name, part in self.parts.items()}
        functions = {(path, name): fact for name, fact in facts.functions.items()}
        calls = [(path, call) for call in facts.calls if call.target[0] < 0]
        whole.input_uses = self.input_uses | spread_roles(functions, calls, whole._find_function)
        return whole

    def _reach_including(self, framework: Framework, path: str, is_bound: bool, targets: frozenset[str]) -> Reach:
        reach = self.reach.get(framework.name, Reach())
        return replace(reach, reaching=reach.reaching | {path}) if is_bound or targets & reach.reaching else reach

    def is_reaching(self, path: str, framework: str) -> bool:
        """Whether a file imports a framework, directly or through the project."""
        reach = self.reach.get(framework)
        return reach is not None and path in reach.reaching

    def imports_of(self, path: str) -> frozenset[str]:
        """The files of the tree that a file imports."""
        return self.files_of(path, self.files[path].imports)

    def has_importer(self, path: str, which: Callable[[FileFacts], bool]) -> bool:
        """Whether one of the files that import `path` is such a file."""
        return any(which(f) and path in self.imports_of(p) for p, f in self.files.items() if p != path)

    @property
    def distribution_kinds(self) -> tuple[str, ...]:
        """Kinds of distribution seen anywhere, as the frameworks name them."""
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
        folder = folder_parts(path)
        if level > 0:
            base = folder[: len(folder) - (level - 1)]
            return self.modules.get(base + parts)
        for depth in range(len(folder), -1, -1):
            found = self.modules.get(folder[:depth] + parts)
            if found is not None and parts:
                return found
        return None

    def resolve(self, path: str, level: int, dotted: str, depth: int = 0) -> str | None:
        """Qualified name of something a project module exports, e.g. `compat.fw` -> `framework`.

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
        if facts.has_main_guard or path in self.commands or path.rpartition("/")[2] == "__main__.py":
            return True
        is_member = any(level > 0 for level, _ in facts.loads)  # such a file cannot be run by its path
        targets = () if is_member else facts.run_targets
        return not is_imported and (facts.runs or any(self._works(path, target) for target in targets))

    def _of_other_frameworks(self) -> frozenset[str]:
        """Files that load a framework that is not converted, and neither import one that is nor load what needs one."""
        loading = {path: self.files_of(path, facts.loads) for path, facts in self.files.items()}
        others = importers_of({path for path, facts in self.files.items() if facts.needs_other_framework}, loading)
        if not others:
            return others
        bound = {path for path, facts in self.files.items() if any(f.is_bound_by(facts.loads) for f in known())}
        own = {path for path in others if any(f.is_bound_by(self.files[path].imports) for f in known())}
        return others - importers_of(bound, loading) - own

    def _doing_without(self, framework: Framework, edges: dict[str, frozenset[str]]) -> frozenset[str]:
        """Files that load another framework that is converted, and reach this one only where somebody may do without it, such as
        in their functions, or only through the project while they train with the other; and files that reach this one only
        through those, and another framework as well.
        """
        rivals = known().bound_by - framework.bound_by
        reaching = self.reach[framework.name].reaching
        if not framework.bound_by or not reaching:
            return frozenset()
        others = {p for p, f in self.files.items() if any(level == 0 and root_of(name) in rivals for level, name in f.loads)}
        if not others:
            return frozenset()
        loading = {path: self.files_of(path, facts.loads) for path, facts in self.files.items()}
        bound = {path for path, facts in self.files.items() if framework.is_bound_by(facts.loads)}
        training = {path for path in others if self.files[path].trains}
        own = {path for path, facts in self.files.items() if framework.is_bound_by(facts.exports.values())}  # in a `try`, too
        found = ((importers_of(others, loading) - importers_of(bound, loading)) | training) & reaching - bound - own
        needing = {path for path, facts in self.files.items() if framework.is_bound_by(facts.imports)} - found
        left = importers_of(needing, {path: targets for path, targets in edges.items() if path not in found})
        rival = frozenset[str]().union(*(self.reach[f.name].reaching for f in known() if f.bound_by != framework.bound_by))
        return found | (reaching & rival) - left

    def _works(self, path: str, target: Target) -> bool:
        """Whether something that is called does what a script is run for, or is in a file that does."""
        level, dotted = target
        if level < 0:
            return any(self._starts_work(self.star_source(path, *star, dotted)) for star in self.files[path].stars)
        if self.resolve(path, level, dotted) in known().running:
            return True
        parts = dotted.split(".")
        found = (self.find_module(path, level, ".".join(parts[:n])) for n in range(len(parts), 0, -1))
        return self._starts_work(next((file for file in found if file is not None), None))

    def _starts_work(self, path: str | None) -> bool:
        return path in self.training or any(part.works(path) for part in self.parts.values())

    def _commands(self) -> dict[str, frozenset[str]]:
        """Files and functions that setup scripts and settings name, through re-exports."""
        found: dict[str, set[str]] = {}
        for path, facts in self.files.items():
            for module, function in facts.commands:
                file = self._installed(folder_parts(path), tuple(module.split(".")))
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

    def loaded_by(self, path: str, level: int, module: str) -> frozenset[str]:
        """Files of the tree that an import of a module runs: the module's, and those of the packages around it."""
        parts = module.split(".")
        return self.files_of(path, [(level, ".".join(parts[:n])) for n in range(bool(level) ^ 1, len(parts) + 1)])

    def run_by(self, facts: FileFacts) -> frozenset[str]:
        """Files of the tree that the imports of a file run."""
        return frozenset[str]().union(*(self.loaded_by(facts.path, *imported) for imported in facts.imports))

    def files_of(self, path: str, imports: Iterable[Target]) -> frozenset[str]:
        """Files of the tree that imports in `path` refer to."""
        found = (self.find_module(path, level, module) for level, module in imports)
        return frozenset(file for file in found if file is not None)
