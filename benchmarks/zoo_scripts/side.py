"""Runs a script on a side:   python -m benchmarks.zoo_scripts.side SIDE RECORD MOST_STEPS SCRIPT WORD...

On the plain side `npu_device` is there with all of its names, and opening the device does nothing, so that TensorFlow's own
kernels compute. RECORD, a file of JSON, gets the losses that Keras tells its callbacks, processor times and the device's share.
"""

from __future__ import annotations

import json
import os
import random
import runpy
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

PLAIN, DEVICE = "plain", "npu"
SEED = 7


class Unopened:
    """A handle of no device."""

    workers_num, worker_id = 1, 0

    def as_default(self) -> Unopened:
        return self


def main(side: str, record: Path, most_steps: int, script: str, words: list[str]) -> None:
    import npu_device  # first, as `tf2npu run` does: some scripts use an older release's names before they import it
    import tensorflow as tf

    tf.keras.utils.set_random_seed(SEED)
    random.seed(SEED)
    tf.config.experimental.enable_op_determinism()  # the input pipeline draws in parallel else, in another order each time
    if side == PLAIN:
        npu_device.open = npu_device.npu_device.open = lambda device_id=None: Unopened()
    _keep_files()
    steps = _record_steps(tf)
    if most_steps:
        _end_epochs(tf, most_steps)
    began = time.process_time()
    sys.argv, sys.path[0] = [script, *words], str(Path(script).resolve().parent)
    try:
        runpy.run_path(script, run_name="__main__")
    finally:
        told = {"steps": steps, "seconds": time.process_time() - began, **(_of_device() if side == DEVICE else {})}
        record.write_text(json.dumps(told))


def _keep_files() -> None:
    """Keras deletes a file of another hash, and asks the network for one that is not there."""
    from keras.src.utils import data_utils

    vars(data_utils).update(validate_file=lambda *args, **kwargs: True, urlretrieve=_refused)


def _refused(*args: Any, **kwargs: Any) -> None:
    raise FileNotFoundError(f"this script asks the network for {args[0] if args else kwargs}")


def _record_steps(tf: Any) -> list[list[Any]]:
    """A list that gets the numbers of each training batch, and the processor time at its end."""
    steps: list[list[Any]] = []
    callbacks = tf.keras.callbacks.CallbackList
    tell = callbacks.on_train_batch_end

    def on_train_batch_end(self: Any, batch: int, logs: Any = None) -> None:
        steps.append([{name: float(tf.reduce_mean(value)) for name, value in (logs or {}).items()}, time.process_time()])
        tell(self, batch, logs)

    callbacks.on_train_batch_end = on_train_batch_end
    return steps


def _end_epochs(tf: Any, most_steps: int) -> None:
    """Let Keras' fit and evaluate take so many batches."""
    model = tf.keras.Model
    model.fit = _limited(model.fit, steps_per_epoch=most_steps, validation_steps=2)
    model.evaluate = _limited(model.evaluate, steps=2)


def _limited(method: Callable[..., Any], **limits: int) -> Callable[..., Any]:
    def with_limits(*args: Any, **kwargs: Any) -> Any:
        return method(*args, **{**limits, **kwargs})

    return with_limits


def _of_device() -> dict[str, Any]:
    from npu_device._execution import eager_operations, install

    from npu_runtime.session.session_state import run_log

    document, session = run_log().document(), install.session()
    lines = session.log.lines(session.residency.copies, eager_operations.counts) if session else []
    return {"share": document["device_share"], "runs": document["steps"], "host": document["host_nodes"], "lines": lines}


if __name__ == "__main__":
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), sys.argv[4], sys.argv[5:])
