"""An optimizer whose gradient is made tile by tile, of element-wise nodes: what it is made of is all that is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from npu_runtime.cost.work import n_elements
from npu_runtime.device.variable import Variable
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels import variable_access
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.fused.elementwise_regions import Region
from npu_runtime.kernels.threads.parallel import scratch
from npu_runtime.kernels.training.apply_update import DENSE

APPLY_REGION = "_ApplyRegion"


def _shape(var: Spec, *inputs: Spec, update: str, settings: Mapping[str, Any], region: Region) -> Shape | list[Shape]:
    return [] if update.startswith("Resource") else var.shape


def _flops(inputs: Sequence[Spec], outputs: Sequence[Spec], attrs: dict[str, Any]) -> float:
    """Flops as the single nodes count."""
    region = attrs["region"]
    return DENSE[attrs["update"]].flops * n_elements(Spec(region.shape, "float32")) + float(region.flops)


@kernel(APPLY_REGION, unit="vector", shape=_shape, estimate=_flops)
def apply_region(
    var: Variable, /, *inputs: Any, update: str, settings: Mapping[str, Any], region: Region
) -> Variable | tuple[()]:  # fmt: skip
    """The op `update` with these attributes, its gradient the last value of a region.

    inputs: of the op those behind var without its gradient, then the region's, each of its shape or ().  Returns and raises: as
    the op.  Every element is computed as the single nodes compute it.
    """
    one = DENSE[update]
    given = [var, *inputs[: len(one.layout.names) - 2]]
    given.insert(one.layout.grad, None)
    operands = [x.reshape(-1) if x.ndim else x for x in inputs[len(one.layout.names) - 2 :]]

    def made(start: int, stop: int) -> np.ndarray:
        gradient = scratch("gradient", (stop - start,))
        region.body(gradient, *[x[start:stop] if x.ndim else x for x in operands])
        return gradient

    one.run(given, settings, region.shape, made, len(region.steps))
    return variable_access.result(var)
