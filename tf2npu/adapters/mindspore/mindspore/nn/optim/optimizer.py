"""The parts that all optimizers share: rates, groups, decay and the loss scale."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindspore import _checkparam as check
from mindspore._device.checked_steps import noted_update
from mindspore.common.dtype import float32, int32
from mindspore.common.initializer import initializer
from mindspore.common.parameter import Parameter, ParameterTuple
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell
from mindspore.nn.layer.container import CellList
from mindspore.nn.optim import _groups, _rates
from mindspore.ops import composite as C
from mindspore.ops import functional as F
from mindspore.ops import operations as P


class Optimizer(Cell):
    """An optimizer: a program's own calls decay_weight, scale_grad and get_lr in its construct, in this order.

    parameters: parameters, or dictionaries of groups with the keys params, lr, weight_decay and order_params.
    """

    is_one_graph = True

    def __init__(self, learning_rate: Any, parameters: Any, weight_decay: float = 0.0, loss_scale: float = 1.0) -> None:
        super().__init__(auto_prefix=False)
        given = list(parameters) if parameters is not None else []
        if not given:
            raise ValueError(f"{self.cls_name} got no parameters: does the network have any with requires_grad?")
        if not isinstance(given[0], (dict, Parameter)):
            raise TypeError(f"{self.cls_name} takes parameters or dictionaries of them, and got {given[0]!r}")
        loss_scale = float(loss_scale) if isinstance(loss_scale, int) else loss_scale
        self.loss_scale = check.positive_float(loss_scale, "loss_scale", self.cls_name)
        self.reciprocal_scale, self.need_scale = Tensor(1.0 / loss_scale, float32), loss_scale != 1.0
        self.map_ = C.Map()
        rate, decay = _rates.read(learning_rate, self.cls_name), self._decay(weight_decay)
        self.is_group = isinstance(given[0], dict)
        if self.is_group:
            self._take_groups(given, rate, decay)
        else:
            self._take_parameters(given, rate, decay)
        _check_names(self.parameters, self.cls_name)
        self._note_rest()

    def _decay(self, weight_decay: Any) -> float:
        if not isinstance(weight_decay, (int, float)):
            raise TypeError(f"{self.cls_name}(weight_decay={weight_decay!r}): a number is needed")
        return check.non_negative_float(float(weight_decay), "weight_decay", self.cls_name)

    def _take_parameters(self, given: list[Parameter], rate: Any, decay: float) -> None:
        """Takes parameters of one rate and decay; those with "beta" or "gamma" in their names do not decay."""
        self.is_group_lr, self.dynamic_lr = False, _rates.is_dynamic(rate)
        self.learning_rate = _rates.built(rate, "learning_rate")
        self.parameters = ParameterTuple(given)
        self.weight_decay = decay * self.loss_scale
        self.decay_flags = tuple("beta" not in one.name and "gamma" not in one.name for one in given)
        self.exec_weight_decay = decay > 0
        self.centralized = (False,) * len(given)

    def _take_groups(self, given: list[dict[str, Any]], rate: Any, decay: float) -> None:
        """Takes groups; all parameters of one with a decay above 0 decay."""
        found = _groups.members(given, decay, self._decay, self.cls_name)
        self.is_group_lr = any(one.rate is not None for one in found)
        default = _rates.built(rate, "learning_rate")
        rates = [default if one.rate is None else one.rate for one in found]
        self.dynamic_lr = any(isinstance(one, Cell) for one in (default, *rates))
        if not self.is_group_lr:
            self.learning_rate = default
        elif self.dynamic_lr:
            self.learning_rate = CellList(_cells(rates), auto_prefix=False)
        else:
            self.learning_rate = ParameterTuple(rates)
        self.parameters = ParameterTuple([one.parameter for one in found])
        self.weight_decay = tuple(one.weight_decay * self.loss_scale for one in found)
        self.decay_flags = tuple(one > 0 for one in self.weight_decay)
        self.exec_weight_decay = any(self.decay_flags)
        self.centralized = tuple(one.is_centralized for one in found)

    def _note_rest(self) -> None:
        """Sets what optimizers of programs read, and what one device has no use for."""
        self.global_step, self.assignadd = None, None
        if self.dynamic_lr:
            self.assignadd = P.AssignAdd()
            self.global_step = Parameter(initializer(0, [1], int32), name="global_step")
        self.param_length = len(self.parameters)
        self.use_parallel, self.target, self.unique = False, "Ascend", True
        self.optim_filter = (True,) * self.param_length
        self.ps_parameters = self.cache_enable = (False,) * self.param_length

    def _traced(self, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        with noted_update(self, inputs):
            return super()._traced(inputs, kwargs)

    def decay_weight(self, gradients: Sequence[Any]) -> tuple[Any, ...]:
        """The gradients with weight_decay * loss_scale * parameter added, where the parameter decays."""
        if not self.exec_weight_decay:
            return tuple(gradients)
        decays = self.weight_decay if self.is_group else (self.weight_decay,) * self.param_length
        parts = zip(decays, self.decay_flags, self.parameters, gradients, strict=False)
        return tuple(gradient + parameter * decay if flag else gradient for decay, flag, parameter, gradient in parts)

    def gradients_centralization(self, gradients: Sequence[Any]) -> tuple[Any, ...]:
        """The gradients less their means, in groups with grad_centralization.  Source: r1.2."""
        pairs = zip(self.centralized, gradients, strict=False)
        return tuple(_centred(gradient) if flag else gradient for flag, gradient in pairs)

    def scale_grad(self, gradients: Sequence[Any]) -> tuple[Any, ...]:
        """The gradients divided by the loss scale."""
        if not self.need_scale:
            return tuple(gradients)
        return tuple(gradient * F.cast(self.reciprocal_scale, gradient.dtype) for gradient in gradients)

    def _prepared(self, gradients: Sequence[Any]) -> tuple[Any, ...]:
        """The gradients as r1.1 prepares them: decayed, centred, scaled."""
        return self.scale_grad(self.gradients_centralization(self.decay_weight(gradients)))

    def _grad_sparse_indices_deduplicate(self, gradients: Any) -> Any:
        return gradients

    def get_lr(self) -> Any:
        """The rate of this step, or with groups the rates of all parameters; a rate that changes goes on by a step."""
        if not self.dynamic_lr:
            return self.learning_rate
        if self.is_group_lr:
            rates = tuple(rate(self.global_step) for rate in self.learning_rate)
        else:
            rates = self.learning_rate(self.global_step)
        self.assignadd(self.global_step, 1)
        return rates

    def _rates_of_all(self) -> tuple[Any, ...]:
        """The rate of this step for each parameter."""
        rates = self.get_lr()
        return tuple(rates) if self.is_group_lr else (rates,) * self.param_length

    def get_lr_parameter(self, param: Any) -> Any:
        """The parameter that holds the rate of a parameter, or of each in a list."""
        if not isinstance(param, (Parameter, list)):
            raise TypeError(f"get_lr_parameter({param!r}): a parameter or a list of them is needed")
        found = [self._rate_parameter(one) for one in (param if isinstance(param, list) else [param])]
        return found if isinstance(param, list) else found[0]

    def _rate_parameter(self, parameter: Parameter) -> Any:
        places = [i for i, one in enumerate(self.parameters) if one is parameter]
        if not places:
            raise ValueError(f"get_lr_parameter: {parameter.name} is no parameter of this {self.cls_name}")
        rate = self.learning_rate[places[0]] if self.is_group_lr else self.learning_rate
        return rate.learning_rate if isinstance(rate, (_rates.ConvertToCell, _rates.IteratorLearningRate)) else rate

    def construct(self, *hyper_params: Any) -> Any:
        raise RuntimeError(f"{self.cls_name} has no construct(self, gradients)")


def _cells(rates: list[Any]) -> list[Cell]:
    """A cell for each rate, and one for all parameters of a group."""
    made: dict[int, Cell] = {}
    return [made.setdefault(id(rate), rate if isinstance(rate, Cell) else _rates.ConvertToCell(rate)) for rate in rates]


def _centred(gradient: Any) -> Any:
    axes = tuple(range(1, len(gradient.shape)))
    return gradient - P.ReduceMean(keep_dims=True)(gradient, axes) if axes else gradient


def _check_names(parameters: Sequence[Parameter], owner: str) -> None:
    seen: dict[str, Parameter] = {}
    for one in parameters:
        if not isinstance(one, Parameter):
            raise TypeError(f"{owner} takes parameters, and got {one!r} among them")
        if one.name in seen:
            raise ValueError(f"{owner}: the parameter {one.name!r} is given twice: give it once")
        seen[one.name] = one


__all__ = ["Optimizer"]
