"""Optimizers on rows: unique and repeated indices, one and several inner axes, ref and resource."""

from typing import Any

import numpy as np

from tests.kernels.cases.training.optimizer import variable
from tests.kernels.harness import Case, arr, case, scalar

ROWS = ((5, 3), (6,), (4, 2, 3), (3, 1))
UNIQUE, REPEATED, NONE = (2, 0), (1, 2, 1, 0, 2, 1), ()


def inputs_of(kind: str, spec: str, shape: tuple[int, ...], rows: tuple[int, ...], itype: str, dtype: str) -> list[Any]:
    """As for dense optimizers; `g` is the gradient of the rows, `i` their indices."""
    made: list[Any] = []
    for seed, word in enumerate(spec.split()):
        if word in "vp":
            made.append(variable(kind, shape, dtype, seed, 0.05 if word == "p" else -2.0))
        elif word == "g":
            made.append(arr(len(rows), *shape[1:], dtype=dtype, seed=99, low=-1, high=1))
        elif word == "i":
            made.append(np.array(rows, itype))
        else:
            made.append(np.array(5, np.int64) if word == "step" else scalar(float(word), dtype))
    return made


SPECS: dict[str, tuple[str, tuple[dict[str, Any], ...]]] = {
    "Momentum": ("v v 0.1 g i 0.9", ({}, {"use_nesterov": True})),
    "KerasMomentum": ("v v 0.1 g i 0.9", ({}, {"use_nesterov": True})),
    "Adagrad": ("v p 0.1 g i", ({}, {"update_slots": False})),
    "AdagradV2": ("v p 0.1 0.01 g i", ({}, {"update_slots": False})),
    "AdagradDA": ("v v p g i 0.1 0.05 0.2 step", ({},)),
    "Adadelta": ("v p p 0.1 0.9 0.001 g i", ({},)),
    "RMSProp": ("v p v 0.01 0.9 0.5 0.001 g i", ({},)),
    "CenteredRMSProp": ("v p p v 0.01 0.9 0.5 5.0 g i", ({},)),
    "ProximalGradientDescent": ("v 0.1 0.05 0.2 g i", ({},)),
    "ProximalAdagrad": ("v p 0.1 0.05 0.2 g i", ({},)),
    "Ftrl": ("v p v g i 0.1 0.05 0.2 -0.5", ({}, {"multiply_linear_by_lr": True})),
    "FtrlV2": ("v p v g i 0.1 0.05 0.2 0.1 -0.5", ({}, {"multiply_linear_by_lr": True})),
}
FP32_ONLY = {"AdagradDA", "ProximalGradientDescent", "ProximalAdagrad"}


def cases_of(name: str) -> list[Case]:
    spec, attributes = SPECS[name]
    made = []
    for kind in ("resource",) if name == "KerasMomentum" else ("ref", "resource"):
        op = f"SparseApply{name}" if kind == "ref" else f"ResourceSparseApply{name}"
        for attrs in attributes:
            made += [case(op, *inputs_of(kind, spec, s, UNIQUE, "int32", "float32"), **attrs) for s in ROWS]
            made += [case(op, *inputs_of(kind, spec, (4, 3), r, "int64", "float32"), **attrs) for r in (REPEATED, NONE)]
        if name not in FP32_ONLY:
            made += [case(op, *inputs_of(kind, spec, (4, 3), UNIQUE, "int32", "float16"), id="float16", rtol=4e-3)]
    return made


CASES = [one for name in SPECS for one in cases_of(name)]
