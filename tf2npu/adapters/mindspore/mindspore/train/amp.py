"""Mixed precision.  Source: train/amp.py of r1.1, read."""

from __future__ import annotations

from typing import Any, NamedTuple

from mindspore import nn
from mindspore._device.settings import settings
from mindspore.common.dtype import float16, float32
from mindspore.nn.cell import Cell, cast
from mindspore.train.loss_scale_manager import DynamicLossScaleManager, LossScaleManager

__all__ = ["build_train_network"]


class _Level(NamedTuple):
    """A level of mixed precision."""

    cast_model_type: Any
    keep_batchnorm_fp32: bool
    has_dynamic_scale: bool


_LEVELS = {"O0": _Level(float32, False, False), "O2": _Level(float16, True, True), "O3": _Level(float16, False, False)}


class OutputTo16(Cell):
    """A cell whose output is cast to float16."""

    def __init__(self, op: Cell) -> None:
        super().__init__(auto_prefix=False)
        self._op = op

    def construct(self, x: Any) -> Any:
        return cast(self._op(x), float16)


class _WithLossCell(nn.WithLossCell):
    """A network in float16 and its loss in float32."""

    def construct(self, data: Any, label: Any) -> Any:
        return self._loss_fn(cast(self._backbone(data), float32), cast(label, float32))


def _keep_batchnorm_fp32(network: Cell) -> None:
    """Lets BatchNorm cells below work in float32, between casts."""
    kinds = tuple(getattr(nn, name) for name in ("BatchNorm1d", "BatchNorm2d") if hasattr(nn, name))
    is_changed = False
    for name, cell in network.name_cells().items():
        if isinstance(cell, kinds):
            network.insert_child_to_cell(name, OutputTo16(cell.to_float(float32)))
            is_changed = True
        else:
            _keep_batchnorm_fp32(cell)
    if is_changed and hasattr(network, "cell_list"):
        network.cell_list = list(network.cells())


def _level(name: str) -> _Level:
    """A level by its name.  Raises: ValueError for another name."""
    if name == "auto":
        if settings["device_target"] != "Ascend":
            raise ValueError(f'level "auto" is for the target "Ascend", not {settings["device_target"]!r}')
        name = "O3"  # the level of r1.1 for Ascend
    if name not in _LEVELS:
        raise ValueError(f"level={name!r}: one of {', '.join(_LEVELS)}, auto")
    return _LEVELS[name]


def _check_options(options: dict[str, Any]) -> None:
    for name, value in options.items():
        if name not in ("cast_model_type", "keep_batchnorm_fp32", "loss_scale_manager"):
            raise ValueError(f"build_train_network({name}=...): r1.1 has no option of this name")
        if name == "cast_model_type" and value not in (float16, float32):
            raise TypeError(f"cast_model_type={value!r}: mindspore.float16 or mindspore.float32")
        if name == "keep_batchnorm_fp32" and not isinstance(value, bool):
            raise TypeError(f"keep_batchnorm_fp32={value!r}: True or False")
        if name == "loss_scale_manager" and not isinstance(value, (LossScaleManager, type(None))):
            raise TypeError(f"loss_scale_manager={value!r}: a LossScaleManager or None")


def build_train_network(
    network: Cell, optimizer: Cell, loss_fn: Cell | None = None, level: str = "O0", **kwargs: Any
) -> Cell:  # fmt: skip
    """The cell of a step of training, in the mixed precision of a level.

    Raises: TypeError, ValueError for options that r1.1 has not.
    """
    for name, cell in (("network", network), ("optimizer", optimizer)):
        if not isinstance(cell, Cell):
            raise TypeError(f"build_train_network({name}=...): a Cell, not {type(cell).__name__}")
    _check_options(kwargs)
    chosen = _level(level)
    kind = kwargs.get("cast_model_type", chosen.cast_model_type)
    if kind is float16:
        network.to_float(float16)
        if kwargs.get("keep_batchnorm_fp32", chosen.keep_batchnorm_fp32):
            _keep_batchnorm_fp32(network)
    if loss_fn is not None:
        if not isinstance(loss_fn, Cell):
            raise TypeError(f"build_train_network(loss_fn=...): a Cell, not {type(loss_fn).__name__}")
        network = (_WithLossCell if kind is float16 else nn.WithLossCell)(network, loss_fn)
    manager = kwargs.get("loss_scale_manager", DynamicLossScaleManager() if chosen.has_dynamic_scale else None)
    return _one_step(network, optimizer, manager).set_train()


def _one_step(network: Cell, optimizer: Cell, manager: LossScaleManager | None) -> Cell:
    if manager is None:
        return nn.TrainOneStepCell(network, optimizer)
    update = manager.get_update_cell()
    if update is None:
        return nn.TrainOneStepCell(network, optimizer, manager.get_loss_scale())
    if settings["device_target"] == "CPU":
        raise ValueError(
            'the target "CPU" has no float status that tells an overflow: use FixedLossScaleManager(drop_overflow_update=False), '
            'or device_target="Ascend"'
        )
    return nn.TrainOneStepWithLossScaleCell(network, optimizer, scale_sense=update)
