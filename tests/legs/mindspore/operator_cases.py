"""Primitives with small drawn inputs: real MindSpore and the project's package compute their values and gradients."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import mindspore.nn as nn
import numpy as np
from mindspore import Tensor
from mindspore.common import dtype as mstype
from mindspore.ops import composite as C
from mindspore.ops import operations as P

Draw = Callable[[np.random.Generator], np.ndarray]


def floats(*shape: int, low: float = -2.0, high: float = 2.0) -> Draw:
    """Numbers of single precision between two bounds."""
    return lambda generator: generator.uniform(low, high, shape).astype(np.float32)


def positive(*shape: int) -> Draw:
    return floats(*shape, low=0.2, high=3.0)


def fractions(*shape: int) -> Draw:
    return floats(*shape, low=-0.9, high=0.9)


def integers(*shape: int, high: int = 5, dtype: type = np.int32) -> Draw:
    """Integers from zero up to and without a bound."""
    return lambda generator: generator.integers(0, high, shape).astype(dtype)


def booleans(*shape: int) -> Draw:
    return lambda generator: generator.integers(0, 2, shape).astype(bool)


def given(values: Any, dtype: type = np.float32) -> Draw:
    """The values as they are."""
    return lambda generator: np.array(values, dtype)


def generator_of(name: str) -> np.random.Generator:
    """The source of numbers of a case."""
    return np.random.default_rng(zlib.crc32(name.encode()))


@dataclass(frozen=True)
class Case:
    """A primitive of r1.1 with its attributes, tensors to call it with, and constants that follow them."""

    primitive: str
    inputs: tuple[Draw, ...]
    made_with: tuple[Any, ...] = ()
    """Attributes by position, where 2.10 has another name for them."""
    attributes: dict[str, Any] = field(default_factory=dict)
    constants: tuple[Any, ...] = ()
    as_tuple: bool = False
    """Whether the tensors are one tuple, as for Concat."""
    has_gradient: bool = True
    n_outputs: int | None = None
    """The number of outputs that are looked at, where the others say nothing; None for all."""

    def arrays(self, name: str) -> list[np.ndarray]:
        """The inputs; a case of the same name draws the same."""
        generator = generator_of(name)
        return [draw(generator) for draw in self.inputs]


class Operator(nn.Cell):
    """A case's primitive as a network."""

    def __init__(self, case: Case):
        super().__init__()
        self.primitive = getattr(P, case.primitive)(*case.made_with, **case.attributes)
        self.constants = case.constants
        self.as_tuple = case.as_tuple

    def construct(self, *inputs):
        if self.as_tuple:
            return self.primitive(inputs)
        return self.primitive(*inputs, *self.constants)


class Gradient(nn.Cell):
    """The gradients of a network with respect to all of its inputs; the last argument is the gradient of its output."""

    def __init__(self, network):
        super().__init__()
        self.network = network
        self.grad = C.GradOperation(get_all=True, sens_param=True)

    def construct(self, *inputs):
        return self.grad(self.network)(*inputs)


def leaves(value: Any) -> list[np.ndarray]:
    """The arrays of a result: of a tensor, a number or a tuple of them."""
    if isinstance(value, tuple | list):
        return [leaf for part in value for leaf in leaves(part)]
    return [np.array(value.asnumpy() if isinstance(value, Tensor) else value)]


def computed(name: str) -> dict[str, np.ndarray]:
    """A case's outputs, and the gradients of its inputs that are real numbers."""
    case = CASES[name]
    arrays = case.arrays(name)
    network, inputs = Operator(case), [Tensor(array) for array in arrays]
    outputs = leaves(network(*inputs))[: case.n_outputs]
    results = {f"out {number}": array for number, array in enumerate(outputs)}
    if case.has_gradient:
        weights = np.random.default_rng(zlib.crc32(name.encode()) + 1).uniform(-1, 1, outputs[0].shape)
        found = leaves(Gradient(network)(*inputs, Tensor(weights.astype(np.float32))))
        pairs = zip(arrays, found, strict=True)
        results |= {f"gradient {number}": leaf for number, (array, leaf) in enumerate(pairs) if array.dtype.kind == "f"}
    return results


CASES: dict[str, Case] = {}
"""The cases by name: the primitive's, with a number where it has several."""


def enter(
    primitive: str, *inputs: Draw, made_with=(), constants=(), as_tuple=False, gradient=True, n_outputs=None, **attributes
) -> None:
    """Enters a case."""
    number = sum(case.primitive == primitive for case in CASES.values())
    name = f"{primitive} {number + 1}" if number else primitive
    CASES[name] = Case(primitive, inputs, made_with, attributes, constants, as_tuple, gradient, n_outputs)


def enter_all(names: str, *inputs: Draw, **options: Any) -> None:
    for name in names.split():
        enter(name, *inputs, **options)


enter_all(
    "Abs Neg Square Exp Expm1 Sin Cos Tan Sinh Cosh Asinh Atan Erf Erfc Sigmoid Tanh ReLU ReLU6 Elu Gelu Softplus", floats(2, 3)
)
enter_all("Softsign HSwish HSigmoid Reciprocal Inv", floats(2, 3))
enter_all("Sqrt Rsqrt Log Log1p", positive(2, 3))
enter_all("Asin ACos Atanh", fractions(2, 3))
enter("Acosh", floats(2, 3, low=1.2, high=4.0))
enter_all("Floor Ceil Round Sign OnesLike ZerosLike", floats(2, 3), gradient=False)
enter("Round", given([0.5, 1.5, 2.5, -0.5, -1.5]), gradient=False)
enter_all("IsNan IsInf IsFinite", given([1.0, np.nan, np.inf, -np.inf]), gradient=False)
enter("LogicalNot", booleans(2, 3), gradient=False)

enter_all("TensorAdd Sub Mul Maximum Minimum SquaredDifference Atan2", floats(2, 3), floats(3))
enter_all("Div RealDiv", floats(2, 3), positive(2, 1))
enter("DivNoNan", floats(4), given([2.0, 0.0, -1.0, 0.5]))
enter("Pow", positive(2, 3), floats(2, 3))
enter_all("Xdivy Xlogy", floats(2, 3), positive(2, 3))
enter_all(
    "FloorDiv FloorMod Mod TruncateDiv TruncateMod",
    given([7, -7, 5, -5], np.int32),
    given([3, 3, -2, -2], np.int32),
    gradient=False,
)
enter_all("FloorDiv FloorMod", floats(2, 3), positive(2, 3), gradient=False)
enter_all("Equal NotEqual Greater GreaterEqual Less LessEqual", integers(2, 4, high=3), integers(4, high=3), gradient=False)
enter_all("LogicalAnd LogicalOr", booleans(2, 3), booleans(2, 3), gradient=False)
enter_all("BitwiseAnd BitwiseOr BitwiseXor", integers(5, high=16), integers(5, high=16), gradient=False)
enter("ApproximateEqual", given([1.0, 2.0, 3.0]), given([1.05, 2.5, 3.0]), tolerance=0.1, gradient=False)
enter("TensorAdd", integers(3), floats(2, 3), gradient=False)

enter_all("ReduceSum ReduceMean ReduceMax ReduceMin ReduceProd", floats(2, 3, 4), constants=(1,))
enter_all("ReduceSum ReduceMean ReduceMax", floats(2, 3, 4), constants=((0, 2),), keep_dims=True)
enter_all("ReduceSum ReduceMean", floats(2, 3))
enter_all("ReduceAll ReduceAny", booleans(3, 4), constants=(1,), gradient=False)
enter("CumSum", floats(2, 4), constants=(1,))
enter("CumSum", floats(2, 4), constants=(1,), exclusive=True, reverse=True)
enter("CumProd", floats(2, 4), constants=(1,))
enter("Argmax", floats(3, 4), gradient=False)
enter("Argmin", floats(3, 4), axis=0, gradient=False)
enter("ArgMaxWithValue", floats(3, 4), axis=1, keep_dims=True, gradient=False)
enter("ArgMinWithValue", floats(3, 4), gradient=False)
enter("AddN", floats(2, 3), floats(2, 3), floats(2, 3), as_tuple=True)
enter("L2Loss", floats(2, 3))
enter("L2Normalize", floats(2, 3), axis=1)
enter("SquareSumAll", floats(2, 3), floats(2, 3), gradient=False)

enter("MatMul", floats(2, 3), floats(3, 4))
enter("MatMul", floats(3, 2), floats(4, 3), transpose_a=True, transpose_b=True)
enter("BatchMatMul", floats(2, 2, 3, 4), floats(2, 2, 4, 2))
enter("BatchMatMul", floats(2, 4, 3), floats(2, 4, 2), transpose_a=True)
enter("BiasAdd", floats(2, 3, 2, 2), floats(3))

enter("Reshape", floats(2, 6), constants=((3, -1),))
enter("Transpose", floats(2, 3, 4), constants=((2, 0, 1),))
enter("Concat", floats(2, 3), floats(2, 1), as_tuple=True, axis=1)
enter("Pack", floats(2, 3), floats(2, 3), as_tuple=True, axis=1)
enter("Unpack", floats(2, 3), axis=1, gradient=False)
enter("Split", floats(2, 6), axis=1, output_num=3, gradient=False)
enter("Slice", floats(3, 4), constants=((1, 0), (2, 3)))
enter("StridedSlice", floats(4, 5), constants=((0, 4), (4, 0), (2, -2)), gradient=False)  # backwards: 2.10 gives zeros
enter("StridedSlice", floats(4, 5), constants=((1, 0), (2, 5), (1, 1)), shrink_axis_mask=1)
enter("Squeeze", floats(2, 1, 3, 1), axis=1)
enter("ExpandDims", floats(2, 3), constants=(1,))
enter("Tile", floats(2, 3), constants=((2, 2),))
ON, OFF = Tensor(np.float32(1.0)), Tensor(np.float32(-0.5))
enter("OneHot", integers(3, high=4), constants=(4, ON, OFF), gradient=False)
enter("OneHot", integers(2, 2, high=3), constants=(3, ON, OFF), axis=0, gradient=False)
enter("GatherV2", floats(4, 3), integers(2, 2, high=4), constants=(0,))
enter("GatherV2", floats(3, 4), integers(2, high=4), constants=(1,))
enter("GatherNd", floats(3, 4), given([[0, 1], [2, 3]], np.int32))
enter("ScatterNd", given([[1], [3], [1]], np.int32), floats(3, 2), constants=((4, 2),))
enter("TensorScatterUpdate", floats(3, 2), given([[0], [2]], np.int32), floats(2, 2))
enter("UnsortedSegmentSum", floats(4, 2), given([0, 2, 0, 1], np.int32), constants=(3,))
enter("UnsortedSegmentMin", floats(4, 2), given([0, 2, 0, 1], np.int32), constants=(3,), gradient=False)
enter("Select", booleans(2, 3), floats(2, 3), floats(2, 3))
enter("Cast", floats(2, 3), constants=(mstype.int32,), gradient=False)
enter("Cast", integers(2, 3), constants=(mstype.float32,), gradient=False)
enter("BroadcastTo", floats(1, 3), shape=(2, 3))
enter("ReverseV2", floats(2, 3), axis=[1])
enter("Pad", floats(2, 3), paddings=((1, 0), (0, 2)))
enter("MirrorPad", floats(2, 3), given([[1, 1], [0, 1]], np.int64), mode="REFLECT", gradient=False)
enter("SpaceToDepth", floats(1, 2, 4, 4), block_size=2)
enter("DepthToSpace", floats(1, 4, 2, 2), block_size=2)
enter("InvertPermutation", constants=((2, 0, 1),), gradient=False)
enter("TopK", floats(2, 5), constants=(2,), sorted=True, gradient=False)
enter("Diag", floats(3))
enter("DiagPart", floats(3, 3))
enter("Eye", constants=(2, 3, mstype.float32), gradient=False)
enter("Fill", constants=(mstype.float32, (2, 3), 1.5), gradient=False)
enter("ResizeNearestNeighbor", floats(1, 2, 2, 3), size=(4, 6))

enter("Conv2D", floats(2, 3, 5, 5), floats(4, 3, 3, 3), out_channel=4, kernel_size=3, pad_mode="same", stride=2)
enter("Conv2D", floats(1, 2, 5, 4), floats(3, 2, 2, 2), out_channel=3, kernel_size=2, pad_mode="pad", pad=(1, 0, 1, 1))
enter("Conv2D", floats(1, 4, 5, 5), floats(4, 2, 3, 3), out_channel=4, kernel_size=3, pad_mode="valid", group=2, dilation=1)
enter("MaxPool", floats(1, 2, 5, 5), made_with=(2, 2, "valid"))
enter("MaxPool", floats(1, 2, 5, 5), made_with=(3, 2, "same"))
enter("AvgPool", floats(1, 2, 5, 5), made_with=(3, 2, "same"))
enter(
    "LayerNorm", floats(2, 3, 4), positive(4), floats(4), begin_norm_axis=-1, begin_params_axis=-1, epsilon=1e-5, gradient=False
)
enter(
    "BatchNorm",
    floats(2, 3, 2, 2),
    positive(3),
    floats(3),
    floats(3),
    positive(3),
    is_training=False,
    epsilon=1e-3,
    gradient=False,
    n_outputs=1,
)
enter("Softmax", floats(2, 4), axis=-1)
enter("Softmax", floats(2, 3, 4), axis=1)
enter("LogSoftmax", floats(2, 4))
enter("Flatten", floats(2, 3, 2))
enter("PReLU", floats(2, 3, 2), positive(3))
enter("SoftmaxCrossEntropyWithLogits", floats(3, 4), positive(3, 4), gradient=False)
enter("SparseSoftmaxCrossEntropyWithLogits", floats(3, 4), integers(3, high=4), gradient=False)
enter("SigmoidCrossEntropyWithLogits", floats(2, 3), fractions(2, 3), gradient=False)
enter("SmoothL1Loss", floats(2, 3), floats(2, 3), beta=0.7)
enter(
    "BinaryCrossEntropy",
    floats(2, 3, low=0.1, high=0.9),
    floats(2, 3, low=0.1, high=0.9),
    positive(2, 3),
    reduction="mean",
    gradient=False,
)
enter("KLDivLoss", floats(2, 3), positive(2, 3), reduction="mean", gradient=False)
enter("LRN", positive(1, 4, 2, 2), depth_radius=2, bias=1.0, alpha=0.1, beta=0.5)
enter("InTopK", floats(3, 4), integers(3, high=4), k=2, gradient=False)
enter("ReverseSequence", floats(2, 4), given([3, 2], np.int32), seq_dim=1, batch_dim=0)
