"""Steps that do not fit the number of iterations the NPU runs at a time."""

from __future__ import annotations

from tf2npu.rules.base import Example, rule
from tf2npu.rules.facts.constant_values import integer_of
from tf2npu.scanner.sites import Call

_LOOPS = {"npu_bridge.npu_init.NPURunConfig": 0, "tensorflow.estimator.tpu.TPUConfig": 0}
_EVERY = ("save_checkpoints_steps", "save_summary_steps", "log_step_count_steps")
_TRAINING = {
    "npu_bridge.npu_init.NPUEstimator().train": ("steps", "max_steps"),
    "tensorflow.estimator.tpu.TPUEstimator().train": ("steps", "max_steps"),
    "tensorflow.estimator.TrainSpec": ("max_steps",),
}


@rule(
    id="NPU939",
    title="Iterations on the device",
    matches=(*_LOOPS, *_TRAINING, "npu_bridge.npu_init.util.set_iteration_per_loop"),
    why="The NPU returns after iterations_per_loop steps only: what is done every N steps needs an N that is a multiple of it.",
    done_when="Each of these numbers of steps divided by iterations_per_loop leaves no remainder.",
    source="npu_bridge.estimator.npu.npu_config.NPURunConfig; TensorFlow adapter porting guide: iterations_per_loop",
    examples=(
        Example.same(
            "from npu_bridge.npu_init import NPURunConfig\nimport tensorflow as tf\n"
            "c = NPURunConfig(iterations_per_loop=1000, save_checkpoints_steps=2500)",
            level="manual",
            write="from npu_bridge.npu_init import NPURunConfig\nimport tensorflow as tf\n"
            "c = NPURunConfig(iterations_per_loop=1000, save_checkpoints_steps=2000)",
        ),
        Example.same(
            "from npu_bridge.npu_init import NPURunConfig\nimport tensorflow as tf\n"
            "c = NPURunConfig(iterations_per_loop=100, save_checkpoints_steps=1000)",
            note="a multiple",
        ),
        Example.same(
            "from npu_bridge.npu_init import NPURunConfig\nimport tensorflow as tf\n"
            "c = NPURunConfig(iterations_per_loop=FLAGS.loop, save_checkpoints_steps=250)",
            note="known only when it runs",
        ),
    ),
)
def iteration_offload(call: Call) -> None:
    """Reports step counts that are no multiple of iterations_per_loop, and what offloading iterations asks for."""
    if call.name in _LOOPS:
        loop = call.value("iterations_per_loop", _LOOPS[call.name])
        _compare(call, integer_of(loop, call.scope) if loop is not None else None, _EVERY)
    elif call.name in _TRAINING:
        _compare(call, _loop_of_file(call), _TRAINING[call.name])
    else:
        call.info(
            "Each run now makes iterations_per_loop steps: divide the number of sess.run calls by it, and feed by an "
            "initializable iterator, as feed_dict and one-shot iterators cannot."
        )


def _compare(call: Call, loop: int | None, keywords: tuple[str, ...]) -> None:
    if loop is None or loop < 2:
        return
    for keyword in keywords:
        value = call.value(keyword)
        count = integer_of(value, call.scope) if value is not None else None
        if count is not None and count > 0 and count % loop:
            nearest = max(loop, count // loop * loop)
            call.manual(f"{keyword}={count} is no multiple of iterations_per_loop={loop}: write {keyword}={nearest}.")


def _loop_of_file(call: Call) -> int | None:
    """The one iterations_per_loop of the file, where there is one and it is known."""
    loops = set()
    for node, scope in call.script.walked.calls:
        if call.script.name_of(node.func, scope) in _LOOPS:
            other = Call(call.script, call.fix.rule, node, scope)
            value = other.value("iterations_per_loop", 0)
            loops.add(integer_of(value, scope) if value is not None else 1)
    return loops.pop() if len(loops) == 1 else None
