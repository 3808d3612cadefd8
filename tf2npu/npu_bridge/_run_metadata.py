"""RunOptions and RunMetadata of a run on the device: its timeout, and the times of its steps."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from npu_runtime.executor.watch import Watch, watched

NPU, HOST = "/job:localhost/replica:0/task:0/device:NPU:0", "/job:localhost/replica:0/task:0/device:CPU:0"


@contextmanager
def observed(options: Any, run_metadata: Any, config: Any = None) -> Iterator[None]:
    """Runs inside end in time, and their steps are in run_metadata when a trace is asked for.

    Source: TensorFlow's direct session fills step_stats from SOFTWARE_TRACE on; the configuration's timeout counts where the
    options have none.
    """
    timeout_ms = (options.timeout_in_ms if options is not None else 0) or (config.operation_timeout_in_ms if config else 0)
    is_traced = options is not None and run_metadata is not None and options.trace_level > 0
    with watched(timeout_ms, is_traced) as watch:
        yield
    if watch is not None and is_traced:
        _fill(run_metadata.step_stats, watch)


def _fill(step_stats: Any, watch: Watch) -> None:
    for device, is_host in ((NPU, False), (HOST, True)):
        steps = [step for step in watch.steps if step[2] == is_host]
        if not steps:
            continue
        stats = step_stats.dev_stats.add(device=device)
        for name, op, _, start, end in steps:
            stats.node_stats.add(
                node_name=name, timeline_label=f"{name} = {op}()", all_start_micros=start, op_start_rel_micros=0,
                op_end_rel_micros=end - start, all_end_rel_micros=max(1, end - start),
            )  # fmt: skip
