"""Writes what the vendor publishes of PyTorch on each chip into npu_formats/pytorch/lists:

    python -m tools.build_pytorch_support TORCH_NPU OP_PLUGIN NATIVE_FUNCTIONS

TORCH_NPU: a checkout of github.com/Ascend/pytorch.  OP_PLUGIN: one of github.com/Ascend/op-plugin of the same day.
NATIVE_FUNCTIONS: PyTorch's native_functions.yaml of RELEASE; its wheel has it under torchgen/packaged/ATen/native.
The commits that the lists were made of stand in NOTICE. The same files give the same lists, byte by byte.
"""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from npu_formats.pytorch.limit_facts import COLUMNS
from tools.pytorch_support.limit_words import facts
from tools.pytorch_support.operator_kernels import device_kernels, kernels
from tools.pytorch_support.vendor_pages import Entry, entries

RELEASE = (2, 13)
PAGES = "docs/zh/api/native_api/pytorch_2-13-0"
LISTS = Path(__file__).parents[1] / "npu_formats" / "pytorch" / "lists"


def apis(checkout: Path) -> str:
    """apis.csv: an entry a row.  chips: columns that support it, `none`, or nothing where the page does not tell."""
    return _csv(("page", "line", "api", "chips", "limits"), (_row(entry) for entry in entries(checkout / PAGES)))


def operators(checkout: Path, op_plugin: Path, native_functions: Path) -> str:
    """operators.csv: an operator a row, with who computes it."""
    table = op_plugin / "op_plugin" / "config" / "op_plugin_functions.yaml"
    ours = device_kernels(table, checkout / "torch_npu" / "csrc" / "aten" / "npu_native_functions.yaml", RELEASE)
    return _csv(("operator", "kernel"), kernels(native_functions, ours).items())


def main(arguments: Sequence[str]) -> int:
    checkout, op_plugin, native_functions = map(Path, arguments)
    (LISTS / "apis.csv").write_text(apis(checkout), encoding="utf-8")
    (LISTS / "operators.csv").write_text(operators(checkout, op_plugin, native_functions), encoding="utf-8")
    return 0


def _row(entry: Entry) -> tuple[str, int, str, str, str]:
    supported = " ".join(column for column in COLUMNS if entry.chips.get(column))
    chips = supported or ("none" if entry.chips else "")
    return entry.page, entry.line, entry.api, chips, "; ".join(map(str, facts(entry.limits)))


def _csv(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(head)
    writer.writerows(rows)
    return written.getvalue()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
