"""Questions about which files of a tree import which; `edges` has, for each file, the files that it imports."""

from __future__ import annotations

from collections.abc import Iterable, Mapping


def imported_by(start: Iterable[str], edges: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """Files that one of `start` imports, directly or through others."""
    reached: set[str] = set()
    todo = list(start)
    while todo:
        new = edges[todo.pop()] - reached
        reached |= new
        todo.extend(new)
    return frozenset(reached)


def importers_of(start: Iterable[str], edges: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """`start`, and the files from which one of them is reached along imports."""
    importers: dict[str, list[str]] = {}
    for path, targets in edges.items():
        for target in targets:
            importers.setdefault(target, []).append(path)
    reached, todo = set(start), list(start)
    while todo:
        for path in importers.get(todo.pop(), ()):
            if path not in reached:
                reached.add(path)
                todo.append(path)
    return frozenset(reached)


def connected(edges: Mapping[str, frozenset[str]]) -> list[list[str]]:
    """Groups of files that imports lead to from each other, whatever their direction; sorted."""
    neighbours: dict[str, set[str]] = {path: set(targets) for path, targets in edges.items()}
    for path, targets in edges.items():
        for target in targets:
            neighbours.setdefault(target, set()).add(path)
    groups: list[list[str]] = []
    seen: set[str] = set()
    for start in sorted(neighbours):
        group, todo = [], [start]
        while todo:
            path = todo.pop()
            if path not in seen:
                seen.add(path)
                group.append(path)
                todo.extend(neighbours[path])
        if group:
            groups.append(sorted(group))
    return groups
