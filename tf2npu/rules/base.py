"""The declaration of a rule. Its examples are its tests and its documentation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tf2npu.config import Config

KINDS = (
    "call", "unknown_method", "foreign_method", "reference", "unknown_attribute", "string", "assign", "function", "lambda",
    "import", "module", "engine",
)  # fmt: skip


@dataclass(frozen=True)
class Example:
    """Source before and after; the same text twice shows what a rule leaves alone.

    Short examples are converted below `import tensorflow as tf`; one that has its own import is taken as it is.
    `note` says why nothing changes.  `config` holds settings it needs.  `level` is the finding expected, if any.
    `write` is what a person writes in the place of code that is only reported; the rule has nothing to say to it.
    """

    before: str
    after: str
    note: str = ""
    config: Config = field(default_factory=Config)
    level: str = ""
    write: str = ""

    @classmethod
    def same(cls, before: str, note: str = "", config: Config | None = None, level: str = "", write: str = "") -> Example:
        """An example that stays as it is."""
        return cls(before, before, note, config or Config(), level, write)


@dataclass(frozen=True)
class Rule:
    """One thing the converter knows how to do or to find at one kind of site: a rule, or one of the parts of a rule.

    id: stable for ever.  on: what kind of site it looks at.  matches: qualified names (or method names) of these sites; of a
    rule on a module, the names it looks for.
    once: whether what it asks a person to do, where it is the same at several places of a file, is told at the first.
    what, why: one sentence each.  source: where the behaviour is documented.
    done_when: one sentence that is true once a person has done what the rule asks for; empty where it asks for nothing.
    """

    id: str
    title: str
    what: str
    why: str
    source: str
    examples: tuple[Example, ...]
    on: str
    matches: tuple[str, ...]
    check: Callable[[Any], None]
    once: bool = False
    done_when: str = ""

    @property
    def name(self) -> str:
        """The name of this part among those of its rule."""
        return self.check.__name__

    @property
    def before(self) -> str:
        """The first example that changes, or that a person has to change, as written."""
        return self._shown.before if self._shown is not None else ""

    @property
    def after(self) -> str:
        """The first example that changes, converted; or what a person has to write in its place."""
        return (self._shown.write or self._shown.after) if self._shown is not None else ""

    @property
    def _shown(self) -> Example | None:
        changed = [e for e in self.examples if e.before != e.after]
        return next(iter([*changed, *(e for e in self.examples if e.write)]), None)


_REGISTRY: dict[str, list[Rule]] = {}


def rule(
    *,
    id: str,
    title: str,
    why: str,
    source: str,
    examples: tuple[Example, ...],
    matches: tuple[str, ...] | Mapping[str, tuple[str, ...]] = (),
    on: str | tuple[str, ...] = "call",
    once: bool = False,
    done_when: str = "",
) -> Callable[[Callable[[Any], None]], Callable[[Any], None]]:
    """Register a function as a rule, or as a part of one that has this id and title.

    on: the kind of site that the function looks at, or several kinds.
    matches: the names that it looks for; a mapping where they differ from kind to kind.

    Raises: ValueError for an unknown kind, names of other kinds, or a part that gives its rule another title.
    """
    kinds = (on,) if isinstance(on, str) else on
    for kind in kinds:
        if kind not in KINDS:
            raise ValueError(f"{id}: unknown kind of site {kind!r}")
    if isinstance(matches, Mapping) and {*matches} != {*kinds}:
        raise ValueError(f"{id}: names are given for {sorted(matches)}, and the kinds of sites are {sorted(kinds)}")

    def register(check: Callable[[Any], None]) -> Callable[[Any], None]:
        what = (check.__doc__ or "").strip().split("\n")[0]
        parts = _REGISTRY.setdefault(id, [])
        if parts and parts[0].title != title:
            raise ValueError(f"{id} is already called {parts[0].title!r}")
        for kind in kinds:
            names = matches[kind] if isinstance(matches, Mapping) else matches
            shown = examples if kind == kinds[0] else ()  # each example once, whatever its kind of site
            parts.append(Rule(id, title, what, why, source, shown, kind, names, check, once, done_when))
        return check

    return register


def part_of(
    declared: Callable[[Any], None],
    *,
    examples: tuple[Example, ...] = (),
    matches: tuple[str, ...] | Mapping[str, tuple[str, ...]] = (),
    on: str | tuple[str, ...] = "call",
    why: str | None = None,
    source: str | None = None,
    done_when: str | None = None,
) -> Callable[[Callable[[Any], None]], Callable[[Any], None]]:
    """Register a function as a further part of a rule: it looks at other sites, and says more of the same.

    declared: the function that declares the rule. What is not given here is as it says there.

    Raises: ValueError for a function that declares no rule, and what `rule` raises.
    """
    head = next((part for parts in _REGISTRY.values() for part in parts if part.check is declared), None)
    if head is None:
        raise ValueError(f"{declared.__name__} declares no rule")
    return rule(
        id=head.id,
        title=head.title,
        why=head.why if why is None else why,
        source=head.source if source is None else source,
        examples=examples,
        matches=matches,
        on=on,
        once=head.once,
        done_when=head.done_when if done_when is None else done_when,
    )


def registered() -> dict[str, list[Rule]]:
    """Every registered part, by rule id."""
    return _REGISTRY
