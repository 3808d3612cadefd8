"""``tf.contrib.opt``: optimizers that TensorFlow 2 left behind, over those of ``tf.train``.

Source: tensorflow/contrib/opt of TF 1.15, whose update rules, slots and names are kept.
"""

from npu_bridge._contrib._adam_variants import AdaMaxOptimizer, LazyAdamOptimizer, NadamOptimizer
from npu_bridge._contrib._external_optimizers import ExternalOptimizerInterface, ScipyOptimizerInterface
from npu_bridge._contrib._lars import LARSOptimizer
from npu_bridge._contrib._sign_optimizers import AddSignOptimizer, PowerSignOptimizer
from npu_bridge._contrib._weight_decay import (
    AdamWOptimizer,
    DecoupledWeightDecayExtension,
    MomentumWOptimizer,
    extend_with_decoupled_weight_decay,
)
from npu_bridge._contrib._wrapping_optimizers import (
    MovingAverageOptimizer,
    MultitaskOptimizerWrapper,
    VariableClippingOptimizer,
    clip_gradients_by_global_norm,
)

__all__ = [
    "AdaMaxOptimizer", "AdamWOptimizer", "AddSignOptimizer", "DecoupledWeightDecayExtension", "ExternalOptimizerInterface",
    "LARSOptimizer", "LazyAdamOptimizer", "MomentumWOptimizer", "MovingAverageOptimizer", "MultitaskOptimizerWrapper",
    "NadamOptimizer", "PowerSignOptimizer", "ScipyOptimizerInterface", "VariableClippingOptimizer",
    "clip_gradients_by_global_norm", "extend_with_decoupled_weight_decay",
]  # fmt: skip
