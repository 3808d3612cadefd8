"""Assignments of the statements of a block, by name: the nearest one above a place is found without a search."""

from __future__ import annotations

import bisect
import re
from typing import Any

import libcst as cst

from tf2npu.scanner.script import Script
from tf2npu.scanner.script_facts import fact

_MAY_ASSIGN = re.compile(r"\b(\w+)(?=\s*=[^=])")


def assignments_of(script: Script, block: Any) -> Assignments:
    """The assignments of a block, gathered where they are first asked for."""
    known = _by_block(script)
    if id(block) not in known:
        known[id(block)] = Assignments(script, block)
    return known[id(block)]


@fact
def _by_block(script: Script) -> dict[int, Assignments]:
    """The assignments of blocks, by their ids; filled where they are asked for."""
    return {}


class Assignments:
    """Names that the statements of one block assign to, each with the numbers of those statements and the values."""

    def __init__(self, script: Script, block: Any) -> None:
        self._numbers = {id(statement): number for number, statement in enumerate(block.body)}
        self._places: dict[str, list[int]] = {}
        self._values: dict[str, list[Any]] = {}
        for number, statement in enumerate(block.body):
            for name, value in _assigned(script, statement).items():
                self._places.setdefault(name, []).append(number)
                self._values.setdefault(name, []).append(value)

    def last_above(self, statement: cst.CSTNode, name: str) -> Any:
        """The value that a name certainly has before a statement; None where a compound statement may assign another one."""
        at = bisect.bisect_left(self._places.get(name, []), self._numbers[id(statement)])
        return self._values[name][at - 1] if at else None


def _assigned(script: Script, statement: Any) -> dict[str, Any]:
    """Names and their values; of what a compound statement may assign to, None."""
    if not isinstance(statement, cst.SimpleStatementLine):
        return dict.fromkeys(_MAY_ASSIGN.findall(script.tree.source(statement)))
    found: dict[str, Any] = {}
    for small in statement.body:
        if isinstance(small, cst.Assign) and len(small.targets) == 1:
            target = small.targets[0].target
            if isinstance(target, cst.Name):
                found.setdefault(target.value, small.value)
    return found
