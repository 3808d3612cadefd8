"""Convert or scan a whole project: walk, facts of all files, edits per file, output tree."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from operator import itemgetter
from sys import intern
from typing import TYPE_CHECKING, Any

from npu_formats.files.directory import real_path
from tf2npu import file_findings
from tf2npu.findings import EntryScript, FileResult, Level, Seen, Status, UnsafePlace
from tf2npu.project import workers
from tf2npu.project.cache import Cache, fingerprint
from tf2npu.project.destination import finished, opened
from tf2npu.project.earlier_outputs import leave_out_outputs
from tf2npu.project.excludes import BadPattern
from tf2npu.project.launchers import with_launchers
from tf2npu.project.output import LARGE_BYTES, Output, unreadable
from tf2npu.project.phase import Phase, Phases, Progress
from tf2npu.project.request import Request, TooLarge, UsageProblem, check_places
from tf2npu.project.sources import Sources
from tf2npu.project.walk import Entry, Kind, TooManyEntries, Tree, single, walk
from tf2npu.scanner.console_scripts import is_project_settings
from tf2npu.scanner.entry_scripts import as_named, entry_scripts, imports_among_reaching, notebooks
from tf2npu.scanner.notebooks.notebook_path import is_notebook

if TYPE_CHECKING:
    from tf2npu.config import Config
    from tf2npu.engine.convert_file import ProjectFacts


@dataclass
class Conversion:
    """The results of a conversion, and facts about the project.

    config: as it was applied (`auto` resolved); distribution: where each kind of distributed training was seen; crashes:
    tracebacks of defects of ours; entries: scripts that are run; imports: of a file that reaches TensorFlow, those that do too.
    """

    config: Config
    distribution: dict[str, tuple[Seen, ...]]
    results: list[FileResult] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    crashes: list[str] = field(default_factory=list)
    entries: tuple[EntryScript, ...] = ()
    imports: dict[str, tuple[str, ...]] = field(default_factory=dict)


def convert_project(request: Request, progress: Progress = lambda what, done, total: None) -> Conversion:
    """Convert `request.source`; every file gets a result, whatever is wrong with it.

    Raises: UsageProblem before anything is written, for a request that cannot be carried out as a whole.
    """
    check_places(request)
    tree = _tree(request)
    cache = Cache() if request.use_cache else None
    run = _Run(request, tree, cache, progress)
    try:
        return run.convert()
    finally:
        tree.files.close()
        if cache is not None:
            cache.close()


def _tree(request: Request) -> Tree:
    """The tree that is to be converted; a file that was named itself is converted, whatever is excluded."""
    try:
        if request.is_single_file:
            return single(real_path(request.source))
        config = request.config
        tree = walk(request.source, config.exclude, config.respect_gitignore, request.most_entries)
    except TooManyEntries:
        raise TooLarge(f"{request.source}: holds more than {request.most_entries} files") from None
    except BadPattern as error:
        raise UsageProblem(str(error)) from None
    except OSError as error:
        raise UsageProblem(f"{request.source}: cannot be read: {error.strerror or error}; nothing was done") from None
    leave_out_outputs(tree)
    return tree


@dataclass(frozen=True)
class _Known:
    """The part of the project's facts that a run needs as long as every result comes from the cache."""

    digest: bytes
    distribution: dict[str, tuple[Seen, ...]]
    entries: tuple[EntryScript, ...]
    imports: dict[str, tuple[str, ...]]

    @classmethod
    def of(cls, digest: bytes, project: ProjectFacts) -> _Known:
        return cls(digest, project.distribution, entry_scripts(project), imports_among_reaching(project))


class _Run:
    """One conversion under way."""

    def __init__(self, request: Request, tree: Tree, cache: Cache | None, progress: Progress) -> None:
        self._request = request
        self._tree = tree
        self._cache = cache
        self._files = Sources(tree)
        self._phases = Phases(self._files, cache, request.jobs, progress)
        self._sources = [e for e in tree.entries if e.kind is Kind.SOURCE]
        self._settings = [e for e in tree.entries if _may_name_commands(e)]
        self._results: list[FileResult] = []
        self._crashes: list[str] = []
        self._facts: ProjectFacts | None = None

    def convert(self) -> Conversion:
        known = self._known_facts()
        config = resolve_distributed(self._request.config, tuple(known.distribution))
        output = opened(self._request, self._tree)
        try:
            self._results += output.remove_gone()
            others = [output.place_other(entry) for entry in self._tree.entries if entry.kind is not Kind.SOURCE]
            self._results += [result for result in others if result is not None]
            self._convert_sources(config, known.digest, output)
            self._results += finished(output, self._request, self._tree)
        finally:
            output.release()
        self._results.sort(key=lambda result: result.path)
        started = as_named(config, (*known.entries, *notebooks(self._results)))
        entries = with_launchers(self._tree, started)
        return Conversion(config, known.distribution, self._results, self._tree.left_out, self._crashes, entries, known.imports)

    def _known_facts(self) -> _Known:
        """Digest and distribution of the project, from the cache where no file has changed since."""
        if self._cache is None:
            return _Known.of(b"", self._project())
        digests = [(e.path, hashlib.sha256(self._files.read(e) or b"").digest()) for e in [*self._sources, *self._settings]]
        key = self._cache.key("project", self._request.python2, digests)
        known = self._cache.get(key, _Known)
        if known is None:
            project = self._project()
            known = _Known.of(fingerprint(project), project)
            self._cache.put(key, known)
        return known

    def _project(self) -> ProjectFacts:
        from tf2npu.project.merging import merged, packed_facts

        if self._facts is None:
            gather = self._works()[0]
            reading = Phase("facts", packed_facts, "reading")
            key = b"2" * self._request.python2
            found = self._phases.each(reading, key, lambda: (gather,), self._ordinary() + self._settings)
            self._facts = merged([facts for _, facts in sorted(found, key=itemgetter(0)) if not isinstance(facts, workers.Crash)])
        return self._facts

    def _convert_sources(self, config: Config, facts_digest: bytes, output: Output) -> None:
        entries = {entry.path: entry for entry in self._sources}
        shared_key = fingerprint(config, facts_digest, self._request.python2)

        def shared() -> tuple[Config, ProjectFacts]:
            return config, self._project()

        converting = Phase("result", self._works()[1], "converting")
        for path, result in self._phases.each(converting, shared_key, shared, self._ordinary()):
            self._place(entries[path], result, config, output)
        for entry in self._sources:
            if entry.size > LARGE_BYTES and not _is_notebook(entry):
                self._place(entry, self._too_large(entry), config, output)
        self._results += [unreadable(path, error) for path, error in sorted(self._files.unread.items()) if path in entries]

    def _works(self) -> tuple[workers.Work, workers.Work]:
        """The functions that are called with each file in the two phases."""
        from tf2npu.engine import convert_file
        from tf2npu.python2 import conversion as of_python2

        if self._request.python2:
            return of_python2.gather_facts, of_python2.convert_file
        return convert_file.gather_facts, of_python2.convert_file_as_it_is

    def _ordinary(self) -> list[Entry]:
        """The sources that are converted: all but the very large ones."""
        return [entry for entry in self._sources if entry.size <= LARGE_BYTES or _is_notebook(entry)]

    def _place(self, entry: Entry, result: Any, config: Config, output: Output) -> None:
        data = self._files.read(entry)
        if data is None:
            return
        if isinstance(result, workers.Crash):
            result = self._crashed(result)
        else:
            after = result.after if result.status is Status.CONVERTED else data  # not a second copy of the same bytes
            result = replace(result, findings=list(result.findings), before=data, after=after)
        revised = self._request.revise(result, lambda places: self._again(entry.path, data, config, places))
        self._results.append(_lightened(output.place_result(entry, revised, data)))

    def _again(self, path: str, data: bytes, config: Config, places: frozenset[UnsafePlace]) -> FileResult:
        """The result of a file with unsafe fixes at some places."""
        shared = replace(config, unsafe_at=places), self._project()
        result = next(workers.run(self._works()[1], [(path, data)], shared, 1))
        return self._crashed(result) if isinstance(result, workers.Crash) else result

    def _crashed(self, crash: workers.Crash) -> FileResult:
        self._crashes.append(f"{crash.path}: {crash.error}\n{crash.details}")
        message = f"internal error of tf2npu: {crash.error}; the file was copied as it is"
        return FileResult(crash.path, Status.FAILED, [file_findings.INTERNAL.finding(Level.MANUAL, message)])

    def _too_large(self, entry: Entry) -> FileResult:
        from tf2npu.engine.convert_file import mentions_relevant_module

        result = FileResult(entry.path, Status.COPIED)
        if mentions_relevant_module(self._files.read(entry) or b""):
            message = f"{entry.size / (1 << 20):.1f} MB of source that mentions TensorFlow: copied without conversion"
            result.findings.append(file_findings.LARGE_SOURCE.finding(Level.MANUAL, message))
        return result


def resolve_distributed(config: Config, kinds: tuple[str, ...]) -> Config:
    """`auto` becomes the one kind of distribution that the project uses.

    Raises: UsageProblem where that is not exactly one that can be converted.
    """
    if config.distributed != "auto":
        return config
    if len(kinds) == 1 and kinds[0] in ("horovod", "tf"):
        return replace(config, distributed=kinds[0])
    if not kinds:
        found = "no distribution was found"
    elif len(kinds) == 1:
        found = f"only {kinds[0]} was found, which has no form on the NPU"
    else:
        found = f"{' and '.join(kinds)} were found"
    raise UsageProblem(f"--distributed auto: {found}; say --distributed none, horovod or tf")


def _may_name_commands(entry: Entry) -> bool:
    return entry.kind is Kind.DATA and is_project_settings(entry.path) and entry.size <= LARGE_BYTES


def _is_notebook(entry: Entry) -> bool:
    return is_notebook(entry.path)


def _lightened(result: FileResult) -> FileResult:
    """The result without the text where the report has nothing to show in it, so that large projects fit into memory."""
    if not result.findings and not result.edits:
        result.before = result.after = b""
    result.apis = [replace(use, name=intern(use.name), rule=intern(use.rule), note=intern(use.note)) for use in result.apis]
    return result
