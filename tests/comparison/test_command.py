"""`compare`, `dump npy` and `dump show` from outside: what they take, say, write and refuse."""

from __future__ import annotations

import csv
import html
import json
import random
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from benchmarks.damaged_dumps import damaged
from tests.comparison.hand_made import MODEL, TIME_US, Sample, whole
from tests.how_many import some


@pytest.fixture
def made(tmp_path, monkeypatch) -> Sample:
    monkeypatch.chdir(tmp_path)
    return whole(tmp_path)


def clean(folder: Path, step: int = 0) -> Sample:
    """A sample of which all agrees."""
    sample = Sample(folder, step)
    x = np.arange(6, dtype=np.float32)
    sample.operator("x", "Data")
    sample.operator("y", "Relu", ["x:0"])
    sample.tensor("x", x)
    sample.tensor("y", x)
    sample.dump("Relu", "y", [x], [x])
    sample.write_graph()
    return sample


def table(folder: Path) -> list[list[str]]:
    (path,) = folder.glob("result_*.csv")
    with path.open(newline="", encoding="utf-8") as stream:
        return list(csv.reader(stream))


def test_the_first_difference_is_told_and_table_and_page_are_written(tool, made):
    done = tool("compare", "dump", "reference", "--out", "new/out")
    assert done.code == 1
    assert "The difference begins at loss (Mean), output 0" in done.out
    assert "RelativeEuclideanDistance 1 > 3.5e-05" in done.out and "its inputs agree" in done.out
    assert len(table(Path("new/out"))) == 46 and len(list(Path("new/out").glob("result_*.html"))) == 1


def test_all_agree(tool, tmp_path):
    sample = clean(tmp_path)
    done = tool("compare", sample.step, sample.reference, "--out", tmp_path / "out")
    assert (done.code, done.err) == (0, "") and "2 agree, 0 differ" in done.out


def test_json(tool, made):
    done = tool("compare", "dump", "reference", "--format", "json", "--out", "out")
    document = json.loads(done.out)
    assert (done.code, document["first_difference"]["operator"], document["step"]) == (1, "loss", 0)
    row = next(row for row in document["rows"] if row["tensor"] == "nan:output:0")
    assert row["texts"]["CosineSimilarity"] == "nan" and row["figures"]["CosineSimilarity"] is None
    assert row["measures"]["nan_on_one_side"] == 1 and row["verdict"] == "differs"
    assert len(document["files"]) == 2


def test_what_was_taken_of_several_is_told(tool, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for step in (0, 5):
        sample = clean(tmp_path, step)
    other = sample.step.parents[1].with_name("ge_default_20261127130000_2") / "1" / "0"
    other.mkdir(parents=True)
    shutil.copytree(tmp_path / "dump" / "20261127130000", tmp_path / "dump" / "20261127120000")
    shutil.rmtree(tmp_path / "reference" / "0")
    done = tool("compare", "dump", "reference", "--out", "out")
    assert done.code == 0
    assert "Of 2 times in" in done.out and "20261127130000 is taken" in done.out
    assert "Step 5 is compared, of 0, 5." in done.out
    done = tool("compare", "dump", "reference", "--step", "7", "--out", "out")
    assert (done.code, done.err) == (2, "tf2npu: dump: there is no step 7; it has 0, 5\n")


def test_a_step_is_taken_of_the_model_that_has_it(tool, tmp_path, monkeypatch):
    """A smaller last batch is a model of its own."""
    monkeypatch.chdir(tmp_path)
    for step in (0, 1, 2):
        sample = clean(tmp_path, step)
    other = sample.step.parents[1].with_name(MODEL[:-1] + "7") / "7" / "2"
    other.parent.mkdir(parents=True)
    shutil.move(sample.step, other)
    done = tool("compare", "dump", "reference", "--step", "2", "--graph", sample.graph, "--out", "out")
    assert done.code == 0 and str(other) in done.out


def test_a_reference_of_another_graph_is_no_agreement(tool, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sample = clean(tmp_path)
    for path in sample.reference.iterdir():
        path.rename(path.with_name(f"other_{path.name}"))
    done = tool("compare", "dump", "reference", "--out", "out")
    assert done.code == 2 and "is it the reference of this graph?" in done.err and not Path("out").exists()


def test_hardly_any_partners_are_told(tool, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sample = clean(tmp_path)
    for name in ("z", "u"):
        sample.operator(name, "Relu", ["y:0"])
        sample.dump("Relu", name, [np.zeros(1, np.float32)], [np.zeros(1, np.float32)])
    sample.write_graph()
    done = tool("compare", "dump", "reference", "--out", "out")
    assert "Only 1 of 3 outputs have a partner: is it the reference of this graph?" in done.out


def test_statistics_hold_no_tensors(tool, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sample = clean(tmp_path)
    (path,) = sample.step.iterdir()
    path.rename(path.with_name(f"{path.name}.csv"))
    done = tool("compare", "dump", "reference", "--out", "out")
    assert done.code == 2 and "1 files in" in done.err and "are statistics (dump_data=stats), which hold no tensors" in done.err


def test_folders_of_precision_tool(tool, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sample = clean(tmp_path / "made")
    shutil.move(sample.folder / "dump", "precision_data/npu/debug_0/dump")
    Path("precision_data/npu/debug_0/graph").mkdir()
    shutil.move(sample.write_graph_text(), "precision_data/npu/debug_0/graph/ge_proto_00000001_graph_1_Build.txt")
    shutil.move(sample.reference, "precision_data/tf/dump")
    sample.graph.unlink()
    done = tool("compare", "precision_data", "precision_data", "--out", "out")
    assert done.code == 0, done.out + done.err
    assert "2 agree" in done.out and "ge_proto_00000001_graph_1_Build.txt" in done.out


def test_long_names_come_through_the_mapping(tool, tmp_path):
    sample = clean(tmp_path)
    for folder in (sample.step, sample.reference):
        names = []
        for n, path in enumerate(sorted(folder.iterdir())):
            digits = f"{n:020d}{path.suffix if path.suffix == '.npy' else ''}"
            names.append(f"{digits},{path.name}\n")
            path.rename(folder / digits)
        (folder / "mapping.csv").write_text("".join(names))
    done = tool("compare", tmp_path / "dump", tmp_path / "reference", "--out", tmp_path / "out")
    assert done.code == 0 and "2 agree" in done.out, done.out


def test_the_graph_of_another_model_is_not_taken(tool, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sample = clean(tmp_path)
    text = sample.graph.read_text()
    sample.graph.write_text(text.replace(MODEL, "ge_default_20261127130000_9"))
    done = tool("compare", "dump", "reference")
    assert done.code == 2 and f"no graph file of the model {MODEL}" in done.err and "--graph" in done.err
    sample.graph.write_text(text.replace(MODEL, "ge_default_20260101000000_1"))
    assert "has the number of" in tool("compare", "dump", "reference", "--out", "out").out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("nowhere reference", "there is no such folder"),
        ("graph.json reference", "this is no folder"),
        ("dump reference --graph nowhere", "there is no such file"),
        ("dump reference --threshold Cosine=1", "there is no 'Cosine'"),
        ("dump reference --threshold CosineSimilarity=high", "'high' is no number"),
        ("dump reference --threshold CosineSimilarity", "is no number"),
        ("dump reference --threshold rtol=-1", "rtol is never below 0"),
    ],
)
def test_wrong_use_is_refused(tool, made, words, said):
    done = tool("compare", *words.split())
    assert done.code == 2 and said in done.err


def test_unreadable_files_are_named_and_the_others_compared(tool, made):
    (dumped,) = made.step.glob("BiasAdd.*")
    dumped.write_bytes(dumped.read_bytes()[:-5])
    (array,) = made.reference.glob("big.0.*")
    array.write_bytes(b"no array")
    done = tool("compare", "dump", "reference", "--out", "out")
    assert done.code == 3
    assert dumped.name in done.out and array.name in done.out and "The difference begins at loss" in done.out


def test_an_array_of_objects_is_never_loaded(tool, tmp_path):
    sample = clean(tmp_path)
    ran = tmp_path / "ran"

    class Hostile:
        def __reduce__(self):
            return (open, (str(ran), "w"))

    np.save(sample.reference / f"y.0.{TIME_US}.npy", np.array([Hostile()], dtype=object))
    done = tool("compare", sample.step, sample.reference, "--out", tmp_path / "out")
    assert done.code == 3 and "only numbers and booleans are compared" in done.out and not ran.exists()


def test_links_and_pipes_are_left_out(tool, tmp_path):
    import os

    sample = clean(tmp_path)
    os.mkfifo(sample.step / f"Relu.z.9.0.{TIME_US}")
    (sample.reference / f"z.0.{TIME_US}.npy").symlink_to("/etc/passwd")
    done = tool("compare", sample.step, sample.reference, "--out", tmp_path / "out")
    assert done.code == 0 and done.out.count("it is no regular file") == 2


def test_a_name_that_is_a_formula_is_none_in_the_table(tool, tmp_path):
    sample = clean(tmp_path)
    sample.operator("=HYPERLINK()", "Abs")
    sample.write_graph()
    assert tool("compare", sample.step, sample.reference, "--out", tmp_path / "out").code == 0
    assert table(tmp_path / "out")[-1][2] == " =HYPERLINK()"


@pytest.mark.parametrize("seed", some(range(40)))
def test_damaged_files_are_named(tool, tmp_path, seed):
    """A few of the 2,000 that benchmarks/damaged_dumps.py does."""
    rng = random.Random(seed)
    sample = clean(tmp_path)
    path = rng.choice([*sample.step.iterdir(), *sample.reference.iterdir(), sample.graph])
    path.write_bytes(damaged(path.read_bytes(), rng))
    done = tool("compare", sample.step, sample.reference, "--graph", sample.graph, "--out", tmp_path / "out")
    assert done.code in (0, 1, 3) and "Traceback" not in done.out + done.err
    assert done.code != 3 or path.name in done.out + done.err


def test_dump_npy_writes_what_was_dumped(tool, made):
    done = tool("dump", "npy", "dump/20261127130000/0/" + MODEL + "/1/0", "arrays")
    assert done.code == 0
    (path,) = Path("arrays").glob("BiasAdd.fc_BiasAdd.*.output.0.npy")
    assert np.load(path).dtype == np.float16 and np.load(path).shape == (4, 5)
    (scalar,) = Path("arrays").glob("Mean.loss.*.output.0.npy")
    assert np.load(scalar).shape == (1,)
    one = tool("dump", "npy", next(made.step.glob("Add.bf.*")), "one")
    assert one.code == 0 and len(list(Path("one").iterdir())) == 4


def test_dump_npy_names_what_it_cannot_read(tool, made):
    path = next(made.step.glob("Add.bf.*"))
    path.write_bytes(b"12345678")
    done = tool("dump", "npy", made.step, "arrays")
    assert done.code == 3 and path.name in done.err and len(list(Path("arrays").iterdir())) > 30
    assert tool("dump", "npy", "nowhere", "arrays").code == 2


def test_dump_show(tool, made):
    done = tool("dump", "show", next(made.step.glob("Log.nan.*")))
    assert done.code == 0 and done.out.startswith("nan  2023-11-14 22:13:20  version 2.0")
    assert "output 0: float32 [7] ND" in done.out and "least" in done.out
    assert "1 NaN" in tool("dump", "show", next(made.reference.glob("nan.0.*"))).out
    assert tool("dump", "show", "nowhere").code == 2
    assert tool("dump", "show", made.graph).code == 3


def test_without_the_libraries_it_is_said_what_is_missing(tool, made, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "npu_formats.vendor.dump_file", None)
    done = tool("compare", "dump", "reference")
    assert done.code == 2 and "which is not installed for this Python" in done.err


def test_the_model_with_the_operators_of_the_reference_is_taken(tool, tmp_path, monkeypatch):
    """A larger one, of the first step of an Estimator, has summaries that the training graph has not."""
    monkeypatch.chdir(tmp_path)
    sample = clean(tmp_path)
    other = sample.step.parents[1].with_name("ge_default_20261127130000_2") / "2" / "0"
    shutil.copytree(sample.step, other)
    for n in range(5):
        shutil.copy(next(sample.step.iterdir()), other / f"Relu.summary_{n}.{n}.0.{TIME_US}")
    done = tool("compare", "dump", "reference", "--out", "out")
    assert done.code == 0 and f"{MODEL} is taken" in done.out


def test_folders_that_are_swapped_are_told(tool, made):
    done = tool("compare", "reference", "dump")
    assert done.code == 2
    assert "they look swapped, name the dump first, then the reference" in done.err
    assert not list(Path().glob("result_*"))


def test_the_page_has_every_reason_why_a_row_is_not_compared(tool, made):
    """The terminal shows the most frequent ones."""
    done = tool("compare", "dump", "reference", "--out", "out")
    (page,) = Path("out").glob("result_*.html")
    text = html.unescape(page.read_text(encoding="utf-8"))
    shown = [line.split(maxsplit=1)[1] for line in done.out.splitlines() if line.startswith("           ")]
    assert shown and all(reason in text for reason in shown)
    counts = re.findall(r'<tr><td class="number">(\d+)</td><td>', text[text.index('id="reasons"') :])
    assert sum(map(int, counts)) == int(re.search(r"not compared: (\d+) row", done.out).group(1))
