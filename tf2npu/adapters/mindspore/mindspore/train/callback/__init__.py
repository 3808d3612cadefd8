"""Callbacks of a training."""

from mindspore._device.absent_names import absent as _absent
from mindspore.train.callback._callback import Callback, RunContext
from mindspore.train.callback._callback import CallbackManager as _CallbackManager
from mindspore.train.callback._callback import InternalCallbackParam as _InternalCallbackParam
from mindspore.train.callback._checkpoint import CheckpointConfig, ModelCheckpoint
from mindspore.train.callback._checkpoint import CheckpointManager as _CheckpointManager
from mindspore.train.callback._loss_monitor import LossMonitor
from mindspore.train.callback._lr_scheduler_callback import LearningRateScheduler
from mindspore.train.callback._summary_collector import SummaryCollector
from mindspore.train.callback._time_monitor import TimeMonitor

__all__ = [
    "Callback", "CheckpointConfig", "LearningRateScheduler", "LossMonitor", "ModelCheckpoint", "RunContext", "SummaryCollector",
    "TimeMonitor", "_CallbackManager", "_CheckpointManager", "_InternalCallbackParam",
]  # fmt: skip

__getattr__ = _absent("mindspore.train.callback", lambda: __all__)
