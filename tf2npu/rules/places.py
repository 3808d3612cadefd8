"""What concerns many calls of a file alike is said at the first, with the lines of the others."""

from __future__ import annotations

from tf2npu.scanner.sites import Call

_MOST_LINES = 20


def first_of_alike(call: Call, names: tuple[str, ...]) -> list[int] | None:
    """Lines of all calls of these names that the rule looks at; None for another than the first of them."""
    script = call.script
    key = f"places:{call.fix.rule}"
    if key not in script.memo:
        alike = [node for node, scope in script.walked.calls if script.name_of(node.func, scope) in names]
        spans = sorted(script.tree.span(node)[0] for node in alike if not script.is_switched_off(call.fix.rule, node))
        script.memo[key] = spans
    starts: list[int] = script.memo[key]
    if not starts or script.tree.span(call.node)[0] != starts[0]:
        return None
    return [script.span(start, start).line for start in starts]


def also_at(lines: list[int]) -> str:
    """How a message goes on for the calls after the first."""
    if len(lines) < 2:
        return ""
    named = ", ".join(map(str, lines[1 : _MOST_LINES + 1])) + (", ..." if len(lines) > _MOST_LINES + 1 else "")
    return f" This is one of {len(lines)} such places in the file; the others: {named}."
