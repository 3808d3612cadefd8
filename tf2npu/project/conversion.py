"""Convert or scan a whole project: walk, facts of all files, edits per file, output tree."""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from operator import itemgetter
from sys import intern
from typing import TYPE_CHECKING, Any

from npu_formats.files.bounded_read import MOST_SOURCE_BYTES
from npu_formats.files.directory import real_path
from npu_formats.files.lock import Busy
from tf2npu import file_findings
from tf2npu.findings import EntryScript, FileResult, Level, Seen, Status, UnsafePlace
from tf2npu.project import workers
from tf2npu.project.cache import Cache, fingerprint
from tf2npu.project.earlier_outputs import leave_out_outputs
from tf2npu.project.excludes import BadPattern
from tf2npu.project.in_place import InPlace
from tf2npu.project.launchers import with_launchers
from tf2npu.project.output import LARGE_BYTES, Output, unreadable, unrecorded
from tf2npu.project.request import Request, TooLarge, UsageProblem, check_places
from tf2npu.project.walk import Entry, Kind, TooManyEntries, Tree, single, walk
from tf2npu.scanner.console_scripts import is_project_settings
from tf2npu.scanner.entry_scripts import as_named, entry_scripts, imports_among_reaching, notebooks
from tf2npu.scanner.notebook_path import is_notebook

if TYPE_CHECKING:
    from tf2npu.config import Config
    from tf2npu.engine.convert_file import ProjectFacts

Progress = Callable[[str, int, int], None]  # what is being done, files done, files in all
_STORED: dict[str, type[Any]] = {"facts": bytes, "result": FileResult}  # what the cache holds of a file, by the name of the work


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
        self._progress = progress
        self._sources = [e for e in tree.entries if e.kind is Kind.SOURCE]
        self._settings = [e for e in tree.entries if _may_name_commands(e)]
        self._results: list[FileResult] = []
        self._crashes: list[str] = []
        self._unread: dict[str, str] = {}
        self._seen: dict[str, tuple[int, int, int]] = {}
        self._facts: ProjectFacts | None = None

    def convert(self) -> Conversion:
        known = self._known_facts()
        config = resolve_distributed(self._request.config, tuple(known.distribution))
        output = self._open_output()
        try:
            self._results += output.remove_gone()
            others = [output.place_other(entry) for entry in self._tree.entries if entry.kind is not Kind.SOURCE]
            self._results += [result for result in others if result is not None]
            self._convert_sources(config, known.digest, output)
            self._results += self._finished(output)
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
        digests = [(e.path, hashlib.sha256(self._read(e) or b"").digest()) for e in [*self._sources, *self._settings]]
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
            key = b"2" * self._request.python2
            found = self._each(packed_facts, "facts", key, lambda: (gather,), self._ordinary() + self._settings, "reading")
            self._facts = merged([facts for _, facts in sorted(found, key=itemgetter(0)) if not isinstance(facts, workers.Crash)])
        return self._facts

    def _convert_sources(self, config: Config, facts_digest: bytes, output: Output) -> None:
        entries = {entry.path: entry for entry in self._sources}
        shared_key = fingerprint(config, facts_digest, self._request.python2)

        def shared() -> tuple[Config, ProjectFacts]:
            return config, self._project()

        for path, result in self._each(self._works()[1], "result", shared_key, shared, self._ordinary(), "converting"):
            self._place(entries[path], result, config, output)
        for entry in self._sources:
            if entry.size > LARGE_BYTES and not _is_notebook(entry):
                self._place(entry, self._too_large(entry), config, output)
        self._results += [unreadable(path, error) for path, error in sorted(self._unread.items()) if path in entries]

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
        data = self._read(entry)
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

    def _each(
        self,
        work: workers.Work,
        name: str,
        shared_key: bytes,
        shared: Callable[[], tuple[Any, ...]],
        entries: list[Entry],
        label: str,
    ) -> Iterator[tuple[str, Any]]:
        """(path, work(path, data, *shared())) of each readable entry: from the cache, or from the workers.

        shared_key: stands for what `shared` returns, which is asked for only when something is missing in the cache.
        """
        keys: dict[str, bytes] = {}
        misses = []
        for entry in entries:
            data = self._read(entry)
            if data is None:
                continue
            stored = None
            if self._cache is not None:
                keys[entry.path] = self._cache.key(name, entry.path, data, shared_key)
                stored = self._cache.get(keys[entry.path], _STORED[name])
            if stored is None:
                misses.append(entry)
            else:
                yield entry.path, stored
        n_done = len(entries) - len(misses)
        for path, result in self._fresh(work, shared(), misses) if misses else ():
            n_done += 1
            self._progress(label, n_done, len(entries))
            if self._cache is not None and not isinstance(result, workers.Crash):
                self._cache.put(keys[path], _for_storing(result))
            yield path, result

    def _fresh(self, work: workers.Work, shared: tuple[Any, ...], entries: list[Entry]) -> Iterator[tuple[str, Any]]:
        n_workers = workers.worth_starting(self._request.jobs, sum(entry.size for entry in entries))
        done: list[str] = []
        jobs = self._jobs(entries, done)
        for index, result in enumerate(workers.run(work, jobs, shared, n_workers)):
            yield done[index], result

    def _jobs(self, entries: list[Entry], paths: list[str]) -> Iterator[workers.Job]:
        """The entries with their bytes, read when they are needed; the paths really handed out are noted in `paths`."""
        for entry in entries:
            data = self._read(entry)
            if data is not None:
                paths.append(entry.path)
                yield entry.path, data

    def _read(self, entry: Entry) -> bytes | None:
        """The bytes of a file, the same each time; None, and the reason noted, for one that cannot be read or has changed."""
        if entry.path in self._unread:
            return None
        try:
            with self._tree.files.reader(entry.path) as stream:
                info = os.fstat(stream.fileno())
                identity = info.st_ino, info.st_size, info.st_mtime_ns
                if self._seen.setdefault(entry.path, identity) != identity:
                    raise OSError(errno.ESTALE, "it was changed while it was being converted: run again")
                return stream.read(MOST_SOURCE_BYTES)
        except OSError as error:
            self._unread[entry.path] = error.strerror or str(error)
            return None

    def _open_output(self) -> Output:
        request = self._request
        if request.in_place:
            return self._open_in_place()
        if request.out is None:
            return Output(self._tree, None, request.data, {})
        rename = {real_path(request.source).name: request.out_name} if request.out_name else {}
        folder = request.out_folder
        assert folder is not None
        try:
            return Output.open(
                self._tree, folder, data=request.data, force=request.force, rename=rename, adding=request.is_single_file
            )
        except Busy as busy:
            raise UsageProblem(f"{busy}; nothing was done") from None
        except OSError as error:
            raise UsageProblem(f"{request.out}: cannot be written: {error.strerror or error}; nothing was done") from None

    def _finished(self, output: Output) -> list[FileResult]:
        """End the record of what was written; what is to be said where there is no room for it.

        Raises: UsageProblem for files that are converted where they are: it is recorded before they are replaced.
        """
        try:
            output.finish()
        except OSError as error:
            reason = error.strerror or str(error)
            if self._request.in_place:
                raise UsageProblem(
                    f"{self._tree.root}: cannot be recorded: {reason}; every file is whole, old or new. Run again, or undo"
                ) from None
            return [unrecorded(reason)]
        return []

    def _open_in_place(self) -> Output:
        try:
            return InPlace(self._tree)
        except Busy as busy:
            raise UsageProblem(f"{busy}; nothing was done") from None
        except OSError as error:
            raise UsageProblem(f"{self._tree.root}: cannot be written: {error.strerror or error}; nothing was done") from None

    def _crashed(self, crash: workers.Crash) -> FileResult:
        self._crashes.append(f"{crash.path}: {crash.error}\n{crash.details}")
        message = f"internal error of tf2npu: {crash.error}; the file was copied as it is"
        return FileResult(crash.path, Status.FAILED, [file_findings.INTERNAL.finding(Level.MANUAL, message)])

    def _too_large(self, entry: Entry) -> FileResult:
        from tf2npu.engine.convert_file import mentions_relevant_module

        result = FileResult(entry.path, Status.COPIED)
        if mentions_relevant_module(self._read(entry) or b""):
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


def _for_storing(result: Any) -> Any:
    """The cache key stands for the file's content: it is not stored a second time."""
    if not isinstance(result, FileResult):
        return result
    return replace(result, before=b"", after=result.after if result.status is Status.CONVERTED else b"")


def _lightened(result: FileResult) -> FileResult:
    """Without the text where the report has nothing to show in it, so that large projects fit into memory."""
    if not result.findings and not result.edits:
        result.before = result.after = b""
    result.apis = [replace(use, name=intern(use.name), rule=intern(use.rule), note=intern(use.note)) for use in result.apis]
    return result
