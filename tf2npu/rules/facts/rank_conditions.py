"""Code that only some ranks run: the blocks of `if hvd.rank() == 0:` and the like."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import libcst as cst

from tf2npu.scanner.scopes import Scope
from tf2npu.scanner.script import Script
from tf2npu.scanner.script_facts import fact
from tf2npu.scanner.tree_walk import dotted_name

_RANK = re.compile(
    r"(?:horovod\.\w+(?:\.\w+)*\.(?:rank|local_rank)"
    r"|(?:npu_bridge|hccl)\.(?:\w+\.)*(?:get_npu_rank_id|get_npu_local_rank_id|get_rank_id|get_local_rank_id))$"
)
_MAY_HOLD_RANKS = re.compile(r"\brank\b|rank_id|RANK_ID|local_rank")
_ENVIRONMENT = re.compile(r"""environ(?:\.get\(|\[)\s*['"]RANK_ID|getenv\(\s*['"]RANK_ID""")


@dataclass(frozen=True)
class Block:
    """A range of the text that only some ranks run, and the condition that says so."""

    start: int
    end: int
    condition: str


@fact
def rank_blocks(script: Script) -> list[Block]:
    """Blocks of a file that depend on the rank; both branches of an `if` count, as each is run by some ranks."""
    return _find(script) if mentions_rank(script.text) else []


def mentions_rank(condition: str) -> bool:
    """Whether the text of a condition asks for the rank."""
    has_letters = "rank" in condition or "RANK_ID" in condition  # found in a fraction of the time
    return has_letters and _MAY_HOLD_RANKS.search(condition) is not None


def enclosing_block(script: Script, node: cst.CSTNode) -> Block | None:
    """The block of some ranks that a node lies in, or None."""
    blocks = rank_blocks(script)
    if not blocks:
        return None
    start, end = script.tree.span(node)
    return next((b for b in blocks if b.start <= start and end <= b.end), None)


def _find(script: Script) -> list[Block]:
    variables = _rank_variables(script)
    blocks = []
    for node, scope in script.walked.ifs:
        if _tells_rank(script, node.test, scope, variables):
            condition = script.tree.source(node.test)
            blocks += [Block(*script.tree.span(part), condition) for part in _branches(node)]
    return blocks


def _branches(node: cst.If) -> list[Any]:
    """Bodies of an if statement; a raise or exit alone is no work."""
    parts: list[Any] = [node.body]
    if isinstance(node.orelse, cst.Else):
        parts.append(node.orelse.body)
    return parts


def _rank_variables(script: Script) -> set[str]:
    """Names and attributes that hold a rank, or whether this is rank 0."""
    found = set()
    for call, scope in script.walked.calls:
        if not _is_rank_call(script, call, scope):
            continue
        for ancestor in script.walked.ancestors(call):
            if isinstance(ancestor, cst.Assign):
                found |= {dotted_name(t.target) for t in ancestor.targets}
                break
            if not isinstance(ancestor, (cst.Arg, cst.Call, cst.Comparison, cst.ComparisonTarget)):
                break
    return found - {""}


def _is_rank_call(script: Script, call: cst.Call, scope: Scope) -> bool:
    name = script.name_of(call.func, scope)
    if name is not None and _RANK.match(name):
        return True
    return name in ("os.getenv", "os.environ.get") and bool(_ENVIRONMENT.search(script.tree.source(call)))


def _tells_rank(script: Script, test: cst.BaseExpression, scope: Scope, variables: set[str]) -> bool:
    text = script.tree.source(test)
    if any(re.search(rf"(?<![\w.]){re.escape(v)}(?!\w)", text) for v in variables) or _ENVIRONMENT.search(text):
        return True
    if "rank" not in text:
        return False
    return any(_is_rank_call(script, call, s) for call, s in script.calls_in(*script.tree.span(test)))
