"""What a run on the simulated device adds to a report: texts for a terminal and for the index page."""

from __future__ import annotations

from tf2npu.report.run_document import RunDocument


def sentence(run: RunDocument) -> str:
    """How the run went, in one sentence."""
    n_sessions = len(run["sessions"])
    if not n_sessions:
        return f"{run['script']} ended with exit code {run['exit_code']}; no session ran on the device."
    sessions = f"{n_sessions} session{'' if n_sessions == 1 else 's'}"
    again = run["recompilations"]
    return (
        f"{run['script']} ended with exit code {run['exit_code']} after {run['steps']} runs in {sessions} on {run['device']}; "
        f"{100 * run['device_share']:.2f} % of the floating-point operations were done there, "
        f"with {again} recompilation{'' if again == 1 else 's'} for new shapes."
    )


def not_counted(run: RunDocument) -> str:
    """What the share leaves out; "" where it leaves out nothing."""
    count = run.get("uncounted_nodes", 0)
    if not count:
        return ""
    return f"Not counted among these operations: {count} node{'' if count == 1 else 's'} whose shapes only a run tells."


def lines(run: RunDocument) -> list[str]:
    """The sentence, then a line for each reason, option and session that is worth a look."""
    told = [sentence(run), *filter(None, [not_counted(run)])]
    for host in run["host_nodes"]:
        told.append(f"  on the host: {host['count']} nodes such as {host['example']}: {host['reason']}")
    for option in run["options_without_effect"]:
        told.append(f"  option without effect: {option['option']}: {option['effect']}")
    told += [f"  {line}" for line in (*run.get("precision", ()), *run.get("tuning", ()))]
    told += [
        f"  session on TensorFlow, as its config names no NpuOptimizer: made at {place or 'an unknown line'}"
        for place in run.get("sessions_on_tensorflow", ())
    ]
    told += [f"  session left open: made at {place or 'an unknown line'}" for place in run["sessions_left_open"]]
    return told
