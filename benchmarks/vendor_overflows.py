"""The report of the vendor's `overflow` on overflow dumps, beside what our readers see in them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.vendor_program import ROOT, VendorProgram
from npu_formats.vendor.dump_file import DumpedTensor, read_header

KINDS = {"Ascend910A": ("AI Core", "AI Core"), "Ascend910B2": ("AIC", "AIV")}
"""The program's words for an overflow of a product, and of any other operator, by chip: the first family's cores are not
split."""
_MOST_SHOWN = 5
"""Overflows that the program is willing to show."""
_TABLE = "Opdebug.Node_OpDebug."
_NETWORK = """
import sys
from pathlib import Path
import tensorflow.compat.v1 as tf
from tests.dump.networks import run

def large():
    x = tf.placeholder(tf.float16, (2, 2), "x")
    half = tf.multiply(tf.matmul(x, x, name="scope/product"), 0.5, name="half")
    return tf.subtract(half, tf.add(x, x, name="sum"), name="rest")

run(large, {"x:0": [[6e4, 1], [2, 3]]}, enable_dump_debug=True, dump_path=Path(sys.argv[1]), fusion="off", soc=sys.argv[2])
"""


def overflow_differences(program: VendorProgram, folder: Path) -> dict[str, list[str]]:
    """The lines of one side that the other does not have, by chip."""
    return {f"overflows on {soc}": list(_of_chip(program, folder / soc, soc)) for soc in KINDS}


def _of_chip(program: VendorProgram, folder: Path, soc: str) -> Iterator[str]:
    dump, out = folder / "dump", folder / "out"
    for path in (dump, out):
        path.mkdir(parents=True)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "3"}
    command = [sys.executable, "-c", _NETWORK, str(dump), soc]
    subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True)
    (step,) = {path.parent for path in dump.rglob(f"{_TABLE}*")}
    subprocess.run(program.command("overflow", "-d", step, "-out", out, "-n", str(_MOST_SHOWN)), capture_output=True, check=True)
    (summary,) = out.glob("overflow_summary_*.txt")
    theirs = [line for line in summary.read_text().splitlines() if not line.startswith("=")]
    ours = list(_lines(step, KINDS[soc]))
    yield from (f"theirs {a!r}, ours {b!r}" for a, b in zip(theirs, ours, strict=False) if a != b)
    if len(theirs) != len(ours) or not ours:
        yield f"{len(theirs)} lines, ours are {len(ours)}"


def _lines(step: Path, kinds: tuple[str, str]) -> Iterator[str]:
    """The expected lines on a step: each overflow in the order of time, with its tensors."""
    for table in sorted(step.glob(f"{_TABLE}*"), key=lambda path: path.name.rpartition(".")[2]):
        task, stream, time_us = table.name.removeprefix(_TABLE).split(".")
        (path,) = (path for path in step.glob(f"*.{task}.{stream}.{time_us}") if path != table)
        header = read_header(path)
        op_type = path.name.partition(".")[0]
        yield f"[{op_type}] {header.op_name}"
        yield f" [{kinds['MatMul' not in op_type]}][TaskId:{task}][StreamId:{stream}][Status:1]"
        yield f" [timestamp:{time_us}]"
        for side, tensors in (("input", header.inputs), ("output", header.outputs)):
            for n, tensor in enumerate(tensors):
                yield f" {path.name}.{side}.{n}.npy"
                yield f" -[Format: ND] {_described(tensor)}"


def _described(tensor: DumpedTensor) -> str:
    array = tensor.read().reshape(tensor.shape or (1,))
    with np.errstate(all="ignore"):
        numbers = f"[Max: {np.max(array)}] [Min: {np.min(array)}] [Mean: {array.mean()}]"
    return f"[Shape: {array.shape}] [Dtype: {array.dtype}] {numbers}"
