"""Union-find over node names."""

from __future__ import annotations

from collections.abc import Iterable


class DisjointSets:
    """Every name is its own set until joined."""

    def __init__(self) -> None:
        self._parent: dict[str, str] = {}

    def find(self, name: str) -> str:
        root = name
        while (parent := self._parent.get(root, root)) != root:
            root = parent
        while self._parent.get(name, name) != root:
            self._parent[name], name = root, self._parent[name]
        return root

    def join(self, a: str, b: str) -> None:
        self._parent[self.find(a)] = self.find(b)

    def groups(self, names: Iterable[str]) -> dict[str, list[str]]:
        """Members by representative, in the order of `names`."""
        found: dict[str, list[str]] = {}
        for name in names:
            found.setdefault(self.find(name), []).append(name)
        return found
