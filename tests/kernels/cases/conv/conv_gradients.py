"""Cases of npu_runtime.kernels.conv_gradients: the geometry of every forward case again, and the gradients' own."""

import numpy as np

from npu_runtime.graph.spec import Spec
from npu_runtime.kernels.conv.conv import conv_shape
from tests.kernels.cases.conv import conv as forward
from tests.kernels.harness import Case, arr, case


def gradients(one: Case, types: tuple[str, ...] = ("Input", "Filter")) -> list[Case]:
    """The gradient cases of a Conv2D case."""
    x, w = one.inputs
    keywords = {name: value for name, value in one.attrs.items() if name != "id"}
    shape = conv_shape(Spec(x.shape), Spec(w.shape), **keywords)
    dy = arr(*(n or 0 for n in shape or ()), dtype=x.dtype.name, seed=2)
    made = {
        "Input": case("Conv2DBackpropInput", np.array(x.shape, np.int32), w, dy, id=one.id, **keywords),
        "Filter": case("Conv2DBackpropFilter", x, np.array(w.shape, np.int32), dy, id=one.id, **keywords),
    }
    return [made[name] for name in types]


def _is_plain(one: Case) -> bool:
    """TensorFlow's CPU gradients have neither groups nor dilations."""
    return one.inputs[0].shape[3] == one.inputs[1].shape[2] and set(one.attrs.get("dilations", [1])) == {1}


BY_GEOMETRY = [made for one in forward.GEOMETRY + forward.EXPLICIT if _is_plain(one) for made in gradients(one)]
BY_TYPE = [made for one in forward.TYPES if one.inputs[0].dtype.kind != "i" for made in gradients(one)]

MORE = [
    case("Conv2DBackpropInput", np.array([7, 6], np.int32), arr(3, 3, 3, 4), arr(2, 4, 3, 4), id="two-sizes",
         strides=[1, 2, 2, 1], padding="SAME"),
]  # fmt: skip

# The filter covers the columns, the rows, or both whole: one output there.
WHOLE = [
    made
    for name, height, width, stride in (("columns", 3, 5, 1), ("rows", 6, 2, 1), ("both", 6, 5, 1), ("strided", 6, 5, 2))
    for made in gradients(
        case("Conv2D", arr(2, 6, 5, 3), arr(height, width, 3, 4, seed=1), id=f"whole-{name}",
             strides=[1, stride, stride, 1], padding="VALID")
    )
]  # fmt: skip
# The rows whole, and of the columns, which are padded, one too many.
PADDED = case("Conv2D", arr(3, 2, 1, 2), arr(2, 2, 2, 3, seed=1), strides=[1, 2, 1, 1], padding="SAME", id="whole-rows-padded")

CASES = BY_GEOMETRY + BY_TYPE + MORE + WHOLE + gradients(PADDED)
