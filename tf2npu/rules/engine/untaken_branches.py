"""Work in branches that a program does not take unless somebody asks for them: told as a remark, with the condition."""

from __future__ import annotations

import re
from functools import partial

from tf2npu.api_support.uses import ApiUses
from tf2npu.rules import hooks
from tf2npu.rules.engine.lowered_work import lower
from tf2npu.rules.facts.untaken_branches import condition_of_place
from tf2npu.scanner.script import Script
from tf2npu.scanner.text.edits import Fix

_CONDITION = re.compile(r"Only if (?P<condition>.*?), which is not so by default: ", re.DOTALL)
_LONGEST = 60
"""Characters of a condition that a message shows: more are not read."""


@hooks.after_rules
def told_with_their_condition(script: Script, uses: ApiUses, fixes: list[Fix]) -> list[Fix]:
    """Lowers findings that ask for work only where an option is set that is off by default, and says so; adds none."""
    if not script.project.options:
        return []
    lower(fixes, partial(condition_of_place, script), _said)
    return []


def condition_in(message: str) -> str:
    """The condition that `_said` put in front of a message; "" where it did not."""
    found = _CONDITION.match(message)
    return found["condition"] if found else ""


def _said(condition: str, told: str) -> str:
    shown = " ".join(condition.split())
    shown = shown if len(shown) <= _LONGEST else f"{shown[: _LONGEST - 3]}..."
    message = f"Only if {shown}, which is not so by default: {told}"
    return message
