"""Graph files and their places, as the variables of the environment ask for."""

from __future__ import annotations

import os
import textwrap
from pathlib import Path

import numpy as np
import pytest
import tensorflow.compat.v1 as tf
from google.protobuf import text_format
from tensorflow.core.framework import graph_pb2

from npu_formats.vendor.graph_messages import ModelDef, OnnxModel
from npu_runtime.observers import models
from npu_runtime.observers.graph_files import files
from npu_runtime.observers.graph_files.request import requested
from tests import fork_server
from tests.runtime.device import device_session
from tests.shim.conftest import plain_environment

STAGES = ["PreRunBegin", "AfterInfershape", "PreRunAfterOptimizeOriginalGraph", "Build"]


@pytest.fixture(autouse=True)
def first_number(monkeypatch):
    monkeypatch.setattr(files, "_NUMBERS", iter(range(1000)))


def run(**options) -> None:
    with tf.Graph().as_default(), device_session(**options) as session:
        x = tf.placeholder(tf.float32, [None, 2], "x")
        y = tf.nn.relu(tf.matmul(x, tf.constant([[1.0, 2], [3, 4]], name="w"), name="product"), name="y")
        session.run(tf.add(y, 1, name="z"), {x: np.ones([3, 2])})


def written(folder: Path) -> dict[str, list[str]]:
    """Kinds by number and stage; the number of the model, which counts over the process, is left out."""
    found: dict[str, list[str]] = {}
    for path in sorted(folder.glob("ge_*")):
        _, kind, number, _, _, stage = path.stem.split("_")
        assert path.suffix == (".pbtxt" if kind == "onnx" else ".txt")
        found.setdefault(f"{number} {stage}", []).append(kind)
    return found


def test_nobody_asks(folder):
    run()
    assert list(folder.iterdir()) == []


def test_with_a_dump_there_is_what_was_built(folder, tmp_path):
    run(enable_dump=True, dump_path=str(tmp_path))
    assert written(folder) == {"00000000 Build": ["proto"]}
    (path,) = folder.iterdir()
    model = text_format.Parse(path.read_text(), ModelDef())
    assert list(tmp_path.glob(f"*/*/{model.name}")) and model.name.rpartition("_")[2] == path.name.split("_")[4]


def test_stages_and_formats_of_one_moment_have_one_number(folder, monkeypatch):
    monkeypatch.setenv("DUMP_GE_GRAPH", "2")
    run()
    assert written(folder) == {f"{number:08d} {stage}": ["onnx", "proto"] for number, stage in enumerate(STAGES)}
    for path in folder.glob("ge_proto_*"):
        model = text_format.Parse(path.read_text(), ModelDef())
        onnx = text_format.Parse(next(folder.glob(f"ge_onnx_{path.stem[9:]}*")).read_text(), OnnxModel())
        assert [node.name for node in onnx.graph.node] == [op.name for op in model.graph[0].op]
    begin = text_format.Parse(next(folder.glob("ge_proto_*_PreRunBegin.txt")).read_text(), ModelDef())
    shapes = {op.name: list(op.output_desc[0].shape.dim) for op in begin.graph[0].op if op.output_desc}
    assert shapes["product"] in ([-1, 2], [3, 2], [-2])
    inferred = text_format.Parse(next(folder.glob("ge_proto_*_AfterInfershape.txt")).read_text(), ModelDef())
    assert {op.name: list(op.output_desc[0].shape.dim) for op in inferred.graph[0].op if op.output_desc}["product"] == [3, 2]


def test_without_fusion_every_stage_is_reached_too(folder, monkeypatch):
    monkeypatch.setenv("DUMP_GE_GRAPH", "2")
    run(fusion="off")
    assert [key.split()[1] for key in sorted(written(folder))] == list(STAGES)


def test_later_processes_take_the_numbers_that_are_free(folder, monkeypatch):
    monkeypatch.setenv("DUMP_GE_GRAPH", "2")
    monkeypatch.setenv("PRINT_MODEL", "1")
    (folder / "ge_proto_00000002_graph_1_Build.txt").write_text("mine")
    (folder / "TF_GeOp7_0.pbtxt").write_text("mine")
    monkeypatch.setattr(models, "_NUMBERS", iter([7, 7]))
    run()
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    monkeypatch.setattr(files, "_NUMBERS", iter(range(1000)))
    run()
    assert {name: (folder / name).read_bytes() for name in before} == before
    found = written(folder)
    assert sorted(key.split()[0] for key in found) == [f"{number:08d}" for number in range(9)]
    assert all(kinds == ["onnx", "proto"] for key, kinds in found.items() if not key.startswith("00000002"))
    assert sorted(path.name for path in folder.glob("TF*")) == [f"TF_GeOp7_{number}.pbtxt" for number in range(3)]


def test_processes_that_write_at_once_keep_all_their_files(folder):
    source = """
        import os
        from pathlib import Path
        from npu_runtime.observers.graph_files.files import put_numbered
        for process in range(4):
            if os.fork() == 0:
                for turn in range(25):
                    text = f"{process} {turn}"
                    put_numbered(Path("."), "graph_1_Build", {"ge_proto_{}.txt": text, "ge_onnx_{}.pbtxt": text})
                os._exit(0)
        for process in range(4):
            os.wait()
    """
    done = fork_server.python(["-c", textwrap.dedent(source)], plain_environment(), folder)
    assert done.returncode == 0, done.stderr
    texts = sorted(path.read_text() for path in folder.glob("ge_proto_*"))
    assert texts == sorted(f"{process} {turn}" for process in range(4) for turn in range(25))
    for path in folder.glob("ge_proto_*"):
        assert (folder / f"ge_onnx_{path.stem[9:]}.pbtxt").read_text() == path.read_text()


def test_beside_a_dump_a_program_without_operators_has_none(folder, monkeypatch, tmp_path, capsys):
    def nothing() -> None:
        with tf.Graph().as_default(), device_session(enable_dump=True, dump_path=str(tmp_path)) as session:
            session.run(tf.no_op("nothing"))

    nothing()
    assert list(folder.iterdir()) == [] and "Data dump" not in capsys.readouterr().err
    monkeypatch.setenv("DUMP_GE_GRAPH", "2")
    monkeypatch.setenv("DUMP_GRAPH_LEVEL", "3")
    nothing()
    assert written(folder) == {"00000000 Build": ["onnx", "proto"]}


def test_beside_a_dump_a_program_whose_operators_are_all_folded_is_told_and_written(folder, tmp_path, capsys):
    with tf.Graph().as_default(), device_session(enable_dump=True, dump_path=str(tmp_path)) as session:
        assert session.run(tf.reduce_sum(tf.constant([1.0, 2.0]) * 2.0)) == 6.0
    assert written(folder) == {"00000000 Build": ["proto"]}
    said = capsys.readouterr().err
    assert "has no files: all its operators were folded to constants when it was compiled" in said and "feed a value" in said


@pytest.mark.parametrize(
    ("level", "stages"),
    [
        ("1", STAGES),
        ("3", ["Build"]),
        ("4", ["PreRunBegin"]),
        ("Infershape|Optimize", STAGES[1:3]),
    ],
)
def test_the_level(folder, monkeypatch, level, stages):
    monkeypatch.setenv("DUMP_GE_GRAPH", "3")
    monkeypatch.setenv("DUMP_GRAPH_LEVEL", level)
    monkeypatch.setenv("DUMP_GRAPH_FORMAT", "readable")
    run()
    assert [key.split()[1] for key in written(folder)] == stages
    assert {kind for kinds in written(folder).values() for kind in kinds} == {"readable"}


def test_what_constants_hold_is_written_where_it_is_asked_for(folder, monkeypatch):
    found = {}
    for content in ("1", "2"):
        monkeypatch.setenv("DUMP_GE_GRAPH", content)
        run()
        model = text_format.Parse(max(folder.glob("ge_proto_*_Build.txt")).read_text(), ModelDef())
        (constant,) = [op for op in model.graph[0].op if op.name == "w"]
        found[content] = constant.attr["value"].t.data if "value" in constant.attr else b""
    assert found == {"1": np.array([[1, 2], [3, 4]], np.float32).tobytes(), "2": b""}


@pytest.mark.parametrize(
    ("variables", "place"),
    [
        ({"ASCEND_WORK_PATH": "work"}, "work"),
        ({"ASCEND_WORK_PATH": "work", "DUMP_GRAPH_PATH": "graphs"}, "graphs/pid_{}_deviceid_0"),
        ({"ASCEND_WORK_PATH": "work", "DUMP_GRAPH_PATH": "graphs", "ASCEND_DUMP_PATH": "all"}, "all"),
    ],
)
def test_the_folder(folder, monkeypatch, variables, place):
    for name in ("ASCEND_DEVICE_ID", "DEVICE_ID"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {**variables, "DUMP_GE_GRAPH": "2"}.items():
        monkeypatch.setenv(name, value)
    run()
    assert len(written(folder / place.format(os.getpid()))) == 4 and not list(folder.glob("ge_*"))


def test_tensorflows_graph(folder, monkeypatch, tmp_path):
    monkeypatch.setenv("PRINT_MODEL", "1")
    run()
    (path,) = folder.iterdir()
    definition = text_format.Parse(path.read_text(), graph_pb2.GraphDef())
    assert path.name.startswith("TF_GeOp") and {"x", "product", "y", "z"} & {node.name for node in definition.node}
    monkeypatch.setenv("NPU_COLLECT_PATH", str(tmp_path / "collected"))
    run()
    assert len(list(tmp_path.glob(f"collected/extra-info/graph/{os.getpid()}_*/TF_*.pbtxt"))) == 1


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({"DUMP_GE_GRAPH": "yes"}, "DUMP_GE_GRAPH=yes writes no graphs"),
        ({"DUMP_GE_GRAPH": "1", "DUMP_GRAPH_LEVEL": "Build|Nothing"}, "Nothing is part of no stage"),
        ({"DUMP_GE_GRAPH": "1", "DUMP_GRAPH_FORMAT": "onnx|dot"}, "dot is no format"),
    ],
)
def test_what_is_wrong_is_told(variables, said):
    _, notes = requested(variables, False)
    assert len(notes) == 1 and said in notes[0]


def test_a_folder_that_cannot_be_made_is_told_once_and_the_run_goes_on(folder, monkeypatch, capsys):
    (folder / "file").write_text("mine")
    monkeypatch.setenv("DUMP_GE_GRAPH", "2")
    monkeypatch.setenv("ASCEND_DUMP_PATH", str(folder / "file"))
    run()
    lines = [line for line in capsys.readouterr().err.splitlines() if "Graph files" in line]
    assert lines and all(str(folder / "file") in line for line in lines) and (folder / "file").read_text() == "mine"
    assert len(lines) == 1
