"""The facts of the project that is converted: gathered once, and not at all where no file has changed since the last time."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from functools import cached_property
from operator import itemgetter
from typing import TYPE_CHECKING

from tf2npu.findings import EntryScript, Seen
from tf2npu.project.cache import Cache, fingerprint
from tf2npu.project.phase import Phase, Phases
from tf2npu.project.request import UsageProblem
from tf2npu.project.sources import Sources
from tf2npu.project.workers import Crash, Work
from tf2npu.scanner.entry_scripts import entry_scripts, imports_among_reaching

if TYPE_CHECKING:  # a conversion whose results all come from the cache does not need it
    from tf2npu.config import Config
    from tf2npu.scanner.project_facts import ProjectFacts


@dataclass(frozen=True)
class KnownFacts:
    """The part of the project's facts that a run needs as long as every result comes from the cache."""

    digest: bytes
    distribution: dict[str, tuple[Seen, ...]]
    entries: tuple[EntryScript, ...]
    imports: dict[str, tuple[str, ...]]


class Facts:
    """The facts of a project.  gather: finds those of a file; python2: whether it takes Python 2, too."""

    def __init__(self, sources: Sources, phases: Phases, gather: Work, python2: bool) -> None:
        self._sources = sources
        self._phases = phases
        self._gather = gather
        self._python2 = python2

    def known(self, cache: Cache | None) -> KnownFacts:
        """The part that a run needs, from the cache where no file has changed since."""
        if cache is None:
            return _known(b"", self.project)
        files = [*self._sources.all, *self._sources.settings]
        digests = [(entry.path, hashlib.sha256(self._sources.read(entry) or b"").digest()) for entry in files]
        key = cache.key("project", self._python2, digests)
        known = cache.get(key, KnownFacts)
        if known is None:
            project = self.project
            known = _known(fingerprint(project), project)
            cache.put(key, known)
        return known

    @cached_property
    def project(self) -> ProjectFacts:
        """All facts of the project."""
        from tf2npu.project.merge_facts import merged, packed_facts

        reading = Phase("facts", packed_facts, "reading", bytes)
        files = self._sources.ordinary + self._sources.settings
        found = self._phases.each(reading, b"2" * self._python2, lambda: (self._gather,), files)
        return merged([facts for _, facts in sorted(found, key=itemgetter(0)) if not isinstance(facts, Crash)])


def _known(digest: bytes, project: ProjectFacts) -> KnownFacts:
    return KnownFacts(digest, project.distribution, entry_scripts(project), imports_among_reaching(project))


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
