"""The evidence of a run on lines of the script, for a report: where its nodes ran, and the shapes that its inputs had."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

from npu_runtime.analysis.host_only_ops import is_by_nature
from npu_runtime.trace.run_log import KeptOfProgram, ProgramRecord, RunLog, kind_of_reason
from npu_runtime.trace.shapes import shown_shapes

MOST_OPERATORS = 15
"""Operators whose work is told by name; the rest is added up."""
OTHERS, LOOPS = "others", "loops"
"""Names in the place of an operator's: all that are not told, and all steps of loops."""


def document(log: RunLog) -> dict[str, Any]:
    """The evidence of all programs of which something was kept; places are "file:line"."""
    programs = [(session.name, program, program.kept) for session in log.sessions for program in session.programs]
    kept = [(name, program, lines) for name, program, lines in programs if lines is not None]
    return {
        "device_lines": _device_lines(kept),
        "host_lines": _host_lines(kept),
        "input_lines": [entry for _, program, lines in kept if program.n_runs for entry in _inputs(program, lines)],
        "work": _work(kept),
        "scalars": log.training()["scalars"],
    }


_Kept = list[tuple[str, ProgramRecord, KeptOfProgram]]


def _device_lines(kept: _Kept) -> list[dict[str, Any]]:
    """Nodes of each line that ran on the device; one in several programs of a session counts once."""
    nodes = {
        (session, name): place
        for session, program, lines in kept if program.n_runs
        for name, place in lines.device_lines.items() if place
    }  # fmt: skip
    return [{"place": place, "count": count} for place, count in sorted(Counter(nodes.values()).items())]


def _host_lines(kept: _Kept) -> list[dict[str, Any]]:
    """Nodes of each line that ran on the host, by kind of reason; those of a first run that failed are among them.

    is_expected: whether they belong there on an NPU system too.
    """
    nodes = {
        (session, name): (lines.host_lines.get(name, ""), reason)
        for session, program, lines in kept
        for name, reason in program.host_nodes.items()
    }
    groups: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for (_, name), (place, reason) in nodes.items():
        groups.setdefault((place, kind_of_reason(reason)), []).append((name, reason))
    return [
        {
            "place": place, "reason": found[0][1], "count": len(found), "example": found[0][0],
            "is_expected": is_by_nature(found[0][1]),
        }
        for (place, _), found in sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))
    ]  # fmt: skip


def _inputs(program: ProgramRecord, kept: KeptOfProgram) -> Iterator[dict[str, Any]]:
    for name, met in program.inputs.items():
        if places := kept.input_lines.get(name):
            shapes = {"count": len(met.shapes), "shapes": shown_shapes(met), "steps": program.n_runs}
            yield {"input": name, "places": list(places), **shapes}


def _work(kept: _Kept) -> list[dict[str, Any]]:
    """Floating-point operations of all steps on the device by operator, the largest first; OTHERS at the end."""
    total: defaultdict[str, float] = defaultdict(float)
    for _, program, lines in kept:
        for op, work in lines.work.items():
            total[op] += work * program.n_runs
        total[LOOPS] += max(0.0, program.device_flops - sum(lines.work.values())) * program.n_runs
    ordered = sorted(((op, work) for op, work in total.items() if work), key=lambda item: (-item[1], item[0]))
    rest = sum(work for _, work in ordered[MOST_OPERATORS:])
    shown = [*ordered[:MOST_OPERATORS], *([(OTHERS, rest)] if rest else [])]
    return [{"op": op, "operations": work} for op, work in shown]
