"""Names that only TensorFlow 1, or only TensorFlow 2, has: by them a file tells what it is written for."""

from __future__ import annotations

import re

_SIGNS_2 = (
    "tensorflow.GradientTape", "tensorflow.function", "tensorflow.keras.mixed_precision.LossScaleOptimizer",
    "tensorflow.keras.mixed_precision.set_global_policy", "tensorflow.keras.mixed_precision.Policy",
    "tensorflow.config.list_physical_devices", "tensorflow.config.list_logical_devices",
    "tensorflow.config.run_functions_eagerly", "tensorflow.config.set_visible_devices",
    "horovod.tensorflow.broadcast_variables", "horovod.tensorflow.DistributedGradientTape",
)  # fmt: skip
# compat.v2 has them too; it is TensorFlow 2 as a whole where its behaviour is switched on.
_OF_V2 = tuple(name.replace("tensorflow.", "tensorflow.compat.v2.") for name in _SIGNS_2 if name.startswith("tensorflow."))
SIGNS_2 = frozenset({*_SIGNS_2, *_OF_V2, "tensorflow.compat.v2.enable_v2_behavior"})
RUNNING_2 = frozenset({"tensorflow.GradientTape", "tensorflow.function"})
"""Names by which a script for TensorFlow 2 does what it is run for, where it calls them or what they decorate."""
V1_MODE = frozenset({"tensorflow.disable_eager_execution", "tensorflow.disable_v2_behavior"})
PRINT_2 = "tensorflow.print"
"""A name that TensorFlow 1 has, too, where it makes a node that somebody has to run."""
TELLING_WORDS = frozenset(name.rpartition(".")[2] for name in (*SIGNS_2, *V1_MODE))
"""The last words of these names but that: code without any of them tells nothing of TensorFlow 2."""
# Not random_normal, random_uniform and contrib.compiler.xla: TensorFlow 2 has them by another spelling (tf.random.normal).
ONLY_1 = re.compile(
    r"tensorflow\.(?:Session|InteractiveSession|ConfigProto|GraphOptions|placeholder\w*|get_variable|variable_scope|app|flags"
    r"|layers|contrib(?!\.compiler\.xla)|logging|gfile|py_func|to_\w+|global_variables\w*|get_default_graph"
    r"|reset_default_graph|set_random_seed|get_collection|enable_eager_execution|truncated_normal|estimator|tables_initializer"
    r"|train\.(?:\w+Optimizer|Saver|MonitoredTrainingSession|Supervisor|get_\w*global_step|\w*_decay|slice_input_producer|batch)"
    r"|summary\.(?:FileWriter|merge_all)|compat\.v2\.estimator)\b"
)
