"""Texts that a run on the simulated device adds to a report, for a terminal and for the index page."""

from __future__ import annotations

from typing import Any

from tf2npu.report.languages.language import counted
from tf2npu.report.runs.document import RunDocument

_MOST_FILES = 3
"""The most files that the line of a stale run names: one is enough to run it again."""
_MOST_SCALARS = 3
"""Fetched numbers that are shown of a rank: the loss stands among the first."""
_MOST_OPERATIONS = 10
"""Types of eager operations that are shown, those that ran most often: the rest is what Keras does once."""

COMPILED_FOR_EACH = "An NPU compiles the graph for each new shape: pad what is fed to one shape, or to few."
"""Advice where the simulated device compiles less often than an NPU, since a program of its own may serve many shapes."""


def sentence(run: RunDocument) -> str:
    """The outcome of the run, in one sentence."""
    if run.get("eager_operators"):
        return _of_operators(run)
    n_sessions = len(run["sessions"])
    if not n_sessions:
        return f"{run['script']} ended with exit code {run['exit_code']}; no session ran on the device."
    runs, sessions = counted(run["steps"], "run"), counted(n_sessions, "session")
    again = counted(run["recompilations"], "recompilation")
    new = "new shapes" if (count := run.get("new_shapes")) is None else counted(count, "new shape")
    return (
        f"{run['script']} ended with exit code {run['exit_code']} after {runs} in {sessions} on {run['device']}; "
        f"{100 * run['device_share']:.2f} % of the floating-point operations were done there, with {again} for {new}."
    )


def _of_operators(run: RunDocument) -> str:
    """The outcome of the run of a PyTorch script."""
    operators = run["eager_operators"]
    kinds, steps = counted(operators["kinds"], "kind"), counted(run["steps"], "training step")
    return (
        f"{run['script']} ended with exit code {run['exit_code']} after {operators['count']} operators of {kinds} in {steps} on "
        f"{run['device']}; {100 * run['device_share']:.2f} % of them are the device's. Numbers are those of PyTorch "
        f"{operators['release']} on the CPU."
    )


def shape_changes(run: RunDocument) -> list[str]:
    """A line for each input whose shape changed: its shapes, and the lines of the script that ran them."""
    told = []
    for change in run.get("shape_changes", ()):
        shown, left = ", ".join(change["shapes"]), change["count"] - len(change["shapes"])
        more = f" and {left} more" if left > 0 else ""
        at = f", run at {', '.join(change['places'])}" if change["places"] else ""
        told.append(f"{change['input']} had {change['count']} shapes: {shown}{more}{at}")
    return told


def not_counted(run: RunDocument) -> str:
    """A sentence about the nodes that the share leaves out; "" where it leaves out none."""
    count = run.get("uncounted_nodes", 0)
    return f"Not counted among these operations: {counted(count, 'node')} whose shapes only a run tells." if count else ""


def stale(run: RunDocument) -> str:
    """The sentence that files have changed since the run; "" where none has."""
    files = run.get("changed_files", [])
    if not files:
        return ""
    more = f" and {len(files) - _MOST_FILES} more" if len(files) > _MOST_FILES else ""
    return f"Stale: changed since this run: {', '.join(files[:_MOST_FILES])}{more}. Run the script again."


def failed(run: RunDocument) -> list[str]:
    """Lines about an exception that ended the script: its type and message, where it came from, and the finding there."""
    failure = run.get("failure")
    if failure is None:
        return []
    told = [f"It failed with {failure['type']}: {failure['message']}"]
    told += [f"  at {failure['place']}"] if failure["place"] else []
    if failure["node"]:
        made = f", made at {failure['node_place']}" if failure["node_place"] else ""
        told.append(f"  in the node {failure['node']} ({failure['op'] or 'of a function'}){made}")
    if found := failure["finding"]:
        told.append(f"  where this report has a finding: {found['rule']} at {found['path']}:{found['line']}")
    return told


def of_ranks(run: RunDocument) -> list[dict[str, Any]]:
    """A row for each rank, in texts: its steps, the time of one, what it fetched, and how long the others waited for it."""
    return [
        {
            "rank": f"{one['rank']}",
            "steps": f"{one['steps']}",
            "step": f"{one['step_seconds']:.3g} s",
            "collectives": f"{one['collective_seconds']:.3g} s",
            "scalars": [f"{scalar['name']}: {scalar['first']} → {scalar['last']}" for scalar in one["scalars"][:_MOST_SCALARS]],
            "awaited": f"{one['seconds_awaited']:.3g} s",
            "last": f"{one['times_last']}",
        }
        for one in run.get("ranks", ())
    ]


def of_functions(run: RunDocument) -> list[str]:
    """Lines about functions of eager code, copies of variables, and operations outside of functions."""
    told = [_of_function(function) for function in run.get("functions", ())]
    told += [
        f"{one['name']} ran on TensorFlow as a whole, {counted(one['calls'], 'call')}: {one['reason']}"
        for one in run.get("functions_on_tensorflow", ())
    ]
    if told and (copies := run.get("variable_copies")):
        told.append(f"Variables were copied to the device {copies['up']} times, and back for eager code {copies['down']} times.")
    if operations := run.get("eager_operations"):
        shown = ", ".join(f"{name} {count}" for name, count in [*operations.items()][:_MOST_OPERATIONS])
        told.append(f"Eager operations that ran on the CPU: {sum(operations.values())}, most of them {shown}.")
    return told


def _of_function(function: dict[str, Any]) -> str:
    calls, signatures = counted(function["calls"], "call"), counted(function["signatures"], "signature")
    return f"{function['name']} ran on the device: {calls}, traced for {signatures}"


def lines(run: RunDocument) -> list[str]:
    """The sentence, then a line for each reason, option and session that is worth a look."""
    told = [*filter(None, [stale(run)]), sentence(run), *failed(run), *filter(None, [not_counted(run)])]
    if changes := shape_changes(run):
        told += [COMPILED_FOR_EACH, *(f"  {line}" for line in changes)]
    for host in run["host_nodes"]:
        nodes = counted(host["count"], "node")
        told.append(f"  on the host: {nodes} such as {host['example']}: {host['reason']}")
    for rank in of_ranks(run):
        told.append(
            f"  rank {rank['rank']}: {counted(rank['steps'], 'step')} of {rank['step']}, "
            f"{rank['collectives']} in collective operations, awaited by the others for {rank['awaited']} "
            f"(last {counted(rank['last'], 'time')}); {', '.join(rank['scalars'])}"
        )
    for option in run["options_without_effect"]:
        told.append(f"  option without effect: {option['option']}: {option['effect']}")
    told += [f"  {line}" for line in (*run.get("precision", ()), *run.get("tuning", ()), *of_functions(run))]
    told += [
        f"  session on TensorFlow, as its config names no NpuOptimizer: made at {place or 'an unknown line'}"
        for place in run.get("sessions_on_tensorflow", ())
    ]
    told += [f"  session left open: made at {place or 'an unknown line'}" for place in run["sessions_left_open"]]
    return told
