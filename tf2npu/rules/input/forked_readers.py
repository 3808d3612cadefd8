"""Processes that are forked beside the device."""

from __future__ import annotations

from tf2npu.frameworks.tensorflow1.scripts import uses_tensorflow
from tf2npu.rules.base import Example, part_of, rule
from tf2npu.rules.facts.constant_values import text_of
from tf2npu.rules.facts.forking_calls import JOBLIB, OTHER_METHOD, WITH_FORK, is_forking_backend
from tf2npu.rules.facts.sessions.open_sessions import is_session_open
from tf2npu.scanner.sites import Call


@rule(
    id="NPU952",
    title="Forked processes",
    matches=("os.fork", "multiprocessing.set_start_method", "multiprocessing.get_context"),
    why="A process that is forked while a device is open holds half of its state, and hangs or dies.",
    done_when="`tf2npu run` reads all data with its processes, and comes to the end.",
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
    if uses_tensorflow(call.script) and (call.name == "os.fork" or method == "fork"):
        call.manual("Write multiprocessing.set_start_method('forkserver'), or start the processes before the first session.")


@part_of(
    forked_process,
    matches=(*WITH_FORK, *JOBLIB),
    source="TensorFlow adapter porting guide: start method forkserver for data processes; multiprocessing of Python 3.13",
    examples=(
        Example.same(
            "import multiprocessing\nimport tensorflow as tf\nwith tf.Session(config=npu_config_proto()) as s:\n"
            "    p = multiprocessing.Pool(2)",
            level="manual",
            write="import multiprocessing\nimport tensorflow as tf\nmultiprocessing.set_start_method('forkserver')\n"
            "with tf.Session(config=npu_config_proto()) as s:\n    p = multiprocessing.Pool(2)",
        ),
        Example.same(
            "from concurrent.futures import ProcessPoolExecutor\nimport tensorflow as tf\n"
            "s = tf.Session(config=npu_config_proto())\nwith ProcessPoolExecutor(2) as p:\n    s.run(x)\ns.close()",
            level="manual",
        ),
        Example.same(
            "import multiprocessing\nimport tensorflow as tf\np = multiprocessing.Pool(2)\n"
            "with tf.Session(config=npu_config_proto()) as s:\n    s.run(x)",
            note="made before the session",
        ),
        Example.same(
            "from multiprocessing.pool import ThreadPool\nimport tensorflow as tf\n"
            "with tf.Session(config=npu_config_proto()) as s:\n    p = ThreadPool(2)",
            note="threads",
        ),
        Example.same(
            "from joblib import Parallel\nimport tensorflow as tf\nwith tf.Session(config=npu_config_proto()) as s:\n"
            "    Parallel(2)(jobs)",
            note="its default backend does not fork",
        ),
    ),
)
def processes_in_session(call: Call) -> None:
    """Reports processes that are started, by fork, while a session is open."""
    if call.name in JOBLIB and not is_forking_backend(call):
        return
    if uses_tensorflow(call.script) and not OTHER_METHOD.search(call.script.text) and is_session_open(call):
        call.manual(
            "Its processes are forked while the session is open: start them before the first session, or write "
            "multiprocessing.set_start_method('forkserver') at the start of the program."
        )


_KERAS_RUNS = ("fit", "fit_generator", "evaluate", "evaluate_generator", "predict", "predict_generator")


@part_of(
    forked_process,
    matches=tuple(
        f"{model}().{name}" for model in ("tensorflow.keras.Model", "tensorflow.keras.Sequential") for name in _KERAS_RUNS
    ),
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
