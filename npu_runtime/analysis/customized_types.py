"""Types that a script's file asks for, by operator or by node."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field, replace

from npu_formats.device.op_table import OpOnDevice
from npu_formats.files.whole_file import given_text
from npu_runtime.errors import InvalidArgument

_LINE = re.compile(r"(?:OpType::(?P<op>[^:\s]+):|(?P<node>\S+?)::)InputDtype:(?P<given>[\w,]*?),?OutputDtype:(?P<made>[\w,]*)")
_FLOATS = {"float16": "float16", "bfloat16": "bfloat16", "float32": "float32", "float": "float32"}

FLOAT32 = ("float32", "float32")
"""Entry of the file for a node that reads and gives fp32."""


@dataclass(frozen=True)
class CustomizedTypes:
    """(type of the inputs, type of the results) by node and by operator of the device."""

    nodes: dict[str, tuple[str, str]] = field(default_factory=dict)
    ops: dict[str, tuple[str, str]] = field(default_factory=dict)

    def of(self, node: str, row: OpOnDevice) -> tuple[str, str] | None:
        """The types that the file gives a node: by its name first, then by an operator that it is, or becomes; None for none."""
        names = (row.device_op, *row.forms, row.tf_op)
        return self.nodes.get(node) or next((self.ops[name] for name in names if name in self.ops), None)

    def with_float32(self, nodes: Collection[str]) -> CustomizedTypes:
        """The same but for these nodes, which read and give fp32."""
        return replace(self, nodes={**self.nodes, **dict.fromkeys(nodes, FLOAT32)}) if nodes else self

    def has(self, dtype: str) -> bool:
        """Whether any line asks for a type."""
        return any(dtype in types for types in (*self.nodes.values(), *self.ops.values()))


def read_customized_types(path: str) -> CustomizedTypes:
    """The lines of a file: `OpType::MatMulV2:InputDtype:float16,float16,OutputDtype:float32`, or `node/name::InputDtype:...`.

    The first floating type of inputs and of results counts for all of them.
    Raises: InvalidArgument that names file and line.
    """
    try:
        text = given_text(path)
    except (OSError, ValueError) as error:
        raise InvalidArgument(f"customize_dtypes: {path} cannot be read: {error}") from None
    found = CustomizedTypes()
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        match = _LINE.fullmatch(line.strip())
        types = (_first(match["given"]), _first(match["made"])) if match else ("", "")
        if match is None or not any(types):
            raise InvalidArgument(
                f"customize_dtypes: {path}, line {number}: write OpType::MatMulV2:InputDtype:float16,float16,OutputDtype:float32 "
                f"or node/name::InputDtype:float16,OutputDtype:float16, not {line.strip()!r}"
            )
        place = found.ops if match["op"] else found.nodes
        place[match["op"] or match["node"]] = (types[0] or types[1], types[1] or types[0])
    return found


def _first(names: str) -> str:
    return next((_FLOATS[name] for name in names.split(",") if name in _FLOATS), "")
