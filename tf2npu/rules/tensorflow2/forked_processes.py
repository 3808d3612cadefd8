"""Processes that scripts for TensorFlow 2 fork beside the NPU."""

from __future__ import annotations

from tf2npu.config import Config
from tf2npu.frameworks.tensorflow1.scripts import uses_tensorflow
from tf2npu.rules.base import Example, part_of, rule
from tf2npu.rules.facts.constant_values import text_of
from tf2npu.rules.facts.forking_calls import JOBLIB, OTHER_METHOD, WITH_FORK, is_forking_backend
from tf2npu.scanner.sites import Call

_TF2 = Config(dialect="tf2")
_HEAD = "import multiprocessing\nimport tensorflow as tf\n"
_RUNS = ("fit", "evaluate", "predict", "fit_generator", "evaluate_generator", "predict_generator")


@rule(
    id="NPU810",
    title="Processes forked beside the NPU",
    once=True,
    matches=("os.fork", "multiprocessing.set_start_method", "multiprocessing.get_context", *WITH_FORK, *JOBLIB),
    why="A process that is forked after npu.open() holds half of the device's state, and hangs.",
    done_when="The script starts its processes by forkserver or spawn, and a run with them comes to its end.",
    source="TensorFlow 2 adapter porting guide: start method forkserver",
    examples=(
        Example.same(
            f"{_HEAD}p = multiprocessing.Pool(2)", level="manual", config=_TF2,
            write=f"{_HEAD}multiprocessing.set_start_method('forkserver')\np = multiprocessing.Pool(2)",
        ),
        Example.same(f"{_HEAD}multiprocessing.set_start_method('fork')", level="manual", config=_TF2),
        Example.same(f"{_HEAD}multiprocessing.set_start_method('spawn')", note="a new process", config=_TF2),
        Example.same(f"{_HEAD}from multiprocessing.pool import ThreadPool\np = ThreadPool(2)", note="threads", config=_TF2),
    ),
)  # fmt: skip
def forked_beside_device(call: Call) -> None:
    """Reports processes that are forked."""
    if not uses_tensorflow(call.script) or (call.name in JOBLIB and not is_forking_backend(call)):
        return
    if call.name in ("multiprocessing.set_start_method", "multiprocessing.get_context"):
        method = text_of(call.args[0].value, call.scope) if call.args else None
        is_forked = method == "fork"
    else:
        is_forked = not OTHER_METHOD.search(call.script.text)
    if is_forked:
        call.manual("Write multiprocessing.set_start_method('forkserver') at the start of the program.")


@part_of(
    forked_beside_device,
    matches=tuple(f"{m}().{name}" for m in ("tensorflow.keras.Model", "tensorflow.keras.Sequential") for name in _RUNS),
    examples=(
        Example.same(
            "m = tf.keras.Sequential()\nm.fit(data, epochs=2, workers=4, use_multiprocessing=True)", level="manual", config=_TF2
        ),
        Example.same("m = tf.keras.Sequential()\nm.fit(data, epochs=2, workers=4)", note="threads", config=_TF2),
    ),
)
def forked_readers_of_keras(call: Call) -> None:
    """Reports Keras models that read their data in processes of their own."""
    value = call.value("use_multiprocessing")
    if value is not None and call.resolve(value) not in ("False", "None"):
        call.manual(
            "Processes that read the data are forked after npu.open(): leave use_multiprocessing out, so that workers are "
            "threads, or write multiprocessing.set_start_method('forkserver') at the start of the program."
        )
