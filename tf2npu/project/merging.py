"""The facts of a large project, merged in a process of its own: the memory that this takes is given back when it ends."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from concurrent.futures.process import BrokenProcessPool

from tf2npu.project import workers
from tf2npu.scanner.facts import FileFacts
from tf2npu.scanner.project_facts import ProjectFacts

_BYTES_WORTH_A_PROCESS = 4 << 20


def packed_facts(path: str, data: bytes, gather: Callable[[str, bytes], FileFacts]) -> bytes:
    """What `gather` finds, pickled: the facts of a large project take ten times the room as objects."""
    return pickle.dumps(gather(path, data), 5)


def merged(packed: list[bytes]) -> ProjectFacts:
    """The project that the packed facts of its files make."""
    if sum(map(len, packed)) < _BYTES_WORTH_A_PROCESS:
        return _merge(packed)
    try:
        facts: ProjectFacts = pickle.loads(workers.apart(_merge_and_pack, packed))
    except BrokenProcessPool:  # whatever killed it, the answer is still wanted
        return _merge(packed)
    return facts


def _merge(packed: list[bytes]) -> ProjectFacts:
    return ProjectFacts.merge(pickle.loads(one) for one in packed)


def _merge_and_pack(packed: list[bytes]) -> bytes:
    return pickle.dumps(_merge(packed), 5)
