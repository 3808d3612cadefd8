"""The planted errors of functions of TensorFlow 2, of five causes, over the two examples."""

from __future__ import annotations

from tests.check.plants import FORCED, broken, changed, inserted

_LOOP, _FIT = "custom_loop_tf2", "keras_fit_tf2"
_KERAS = "history = model.fit("
"""The line of the example that makes Keras trace the step."""
_LOSS = "sparse_categorical_crossentropy/SparseSoftmaxCrossEntropyWithLogits/SparseSoftmaxCrossEntropyWithLogits"

FUNCTION_PLANTS = (
    changed(_LOOP, "clip_by_global_norm/truediv_1/y", "(gradients, 1.0)", "(gradients, 0.1)"),
    changed(_LOOP, "add/y", "(step + 1) / self.warm_up", "(step + 2) / self.warm_up"),
    changed(_FIT, "model/batch_normalization/FusedBatchNormV3", "momentum=0.9", "momentum=0.8", _KERAS),
    changed(_FIT, "learning_rate", "keras.optimizers.Adam(2e-3)", "keras.optimizers.Adam(4e-3)"),
    broken(_LOOP, _LOSS, "loss = loss_of(labels, model(waves", "kernel", "SparseSoftmaxCrossEntropyWithLogits"),
    broken(_FIT, "model/dense/Relu", _KERAS, "fusion", "_FusedMatMul"),
    inserted(
        _FIT, "model/rescaling_1/mul", _KERAS, "overflow", FORCED,
        ("x = layers.Flatten()(x)", "x = layers.Rescaling(1e-4)(layers.Rescaling(3e5)(layers.Flatten()(x)))"),
    ),
)  # fmt: skip
