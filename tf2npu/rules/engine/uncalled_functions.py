"""Work in functions that nothing in the project calls: told as a remark, as no run of the project comes there."""

from __future__ import annotations

from functools import lru_cache, partial

from tf2npu.api_support.table import table
from tf2npu.api_support.uses import ApiUses
from tf2npu.rules import hooks
from tf2npu.rules.engine.lowered_work import lower
from tf2npu.scanner.script import Script
from tf2npu.scanner.script_facts import fact
from tf2npu.scanner.text.edits import Fix


@hooks.after_rules
def told_with_the_function(script: Script, uses: ApiUses, fixes: list[Fix]) -> list[Fix]:
    """Lowers findings that ask for work in a function that nothing names, and says so; adds none."""
    if not script.project.uncalled or script.path not in script.project.run:
        return []
    lower(fixes, partial(_uncalled_around, script), _said)
    return []


def _said(name: str, told: str) -> str:
    message = f"Nothing in this project calls {name}. If you do: {told}"
    return message


def _uncalled_around(script: Script, start: int, end: int) -> str:
    """The name of the function around a place that nothing names; "" where there is none."""
    found = (name for first, last, name in _uncalled_here(script) if first <= start < end <= last)
    return next(found, "")


@fact
def _uncalled_here(script: Script) -> list[tuple[int, int, str]]:
    """The functions of a file that nothing names: where their bodies, which loading the file does not run, start and end."""
    names = script.project.uncalled - _called_by_the_framework()
    functions = [node for node, _, _ in script.walked.functions if node.name.value in names]
    return [(*script.tree.span(node.body), node.name.value) for node in functions]


@lru_cache(maxsize=1)
def _called_by_the_framework() -> frozenset[str]:
    """Names of methods that TensorFlow's classes have, which may be called through a base class."""
    return frozenset(api.name.rpartition(".")[2] for api in table() if api.kind == "member")
