"""The rules, a file a topic; importing this package registers all of them."""

from __future__ import annotations

import importlib
import pkgutil
from functools import lru_cache

from tf2npu.rules.base import Example, Rule, registered

__all__ = ["Example", "Rule", "all_rules", "rule_parts"]


@lru_cache(maxsize=1)
def all_rules() -> tuple[Rule, ...]:
    """Every rule, sorted by id; of a rule with several parts the one that is declared first, with the examples of all."""
    rules = []
    for parts in _load().values():
        examples = tuple(example for part in parts for example in part.examples)
        first = parts[0]
        rules.append(
            Rule(first.id, first.title, first.what, first.why, first.source, examples, first.on, first.matches, first.check)
        )
    return tuple(sorted(rules, key=lambda r: r.id))


@lru_cache(maxsize=1)
def rule_parts() -> tuple[Rule, ...]:
    """Every part of every rule, sorted by id."""
    return tuple(part for rule_id in sorted(_load()) for part in registered()[rule_id])


def _load() -> dict[str, list[Rule]]:
    for module in sorted(m.name for m in pkgutil.iter_modules(__path__)):
        importlib.import_module(f"{__name__}.{module}")
    return registered()
