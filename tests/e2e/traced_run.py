"""Child process: the migrated script on the shim; writes what TensorFlow executed beside the device in the training steps.

A test starts it:

    python traced_run.py RECORD.json SCRIPT [ARGS...]
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import npu_bridge.npu_init  # noqa: F401  before the recorder, which wraps the session class that is then in place
from plain_tf1 import run_script
from recorder import Recorder
from tensorflow.python.framework import dtypes

from npu_runtime.importers.tensorflow.host import HOST_CALL_OBSERVERS
from npu_runtime.session import observed_session, run_log

LABEL = re.compile(r" = (\w+)\(")  # the trace calls a node `name = Op(inputs)`


class TracingRecorder(Recorder):
    """Also collects what ran inside the training steps: programs of the device, nodes of TensorFlow.

    executed: [op, data types of its outputs] for each node that TensorFlow ran on the host.
    """

    def __init__(self, checkpoint: Path) -> None:
        super().__init__(checkpoint, restore=False)
        self.programs: list[Any] = []
        self.executed: dict[str, tuple[str, list[str]]] = {}
        HOST_CALL_OBSERVERS.append(self._observe)
        self._flops_of: dict[tuple[str, ...], dict[str, float]] = {}
        self._watch_compilation()

    def flops_by_op(self) -> dict[str, float]:
        """Floating-point operations of the program that trained most, by op."""
        return self._flops_of[max(self.programs, key=lambda program: program.n_runs).device_nodes]

    def _watch_compilation(self) -> None:
        original = observed_session.build

        def build(*args, **kwargs):
            program = original(*args, **kwargs)
            counts: Counter[str] = Counter()
            for step in program.steps:
                counts[getattr(step, "op", "")] += getattr(step, "flops", 0)
            counts.update(program.unread_flops)  # the profiler counts the graph, whether or not somebody reads a value
            self._flops_of[program.device_nodes] = counts
            return program

        observed_session.build = build

    @contextmanager
    def _step(self) -> Iterator[None]:
        before = {id(program): program.n_runs for program in programs_of_device()}
        with super()._step():
            yield
        for program in programs_of_device():
            if program.n_runs != before.get(id(program), 0) and program not in self.programs:
                self.programs.append(program)

    def _observe(self, metadata) -> None:
        if self.is_in_step:
            for device in metadata.step_stats.dev_stats:
                for node in device.node_stats:
                    op = LABEL.search(node.timeline_label)
                    types = [dtypes.as_dtype(made.tensor_description.dtype).name for made in node.output]
                    self.executed[node.node_name] = (op.group(1) if op else "", types)


def programs_of_device() -> list[Any]:
    return [program for session in run_log().sessions for program in session.programs]


def main(record: str, script: str, *arguments: str) -> None:
    with tempfile.TemporaryDirectory() as work:
        recorder = TracingRecorder(Path(work) / "step0")
        recorder.install()
        run_script(script, list(arguments))
    programs = recorder.programs
    Path(record).write_text(json.dumps({
        "n_steps": len(recorder.losses),
        "executed": recorder.executed,
        "host_nodes": {name: reason for program in programs for name, reason in program.host_nodes.items()},
        "device_flops": recorder.flops_by_op(),
        "host_flops": max(program.host_flops for program in programs),
        "log": run_log().summary(),
    }))  # fmt: skip


if __name__ == "__main__":
    main(*sys.argv[1:])
