"""The table of what a decision asks of a person: the class of its work, and minutes for its places, which are judged."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from tf2npu.config import EffortSettings
from tf2npu.findings import Level

TABLE = Path(__file__).parents[1] / "effort.csv"
"""A row for each part of each rule, and for findings of rules that are not known, which have no rule and their level as part."""
CLASSES = ("look", "change", "rewrite", "blocked")
"""Classes of work at a place: to look and decide; to change a few lines; to write something else; and a place that has no way to
the NPU as it is, where the whole project needs a decision."""


@dataclass(frozen=True)
class Cost:
    """A row of the table.  kind: one of CLASSES.  first, further: minutes.  source: where the figures come from."""

    kind: str
    first: float
    further: float
    source: str = ""

    def minutes(self, places: int) -> float:
        """Minutes that a decision about so many places costs."""
        return self.first + (places - 1) * self.further if places else 0.0


def cost_of(rule: str, part: str, label: str, settings: EffortSettings) -> Cost:
    """The cost of places of which a part of a rule speaks; label: their level, for a rule that is not in the table."""
    table = costs()
    unknown = Level.UNSUPPORTED.value if label == Level.UNSUPPORTED.value else Level.MANUAL.value
    cost = table.get((rule, part)) or _of_rule().get(rule) or table["", unknown]
    asked = [(len(prefix), first, further) for prefix, first, further in settings.minutes if rule.startswith(prefix)]
    return Cost(cost.kind, *max(asked)[1:], "[tool.tf2npu.effort]") if asked else cost


@lru_cache(maxsize=1)
def costs() -> dict[tuple[str, str], Cost]:
    """The table: (rule, part) -> cost."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {(r["rule"], r["part"]): Cost(r["class"], float(r["first"]), float(r["further"]), r["source"]) for r in rows}


@lru_cache(maxsize=1)
def _of_rule() -> dict[str, Cost]:
    """The cost of each rule's first part, for findings that do not say which part made them."""
    return {rule: cost for (rule, _), cost in reversed(costs().items()) if rule}


def is_blocking(rule: str, part: str, label: str) -> bool:
    """Whether there is no way to the NPU before a decision about the whole project is made."""
    return cost_of(rule, part, label, EffortSettings()).kind == "blocked"
