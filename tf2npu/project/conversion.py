"""Convert or scan a whole project: walk, facts of all files, edits per file, output tree."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tf2npu.findings import EntryScript, FileResult, Seen
from tf2npu.project.cache import Cache, fingerprint
from tf2npu.project.destination import opened
from tf2npu.project.known_facts import Facts, resolve_distributed
from tf2npu.project.launchers import add_said_of_settings, with_launchers
from tf2npu.project.phase import Phases, Progress
from tf2npu.project.request import Request, check_places
from tf2npu.project.source_results import SourceResults
from tf2npu.project.source_tree import source_tree
from tf2npu.project.sources import Sources
from tf2npu.project.walk import Tree
from tf2npu.project.workers import Work
from tf2npu.scanner.entry_scripts import as_named, notebooks

if TYPE_CHECKING:
    from tf2npu.config import Config


@dataclass
class Conversion:
    """The results of a conversion, and facts about the project.

    config: as it was applied (`auto` resolved); distribution: where each kind of distributed training was seen; crashes:
    tracebacks of defects of ours; entries: scripts that are run; imports: of a file that reaches TensorFlow, those that do too;
    removed: files of an earlier conversion that were taken out of OUT.
    """

    config: Config
    distribution: dict[str, tuple[Seen, ...]]
    results: list[FileResult] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    crashes: list[str] = field(default_factory=list)
    entries: tuple[EntryScript, ...] = ()
    imports: dict[str, tuple[str, ...]] = field(default_factory=dict)
    removed: list[str] = field(default_factory=list)


def convert_project(request: Request, progress: Progress = lambda what, done, total: None) -> Conversion:
    """Convert `request.source`; every file gets a result, whatever is wrong with it.

    Raises: UsageProblem before anything is written, for a request that cannot be carried out as a whole.
    """
    check_places(request)
    tree = source_tree(request)
    cache = Cache() if request.use_cache else None
    try:
        return _converted(request, tree, cache, progress)
    finally:
        tree.files.close()
        if cache is not None:
            cache.close()


def _converted(request: Request, tree: Tree, cache: Cache | None, progress: Progress) -> Conversion:
    gather, convert = _works(request.python2)
    sources = Sources(tree)
    phases = Phases(sources, cache, request.jobs, progress)
    facts = Facts(sources, phases, gather, request.python2)
    known = facts.known(cache)
    config = resolve_distributed(request.config, tuple(known.distribution))
    output = opened(request, tree)
    try:
        results = output.remove_gone()
        results += output.place_others()
        made = SourceResults(sources, facts, convert, config, request.revise)
        results += made.placed(phases, fingerprint(config, known.digest, request.python2), output)
        results += output.finish()
    finally:
        output.release()
    results.sort(key=lambda result: result.path)
    add_said_of_settings(tree, results, config)
    entries = with_launchers(tree, as_named(config, (*known.entries, *notebooks(results))))
    return Conversion(config, known.distribution, results, tree.left_out, made.crashes, entries, known.imports, output.removed())


def _works(python2: bool) -> tuple[Work, Work]:
    """The functions that are called with each file: one gathers its facts, one converts it."""
    from tf2npu.engine import convert_file
    from tf2npu.python2 import conversion as of_python2

    if python2:
        return of_python2.gather_facts, of_python2.convert_file
    return convert_file.gather_facts, of_python2.convert_file_as_it_is
