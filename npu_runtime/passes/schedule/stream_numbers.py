"""Before: subgraphs of one engine each.  After: each has the number of a stream.

MatMul | HcomAllReduce | ApplyMomentum are on streams 0, 1, 0; with two streams for the AI cores, two towers that share nothing
are on streams 0 and 2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from npu_runtime.device.engines import AI_CPU, COLLECTIVE, CORE, RUNTIME, VECTOR

ATTACHED = frozenset({AI_CPU, RUNTIME})
MAIN = 0
"""The stream of the AI cores and of all that is attached to them."""

Names = Sequence[str]
Sources = Mapping[str, frozenset[str]]


def assign_to_streams(
    subgraphs: Sequence[Names], engines: Mapping[str, str], sources: Sources, groups: Mapping[str, str], limits: Mapping[str, int]
) -> dict[str, int]:
    """The stream of every launched node: the cores' is 0, each group of collectives has one, others go with a neighbour.

    groups: of the collectives, by node.  limits: of engines that may use several streams at once; groups beyond theirs share.
    """
    n_own = limits.get(COLLECTIVE) or len(groups)
    own = {group: 1 + number % n_own for number, group in enumerate(sorted(set(groups.values())))}
    streams = _spread(subgraphs, engines, sources, limits, 1 + max(own.values(), default=0))
    for members in subgraphs:
        if members[0] not in streams and engines[members[0]] not in ATTACHED:
            streams.update({name: own[groups[name]] if name in groups else MAIN for name in members})
    _attach([members for members in subgraphs if members[0] not in streams], sources, streams)
    return streams


def _attach(subgraphs: Sequence[Names], sources: Sources, streams: dict[str, int]) -> None:
    """Each goes to the stream of what it reads from, or else of what reads from it."""
    readers: dict[str, list[str]] = {}
    for name, needed in sources.items():
        for source in needed:
            readers.setdefault(source, []).append(name)
    for members in subgraphs:
        before = [source for name in members for source in sorted(sources[name])]
        after = [reader for name in members for reader in readers.get(name, ())]
        near = next((streams[name] for name in (*before, *after) if name in streams), MAIN)
        streams.update(dict.fromkeys(members, near))


def _spread(
    subgraphs: Sequence[Names], engines: Mapping[str, str], sources: Sources, limits: Mapping[str, int], first: int
) -> dict[str, int]:
    """Streams of the engines that may use several, from number `first` on; one of the cores' is the main one."""
    streams: dict[str, int] = {}
    for engine in (CORE, VECTOR, AI_CPU):
        if limits.get(engine, 1) > 1:
            numbers = [*([] if engine in ATTACHED else [MAIN]), *range(first, first + limits[engine])][: limits[engine]]
            found = _spread_one([members for members in subgraphs if engines[members[0]] == engine], sources, numbers)
            streams.update(found)
            first = max([first, *(number + 1 for number in found.values())])
    return streams


def _spread_one(subgraphs: Sequence[Names], sources: Sources, numbers: Sequence[int]) -> dict[str, int]:
    """Streams of one engine's subgraphs, in their order.

    One that reads from the last on a stream follows it there; others take a stream that is unused, or else the one whose turn
    is longest past.  Source: the graph engine lets a subgraph follow one that it depends on, and otherwise gives an engine new
    streams up to its number and then begins again.
    """
    streams: dict[str, int] = {}
    last: dict[int, set[str]] = {number: set() for number in numbers}  # in the order of their turns
    for members in subgraphs:
        needed = frozenset().union(*(sources[name] for name in members))
        number = next((number for number, names in last.items() if names & needed), next(iter(last)))
        del last[number]
        last[number] = set(members)
        streams.update(dict.fromkeys(members, number))
    return streams
