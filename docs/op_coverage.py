"""The page that says, for every op of TensorFlow's public functions, where it runs, for which types, and what is missing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from npu_runtime import dtypes as dt
from npu_runtime.analysis.host_only_ops import nature_of
from npu_runtime.graph.ops import SOURCES, STRUCTURAL, VARIABLES
from npu_runtime.kernels.base import Kernel, all_kernels
from npu_runtime.kernels.limitations import LIMITATIONS

INVENTORY = Path(__file__).parents[1] / "tests" / "fixtures" / "ops" / "public_ops.json"
CALLS = frozenset({"PartitionedCall", "StatefulPartitionedCall"})
FUNCTIONAL = frozenset({"If", "StatelessIf", "Case", "StatelessCase", "While", "StatelessWhile"})
HEAD = """# Coverage of TensorFlow's ops

Built from what TensorFlow {version} itself puts into graphs: {n_functions} calls of the public functions of `tf.nn`, `tf.layers`,
`tf.keras.layers`, `tf.math`, `tf.image`, `tf.losses`, `tf.metrics`, the optimizers (ref and resource variables, dense and
sparse) and more of what training code uses, each with its gradient (`tools/op_inventory`). {n_ops} op types come out:

- {device} run on the device,
- {executor} are done by the executor itself: control flow, variables, constants, calls of functions,
- {nature} belong to the host by nature ([host_ops.md](host_ops.md)),
- {gaps} are gaps: they run on the host, with a reason in the run log. They are listed first.

Types are those of attribute T unless another is named. float64, complex numbers, strings, resources and quantised types are
left out of the table: the device has none of them, such a node runs on the host. A type in the column "missing" has a kernel
on TensorFlow's CPU and none here; such a node runs on the host. An attribute in the last column has values that do, too; all
others take every value. What a value may differ by is said in `tests/kernels/generated/checks.py`; beside that:

- Numbers below 1.18e-38 are zero in a step, as in TensorFlow's, of whose kernels some still see them (Sin, Lgamma, Atan2).
- In a row with a NaN or infinity TensorFlow's Softmax leaves zeros beside the NaN, the device's row is NaN throughout.
- Where a NaN goes in TensorFlow's SegmentMax and SegmentMin depends on the width of the machine's vectors, and in TopKV2 on its
  sorting algorithm, as its comparison gives a NaN no place: the device's segment is NaN, and its NaN come last.
- A float outside of the range of an integer of 8 or 16 bits is cast modulo that range; in TensorFlow it is that or the end of
  the range, by its place in a vector.
- What has nothing to do, as a sum over no axes, a cast to the same type or a slice of everything, gives a value of its own;
  TensorFlow hands on the memory, which shows there what a ref variable becomes later.
"""


COLUMNS = "| op | element types | missing | used by | runs on the host for |"


def coverage_page() -> str:
    """The page's text."""
    inventory = json.loads(INVENTORY.read_text(encoding="utf-8"))
    users: dict[str, list[str]] = {}
    for name, ops in sorted(inventory["functions"].items()):
        for op in ops:
            users.setdefault(op, []).append(name)
    kernels = all_kernels()
    places = {op: place_of(op) for op in inventory["cpu"]}
    counts = {place: sum(p == place for p in places.values()) for place in ("device", "executor", "nature", "gaps")}
    head = HEAD.format(version=inventory["version"], n_functions=len(inventory["functions"]), n_ops=len(places), **counts)
    gaps = [f"| {op} | {LIMITATIONS[op]} | {_some(users.get(op, []))} |" for op, place in places.items() if place == "gaps"]
    rows = [_row(kernels[op], inventory["cpu"][op], users.get(op, [])) for op, place in places.items() if place == "device"]
    return "\n".join([
        head, "## Gaps", "", "| op | why | used by |", "|---|---|---|", *gaps, "",
        "## Ops on the device", "", COLUMNS,
        "|---|---|---|---|---|", *rows, "",
    ])  # fmt: skip


def place_of(op: str) -> str:
    """The part that runs an op: "device", "executor", "nature" or "gaps"."""
    if op in all_kernels():
        return "device"
    if op in SOURCES | VARIABLES | STRUCTURAL | CALLS | FUNCTIONAL:
        return "executor"
    return "nature" if nature_of(op) else "gaps"


def _row(kernel: Kernel, on_cpu: dict[str, list[str]], users: list[str]) -> str:
    attrs = sorted({*kernel.dtypes} & {*on_cpu} or {*kernel.dtypes})
    allowed = {attr: sorted(kernel.dtypes.get(attr, dt.ALL)) for attr in attrs}
    types = "; ".join(_named(attr, names) for attr, names in allowed.items())
    lacking = {attr: sorted((set(names) & dt.ALL) - kernel.dtypes.get(attr, dt.ALL)) for attr, names in on_cpu.items()}
    missing = "; ".join(_named(attr, names) for attr, names in lacking.items() if names)
    refused = (kernel.refuse.__doc__ or "").strip().split("\n")[0] if kernel.refuse else ""
    return f"| {kernel.op} | {types} | {missing} | {_some(users)} | {refused} |"


def _named(attr: str, types: list[str]) -> str:
    return ("" if attr == "T" else f"{attr}: ") + ", ".join(types)


def _some(users: list[str]) -> str:
    """The first three, and how many more."""
    more = f" and {len(users) - 3} more" if len(users) > 3 else ""
    return ", ".join(f"`{name}`" for name in users[:3]) + more


def unexplained() -> list[Any]:
    """Gaps without a reason, reasons without a gap, and refusals that say nothing: all empty."""
    inventory = json.loads(INVENTORY.read_text(encoding="utf-8"))
    gaps = {op for op in inventory["cpu"] if place_of(op) == "gaps"}
    silent = sorted(op for op, kernel in all_kernels().items() if kernel.refuse and not kernel.refuse.__doc__)
    return [sorted(gaps - LIMITATIONS.keys()), sorted(op for op in LIMITATIONS if op in all_kernels()), silent]
