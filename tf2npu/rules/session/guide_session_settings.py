"""Settings of the porting guide that the config of a session could have."""

from __future__ import annotations

from tf2npu.frameworks.tensorflow1.scripts import tensorflow_name
from tf2npu.rules.base import Example, rule
from tf2npu.rules.facts.files.script_kinds import is_distributed
from tf2npu.rules.facts.pipelines.large_shuffles import has_large_shuffle
from tf2npu.scanner.script import Script
from tf2npu.scanner.script_facts import fact
from tf2npu.scanner.sites import Call

_SESSIONS = ("tensorflow.Session", "tensorflow.InteractiveSession", "tensorflow.train.MonitoredTrainingSession")
_TRAINS = "tf.train.AdamOptimizer().minimize(loss)\n"
_ITERATORS = ("tensorflow.data.Dataset().make_initializable_iterator", "tensorflow.data.make_initializable_iterator")


@rule(
    id="NPU976",
    title="Settings of the guide for sessions",
    matches=_SESSIONS,
    why="A config without settings changes a training least; the guide sets more where speed counts.",
    source="TensorFlow adapter porting guide, listing 5-36; session options of the NpuOptimizer",
    examples=(
        Example(f"{_TRAINS}s = tf.Session()", f"{_TRAINS}s = tf.Session(config=npu_config_proto())"),
        Example.same(f"{_TRAINS}s = tf.Session(config=npu_config_proto())", level="info"),
        Example.same("s = tf.Session(config=npu_config_proto())", note="nothing is trained"),
        Example.same(
            f"c = tf.ConfigProto()\nc.graph_options.rewrite_options.custom_optimizers.add().name = 'NpuOptimizer'\n{_TRAINS}"
            "s = tf.Session(config=npu_config_proto(c))",
            note="it has an entry with settings of its own",
        ),
    ),
)
def guide_session_settings(call: Call) -> None:
    """Proposes what the porting guide sets in the config of a session that trains, with the code."""
    script = call.script
    is_set = "custom_optimizers" in script.text or "parameter_map" in script.text
    if is_set or script.path not in script.project.training or script.config.target.adapter == "2021":
        return
    tensorflow = tensorflow_name(script) or "tf"
    more = "; npu.parameter_map['hcom_parallel'].b = True" if is_distributed(script) else ""
    if _may_loop(script) and not has_large_shuffle(script):
        more += "; npu.parameter_map['enable_data_pre_proc'].b = True"
    if _may_loop(script):
        more += "; npu.parameter_map['iterations_per_loop'].i = N"
    code = (
        f"config = {tensorflow}.ConfigProto(); npu = config.graph_options.rewrite_options.custom_optimizers.add(); "
        f"npu.name = 'NpuOptimizer'; npu.parameter_map['precision_mode'].s = {tensorflow}.compat.as_bytes('allow_mix_precision')"
        f"{more}"
    )
    if _may_loop(script):
        call.info(
            f"The porting guide sets more for sessions that train: {code}; then npu_config_proto(config). N steps a run need "
            "train_op = util.set_iteration_per_loop(sess, train_op, N) and N times fewer runs: N has to divide the number of "
            "steps, and the steps between checkpoints and messages. Mixed precision wants a scaled loss: NPULossScaleOptimizer."
        )
    else:
        call.info(
            f"Optional, for speed on an NPU: {code}; then pass config=npu_config_proto(config). Wrap the optimizer in "
            "NPULossScaleOptimizer against float16 overflow. Leave iterations_per_loop at 1: the script feeds or watches every "
            "step."
        )


@fact
def _may_loop(script: Script) -> bool:
    """Whether several steps could be made in one run: an initializable iterator gives the data, nothing is fed, no hook looks."""
    has_iterator = any(script.name_of(node.func, scope) in _ITERATORS for node, scope in script.walked.calls)
    return has_iterator and "feed_dict" not in script.text and "hooks=" not in script.text
