"""Hooks: functions that the engine asks besides the rules, at fixed points of a conversion.

A function registers itself with the point as its decorator, in a module of `tf2npu.rules`. At one point the functions are asked
in the order of the names of their modules, whichever of these somebody imported first; those of plug-ins come last.

    @hooks.after_rules
    def unused_comments(script, uses, fixes): ...
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from tf2npu.api_support.uses import ApiUses
from tf2npu.findings import Edit, Finding
from tf2npu.scanner.project_facts import ProjectFacts
from tf2npu.scanner.script import Script
from tf2npu.scanner.sites import Site
from tf2npu.scanner.text.edits import Fix

F = TypeVar("F", bound=Callable[..., object])
_OWN = "tf2npu.rules."


class HookPoint(Generic[F]):
    """A point of a conversion and the functions that are asked there; the point is their decorator."""

    def __init__(self) -> None:
        self._functions: list[F] = []

    def __call__(self, function: F) -> F:
        self._functions.append(function)
        self._functions.sort(key=_place)  # of one module in the order of its text
        return function

    def __iter__(self) -> Iterator[F]:
        return iter(self._functions)


def _place(function: Callable[..., object]) -> tuple[bool, str]:
    return not function.__module__.startswith(_OWN), function.__module__


# Before a file is parsed: whether the bytes of a file that a TensorFlow script imports may hold what a rule looks for.
before_file: HookPoint[Callable[[bytes], bool]] = HookPoint()
# For a file that is copied without being parsed: what there is to say of it, by its path, its bytes and what the project knows.
copied_file: HookPoint[Callable[[str, bytes, ProjectFacts], list[Finding]]] = HookPoint()
# After one rule has looked at one site: the fix of the site as it shall be. The fix is in `site.fix`.
after_rule: HookPoint[Callable[[Site], Fix]] = HookPoint()
# After all rules: the findings of a file that stays as it is, or None when the file is converted.
keeps_file: HookPoint[Callable[[Script, list[Fix]], list[Finding] | None]] = HookPoint()
# After all rules, for a file that is converted: further fixes, with the APIs that were seen and the fixes so far.
after_rules: HookPoint[Callable[[Script, ApiUses, list[Fix]], list[Fix]]] = HookPoint()
# For each fix: why it is not made, as the template of a message with {} for the rule; "" when it is made.
keeps_code: HookPoint[Callable[[Script, Fix], str]] = HookPoint()
# After the choice of the fixes that are made: what these fixes need in another place, such as imports.
completes: HookPoint[Callable[[Script, list[Fix]], list[Fix]]] = HookPoint()
# After the new text has been made and parsed: remarks about the file, with all edits.
after_edits: HookPoint[Callable[[Script, list[Edit]], list[Fix]]] = HookPoint()
# At the end, in the order of the text: the findings of a file as they are reported.
summary: HookPoint[Callable[[list[Finding]], list[Finding]]] = HookPoint()
