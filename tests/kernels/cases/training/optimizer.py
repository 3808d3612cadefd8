"""Optimizers: every op for ref and resource variables, every dtype TensorFlow has on the CPU, both settings of each attribute."""

from typing import Any

import numpy as np

from tests.kernels.harness import Case, Var, arr, case, scalar

SHAPES = ((3, 4), (), (0, 2), (300000,))


def variable(kind: str, shape: tuple[int, ...], dtype: str, seed: int, low: float = -2.0) -> Var:
    return Var(arr(*shape, dtype=dtype, seed=seed, low=low), kind)


def inputs_of(kind: str, spec: str, shape: tuple[int, ...], dtype: str) -> list[Any]:
    """spec, a word an input: `v` variable, `p` positive variable, `g` gradient, `step` int64, else a scalar's value."""
    made: list[Any] = []
    for seed, word in enumerate(spec.split()):
        if word in "vp":
            made.append(variable(kind, shape, dtype, seed, 0.05 if word == "p" else -2.0))
        elif word == "g":
            made.append(arr(*shape, dtype=dtype, seed=99, low=-1, high=1))
        else:
            made.append(np.array(5, np.int64) if word == "step" else scalar(float(word), dtype))
    return made


SPECS: dict[str, tuple[str, tuple[dict[str, Any], ...]]] = {
    "GradientDescent": ("v 0.1 g", ({},)),
    "Momentum": ("v v 0.1 g 0.9", ({}, {"use_nesterov": True})),
    "KerasMomentum": ("v v 0.1 g 0.9", ({}, {"use_nesterov": True})),
    "Adam": ("v v p 0.729 0.97 0.01 0.9 0.99 0.001 g", ({}, {"use_nesterov": True})),
    "AdamWithAmsgrad": ("v v p p 0.729 0.97 0.01 0.9 0.99 0.001 g", ({},)),
    "AdaMax": ("v v p 0.729 0.01 0.9 0.99 0.001 g", ({},)),
    "Adagrad": ("v p 0.1 g", ({}, {"update_slots": False})),
    "AdagradV2": ("v p 0.1 0.01 g", ({}, {"update_slots": False})),
    "AdagradDA": ("v v p g 0.1 0.05 0.2 step", ({},)),
    "Adadelta": ("v p p 0.1 0.9 0.001 g", ({},)),
    "RMSProp": ("v p v 0.01 0.9 0.5 0.001 g", ({},)),
    "CenteredRMSProp": ("v p p v 0.01 0.9 0.5 5.0 g", ({},)),
    "Ftrl": ("v p v g 0.1 0.05 0.2 -0.5", ({}, {"multiply_linear_by_lr": True})),
    "FtrlV2": ("v p v g 0.1 0.05 0.2 0.1 -0.5", ({}, {"multiply_linear_by_lr": True})),
    "ProximalGradientDescent": ("v 0.1 0.05 0.2 g", ({},)),
    "ProximalAdagrad": ("v p 0.1 0.05 0.2 g", ({},)),
    "AddSign": ("v v 0.1 1.0 0.9 0.9 g", ({},)),
    "PowerSign": ("v v 0.1 0.7 0.9 0.9 g", ({},)),
}
RESOURCE_ONLY = {"KerasMomentum", "AdamWithAmsgrad"}
FP32_ONLY = {"AdagradDA", "ProximalGradientDescent", "ProximalAdagrad"}
NO_BFLOAT16 = {"AdaMax"}
MORE = {  # special branches of one formula
    "AdagradDA": ("v v p g 0.1 0.0 0.2 step",),
    "Ftrl": ("v p v g 0.1 0.0 0.2 -0.7", "v p v g 0.1 1.0 0.0 -0.5"),
    "FtrlV2": ("v p v g 0.1 0.0 0.2 0.1 -0.7",),
    "ProximalGradientDescent": ("v 0.1 0.0 0.2 g",),
    "ProximalAdagrad": ("v p 0.1 0.0 0.2 g",),
}
# 16-bit: TensorFlow rounds after every operation, so cancellation leaves an error of the operands' size.
NARROW = {"float16": 4e-3, "bfloat16": 3e-2}


def cases_of(name: str) -> list[Case]:
    spec, attributes = SPECS[name]
    made = []
    for kind in ("resource",) if name in RESOURCE_ONLY else ("ref", "resource"):
        op = f"Apply{name}" if kind == "ref" else f"ResourceApply{name}"
        made += [case(op, *inputs_of(kind, spec, s, "float32"), **a) for s in SHAPES for a in attributes]
        made += [case(op, *inputs_of(kind, more, (3, 5), "float32")) for more in MORE.get(name, ())]
        for dtype, rtol in NARROW.items():
            if name not in FP32_ONLY and not (dtype == "bfloat16" and name in NO_BFLOAT16):
                made += [case(op, *inputs_of(kind, spec, (9,), dtype), id=dtype, rtol=rtol)]
    return made


CASES = [one for name in SPECS for one in cases_of(name)]
