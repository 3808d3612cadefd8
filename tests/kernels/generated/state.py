"""Families of ops that change variables: assignments, scattered updates, optimizers dense and sparse."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from tests.kernels.cases.training.optimizer import SPECS
from tests.kernels.generated import numbers
from tests.kernels.generated.batch import Drawn
from tests.kernels.harness import Var, case

Draw = Any
RESOURCE_ONLY = {"KerasMomentum", "AdamWithAmsgrad"}
SPARSE = {  # words as in SPECS; i: row numbers behind the gradient of as many rows
    "Adagrad": "v p 0.1 g i",
    "AdagradV2": "v p 0.1 0.01 g i",
    "Momentum": "v v 0.1 g i 0.9",
    "RMSProp": "v p v 0.01 0.9 0.5 0.001 g i",
    "CenteredRMSProp": "v p p v 0.01 0.9 0.5 5.0 g i",
    "Ftrl": "v p v g i 0.1 0.05 0.2 -0.5",
    "FtrlV2": "v p v g i 0.1 0.05 0.2 0.1 -0.5",
    "Adadelta": "v p p 0.1 0.9 0.001 g i",
    "ProximalGradientDescent": "v 0.1 0.05 0.2 g i",
    "ProximalAdagrad": "v p 0.1 0.05 0.2 g i",
}
REF_SCATTERS = ("ScatterAdd", "ScatterSub", "ScatterUpdate", "ScatterMul", "ScatterDiv", "ScatterMax", "ScatterMin")
SCATTERS = (*REF_SCATTERS, *(f"Resource{op}" for op in REF_SCATTERS))
ND = (
    "ScatterNdAdd",
    "ScatterNdSub",
    "ScatterNdUpdate",
    "ResourceScatterNdAdd",
    "ResourceScatterNdSub",
    "ResourceScatterNdUpdate",
)
ASSIGNS = ("Assign", "AssignAdd", "AssignSub", "AssignVariableOp", "AssignAddVariableOp", "AssignSubVariableOp", "ReadVariableOp",
           "ResourceGather", "VariableShape")  # fmt: skip


def variable(draw: Draw, op: str, of: tuple[int, ...], dtype: str = "float32", kind: str = "usual", low: float = -2.0) -> Var:
    return Var(numbers.array(draw, of, dtype, kind, low), "resource" if "Resource" in op or "Variable" in op else "ref")


def inputs_of(draw: Draw, op: str, words: str, of: tuple[int, ...], rows: np.ndarray | None) -> list[Any]:
    """As the words say; with row numbers the gradient has a row for each."""
    made: list[Any] = []
    for word in words.split():
        if word in "vp":
            made.append(variable(draw, op, of, low=0.05 if word == "p" else -2.0))
        elif word == "g":
            made.append(numbers.array(draw, of if rows is None else (len(rows), *of[1:]), "float32", "usual", -1, 1))
        elif word == "i":
            made.append(rows)
        else:
            made.append(np.array(5, np.int64) if word == "step" else np.array(float(word), np.float32))
    return made


@st.composite
def optimizer(draw: Draw) -> Drawn:
    name = numbers.in_turn(tuple(SPECS))
    op = ("Resource" if name in RESOURCE_ONLY or draw(st.booleans()) else "") + "Apply" + name
    words, attrs = SPECS[name]
    inputs = inputs_of(draw, op, words, numbers.shape(draw, most=3), None)
    return Drawn(case(op, *inputs, **draw(st.sampled_from(attrs))), "close", relative=2e-5)


@st.composite
def sparse_optimizer(draw: Draw) -> Drawn:
    name = numbers.in_turn(tuple(SPARSE))
    op = draw(st.sampled_from(("", "Resource"))) + "SparseApply" + name
    of = (draw(st.integers(1, 9)), *numbers.shape(draw, most=2, extents=(1, 2, 3, 5)))
    rows = numbers.indices(draw, (draw(st.integers(0, 6)),), of[0])
    if name not in ("Adagrad", "Momentum", "Ftrl"):
        rows = np.unique(rows)
    return Drawn(case(op, *inputs_of(draw, op, SPARSE[name], of, rows)), "close", relative=2e-5)


@st.composite
def scatter(draw: Draw) -> Drawn:
    op = numbers.in_turn((*SCATTERS, *ND))
    of = numbers.shape(draw, least=1, most=3, extents=(1, 2, 3, 5, 8))
    dtype, n = draw(st.sampled_from(("float32", "float32", "int32"))), draw(st.integers(0, 6))
    changed = variable(draw, op, of, dtype)
    if "Nd" in op:
        depth = draw(st.integers(1, len(of)))
        places = np.stack([numbers.indices(draw, (n,), e, "int32") for e in of[:depth]], axis=1)
        places = np.unique(places, axis=0) if "Update" in op else places
        return Drawn(case(op, changed, places, numbers.array(draw, (len(places), *of[depth:]), dtype, "usual")), "close")
    rows = numbers.indices(draw, (n,), of[0])
    rows = np.unique(rows) if "Update" in op else rows
    updates = numbers.array(draw, (len(rows), *of[1:]), dtype, "positive", 1, 4)
    return Drawn(case(op, changed, rows, np.maximum(updates, 1).astype(dtype) if dtype == "int32" else updates), "close")


@st.composite
def assignment(draw: Draw) -> Drawn:
    op, of = numbers.in_turn(ASSIGNS), numbers.shape(draw)
    dtype = draw(st.sampled_from(("float32", "float32", "int32", "int64", "float16", "bfloat16")))
    if op == "ResourceGather":
        of = numbers.shape(draw, least=1, extents=(1, 2, 5))
        rows = numbers.indices(draw, numbers.shape(draw, most=2), of[0])
        return Drawn(case(op, variable(draw, op, of, dtype), rows, dtype=dtype))
    if op == "ReadVariableOp":
        return Drawn(case(op, variable(draw, op, of, dtype), dtype=dtype))
    if op == "VariableShape":
        return Drawn(case(op, variable(draw, op, of, dtype)))
    return Drawn(case(op, variable(draw, op, of, dtype), numbers.array(draw, of, dtype, "usual")), "close")


FAMILIES = {
    "optimizers": optimizer(),
    "sparse optimizers": sparse_optimizer(),
    "scattered updates": scatter(),
    "assignments": assignment(),
}
