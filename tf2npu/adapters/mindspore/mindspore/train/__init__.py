"""Training: Model, data for it, mixed precision, loss scales, checkpoints."""

from mindspore._device.absent_names import absent as _absent
from mindspore.train import amp
from mindspore.train.amp import build_train_network
from mindspore.train.dataset_helper import DatasetHelper, connect_network_with_dataset
from mindspore.train.loss_scale_manager import DynamicLossScaleManager, FixedLossScaleManager, LossScaleManager
from mindspore.train.model import Model
from mindspore.train.serialization import (
    build_searched_strategy,
    export,
    load_checkpoint,
    load_distributed_checkpoint,
    load_param_into_net,
    merge_sliced_parameter,
    parse_print,
    save_checkpoint,
)

__all__ = [
    "DatasetHelper", "DynamicLossScaleManager", "FixedLossScaleManager", "LossScaleManager", "Model", "amp",
    "build_searched_strategy", "build_train_network", "connect_network_with_dataset", "export", "load_checkpoint",
    "load_distributed_checkpoint", "load_param_into_net", "merge_sliced_parameter", "parse_print", "save_checkpoint",
]  # fmt: skip

__getattr__ = _absent("mindspore.train", lambda: __all__)
