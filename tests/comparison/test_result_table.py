"""The table of a whole comparison against the one that the vendor's program wrote for the same files."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
import pytest

from tests.comparison.hand_made import Sample, whole
from tf2npu.comparison.comparison import Comparison, compare
from tf2npu.comparison.result_table import HEADER_OF_2020, OF_2020, OWN, Columns, csv_lines
from tf2npu.comparison.verdicts import Thresholds

FIXTURE = Path(__file__).parents[1] / "fixtures" / "compare" / "result_table.csv"


def compared(made: Sample, reference: Path | None = None, **thresholds: float) -> Comparison:
    graph = None if reference else made.graph
    return compare(made.step, reference or made.reference, graph=graph, step=None, thresholds=Thresholds(thresholds))


def cells(found: Comparison, columns: Columns | None = None) -> list[list[str]]:
    return list(csv.reader(io.StringIO("".join(csv_lines(found.rows, columns or found.columns)), newline="")))


def test_every_cell_of_the_vendors_columns_is_the_vendors(tmp_path):
    made = whole(tmp_path)
    text = FIXTURE.read_text(encoding="utf-8").replace("{sample}", str(tmp_path.resolve()))
    wanted = list(csv.reader(io.StringIO(text)))
    found = cells(compared(made))
    assert found[0] == [*wanted[0], *OWN]
    assert [row[: len(wanted[0])] for row in found[1:]] == wanted[1:]


def test_the_table_of_2020_has_its_columns(tmp_path):
    found = compared(whole(tmp_path))
    table = cells(found, Columns(OF_2020))
    assert tuple(table[0]) == HEADER_OF_2020
    full = cells(found)
    places = [full[0].index(name) for name in ("Index", "NPUDump", "GroundTruth", "TensorIndex", "CosineSimilarity")]
    assert [row[:5] for row in table[1:]] == [[row[place] for place in places] for row in full[1:]]


def test_two_dumps_of_one_run_agree_and_have_both_addresses(tmp_path):
    found = compared(whole(tmp_path / "a"), whole(tmp_path / "b").step)
    assert cells(found)[0][4:9] == ["Address", "GroundTruth", "DataType", "Address", "TensorIndex"]
    assert {row.verdict for row in found.rows} == {"agrees"} and found.first_difference() is None


def test_two_dumps_that_differ(tmp_path):
    x = np.arange(6, dtype=np.float32)
    one, other = Sample(tmp_path / "a"), Sample(tmp_path / "b")
    for made, factor in ((one, 1), (other, 2)):
        made.dump("Add", "add", [x], [x + x])
        made.dump("Mul", "mul", [x + x], [x * factor])
        made.dump("Neg", "neg", [x * factor], [-x * factor])
    one.dump("Abs", "only/here", [x], [x])
    other.dump("Abs", "only_there", [x], [x])
    other.dump("Cut", "cut", [x], [x])
    one.dump("Cut", "cut", [x[:3]], [x[:3]])
    found = compared(one, other.step)
    first = found.first_difference()
    assert first is not None and (first.operator, first.tensor) == ("mul", "mul:output:0")
    reasons = {row.device + row.reference: row.reason for row in found.rows if row.tensor == "NaN"}
    assert reasons["only_here*"] == '[only_here] There is no the ground truth dump file for the op "only_here".'
    assert reasons["*only_there"] == '[only_there] There is no the my output dump file for the op "only_there".'
    assert "The shape does not match ((3) vs (6)) for cut:input:0." in reasons["cutcut"]


def test_the_first_difference_is_where_inputs_agree(tmp_path):
    made = Sample(tmp_path)
    x = np.linspace(1, 2, 60, dtype=np.float32).reshape(3, 20)
    made.operator("x", "Data")
    made.tensor("x", x)
    values = {"a": x * 2, "b": x * 4, "c": x * 8}
    device = {"a": x * 2, "b": x * np.float32(4.1), "c": x * np.float32(8.2)}
    before = "x"
    for name in "abc":
        made.operator(name, "Mul", [f"{before}:0"], line=f"model.py:{ord(name)}")
        made.tensor(name, values[name])
        made.dump("Mul", name, [device.get(before, x)], [device[name]])
        before = name
    made.operators.reverse()  # the order of the file says nothing; `id` does
    made.write_graph()
    first = compared(made).first_difference()
    assert first is not None and (first.operator, first.line) == ("b", "model.py:98")
    assert next(name for name, _, _ in first.missed) == "RelativeEuclideanDistance"


def test_what_has_no_reference_hands_on_what_its_inputs_have(tmp_path):
    """`b` is not in the reference and takes what differs already: `c` is not where the difference begins."""
    made = Sample(tmp_path)
    x = np.linspace(1, 2, 60, dtype=np.float32)
    wrong = x * np.float32(1.1)
    for name, source, taken in (("x", "", None), ("a", "x", x), ("b", "a", wrong), ("c", "b", wrong)):
        made.operator(name, "Mul" if source else "Data", [f"{source}:0"] if source else [])
        if name != "b":
            made.tensor(name, x)
        if taken is not None:
            made.dump("Mul", name, [taken], [wrong])
    made.write_graph()
    first = compared(made).first_difference()
    assert first is not None and first.operator == "a"
    next(made.step.glob("Mul.a.*")).unlink()
    first = compared(made).first_difference()
    assert first is not None and first.tensor == "b:input:0"


def test_a_wrong_scalar_is_wrong_though_its_cosine_is_one(tmp_path):
    found = compared(whole(tmp_path))
    (row,) = [row for row in found.rows if row.tensor == "loss:output:0"]
    assert (row.figures[0], row.verdict) == ("1.000000", "differs")


def test_a_threshold_of_the_users_counts_for_every_type(tmp_path):
    made = whole(tmp_path)
    assert compared(made, RelativeEuclideanDistance=1e-9).counts()["differs"] > compared(made).counts()["differs"]


def test_sixteen_bits_have_the_vendors_thresholds(tmp_path):
    made = Sample(tmp_path)
    x = np.linspace(1, 2, 50, dtype=np.float32)
    for name, factor in (("near", 1.04), ("far", 1.06)):
        made.operator(name, "Add")
        made.tensor(name, x)
        made.dump("Add", name, [], [(x * np.float32(factor)).astype(np.float16)])
    made.write_graph()
    assert {row.operator: row.verdict for row in compared(made).rows} == {"near": "agrees", "far": "differs"}


def test_a_sum_that_cancels_is_no_difference(tmp_path):
    """The gradient of a bias in front of a batch normalisation: zero, but for the rounding of each side."""
    made = Sample(tmp_path)
    rng = np.random.default_rng(1)
    gradient = rng.normal(size=(4096, 8)).astype(np.float32)
    gradient -= gradient.mean(0)
    for name, source, one, other in (
        ("db", "dy", gradient.sum(0), gradient[::-1].sum(0)), ("m", "db", gradient.sum(0) * 2, gradient[::-1].sum(0) * 2),
    ):  # fmt: skip
        made.operator(name, "BiasAddGrad" if name == "db" else "Mul", [f"{source}:0"])
        made.tensor(name, other)
        made.dump("Add", name, [gradient if name == "db" else gradient.sum(0)], [one])
    made.operator("dy", "Data")
    made.tensor("dy", gradient)
    made.write_graph()
    found = compared(made)
    assert {row.tensor: row.verdict for row in found.rows if row.tensor != "NaN"} == {
        "db:input:0": "agrees", "db:output:0": "rounding", "m:input:0": "rounding", "m:output:0": "rounding",
    }  # fmt: skip
    assert found.first_difference() is None


@pytest.mark.parametrize(("layout", "number"), [("NC1HWC0", 3), ("FRACTAL_Z", 4), ("FRACTAL_NZ", 29)])
def test_a_chips_layouts_are_read(tmp_path, layout, number):
    """Laid out by their description: channels, or rows and columns, in blocks of 16 with zeros behind."""
    rng = np.random.default_rng(number)
    made = Sample(tmp_path)
    if layout == "FRACTAL_NZ":
        value = rng.normal(size=(5, 20)).astype(np.float32)
        padded = np.zeros((16, 32), np.float32)
        padded[:5, :20] = value
        stored = np.stack([padded[:, 16 * n : 16 * n + 16].reshape(1, 16, 16) for n in range(2)])
        described = {"origin_format": "ND", "origin_shape": [5, 20]}
    elif layout == "NC1HWC0":
        value = rng.normal(size=(2, 3, 4, 20)).astype(np.float32)
        stored = np.zeros((2, 2, 3, 4, 16), np.float32)
        for channel in range(20):
            stored[:, channel // 16, :, :, channel % 16] = value[..., channel]
        described = {"origin_format": "NHWC", "origin_shape": [2, 3, 4, 20]}
    else:
        value = rng.normal(size=(3, 2, 20, 7)).astype(np.float32)
        stored = np.zeros((2 * 3 * 2, 1, 16, 16), np.float32)
        for h, w, c, n in np.ndindex(value.shape):
            stored[(c // 16 * 3 + h) * 2 + w, n // 16, n % 16, c % 16] = value[h, w, c, n]
        described = {"origin_format": "HWCN", "origin_shape": [3, 2, 20, 7]}
    made.operator("x", "Conv2D", outputs=[described])
    made.tensor("x", value)
    made.dump("Conv2D", "x", [], [stored], number)
    _say_original_shape(made.step, value.shape)
    made.write_graph()
    (row,) = compared(made).rows
    assert (row.verdict, row.values["MaxAbsoluteError"]) == ("agrees", 0.0), row


def _say_original_shape(step: Path, shape: tuple[int, ...]) -> None:
    """The header of the one file, with the shape of the operator in place of that of the chip."""
    from npu_formats.vendor.dump_messages import DumpData

    (path,) = step.iterdir()
    data = path.read_bytes()
    n = int.from_bytes(data[:8], "little")
    header = DumpData.FromString(data[8 : 8 + n])
    del header.output[0].original_shape.dim[:]
    header.output[0].original_shape.dim.extend(shape)
    new = header.SerializeToString()
    path.write_bytes(len(new).to_bytes(8, "little") + new + data[8 + n :])
