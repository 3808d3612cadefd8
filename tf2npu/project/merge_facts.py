"""The facts of a large project, merged in a process of its own: the memory that this takes is given back when it ends."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures.process import BrokenProcessPool

from tf2npu.project import codec, workers
from tf2npu.scanner.facts import FileFacts
from tf2npu.scanner.project_facts import ProjectFacts

_BYTES_WORTH_A_PROCESS = 4 << 20
"""Bytes of facts from which on merging them is worth a process of its own."""


def packed_facts(path: str, data: bytes, gather: Callable[[str, bytes], FileFacts]) -> bytes:
    """The facts that `gather` finds, as bytes: as objects, those of a large project take ten times the room."""
    return codec.encode(gather(path, data))


def merged(packed: list[bytes]) -> ProjectFacts:
    """The project that the packed facts of its files make."""
    if sum(map(len, packed)) < _BYTES_WORTH_A_PROCESS:
        return _merge(packed)
    try:
        facts: ProjectFacts = workers.apart(_merge, packed)
    except BrokenProcessPool:  # whatever killed it, the answer is still wanted
        return _merge(packed)
    return facts


def _merge(packed: list[bytes]) -> ProjectFacts:
    return ProjectFacts.merge(codec.decode(one, FileFacts) for one in packed)
