"""Code that runs while a script is loaded, before its guard: Horovod may be started there, and its ranks be asked for."""

from __future__ import annotations

from typing import Any

import libcst as cst

from tf2npu.frameworks.horovod.project import horovod_in
from tf2npu.rules.facts.start.entry_block import command_functions, entry_guard, is_guard
from tf2npu.rules.facts.start.npu_start import wants_resources
from tf2npu.scanner.scopes import Scope
from tf2npu.scanner.script import Script
from tf2npu.scanner.script_facts import fact

_STARTS = ("horovod.tensorflow.init", "horovod.tensorflow.keras.init")


def runs_when_loaded(script: Script, node: cst.CSTNode, scope: Scope) -> bool:
    """Whether code runs while its file is loaded: in no function or lambda, and not under the guard of a script."""
    owner: Scope | None = scope
    while owner is not None:
        if owner.kind in ("function", "lambda"):
            return False
        owner = owner.parent
    guard = entry_guard(script)
    return guard is None or all(ancestor is not guard for ancestor in script.walked.ancestors(node))


def starts_when_loaded(script: Script) -> bool:
    """Whether a file, while it is loaded, starts the NPU's resources itself: by no guard, command or other file."""
    if start_when_loaded(script) is not None and script.path not in script.project.imported:
        return True
    is_alone = script.path not in horovod_in(script.project).started or (
        wants_resources(script) and script.path not in script.project.imported
    )
    return is_alone and entry_guard(script) is None and not command_functions(script)


@fact
def start_when_loaded(script: Script) -> cst.Call | None:
    """The call by which an entry script starts Horovod before what its guard, or an installed command, runs.

    None where there is none or several. Where another file loads this one, too, the start needs a guard of its own: only the
    file that is run starts.
    """
    has_block = entry_guard(script) is not None or bool(command_functions(script))
    if not has_block or script.config.target.adapter == "2021":
        return None
    calls = [(node, scope) for node, scope in script.walked.calls if script.name_of(node.func, scope) in _STARTS]
    found = [node for node, scope in calls if runs_when_loaded(script, node, scope)]
    statement: Any = script.walked.parents.get(id(found[0])) if len(found) == 1 else None
    line: Any = script.walked.parents.get(id(statement))
    is_alone = isinstance(line, cst.SimpleStatementLine) and len(line.body) == 1
    is_place = isinstance(statement, cst.Expr) and (is_alone or script.path not in script.project.imported)
    return found[0] if is_place and wants_resources(script) else None


def is_guarded_start(script: Script, offset: int) -> bool:
    """Whether what stands at an offset runs only when its file is run, and another file loads that file."""
    guards = [script.tree.span(node) for node, _ in script.walked.ifs if is_guard(node.test)]
    return script.path in script.project.imported and any(start <= offset < end for start, end in guards)
