"""The reference of a script for TensorFlow 2: each call of a function that computes something is a step of its graph."""

from __future__ import annotations

import atexit
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from npu_bridge._check.session_hooks import passing, run_plain
from npu_bridge._check.step_graph import Asked
from npu_bridge._reference.recorder import Recorder, Request
from npu_bridge._reference.session_hooks import watching
from npu_bridge._reference.watches import Tensors
from npu_device._call_steps import calls

from npu_formats.environment import TF2NPU_REFERENCE


def install() -> None:
    """Write the steps of every later call."""
    request = json.loads(os.environ[TF2NPU_REFERENCE])
    recorder = Recorder(Path(request["out"]), Path(request["scratch"]), request["steps"])
    atexit.register(recorder.close)

    def take(session: Any, asked: Asked, feeds: Mapping[str, np.ndarray]) -> list[Any]:
        def watched(url: str, tensors: Tensors) -> list[Any]:
            with passing():
                wanted = [asked.fetches, asked.targets]
                return list(session.run(wanted, dict(feeds), options=watching(None, url, tensors))[0])

        step = Request(session.graph, asked.feeds, asked.fetches, asked.targets)
        made: list[Any] = recorder.step(step, lambda: run_plain(session, asked, feeds), watched)
        return made

    calls.install(calls.CallSteps(take, takes_all=True))
