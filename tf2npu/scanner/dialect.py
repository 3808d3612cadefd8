"""Whether a script is written for TensorFlow 1 or 2: the converter knows the adapter for TensorFlow 1 only."""

from __future__ import annotations

import re
from dataclasses import dataclass

import libcst as cst

from tf2npu.scanner.script import Script

_SIGNS_2 = frozenset({
    "tensorflow.GradientTape", "tensorflow.function", "tensorflow.keras.mixed_precision.LossScaleOptimizer",
    "tensorflow.keras.mixed_precision.set_global_policy", "tensorflow.keras.mixed_precision.Policy",
    "tensorflow.config.list_physical_devices", "tensorflow.config.list_logical_devices",
    "tensorflow.config.run_functions_eagerly", "tensorflow.config.set_visible_devices",
    "horovod.tensorflow.broadcast_variables", "horovod.tensorflow.DistributedGradientTape",
})  # fmt: skip
_V1_MODE = frozenset({"tensorflow.disable_eager_execution", "tensorflow.disable_v2_behavior"})
_MAY_BE_2 = re.compile(
    r"GradientTape|\btf\.function|mixed_precision|list_\w+_devices|run_functions_eagerly|set_visible_devices"
    r"|broadcast_variables|tf\.print|\.function\b|disable_eager_execution|disable_v2_behavior"
)
_ONLY_1 = re.compile(
    r"tensorflow\.(?:Session|InteractiveSession|ConfigProto|GraphOptions|placeholder\w*|get_variable|variable_scope|app|flags"
    r"|layers|contrib|logging|gfile|py_func|to_\w+|global_variables\w*|get_default_graph|reset_default_graph|set_random_seed"
    r"|get_collection|enable_eager_execution|random_normal|random_uniform|truncated_normal|estimator|tables_initializer"
    r"|train\.(?:\w+Optimizer|Saver|MonitoredTrainingSession|Supervisor|get_\w*global_step|\w*_decay|slice_input_producer|batch)"
    r"|summary\.(?:FileWriter|merge_all))\b"
)

_TRAINS = re.compile(r"tensorflow\.(?:distribute\.|keras\.optimizers\.|keras\.(?:Model|Sequential)\(\)\.(?:fit|compile))")


@dataclass(frozen=True)
class Dialect:
    """kind: "1" TensorFlow 1 (or no sign of 2), "2", or "1 on 2": TensorFlow 2 with its version 1 behaviour; sign: where."""

    kind: str
    api: str = ""
    sign: cst.CSTNode | None = None


def dialect_of(script: Script) -> Dialect:
    """What a script is written for; told by names that only one of the two has."""
    if "dialect" not in script.memo:
        script.memo["dialect"] = _find(script)
    return script.memo["dialect"]


def _find(script: Script) -> Dialect:
    if not script.uses_tensorflow or not _MAY_BE_2.search(script.text):
        return Dialect("1")
    found: Dialect | None = None
    has_1 = False
    for node, scope in script.walked.references:
        name = script.name_of(node, scope)
        if name is None or not name.startswith(("tensorflow.", "horovod.")):
            continue
        if name in _V1_MODE:
            return Dialect("1 on 2", name, node)
        has_1 = has_1 or _ONLY_1.match(name) is not None
        if found is None and (name in _SIGNS_2 or (name == "tensorflow.print" and _is_statement(script, node))):
            found = Dialect("2", name, node)
    return found if found is not None and not has_1 else Dialect("1")


def is_either(script: Script) -> bool:
    """Whether a script trains with Keras or a strategy and every name exists in TensorFlow 1 and 2: in 2 it would run eagerly."""
    if "compat" in script.text or ("keras" not in script.text and ".distribute" not in script.text):
        return False
    names = {script.name_of(node, scope) or "" for node, scope in script.walked.references}
    return any(_TRAINS.match(name) for name in names) and not any(_ONLY_1.match(name) for name in names)


def _is_statement(script: Script, node: cst.CSTNode) -> bool:
    """Whether the result of a call is thrown away, which means something in TensorFlow 2 only."""
    call = script.walked.parents.get(id(node))
    return isinstance(call, cst.Call) and isinstance(script.walked.parents.get(id(call)), cst.Expr)
