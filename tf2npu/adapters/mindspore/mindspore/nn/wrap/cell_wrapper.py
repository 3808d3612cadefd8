"""Cells that put a loss, gradients and an optimizer around a network.  Source: nn/wrap/cell_wrapper.py of r1.1, read."""

from __future__ import annotations

from typing import Any

from mindspore._device.operation import apply
from mindspore.common.dtype import float32
from mindspore.common.parameter import Parameter, ParameterTuple
from mindspore.nn.cell import Cell, cast
from mindspore.nn.wrap.grad_reducer import DistributedGradReducer
from mindspore.ops.composite import GradOperation
from mindspore.ops.functional import assign
from mindspore.parallel._utils import DATA_PARALLEL_MODES, _get_device_num, _get_gradients_mean, _get_parallel_mode
from npu_bridge.npu_init import tf

__all__ = [
    "GetNextSingleOp", "ParameterUpdate", "TrainOneStepCell", "VirtualDatasetCellTriple", "WithEvalCell", "WithGradCell",
    "WithLossCell",
]  # fmt: skip

RECORDED, REFUSED = ("VirtualDatasetCellTriple",), ("GetNextSingleOp",)
"""Names that change nothing here, and names that are there to say why they are refused."""


def filled_like(tensor: Any, number: float) -> Any:
    """A tensor of the shape and type of another, full of a number."""
    return apply(("filled like", float(number)), lambda node: tf.fill(node.shape, tf.constant(number, node.dtype)), tensor)


class WithLossCell(Cell):
    """A network and its loss: data and label go in."""

    def __init__(self, backbone: Cell, loss_fn: Cell) -> None:
        super().__init__(auto_prefix=False)
        self._backbone, self._loss_fn = backbone, loss_fn

    def construct(self, data: Any, label: Any) -> Any:
        return self._loss_fn(self._backbone(data), label)

    @property
    def backbone_network(self) -> Cell:
        """The network."""
        return self._backbone


class WithGradCell(Cell):
    """The gradients of a network's trainable parameters.

    sens: the gradient of the output, else ones.
    """

    def __init__(self, network: Cell, loss_fn: Cell | None = None, sens: Any = None) -> None:
        super().__init__(auto_prefix=False)
        self.network, self.loss_fn, self.sens = network, loss_fn, sens
        self.weights = ParameterTuple(network.trainable_params())
        self.grad = GradOperation(get_by_list=True, sens_param=sens is not None)
        self.network_with_loss = network if loss_fn is None else WithLossCell(network, loss_fn)
        self.network_with_loss.set_train()

    def construct(self, *inputs: Any) -> Any:
        gradients = self.grad(self.network_with_loss, self.weights)
        return gradients(*inputs) if self.sens is None else gradients(*inputs, self.sens)


class _OneStep(Cell):
    """A step of training, which is one graph in either mode, unless a program has its own construct."""

    @property
    def is_one_graph(self) -> bool:
        """Whether this is a cell of MindSpore's own."""
        return type(self).construct.__module__.startswith("mindspore.")


class TrainOneStepCell(_OneStep):
    """A step: the loss, its gradients, the optimizer; gives the loss.

    sens: the number that the gradient of the loss is filled with.
    """

    def __init__(self, network: Cell, optimizer: Cell, sens: float | None = 1.0) -> None:
        super().__init__(auto_prefix=False)
        self.network, self.optimizer, self.sens = network, optimizer, sens
        self.network.set_grad()
        self.network.add_flags(defer_inline=True)
        self.weights = optimizer.parameters
        self.grad = GradOperation(get_by_list=True, sens_param=True)
        self.parallel_mode = _get_parallel_mode()
        self.reducer_flag = self.parallel_mode in DATA_PARALLEL_MODES
        self.grad_reducer: Any = _same
        if self.reducer_flag:
            self.grad_reducer = DistributedGradReducer(self.weights, _get_gradients_mean(), _get_device_num())

    def construct(self, *inputs: Any) -> Any:
        loss = self.network(*inputs)
        gradients = self.grad(self.network, self.weights)(*inputs, filled_like(loss, self.sens))
        self.optimizer(self.grad_reducer(gradients))
        return loss


def _same(value: Any) -> Any:
    return value


class WithEvalCell(Cell):
    """A network with its loss: gives the loss, the network's output and the label.

    add_cast_fp32: whether output and label are cast to float32 before the loss.
    """

    def __init__(self, network: Cell, loss_fn: Cell, add_cast_fp32: bool = False) -> None:
        super().__init__(auto_prefix=False)
        self._network, self._loss_fn, self.add_cast_fp32 = network, loss_fn, add_cast_fp32

    def construct(self, data: Any, label: Any) -> Any:
        outputs = self._network(data)
        if self.add_cast_fp32:
            outputs, label = cast(outputs, float32), cast(label, float32)
        return self._loss_fn(outputs, label), outputs, label


class ParameterUpdate(Cell):
    """Gives a parameter the value that it is called with."""

    def __init__(self, param: Parameter) -> None:
        super().__init__(auto_prefix=False)
        if not isinstance(param, Parameter):
            raise TypeError(f"ParameterUpdate takes a Parameter, not {param!r}")
        self._param = param

    def construct(self, x: Any) -> Any:
        assign(self._param, x)
        return x


class VirtualDatasetCellTriple(Cell):
    """Calls the network: it would split three inputs over devices in the modes that are not simulated."""

    def __init__(self, backbone: Cell) -> None:
        super().__init__(auto_prefix=False)
        self._backbone = backbone

    def construct(self, *inputs: Any) -> Any:
        return self._backbone(*inputs)


class GetNextSingleOp(Cell):
    """A cell that reads a queue by its name: refused, as sunk data have no queue with a name here."""

    def __init__(self, dataset_types: Any, dataset_shapes: Any, queue_name: str) -> None:
        raise RuntimeError(
            "nn.GetNextSingleOp is not simulated: sunk data have no named queue here: iterate over DatasetHelper(dataset, "
            "dataset_sink_mode=False), or connect the network with connect_network_with_dataset"
        )
