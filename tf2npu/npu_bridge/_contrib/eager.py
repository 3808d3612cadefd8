"""``tf.contrib.eager``: what TensorFlow has of it since; eager code runs on TensorFlow, not on the device."""

from __future__ import annotations

from tensorflow import compat
from tensorflow.python.eager import context
from tensorflow.python.eager.backprop import (
    GradientTape,
    gradients_function,
)
from tensorflow.python.eager.backprop import (
    implicit_grad as implicit_gradients,
)
from tensorflow.python.eager.backprop import (
    implicit_val_and_grad as implicit_value_and_gradients,
)
from tensorflow.python.eager.backprop import (
    val_and_grad_function as value_and_gradients_function,
)
from tensorflow.python.eager.context import (
    ASYNC,
    DEVICE_PLACEMENT_EXPLICIT,
    DEVICE_PLACEMENT_SILENT,
    DEVICE_PLACEMENT_WARN,
    SYNC,
    async_clear_error,
    async_wait,
    executing_eagerly,
    execution_mode,
    num_gpus,
    set_execution_mode,
)
from tensorflow.python.framework.tensor_spec import TensorSpec
from tensorflow.python.framework.test_util import (
    run_all_in_graph_and_eager_modes as run_all_tests_in_graph_and_eager_modes,
)
from tensorflow.python.framework.test_util import (
    run_in_graph_and_eager_modes as run_test_in_graph_and_eager_modes,
)
from tensorflow.python.ops.custom_gradient import custom_gradient
from tensorflow.python.ops.resource_variable_ops import ResourceVariable as Variable
from tensorflow.python.ops.script_ops import eager_py_func as py_func
from tensorflow.python.ops.template import make_template
from tensorflow.python.ops.variable_scope import EagerVariableStore
from tensorflow.python.trackable.autotrackable import AutoTrackable as Checkpointable

__all__ = [
    "ASYNC", "DEVICE_PLACEMENT_EXPLICIT", "DEVICE_PLACEMENT_SILENT", "DEVICE_PLACEMENT_WARN", "SYNC", "Checkpoint",
    "Checkpointable", "EagerVariableStore", "GradientTape", "TensorSpec", "Variable", "async_clear_error", "async_wait",
    "custom_gradient", "defun", "enable_eager_execution", "executing_eagerly", "execution_mode", "function",
    "gradients_function", "implicit_gradients", "implicit_value_and_gradients", "in_eager_mode", "list_devices",
    "make_template", "num_gpus", "py_func", "run_all_tests_in_graph_and_eager_modes", "run_test_in_graph_and_eager_modes",
    "set_execution_mode", "value_and_gradients_function",
]  # fmt: skip

Checkpoint = compat.v1.train.Checkpoint
defun = function = compat.v2.function
enable_eager_execution = compat.v1.enable_eager_execution
in_eager_mode = executing_eagerly


def list_devices() -> list[str]:
    """Names of the devices that eager operations can use."""
    return context.context().devices()
