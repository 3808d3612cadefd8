"""Names of ``tf.keras`` and ``tf.distribute`` of TF 1.15 that TensorFlow 2.15 and its Keras dropped."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any, NoReturn

import numpy as np
from npu_bridge._tf1.journal import Journal
from npu_bridge._tf1.twins import KERAS_V1

_EXPERIMENTAL = "mixed_precision.experimental"


def add(journal: Journal) -> None:
    """Offer the dropped names again."""
    sequential = import_module("keras.src.engine.sequential").Sequential
    strategy = import_module("tensorflow.python.distribute.distribute_lib").StrategyBase
    for owner, name, function in (
        (sequential, "predict_proba", _predict_proba),
        (sequential, "predict_classes", _predict_classes),
        (strategy, "experimental_run_v2", _run),
    ):
        if not hasattr(owner, name):
            setattr(owner, name, function)
            journal.on_undo(lambda owner=owner, name=name: delattr(owner, name))
    _take_scalar_losses(journal, import_module("keras.src.losses").LossFunctionWrapper)
    journal.set(vars(import_module(f"{KERAS_V1}.utils")), "multi_gpu_model", multi_gpu_model)
    experimental = _mixed_precision(journal)
    journal.set(vars(import_module(f"{KERAS_V1}.mixed_precision")), "experimental", experimental)
    for root in (KERAS_V1, "tensorflow.keras"):
        journal.set(sys.modules, f"{root}.{_EXPERIMENTAL}", experimental)


def _take_scalar_losses(journal: Journal, wrapper: type[Any]) -> None:
    """Hand a scalar output to a function of a loss as it is; Keras 2.15 looks for its last dimension."""
    plain = wrapper.call

    def call(self: Any, y_true: Any, y_pred: Any) -> Any:
        is_scalar = getattr(getattr(y_pred, "shape", None), "rank", None) == 0
        return self.fn(y_true, y_pred, **self._fn_kwargs) if is_scalar else plain(self, y_true, y_pred)

    wrapper.call = call
    journal.on_undo(lambda: setattr(wrapper, "call", plain))


def _predict_proba(self: Any, x: Any, batch_size: int = 32, verbose: int = 0) -> np.ndarray:
    """``predict``, with a warning when the outputs are no probabilities."""
    outputs = self.predict(x, batch_size, verbose)
    if outputs.min() < 0.0 or outputs.max() > 1.0:
        import_module("tensorflow").logging.warning(
            "Network returning invalid probability values. The last layer might not normalize predictions into probabilities "
            "(like softmax or sigmoid would)."
        )
    return outputs


def _predict_classes(self: Any, x: Any, batch_size: int = 32, verbose: int = 0) -> np.ndarray:
    """The class of each sample: the greatest output, or whether the only output is over a half."""
    outputs = self.predict(x, batch_size=batch_size, verbose=verbose)
    return outputs.argmax(axis=-1) if outputs.shape[-1] > 1 else (outputs > 0.5).astype("int32")


def _run(self: Any, fn: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None) -> Any:
    """``run`` under its first name."""
    return self.run(fn, args, kwargs)


def multi_gpu_model(model: Any, gpus: Any, cpu_merge: bool = True, cpu_relocation: bool = False) -> NoReturn:
    """A model on several GPUs, of which there are none: the ValueError of TF 1.15 on such a machine."""
    wanted = list(gpus) if isinstance(gpus, list | tuple) else list(range(gpus))
    if len(wanted) <= 1:
        raise ValueError(f"For multi-gpu usage to be effective, call `multi_gpu_model` with `gpus >= 2`. Received: `gpus={gpus}`")
    devices = ["/cpu:0", *(f"/gpu:{number}" for number in wanted)]
    raise ValueError(
        f"To call `multi_gpu_model` with `gpus={gpus}`, we expect the following devices to be available: {devices}. "
        "However this machine only has: ['/cpu:0']. Try reducing `gpus`."
    )


def _mixed_precision(journal: Journal) -> ModuleType:
    """``tf.keras.mixed_precision.experimental``, over the final names in Keras 2.15."""
    final = import_module("keras.src.mixed_precision.policy")
    optimizers = import_module("keras.src.mixed_precision.loss_scale_optimizer")
    scales = import_module("tensorflow.python.training.experimental.loss_scale")
    behavior = import_module("keras.src.engine.base_layer_utils")
    for owner, name in ((behavior, "V2_DTYPE_BEHAVIOR"), (final, "_global_policy")):
        before = getattr(owner, name)  # what a script changes is undone with the rest
        journal.on_undo(lambda owner=owner, name=name, before=before: setattr(owner, name, before))

    def initialize(self: Any, name: str, loss_scale: Any = "USE_DEFAULT") -> None:
        final.Policy.__init__(self, "_infer" if name == "infer" else name)
        given = ("dynamic" if name == "mixed_float16" else None) if loss_scale == "USE_DEFAULT" else loss_scale
        self._loss_scale = scales.get(given)

    def set_policy(policy: Any) -> None:
        """Make a policy, or the one of this name, that of the layers made from now on."""
        behavior.enable_v2_dtype_behavior()  # layers cast their inputs from now on, as under TF 1.15's policies
        final.set_global_policy(made(policy) if isinstance(policy, str) else policy)

    def loss_scale_optimizer(opt: Any, loss_scale: Any) -> Any:
        """An optimizer that scales the loss by "dynamic", a number or a ``tf.mixed_precision`` loss scale."""
        scale = scales.get(loss_scale)
        if isinstance(scale, scales.FixedLossScale):
            return optimizers.LossScaleOptimizer(opt, dynamic=False, initial_scale=float(scale._loss_scale_value))
        return optimizers.LossScaleOptimizer(opt, initial_scale=scale.initial_loss_scale)

    loss_scale = property(lambda self: self._loss_scale)
    made = type("Policy", (final.Policy,), {"__init__": initialize, "loss_scale": loss_scale})
    module = ModuleType(f"{KERAS_V1}.{_EXPERIMENTAL}")
    module.Policy, module.set_policy = made, set_policy
    module.global_policy, module.LossScaleOptimizer = final.global_policy, loss_scale_optimizer
    return module
