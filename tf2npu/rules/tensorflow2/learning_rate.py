"""The learning rate of Keras' optimizers by the name that releases up to 2.10 took."""

from __future__ import annotations

from tf2npu.config import Config
from tf2npu.frameworks.tensorflow2.optimizers import OLDER, PACKAGES
from tf2npu.rules.base import Example, rule
from tf2npu.scanner.sites import Call

_TF2 = Config(dialect="tf2")


@rule(
    id="NPU817",
    title="Learning rate by its old name",
    matches=tuple(f"{package}.{name}" for package in PACKAGES for name in OLDER),
    why="From 2.11 on Keras' optimizers warn of lr and train with their default rate; all releases know learning_rate.",
    source="keras.optimizers of TensorFlow 2.10 and 2.15",
    examples=(
        Example("o = tf.keras.optimizers.Adam(lr=0.1)", "o = tf.keras.optimizers.Adam(learning_rate=0.1)", config=_TF2),
        Example("o = tf.optimizers.SGD(lr=r, momentum=0.9)", "o = tf.optimizers.SGD(learning_rate=r, momentum=0.9)", config=_TF2),
        Example.same("o = tf.keras.optimizers.Adam(learning_rate=0.1)", note="its name", config=_TF2),
        Example.same("o = tf.keras.optimizers.Adam(lr=0.1, learning_rate=0.1)", note="both are given", config=_TF2),
        Example.same("o = tf.keras.optimizers.legacy.Adam(lr=0.1)", note="these know it", config=_TF2),
        Example.same("o = my.Adam(lr=0.1)", note="another class", config=_TF2),
    ),
)
def old_learning_rate(call: Call) -> None:
    """Gives an optimizer its learning rate by the name that each release takes."""
    keywords = {arg.keyword.value: arg.keyword for arg in call.args if arg.keyword is not None}
    if "lr" not in keywords or "learning_rate" in keywords or call.positional_args:
        return
    call.replace(keywords["lr"], "learning_rate")
    call.fixed("lr is written learning_rate: under TensorFlow 2.15 Keras would ignore lr.")
