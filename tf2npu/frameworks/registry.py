"""The frameworks that are known: each folder here has a module `framework` with the record of one.

Records are found by walking the folder, so that who asks imports none of them: the scanner and the engine work with any.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from tf2npu.frameworks.base import Framework, instance_of


class Frameworks:
    """All frameworks together: a name belongs to the framework that has its first component."""

    def __init__(self, frameworks: tuple[Framework, ...]) -> None:
        self._all = frameworks
        self._by_root = {root: framework for framework in frameworks for root in framework.roots}
        self.adapters = {f.adapter.module: f.adapter for f in frameworks if f.adapter is not None}
        self.bound_by = frozenset(root for f in frameworks for root in f.bound_by)
        self.running = frozenset(name for f in frameworks for name in f.running)
        self.work_methods = frozenset(name for f in frameworks for name in f.work_methods)
        self.added_names = frozenset(name for f in frameworks for name in f.added_names)
        self.added_arguments = frozenset(name for f in frameworks for name in f.added_arguments)
        self.fed_inputs = tuple(f.fed_inputs for f in frameworks if f.fed_inputs is not None)
        self.training_methods = tuple(end for f in frameworks for end in f.training_methods)
        self.started_by = {name: f.name for f in frameworks for name in f.starts}
        self.api_prefixes = tuple(f"{root}." for f in frameworks for root in f.api_roots)
        self.api_modules = frozenset(f.api_roots[0] for f in frameworks if f.api_roots)
        self._mention = {f.name: re.compile(f.mention.encode()) for f in frameworks if f.mention}
        self._where_reached = [
            (f.name, re.compile(f.mention_where_reached.encode())) for f in frameworks if f.mention_where_reached
        ]
        self._mentions = _any_of(f.mention for f in frameworks)
        self._mentions_in_notebooks = _any_of(part for f in frameworks for part in (f.mention, f.mention_in_notebooks))
        self.canonical = lru_cache(maxsize=20_000)(self._canonical)

    def __iter__(self) -> Iterator[Framework]:
        return iter(self._all)

    def of(self, name: str) -> Framework:
        """The framework that a dotted name belongs to.

        Raises: KeyError for a name of none.
        """
        return self._by_root[name.partition(".")[0]]

    def is_fully_known(self, module: str) -> bool:
        """Whether the API table of its framework has all names of a module."""
        return self.of(module).is_fully_known(module)

    def is_known(self, name: str) -> bool:
        """Whether a dotted name belongs to one of the frameworks."""
        return name.partition(".")[0] in self._by_root

    def _canonical(self, name: str) -> str:
        """The one spelling of a dotted name; of a name of no framework the name."""
        framework = self._by_root.get(name.partition(".")[0])
        return framework.canonical(name) if framework is not None else name

    def returned(self, name: str) -> str | None:
        """Qualified name of what a call of `name` gives, or None."""
        framework = self._by_root.get(name.partition(".")[0])
        return framework.returned(name) if framework is not None else instance_of(name)

    def is_followed(self, name: str) -> bool:
        """Whether other files are told that a function gives this object."""
        framework = self._by_root.get(name.removesuffix("()").partition(".")[0])
        return framework is not None and framework.followed(name)

    def mention(self, framework: Framework, data: bytes) -> bool:
        """Whether a file may hold anything that concerns a framework."""
        found = self._mention.get(framework.name)
        return found is not None and found.search(data) is not None

    def mentioned_where_reached(self, data: bytes) -> Iterator[str]:
        """The names of the frameworks that a file may concern by what it holds, if a script of theirs imports it."""
        return (name for name, mention in self._where_reached if mention.search(data) is not None)

    def any_mentioned(self, data: bytes, is_notebook: bool = False) -> bool:
        """The same for any framework."""
        return (self._mentions_in_notebooks if is_notebook else self._mentions).search(data) is not None

    def published(self, module: str) -> str:
        """A module under the name by which it can be imported: files that also serve in a monorepo try its own tree first."""
        for framework in self._all:
            for package in framework.monorepo:
                inner = module.removeprefix(package)
                if inner != module and inner.startswith(tuple(framework.bound_by)):
                    return inner
        return module


def _any_of(expressions: Iterator[str]) -> re.Pattern[bytes]:
    return re.compile("|".join(dict.fromkeys(filter(None, expressions))).encode())


_known: Frameworks | None = None


def known() -> Frameworks:
    """The frameworks of this folder."""
    global _known
    if _known is None:
        names = sorted(path.parent.name for path in Path(__file__).parent.glob("*/framework.py"))
        modules = [importlib.import_module(f"{__package__}.{name}.framework") for name in names]
        _known = Frameworks(tuple(module.FRAMEWORK for module in modules))
    return _known
