"""Processes that are forked beside the device."""

from __future__ import annotations

from tf2npu.rules.base import Example, rule
from tf2npu.rules.facts.constant_values import text_of
from tf2npu.scanner.sites import Call

_DONE_WHEN = "`tf2npu run` reads all data with its processes, and comes to the end."


@rule(
    id="NPU952",
    title="Forked processes",
    matches=("os.fork", "multiprocessing.set_start_method", "multiprocessing.get_context"),
    why="A process that is forked while a device is open holds half of its state, and hangs or dies.",
    done_when=_DONE_WHEN,
    source="TensorFlow adapter porting guide: start method forkserver for data processes",
    examples=(
        Example.same(
            "import multiprocessing\nimport tensorflow as tf\nmultiprocessing.set_start_method('fork')",
            level="manual",
            write="import multiprocessing\nimport tensorflow as tf\nmultiprocessing.set_start_method('forkserver')",
        ),
        Example.same(
            "import multiprocessing\nimport tensorflow as tf\nmultiprocessing.set_start_method('spawn')", note="a new process"
        ),
        Example.same(
            "import multiprocessing\nimport tensorflow as tf\np = multiprocessing.Pool(2)", note="can be made before the session"
        ),
    ),
)
def forked_process(call: Call) -> None:
    """Reports processes that are forked."""
    method = text_of(call.args[0].value, call.scope) if call.args else None
    if call.script.uses_tensorflow and (call.name == "os.fork" or method == "fork"):
        call.manual("Write multiprocessing.set_start_method('forkserver'), or start the processes before the first session.")


_KERAS_RUNS = ("fit", "fit_generator", "evaluate", "evaluate_generator", "predict", "predict_generator")


@rule(
    id="NPU952",
    title="Forked processes",
    matches=tuple(
        f"{model}().{name}" for model in ("tensorflow.keras.Model", "tensorflow.keras.Sequential") for name in _KERAS_RUNS
    ),
    why="A process that is forked while a device is open holds half of its state, and hangs or dies.",
    done_when=_DONE_WHEN,
    source="tf.keras of TensorFlow 1.15: a pool of processes reads the data of a generator",
    examples=(
        Example.same(
            "def f(m):\n    m.fit_generator(data, epochs=2, workers=4, use_multiprocessing=True)",
            level="manual",
            write="def f(m):\n    m.fit_generator(data, epochs=2, workers=4)",
        ),
        Example.same("def f(m):\n    m.fit_generator(data, epochs=2, workers=4)", note="threads"),
        Example.same("def f(m):\n    m.fit_generator(data, epochs=2, use_multiprocessing=False)", note="threads"),
    ),
)
def forked_keras_readers(call: Call) -> None:
    """Reports Keras models that read their data in processes of their own."""
    value = call.value("use_multiprocessing")
    if value is not None and call.resolve(value) not in ("False", "None"):
        call.manual(
            "Processes that read the data are forked after the session was opened: leave use_multiprocessing out, so that "
            "workers are threads, or write multiprocessing.set_start_method('forkserver') at the start of the program."
        )
