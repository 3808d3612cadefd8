"""Code that other fixes rely on, so that no fix may take it out."""

from __future__ import annotations

import bisect
import re

import libcst as cst

from tf2npu.frameworks.tensorflow1.file_facts import ESTIMATOR
from tf2npu.rules.facts.files.script_kinds import TEST_RUNNERS
from tf2npu.rules.facts.start.npu_start import KERAS_MADE, KERAS_SET, STARTED
from tf2npu.scanner.scopes import Scope
from tf2npu.scanner.script import Script
from tf2npu.scanner.script_facts import fact

_SESSION = re.compile(r"tensorflow\..*(?:Session|SessionCreator|managed_session|prepare_or_wait_for_session)$")
_DECIDING = frozenset({*KERAS_SET, *TEST_RUNNERS, KERAS_MADE, *STARTED})


@fact
def deciding_references(script: Script) -> list[int]:
    """Offsets, sorted, of names whose uses decide how other code is converted: what a script starts, dicts given as `**name`."""
    stars = [arg.value for call, _ in script.walked.calls for arg in call.args if arg.star == "**"]
    spread = {value.value for value in stars if isinstance(value, cst.Name)}
    decide = [node for node, scope in script.walked.references if _decides(script, node, scope, spread)]
    return sorted(script.tree.span(node)[0] for node in decide)


def needed_elsewhere(script: Script, start: int, end: int, new: str = "", besides: int = -1) -> str:
    """The reason that [start, end) cannot be `new`: "name" it gives a name by `:=`, "decides" other fixes rely on it, "" it can.

    besides: offset of the one reference that may go.
    """
    if ":=" in script.text[start:end] and ":=" not in new:
        return "name"
    places = deciding_references(script)
    n_inside = bisect.bisect_left(places, end) - bisect.bisect_left(places, start)
    if n_inside > 0 and start <= besides < end:  # more than one of them may start there
        n_inside -= bisect.bisect_right(places, besides) - bisect.bisect_left(places, besides)
    return "decides" if n_inside > 0 else ""


def _decides(script: Script, node: cst.BaseExpression, scope: Scope, spread: set[str]) -> bool:
    if isinstance(node, cst.Name) and node.value in spread:
        return True
    name = script.name_of(node, scope) or ""
    return name in _DECIDING or _SESSION.match(name) is not None or ESTIMATOR.match(name) is not None
