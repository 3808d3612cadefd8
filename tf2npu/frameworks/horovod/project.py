"""The facts about Horovod in all files of a tree together."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from tf2npu.frameworks.base import Edges, ProjectPart
from tf2npu.frameworks.horovod.names import is_horovod
from tf2npu.scanner.facts import FileFacts
from tf2npu.scanner.import_graph import imported_by, importers_of
from tf2npu.scanner.project_facts import ProjectFacts

NAME = "horovod"


@dataclass
class HorovodProject(ProjectPart):
    """Files of a tree that have to do with Horovod."""

    with_horovod: frozenset[str] = frozenset()  # files that import Horovod, directly or through the project
    using: frozenset[str] = frozenset()  # of these, files that import it themselves, or use it by a name that another one gives
    starting: frozenset[str] = frozenset()  # files that are run and reach Horovod
    started: frozenset[str] = frozenset()  # these, and what they import
    of_horovod: frozenset[str] = frozenset()  # files that cannot be loaded without Horovod, and what only those import
    borrowers: dict[tuple[str, str], str] = field(default_factory=dict)  # (file, name of Horovod) -> file that imports it there

    def begin(self, project: ProjectFacts, edges: Edges) -> None:
        """Find who imports Horovod."""
        self.with_horovod = importers_of({path for path, facts in project.files.items() if _has_horovod(facts)}, edges)
        self.using = frozenset(path for path in self.with_horovod if _uses_horovod(project, project.files[path]))
        self.borrowers = _borrowers(project)

    def finish(self, project: ProjectFacts, edges: Edges) -> None:
        """Find which scripts start Horovod, and which files need it."""
        starts = {path for path, f in project.files.items() if NAME in f.starts and path not in project.imported}
        self.starting = (project.entries | starts) & self.with_horovod
        self.started = self.starting | imported_by(self.starting, edges)
        self.of_horovod = _only_with_horovod(project, edges)

    def including(self, project: ProjectFacts, facts: FileFacts, targets: frozenset[str]) -> HorovodProject:
        """The part of a project with one more file that no other imports."""
        path = facts.path
        has_it = _has_horovod(facts) or targets & self.with_horovod
        is_bound = _needs_horovod(facts) or project.files_of(path, facts.loads) & self.of_horovod & self.with_horovod
        starts = has_it and (path in project.entries or NAME in facts.starts)
        return replace(
            self,
            with_horovod=self.with_horovod | {path} if has_it else self.with_horovod,
            using=self.using | {path} if has_it and _uses_horovod(project, facts) else self.using,
            of_horovod=self.of_horovod | {path} if is_bound else self.of_horovod,
            starting=self.starting | {path} if starts else self.starting,
            started=self.started | {path} if starts else self.started,
        )

    def works(self, path: str | None) -> bool:
        """Whether something that is called in a file may start Horovod."""
        return path in self.with_horovod


def horovod_in(project: ProjectFacts) -> HorovodProject:
    """The facts about Horovod in a project."""
    part = project.parts.get(NAME)
    return part if isinstance(part, HorovodProject) else HorovodProject()


def _has_horovod(facts: FileFacts) -> bool:
    """Whether the file itself imports Horovod."""
    return any(kind == NAME for kind, _ in facts.distribution)


def _uses_horovod(project: ProjectFacts, facts: FileFacts) -> bool:
    """Whether the file itself imports Horovod, or uses a name by which another one has it."""
    named = [target for target in (*facts.imports, *facts.uses) if target[0] >= 0]
    by_star = [name for level, name in facts.uses if level < 0]
    named += [(level, f"{module}.{name}" if module else name) for level, module in facts.stars for name in by_star]
    return _has_horovod(facts) or any(is_horovod(project.resolve(facts.path, *target) or "") for target in named)


def _needs_horovod(facts: FileFacts) -> bool:
    """Whether the file cannot be loaded without Horovod."""
    return any(level == 0 and is_horovod(module) for level, module in facts.loads)


def _only_with_horovod(project: ProjectFacts, edges: Edges) -> frozenset[str]:
    loading = {path: project.files_of(path, facts.loads) for path, facts in project.files.items()}
    needing = importers_of({path for path, facts in project.files.items() if _needs_horovod(facts)}, loading)
    others = project.entries - needing
    return needing | (imported_by(needing, edges) - others - imported_by(others, edges))


def _borrowers(project: ProjectFacts) -> dict[tuple[str, str], str]:
    lenders = {path for path, facts in project.files.items() if _has_horovod(facts)}
    found: dict[tuple[str, str], str] = {}
    for path, facts in project.files.items() if lenders else ():
        for level, dotted in facts.imports:
            module, _, name = dotted.rpartition(".")
            lender = project.find_module(path, level, module) if module or level else None
            if lender in lenders and _exports_horovod(project, lender, name):
                found[lender, name] = path
        for level, module in facts.stars:
            lender = project.find_module(path, level, module) or ""
            names = project.files[lender].exports if lender in lenders else {}
            found |= {(lender, name): path for name in names if _exports_horovod(project, lender, name)}
    return {key: path for key, path in found.items() if key[0] != path}


def _exports_horovod(project: ProjectFacts, path: str, name: str) -> bool:
    level, dotted = project.files[path].exports.get(name, (0, ""))
    return level == 0 and is_horovod(dotted)
