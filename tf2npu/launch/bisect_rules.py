"""The rules by which the conversion makes a script compute something else: it is converted without some and run again."""

from __future__ import annotations

from collections.abc import Callable, Collection
from itertools import count
from pathlib import Path
from typing import Any

from npu_formats.delta_debugging import Candidate, MinimalSubset, minimal_subset
from tf2npu.findings import Level
from tf2npu.launch.temporary_conversion import TemporaryConversion, convert_for_run

_TOPIC = len("NPU1")
"""Characters of a rule's id that tell its topic; rules of a topic are tried together first."""

_IMPORTS = "NPU100"
"""The rule that imports what others have written; without it their names would stand there undefined, so it stays."""


def rules_with_edits(converted: TemporaryConversion) -> list[str]:
    """Ids of the rules that have changed a file of the project and may be left out, in the order of their first places."""
    edits = [edit for result in converted.done.results for edit in sorted(result.edits, key=lambda edit: edit.start)]
    return list(dict.fromkeys(edit.rule for edit in edits if edit.rule != _IMPORTS))


def places_of(converted: TemporaryConversion, rules: Collection[str]) -> list[str]:
    """The "FILE:LINE" of the originals at which these rules have changed something; FILE is below the project's root."""
    return [
        f"{result.path}:{finding.span.line}"
        for result in converted.done.results
        for finding in result.findings
        if finding.rule in rules and finding.level is Level.FIXED
    ]


def least_rules(
    script: Path, folder: Path, converted: TemporaryConversion, is_right: Callable[[TemporaryConversion], bool],
    may_go_on: Callable[[], bool] = lambda: True,
) -> MinimalSubset:  # fmt: skip
    """The rules without which the converted script computes what the original does, as few as can be.

    script: the original.  folder: an empty one for the conversions; the caller removes it.  converted: by all rules.
    is_right: runs a conversion.  may_go_on: whether there is time for another run.
    Raises: UsageProblem, ConfigError, and what is_right raises.
    """
    numbers = count(1)

    def mends(without: frozenset[str]) -> bool:
        return is_right(convert_for_run(script, folder / f"without_{next(numbers)}", without) if without else converted)

    candidates = [Candidate(rule, rule[:_TOPIC]) for rule in rules_with_edits(converted)]
    return minimal_subset(candidates, mends, may_go_on)


def change_of_rules(
    script: Path, folder: Path, converted: TemporaryConversion, tried: Callable[[TemporaryConversion], dict[str, Any]],
    may_go_on: Callable[[], bool],
) -> dict[str, Any] | None:  # fmt: skip
    """The least change of a run, as a record of a check has it: the rules to leave out; None where none mends the run.

    tried: runs a conversion and gives the entry of its run in a record.  Raises: as `least_rules`.
    """
    losses: list[Any] = []

    def is_right(other: TemporaryConversion) -> bool:
        entry = tried(other)
        losses.append(entry.get("loss", []))
        return bool(entry.get("agrees"))

    smallest = least_rules(script, folder, converted, is_right, may_go_on)
    if not smallest.names:
        return None
    return {
        "kind": "rules", "names": list(smallest.names), "is_proven": smallest.is_minimal, "n_tried": smallest.n_tests,
        "loss": losses[-1],
    }  # fmt: skip
