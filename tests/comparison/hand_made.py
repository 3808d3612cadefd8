"""A dump, a graph file and a reference by hand: fused, inserted and split operators, casts, images, scalars, what is missing."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
from google.protobuf import text_format

from npu_formats.vendor.dump_file import ND, NHWC, header_bytes, pieces
from npu_formats.vendor.graph_messages import ModelDef

TIME_US = 1_700_000_000_000_000
MODEL = "ge_default_20261127130000_1"


@dataclass
class Sample:
    """A dump of one step below a folder, with its reference and its graph."""

    folder: Path
    step_number: int = 0
    operators: list[dict[str, Any]] = field(default_factory=list)
    n_dumped: int = 0

    def __post_init__(self) -> None:
        self.step.mkdir(parents=True, exist_ok=True)
        self.reference.mkdir(parents=True, exist_ok=True)

    @property
    def step(self) -> Path:
        return self.folder / "dump" / "20261127130000" / "0" / MODEL / "1" / str(self.step_number)

    @property
    def reference(self) -> Path:
        return self.folder / "reference" / str(self.step_number)

    @property
    def graph(self) -> Path:
        return self.folder / "graph.json"

    def dump(
        self, op_type: str, name: str, inputs: Sequence[np.ndarray], outputs: Sequence[np.ndarray], layout: int = ND
    ) -> Path:
        self.n_dumped += 1
        start = header_bytes(name, TIME_US, [(a, layout) for a in inputs], [(a, layout) for a in outputs])
        path = self.step / f"{op_type}.{_key(name)}.{self.n_dumped}.0.{TIME_US + self.n_dumped:016d}"
        path.write_bytes(start + b"".join(pieces([*inputs, *outputs])))
        return path

    def tensor(self, name: str, array: np.ndarray, output: int = 0) -> Path:
        path = self.reference / f"{_key(name)}.{output}.{TIME_US}.npy"
        np.save(path, array)
        return path

    def operator(
        self, name: str, op_type: str, inputs: Sequence[str] = (), *, outputs: Sequence[dict] = ({},), **attributes
    ) -> None:
        """attributes: original_op_names, is_multiop, l1, line.  outputs: attributes of each, origin_name and so on."""
        described = [{"dtype": "DT_FLOAT", "layout": "ND", "attr": _attributes(**one)} for one in outputs]
        self.operators.append(
            {"name": name, "type": op_type, "id": len(self.operators), "input": list(inputs), "attr": _attributes(**attributes),
             "output_desc": described}
        )  # fmt: skip

    def write_graph(self) -> Path:
        self.graph.write_text(json.dumps({"graph": [{"name": MODEL, "op": self.operators}]}))
        return self.graph

    def write_graph_text(self) -> Path:
        """The same graph as a text of the graph compiler, beside the JSON."""
        model = ModelDef(name=MODEL)
        graph = model.graph.add(name=MODEL)
        for operator in self.operators:
            op = graph.op.add(name=operator["name"], type=operator["type"], id=operator["id"], input=operator["input"])
            _put_attributes(op.attr, operator["attr"])
            for described in operator["output_desc"]:
                _put_attributes(op.output_desc.add(dtype="DT_FLOAT", layout="ND").attr, described["attr"])
        path = self.graph.with_suffix(".txt")
        path.write_text(text_format.MessageToString(model))
        return path


def _put_attributes(into: Any, pairs: list[dict[str, Any]]) -> None:
    for pair in pairs:
        value = into[pair["key"]]
        for kind, given in pair["value"].items():
            if kind == "list":
                value.list.SetInParent()
                value.list.s.extend(text.encode() for text in given.get("s", []))
                value.list.i.extend(given.get("i", []))
            else:
                setattr(value, kind, given.encode() if kind == "s" else given)


_KEYS = {
    "original_op_names": "_datadump_original_op_names", "is_multiop": "_datadump_is_multiop", "l1": "_L1_fusion_sub_graph_no",
    "origin_name": "_datadump_origin_name", "origin_index": "_datadump_origin_output_index", "line": "_user_line",
}  # fmt: skip


def _attributes(**given: Any) -> list[dict[str, Any]]:
    found = []
    for name, value in given.items():
        if isinstance(value, list):
            kind = "s" if any(isinstance(one, str) for one in value) or name == "original_op_names" else "i"
            coded: dict[str, Any] = {"list": {kind: value} if value else {}}
        else:
            coded = {"b" if isinstance(value, bool) else "i" if isinstance(value, int) else "s": value}
        found.append({"key": _KEYS.get(name, name), "value": coded})
    return found


def _key(name: str) -> str:
    return name.replace("/", "_").replace(".", "_")


def whole(folder: Path) -> Sample:
    """The sample that the vendor's program has compared; its table is tests/fixtures/compare/result_table.csv."""
    made = Sample(folder)
    rng = np.random.default_rng(1)

    def normal(*shape: int) -> np.ndarray:
        return rng.normal(size=shape).astype(np.float32)

    x, w, b = normal(4, 6), normal(6, 5), normal(5)
    for name, op_type, value in (("x", "Data", x), ("w", "Variable", w), ("fc/bias", "Variable", b)):
        made.operator(name, op_type)
        made.tensor(name, value)
    product = x @ w
    made.operator("fc/MatMul", "MatMul", ["x:0", "w:0", "x:-1"], line="model.py:7")
    made.tensor("fc/MatMul", product)
    made.dump("MatMul", "fc/MatMul", [x, w], [product + np.float32(1e-6) * normal(4, 5)])
    _casts_and_fusions(made, product, b)
    _images_and_scalars(made, normal(2, 3, 3, 5), x)
    _types(made, x)
    _long_and_odd(made, normal(300, 1001), normal(7), x)
    made.write_graph()
    return made


def _casts_and_fusions(made: Sample, product: np.ndarray, b: np.ndarray) -> None:
    half = product.astype(np.float16)
    made.operator("trans_Cast_1", "Cast", ["fc/MatMul:0"], original_op_names=[])
    made.dump("Cast", "trans_Cast_1", [product], [half])
    made.operator("fc/BiasAdd", "BiasAdd", ["trans_Cast_1:0", "fc/bias:0"])
    made.tensor("fc/BiasAdd", product + b)
    made.dump("BiasAdd", "fc/BiasAdd", [half, b.astype(np.float16)], [(product + b).astype(np.float16)])
    r = np.maximum(product + b, 0)
    made.operator(
        "fc/ReluBias", "FusedRelu", ["fc/BiasAdd:0"], original_op_names=["fc/a", "fc/Relu"], outputs=[{"origin_name": "fc/Relu"}]
    )
    made.tensor("fc/Relu", r)
    made.dump("FusedRelu", "fc/ReluBias", [product + b], [r])
    made.operator(
        "two",
        "Fused",
        ["fc/ReluBias:0"],
        original_op_names=["p/q", "p/r"],
        outputs=[{}, {"origin_name": "p/r", "origin_index": 1}],
    )
    made.tensor("p/r", r * 2, 1)
    made.dump("Fused", "two", [r], [r, r * 2])
    made.operator("m_1", "Split1", ["two:1"], original_op_names=["m"], is_multiop=True)
    made.dump("Split1", "m_1", [r * 2], [r])
    made.operator("m_2", "Split2", ["m_1:0"], original_op_names=["m"], is_multiop=True, outputs=[{"origin_name": "m"}])
    made.tensor("m", r * 3)
    made.dump("Split2", "m_2", [r], [r * 3])
    made.operator("inserted", "Sub", ["m_2:0"], original_op_names=[])
    made.dump("Sub", "inserted", [r * 3], [r])


def _images_and_scalars(made: Sample, image: np.ndarray, x: np.ndarray) -> None:
    made.operator("conv", "Conv2D", ["x:0"], outputs=[{"origin_format": "NHWC", "origin_shape": [2, 3, 3, 5]}])
    made.tensor("conv", image)
    made.dump("Conv2D", "conv", [x], [image], NHWC)
    made.operator("loss", "Mean", ["conv:0"])
    made.tensor("loss", np.float32(3))
    made.dump("Mean", "loss", [image], [np.zeros((), np.float32)], NHWC)
    made.operator("bools", "Greater", ["x:0"])
    made.tensor("bools", x > 0)
    made.dump("Greater", "bools", [x], [x > 0.1])
    made.operator("none", "Abs", ["x:0"])
    made.tensor("none", x)
    made.operator("shape", "Reshape", ["x:0"])
    made.tensor("shape", x[:2])
    made.dump("Reshape", "shape", [x], [x])
    made.operator("empty", "Slice", ["x:0"])
    made.tensor("empty", x[:0])
    made.dump("Slice", "empty", [x], [x[:0]])


def _types(made: Sample, x: np.ndarray) -> None:
    made.operator("bf", "Add", ["x:0", "gone:0"])
    made.tensor("bf", x)
    made.dump("Add", "bf", [x.astype(ml_dtypes.bfloat16), x, x], [x.astype(ml_dtypes.bfloat16)])
    made.operator("ints", "Add", ["x:0"])
    made.tensor("ints", np.arange(5))
    made.dump("Add", "ints", [], [np.arange(5, dtype=np.int32)])
    made.operator("f64", "Cast64")
    made.tensor("f64", x.astype(np.float64))
    made.dump("Cast64", "f64", [], [x.astype(np.float64) * 1.00001])


def _long_and_odd(made: Sample, big: np.ndarray, some: np.ndarray, x: np.ndarray) -> None:
    made.operator("zero", "ZerosLike", ["x:0"])
    made.tensor("zero", np.zeros(6, np.float32))
    made.dump("ZerosLike", "zero", [x], [np.ones(6, np.float32)])
    made.operator("big", "Mul")
    made.tensor("big", big)
    made.dump("Mul", "big", [], [big * np.float32(1.001)])
    made.dump("Mul", "big", [], [big * np.float32(1.0001)])  # it ran twice: the later one counts
    some[2] = np.nan
    made.operator("nan", "Log")
    made.tensor("nan", some)
    made.dump("Log", "nan", [], [np.where(np.isnan(some), 1, some).astype(np.float32)])
    for name, op_type, source, scale in (("L1a", "A", "x:0", 2), ("L1b", "B", "L1a:0", 3)):
        made.operator(name, op_type, [source], l1="g1", original_op_names=[f"{name}_of"], outputs=[{"origin_name": f"{name}_of"}])
        made.tensor(f"{name}_of", x * scale)
        made.dump(op_type, name, [x], [x * scale])
