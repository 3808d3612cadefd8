"""The benchmark of migrated scripts: its data has the stated form, and it reads from a log what happened."""

from __future__ import annotations

import gzip
import json
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks import migrated_scripts
from benchmarks.migrated import outcome, pictures, texts, zoo
from benchmarks.migrated.records import write_records
from benchmarks.migrated.rows import ROWS


def bytes_below(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def parsed(path: Path) -> list:
    from tensorflow.core.example import example_pb2
    from tensorflow.python.lib.io import tf_record

    return [example_pb2.Example.FromString(record).features.feature for record in tf_record.tf_record_iterator(str(path))]


@pytest.mark.parametrize("row", [row for row in ROWS if row.number in (7, 9, 21, 30, 36, 40)], ids=lambda row: str(row.number))
def test_data_is_the_same_every_time(row, tmp_path):
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        row.prepare(tmp_path / name)
    first, second = bytes_below(tmp_path / "first"), bytes_below(tmp_path / "second")
    assert first and first == second


def test_mnist_files_have_yann_lecun_s_form(tmp_path):
    pictures.make_mnist(tmp_path, 50, 20)
    images = gzip.decompress((tmp_path / "train-images-idx3-ubyte.gz").read_bytes())
    labels = gzip.decompress((tmp_path / "t10k-labels-idx1-ubyte.gz").read_bytes())
    assert struct.unpack(">4I", images[:16]) == (2051, 50, 28, 28) and len(images) == 16 + 50 * 784
    assert struct.unpack(">2I", labels[:8]) == (2049, 20) and max(labels[8:]) < 10


def test_a_class_can_be_told_from_its_picture():
    from sklearn.linear_model import LogisticRegression

    labels = np.arange(200) % 10
    images = pictures.strokes(labels, 28, 1).reshape(200, -1) / 255
    model = LogisticRegression(max_iter=200).fit(images[:100], labels[:100])
    assert model.score(images[100:], labels[100:]) > 0.95


def test_iris_lines(tmp_path):
    pictures.make_iris(tmp_path)
    lines = (tmp_path / "iris.train").read_text().split("\n")
    assert len(lines) == 121 and {line.split(",")[4] for line in lines[:-1]} == {
        "Iris-setosa", "Iris-versicolor", "Iris-virginica",
    }  # fmt: skip
    assert all(len([float(x) for x in line.split(",")[:4]]) == 4 for line in lines[:-1])


def test_records(tmp_path):
    pictures.make_cifar_records(tmp_path / "cifar", 6)
    cifar = parsed(tmp_path / "cifar")
    assert len(cifar) == 6 and len(cifar[0]["image"].bytes_list.value[0]) == 32 * 32 * 3
    assert cifar[3]["fine_label"].int64_list.value[0] == 3 and cifar[5]["coarse_label"].int64_list.value[0] == 1
    texts.make_pretraining_records(tmp_path / "bert", 5, 16, 3, 100)
    for features in parsed(tmp_path / "bert"):
        ids = features["input_ids"].int64_list.value
        at = features["masked_lm_positions"].int64_list.value
        assert len(ids) == 16 and ids[0] == 2 and all(ids[i] == 4 for i in at) and len(at) == 3
        assert list(features["segment_ids"].int64_list.value) == [0] * 8 + [1] * 8
        assert features["masked_lm_weights"].float_list.value[:] == [1.0] * 3
    write_records(tmp_path / "kinds", [{"a": "text", "b": [1, 2], "c": np.array([0.5])}])
    (kinds,) = parsed(tmp_path / "kinds")
    assert [kinds[name].WhichOneof("kind") for name in "abc"] == ["bytes_list", "int64_list", "float_list"]


def test_imagenet_records_hold_jpeg(tmp_path):
    make = "from pathlib import Path; import sys; from benchmarks.migrated.pictures import make_imagenet_records;"
    make += "make_imagenet_records(Path(sys.argv[1]), 4, 64)"
    subprocess.run([sys.executable, "-c", make, str(tmp_path)], check=True, capture_output=True)
    features = parsed(tmp_path / "train-00000-of-00002")
    assert len(features) == 2 and features[0]["image/encoded"].bytes_list.value[0][:3] == b"\xff\xd8\xff"
    assert 1 <= features[1]["image/class/label"].int64_list.value[0] <= 10
    assert len(list(tmp_path.glob("validation-*"))) == 2


def test_sentences(tmp_path):
    texts.make_conll(tmp_path, 8)
    text = (tmp_path / "coNLL" / "eng" / "eng.train.iob").read_text()
    sentences = [part.split("\n") for part in text.strip().split("\n\n")[1:]]
    tags = {line.split(" ")[1] for sentence in sentences for line in sentence if line}
    assert len(sentences) == 8 and "O" in tags and tags <= {"O", *(f"B-{kind}" for kind in texts.ENTITIES)}
    vectors = [line.split(" ") for line in (tmp_path / "glove.6B" / "glove.6B.100d.txt").read_text().strip().split("\n")]
    assert all(len(vector) == 101 for vector in vectors) and {vector[0] for vector in vectors} >= set(texts.words())
    texts.make_mrpc(tmp_path / "MRPC", 10, 4)
    lines = (tmp_path / "MRPC" / "train.tsv").read_text().strip().split("\n")
    assert len(lines) == 11 and all(len(line.split("\t")) == 5 for line in lines)
    for line in lines[1:]:
        label, _, _, first, second = line.split("\t")
        assert (label == "1") == (first == second)
    texts.make_bert_config(tmp_path / "c.json", len(texts.make_vocabulary(tmp_path / "v.txt")))
    assert json.loads((tmp_path / "c.json").read_text())["vocab_size"] == len((tmp_path / "v.txt").read_text().split())


LOG = """
Epoch 1/2\r1/8 [>...] - ETA: 0s - loss: 2.5000\x08\x08\r8/8 [====] - loss: 2.0000 - val_loss: 9.0
INFO:tensorflow:loss = 1.5, step = 100
I1120 15:33:57.295176 1402 estimator.py:361] loss = 1.5, step = 100
| Loss 0.32519981 | accuracy 85
epoch : 0----step : 0----loss : 1e-1----sec/step : 2
no losses here: 3
INFO:tensorflow:Loss for final step: 0.05.
npu_runtime: simulated Ascend910A: 2 sessions, 24 runs, 99.50 % of 2.18e+08 floating-point operations on the device
npu_runtime:   on the host: a/b and 9 more: strings are host data
npu_runtime:   on the host: c: files are read on the host
"""


def test_what_a_log_says():
    found = outcome.read(0, 3.0, LOG)
    assert found.losses == (2.5, 2.0, 1.5, 0.32519981, 0.1, 0.05) and found.quarters == (2.5, 0.05)
    assert (found.sessions, found.share) == (2, 99.5)
    assert found.reasons == ("strings are host data", "files are read on the host")
    assert outcome.read(1, 0.0, "").quarters is None


def test_a_run_of_twenty_steps_must_learn():
    falls, rises = tuple(range(30, 0, -1)), tuple(range(30))
    assert migrated_scripts.is_good(outcome.Outcome(0, 1.0, falls))
    assert not migrated_scripts.is_good(outcome.Outcome(0, 1.0, rises))
    assert migrated_scripts.is_good(outcome.Outcome(0, 1.0, rises[:10]))
    assert not migrated_scripts.is_good(outcome.Outcome(1, 1.0, falls))


def test_without_the_model_zoo(tmp_path, capsys):
    assert migrated_scripts.main(["--model-zoo", str(tmp_path)]) == migrated_scripts.ABSENT
    assert "no checkout" in capsys.readouterr().out


@pytest.mark.parametrize("kind", ["tree", "git"])
def test_a_script_out_of_a_model_zoo_is_run_untouched(kind, tmp_path, monkeypatch, capsys):
    folder = tmp_path / "zoo" / "TensorFlow" / "one"
    folder.mkdir(parents=True)
    source = "import os, sys\nprint('loss:', sys.argv[1], os.environ['DEVICE_INDEX'])\nopen('made', 'w')\n"
    (folder / "train.py").write_text(source)
    place = tmp_path / "zoo"
    if kind == "git":
        for command in (["init", "-q"], ["add", "."], ["-c", "user.name=x", "-c", "user.email=x@y", "commit", "-qm", "x"]):
            subprocess.run(["git", *command], cwd=place, check=True, capture_output=True)
        place = place / ".git"
    assert zoo.find(place) == kind
    monkeypatch.setattr(migrated_scripts, "ROWS", (migrated_scripts.Row(7, "one", "train.py", ("0.25",)),))
    out = tmp_path / "out"
    assert migrated_scripts.main(["--model-zoo", str(place), "--how", "python", "--keep", str(out)]) == 0
    run = next((out / "7-python").rglob("train.py"))
    assert run.read_text() == source and (run.parent / "made").exists() and not (folder / "made").exists()
    table = capsys.readouterr().out
    assert "python: 1 of 1" in table and "0.25" in table
