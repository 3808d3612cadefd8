"""The rules, in a folder for each topic, and those of plug-ins; the first look at them registers all."""

from __future__ import annotations

import importlib
import logging
import multiprocessing
import pkgutil
from dataclasses import replace
from functools import lru_cache

from tf2npu.rules import plugins
from tf2npu.rules.base import Example, Rule, registered

log = logging.getLogger(__name__)
__all__ = ["Example", "Rule", "all_rules", "load_rules", "plugin_problems", "rule_parts"]


@lru_cache(maxsize=1)
def all_rules() -> tuple[Rule, ...]:
    """Every rule, sorted by id; of a rule with several parts the one that is declared first, with the examples of all."""
    rules = []
    for parts in _load().values():
        examples = tuple(example for part in parts for example in part.examples)
        rules.append(replace(parts[0], examples=examples))
    return tuple(sorted(rules, key=lambda r: r.id))


@lru_cache(maxsize=1)
def rule_parts() -> tuple[Rule, ...]:
    """Every part of every rule, sorted by id."""
    return tuple(part for rule_id in sorted(_load()) for part in registered()[rule_id])


@lru_cache(maxsize=1)
def plugin_problems() -> tuple[str, ...]:
    """One sentence for each plug-in that cannot be used; its rules are left out."""
    for module in pkgutil.walk_packages(__path__, f"{__name__}."):  # sorted by name
        importlib.import_module(module.name)
    problems = plugins.load()
    if problems and multiprocessing.parent_process() is None:  # said once, not by every worker
        for problem in problems:
            log.warning("%s", problem)
    return problems


def load_rules() -> None:
    """Register every rule and every hook."""
    plugin_problems()


@lru_cache(maxsize=1)
def _load() -> dict[str, list[Rule]]:
    """The parts of every rule, by id; in the order of their modules, whichever of these somebody imported first."""
    load_rules()
    for parts in registered().values():
        parts.sort(key=lambda part: part.check.__module__)
    return registered()
