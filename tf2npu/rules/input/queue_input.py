"""Input that queue runners read with threads of their own."""

from __future__ import annotations

from tf2npu.frameworks.tensorflow1.scripts import tensorflow_name
from tf2npu.rules.base import Example, rule
from tf2npu.rules.facts.constant_values import integer_of
from tf2npu.rules.facts.written_code import given
from tf2npu.scanner.sites import Call

_RUNS = (
    "The input queue runs as it is, on the host, with one thread. A tf.data pipeline would be faster: "
    "make_one_shot_iterator().get_next() of {} gives the same tensors."
)
_REPEATED = "shuffle(n).repeat(num_epochs)"
_BATCH = "batch(batch_size, drop_remainder=True)"
_SHUFFLED = f"shuffle(capacity).{_BATCH}"
_JOINED = "dataset.interleave(read, cycle_length=n_readers)"
_INSTEAD = {
    "string_input_producer": f"tf.data.Dataset.from_tensor_slices(files).{_REPEATED}",
    "slice_input_producer": f"tf.data.Dataset.from_tensor_slices(tensors).{_REPEATED}",
    "range_input_producer": f"tf.data.Dataset.range(n).{_REPEATED}",
    "input_producer": f"tf.data.Dataset.from_tensor_slices(items).{_REPEATED}",
    "batch": f"dataset.{_BATCH}",
    "maybe_batch": f"dataset.filter(keep).{_BATCH}",
    "batch_join": f"{_JOINED}.{_BATCH}",
    "maybe_batch_join": f"{_JOINED}.filter(keep).{_BATCH}",
    "shuffle_batch": f"dataset.{_SHUFFLED}",
    "maybe_shuffle_batch": f"dataset.filter(keep).{_SHUFFLED}",
    "shuffle_batch_join": f"{_JOINED}.{_SHUFFLED}",
    "maybe_shuffle_batch_join": f"{_JOINED}.filter(keep).{_SHUFFLED}",
    "QueueRunner": "dataset.prefetch(n)",
}
_PRODUCERS = {
    "input_producer": ("input_tensor", "from_tensor_slices"),
    "range_input_producer": ("limit", "range"),
}
"""First parameter of each, by TensorFlow 1.15, and the dataset that gives its elements."""
_CAPACITY = 10000
"""Elements that are shuffled at a time, where the queue does not say how many: a producer shuffles all it has."""
_STARTER = "start_queue_runners"
# Position of num_threads, which is 1 where it is not given.  Source: signatures of TensorFlow 1.15.
_THREADS_AT = {"batch": 2, "maybe_batch": 3, "shuffle_batch": 4, "maybe_shuffle_batch": 5}
_SUPPORTED = ("string_input_producer", "slice_input_producer")
"""Queues that one thread fills, which the published list calls supported."""


@rule(
    id="NPU911",
    title="Queue input",
    matches=tuple(f"tensorflow.train.{name}" for name in (*_INSTEAD, _STARTER)),
    why="Queues stay on the host; with several threads their order, and so the run, cannot be repeated on the NPU.",
    done_when="The summary of `tf2npu run` names no queue and no reader among the nodes on the host.",
    source="TensorFlow adapter porting guide: tf.train.batch only with num_threads=1, tf.data otherwise; the vendor's published "
    "support levels for TensorFlow 1.15 (string_input_producer, slice_input_producer: supported)",
    examples=(
        Example(
            "q = tf.train.batch([a], 8, num_threads=4)",
            "q = tf.train.batch([a], 8, num_threads=1)",
        ),
        Example("q = tf.train.shuffle_batch([a], 8, 900, 90, n)", "q = tf.train.shuffle_batch([a], 8, 900, 90, 1)"),
        Example.same(
            "q = tf.train.shuffle_batch_join(parts, 8, 900, 90)",
            level="manual",
            write="q = tf.data.Dataset.from_tensors(a).repeat().shuffle(900).batch(8, drop_remainder=True)",
        ),
        Example.same("q = tf.train.batch([a], 8)", note="one thread", level="info"),
        Example.same("names = tf.train.string_input_producer(files)", note="one thread fills it", level="info"),
        Example.same("q = ds.train.batch(8)", note="another object's method"),
        Example.same("coord = tf.train.Coordinator()", note="stops threads of any kind"),
    ),
)
def queue_input(call: Call) -> None:
    """Gives input queues one thread, and reports those that cannot do with one."""
    name = call.name.removeprefix("tensorflow.train.")
    if name == _STARTER:
        return call.info(
            "The line starts the threads of input queues, and runs as it is. Delete the line if you move the input to tf.data."
        )
    if name in _SUPPORTED:
        return call.info(_RUNS.format(_INSTEAD[name]))
    if name not in _THREADS_AT:
        return call.manual(
            "Input queues run on the simulated device, which leaves them to the host, and are not supported on an NPU: write "
            f"{_INSTEAD[name]}.",
            _pipeline_code(call, name),
        )
    threads = call.value("num_threads", _THREADS_AT[name])
    if threads is None and call.has_star_args:
        return call.manual(
            "Input queues run on the simulated device with any number of threads, and on an NPU with num_threads=1 at most: "
            f"write that, or better {_INSTEAD[name]}."
        )
    if threads is None or integer_of(threads, call.scope) == 1:
        return call.info(_RUNS.format(_INSTEAD[name]))
    call.replace(threads, "1")
    return call.fixed(
        "An input queue gets num_threads=1, as an NPU host wants it; several only decide in which order the examples come. "
        f"tf.data reads with many: {_INSTEAD[name]}."
    )


def _pipeline_code(call: Call, name: str) -> str:
    """The dataset that gives what the queue gave, with the arguments of the queue; `dataset` is what it is made of."""
    tf, size = tensorflow_name(call.script), given(call, "batch_size", 1)
    if name.endswith("_join"):
        keep = ".filter(keep)" if name.startswith("maybe") else ""
        shuffled = f".shuffle({given(call, 'capacity') or _CAPACITY})" if "shuffle" in name else ""
        return (
            f"dataset = dataset.interleave(read, cycle_length=4){keep}{shuffled}.batch({size}, drop_remainder=True)"
            if size
            else ""
        )
    if name == "QueueRunner":
        return f"dataset = dataset.prefetch({tf}.data.experimental.AUTOTUNE)" if tf else ""
    keyword, function = _PRODUCERS.get(name, ("", ""))
    items = given(call, keyword, 0) if keyword else ""
    if not tf or not items:
        return ""
    is_ordered = given(call, "shuffle", 2) == "False"
    shuffled = "" if is_ordered else f".shuffle({_CAPACITY})"
    return f"dataset = {tf}.data.Dataset.{function}({items}){shuffled}.repeat({given(call, 'num_epochs', 1)})"
