"""Dumps of sessions: which steps have folders, what their files are called and hold, and that nothing else changes."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from npu_formats.vendor.dump_file import read_header
from tests.dump.networks import batch, headers, last_model, lenet, run, steps, train
from tests.runtime.device import device_session


def _dump(folder: Path, **options) -> dict[str, object]:
    return {"enable_dump": True, "dump_path": folder, **options}


def test_only_the_steps_that_are_named_have_folders_counted_by_graph(tmp_path):
    train(12, **_dump(tmp_path, dump_step="0|5|10-12"))
    found = steps(tmp_path)
    assert next(sorted(folders, key=int) for folders in found.values()) == ["0"]  # the initialisation ran once
    assert sorted(last_model(tmp_path), key=int) == ["0", "5", "10", "11"]


def test_without_a_choice_every_step_is_dumped(tmp_path):
    train(3, **_dump(tmp_path))
    assert sorted(last_model(tmp_path)) == ["0", "1", "2"]


def test_names_of_folders_and_files_are_those_that_readers_match(tmp_path):
    train(1, **_dump(tmp_path))
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) > 20
    for path in files:
        moment, device, model, number, step, name = path.relative_to(tmp_path).parts
        assert re.fullmatch(r"\d{14}", moment) and device == "0" and step == "0"
        assert re.fullmatch(rf"ge_default_\d{{14}}_{number}", model)
        assert re.fullmatch(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.\d+\.\d+\.\d{16}", name)


def test_the_device_id_is_the_ranks(tmp_path, monkeypatch):
    monkeypatch.setenv("ASCEND_DEVICE_ID", "3")
    train(1, **_dump(tmp_path))
    assert {path.name for path in tmp_path.glob("*/*")} == {"3"}


def test_outputs_are_those_that_the_session_returns(tmp_path):
    def make():
        x = tf.get_variable("x", (3, 4), initializer=tf.random_uniform_initializer(seed=1))
        first = tf.sin(x, name="a/b")
        return [first, tf.split(first, 2, axis=1, name="parts"), tf.greater(first, 0.5, name="above")]

    first, parts, above = run(make, **_dump(tmp_path, fusion="off"))
    found = headers(last_model(tmp_path)["0"])
    np.testing.assert_array_equal(found["a/b"][0].outputs[0].read(), first)
    for tensor, part in zip(found["parts"][0].outputs, parts, strict=True):
        np.testing.assert_array_equal(tensor.read(), part)
    assert found["above"][0].outputs[0].dtype == bool
    np.testing.assert_array_equal(found["above"][0].outputs[0].read(), above)


@pytest.mark.parametrize(("mode", "sides"), [("input", (True, False)), ("output", (False, True)), ("all", (True, True))])
def test_dump_mode_chooses_the_sides(tmp_path, mode, sides):
    train(1, **_dump(tmp_path, dump_mode=mode))
    (conv,) = headers(last_model(tmp_path)["0"])["conv1/Relu"]
    assert (bool(conv.inputs), bool(conv.outputs)) == sides


@pytest.mark.parametrize("use_resource", [False, True])
def test_inputs_are_those_that_were_there_before_an_update(tmp_path, use_resource):
    def make():
        x = tf.get_variable("x", initializer=np.float32([1, 2, 3]), use_resource=use_resource)
        return tf.train.GradientDescentOptimizer(0.5).minimize(tf.reduce_sum(x * x))

    run(make, n_runs=2, **_dump(tmp_path, dump_mode="all", fusion="off"))
    found = headers(last_model(tmp_path)["1"])
    (update,) = [each for name, those in found.items() if "update_x" in name for each in those if len(each.inputs) == 3]
    np.testing.assert_array_equal(update.inputs[0].read(), np.float32([0, 0, 0]))  # 1 - 0.5 * 2 of the first run
    first = headers(last_model(tmp_path)["0"])
    (update,) = [each for name, those in first.items() if "update_x" in name for each in those if len(each.inputs) == 3]
    np.testing.assert_array_equal(update.inputs[0].read(), np.float32([1, 2, 3]))
    np.testing.assert_array_equal(update.inputs[2].read(), np.float32([2, 4, 6]))
    if not use_resource:
        np.testing.assert_array_equal(update.outputs[0].read(), np.float32([0, 0, 0]))


def test_inputs_stay_where_the_plan_gives_an_output_their_memory(tmp_path):
    numbers = np.random.RandomState(2).rand(100, 1000).astype(np.float32)

    def make():
        x = tf.placeholder(tf.float32, (100, 1000), "x")
        return tf.exp(tf.negative(tf.sqrt(x, name="root"), name="minus"), name="end")

    run(make, {"x:0": numbers}, **_dump(tmp_path, dump_mode="all", fusion="off"))
    found = headers(last_model(tmp_path)["0"])
    root = found["root"][0].outputs[0].read()
    np.testing.assert_allclose(root, np.sqrt(numbers), rtol=1e-6)
    np.testing.assert_array_equal(found["minus"][0].inputs[0].read(), root)
    np.testing.assert_array_equal(found["minus"][0].outputs[0].read(), -root)
    np.testing.assert_array_equal(found["end"][0].inputs[0].read(), -root)


def test_each_turn_of_a_loop_has_a_file(tmp_path):
    def make():
        return tf.while_loop(lambda i, x: i < 4, lambda i, x: (i + 1, tf.multiply(x, 2.0, name="twice")), (0, tf.ones(3)))[1]

    run(make, **_dump(tmp_path, dump_mode="all"))
    turns = next(those for name, those in headers(last_model(tmp_path)["0"]).items() if name.endswith("twice"))
    assert [turn.outputs[0].read().tolist() for turn in turns] == [[2.0] * 3, [4.0] * 3, [8.0] * 3, [16.0] * 3]
    assert [turn.inputs[0].read().tolist() for turn in turns] == [[1.0] * 3, [2.0] * 3, [4.0] * 3, [8.0] * 3]


def test_a_branch_that_is_not_taken_has_no_file(tmp_path):
    def make():
        x = tf.placeholder(tf.float32, (), "x")
        return tf.cond(x > 0, lambda: tf.sin(x, name="taken"), lambda: tf.cos(x, name="left"))

    run(make, {"x:0": 1.0}, **_dump(tmp_path, fusion="off"))
    names = headers(last_model(tmp_path)["0"])
    assert any(name.endswith("taken") for name in names) and not any(name.endswith("left") for name in names)


def test_what_the_device_computes_in_16_bits_is_written_in_16_bits(tmp_path):
    train(1, **_dump(tmp_path, dump_mode="all", fusion="off", precision_mode="force_fp16"))
    found = headers(last_model(tmp_path)["0"])
    (product,) = found["fc/MatMul"]
    (bias,) = found["fc/BiasAdd"]
    assert [tensor.dtype for tensor in (*product.inputs, *product.outputs)] == [np.float16] * 3
    np.testing.assert_array_equal(product.outputs[0].read(), bias.inputs[0].read())


def test_images_are_nhwc_and_the_rest_nd(tmp_path):
    train(1, **_dump(tmp_path, dump_mode="all", fusion="off"))
    (conv,) = headers(last_model(tmp_path)["0"])["conv1/Conv2D"]
    assert [tensor.format for tensor in (*conv.inputs, *conv.outputs)] == [1, 2, 1]


def test_layers_are_chosen_by_names_of_the_users_graph(tmp_path, capsys):
    train(1, **_dump(tmp_path, dump_layer="conv1/Conv2D fc/BiasAdd nowhere"))
    assert sorted(headers(last_model(tmp_path)["0"])) == ["conv1/Relu", "fc/BiasAdd"]
    assert "dump_layer names nowhere, and the graph has no such node" in capsys.readouterr().err


def test_layers_that_have_no_file_are_told_once_with_the_reason(tmp_path, capsys):
    def make():
        x = tf.placeholder(tf.float32, (2,), "fed")
        weight = tf.get_variable("weight", initializer=np.float32([1, 2]))
        folded = tf.add(tf.constant([1.0, 2.0], name="constant"), [3.0, 4.0], name="folded")
        hosted = tf.py_func(np.negative, [tf.sin(x * weight, name="kept")], tf.float32, name="hosted")
        return tf.add(hosted, folded, name="end")

    names = "fed weight constant folded hosted kept end"
    run(make, {"fed:0": [1.0, 2.0]}, n_runs=2, **_dump(tmp_path, dump_layer=names))
    assert sorted(headers(last_model(tmp_path)["1"])) == ["end", "kept"]
    told = re.findall(r"dump_layer names (\S+), which (.*): it has no file in ge_default_\d+_\d+", capsys.readouterr().err)
    assert dict(told) == {
        "fed": "can be fed",
        "weight": "is a variable",
        "constant": "is a constant",
        "folded": "was folded or replaced when the graph was compiled",
        "hosted": "runs on the host: Python functions run on the host",
    }
    assert len(told) == 5


def test_statistics_are_a_table_an_operator(tmp_path):
    numbers = np.float32([[1, np.nan, -3], [np.inf, -np.inf, 7]])

    def make():
        return tf.identity(tf.negative(tf.placeholder(tf.float32, (2, 3), "x"), name="minus"))

    run(make, {"x:0": numbers}, **_dump(tmp_path, dump_data="stats", dump_mode="all"))
    (path,) = last_model(tmp_path)["0"].glob("Neg.minus.*.csv")
    assert re.fullmatch(r"Neg\.minus\.\d+\.\d+\.\d{16}\.csv", path.name)
    assert path.read_text().splitlines()[1:] == [
        "Input,0,24,DT_FLOAT,ND,2x3,7,-3,1.66667,6,1,1,1",
        "Output,0,24,DT_FLOAT,ND,2x3,3,-7,-1.66667,6,1,1,1",
    ]


def test_a_long_name_becomes_digits_and_stands_in_a_table(tmp_path):
    name = "/".join(["scope" * 9] * 6)

    def make():
        return tf.sin(tf.placeholder(tf.float32, (2,), "x"), name=name)

    run(make, {"x:0": [1.0, 2.0]}, **_dump(tmp_path))
    folder = last_model(tmp_path)["0"]
    ((digits, full),) = [line.split(",") for line in (folder / "mapping.csv").read_text().splitlines()]
    assert digits.isdigit() and len(full) >= 255 and full.startswith(f"Sin.{name.replace('/', '_')}.")
    assert sorted(path.name for path in folder.iterdir()) == sorted([digits, "mapping.csv"])


def test_each_of_several_long_names_has_a_row_of_its_own(tmp_path):
    with_scope = "/".join(["scope" * 9] * 6)

    def make():
        found = tf.placeholder(tf.float32, (2,), "x")
        for number in range(4):
            found = tf.sin(found, name=f"{with_scope}/{number}")
        return found

    run(make, {"x:0": [1.0, 2.0]}, n_runs=2, **_dump(tmp_path))
    for step in ("0", "1"):
        folder = last_model(tmp_path)[step]
        rows = [line.split(",") for line in (folder / "mapping.csv").read_text().splitlines()]
        assert sorted(path.name for path in folder.iterdir()) == sorted([*(digits for digits, _ in rows), "mapping.csv"])
        assert [full.split(".")[1][-2:] for _, full in rows] == ["_0", "_1", "_2", "_3"]
        names = [read_header(folder / digits).op_name.replace("/", "_") for digits, _ in rows]
        assert names == [full.split(".")[1] for _, full in rows]


def test_strings_and_handles_have_no_bytes_and_keep_their_places(tmp_path):
    def make():
        queue = tf.TensorArray(tf.float32, 2, element_shape=(2,), clear_after_read=False)
        return queue.write(0, tf.ones(2)).write(1, tf.zeros(2)).stack(name="all")

    run(make, **_dump(tmp_path, dump_mode="all", fusion="off"))
    for those in headers(last_model(tmp_path)["0"]).values():
        for header in those:
            assert all(tensor.dtype.kind in "fiub" for tensor in (*header.inputs, *header.outputs))


@pytest.mark.parametrize("fusion", ["on", "off"])
def test_a_dump_changes_no_bit(tmp_path, fusion):
    plain = train(4, fusion=fusion)
    for number, options in enumerate([{"dump_mode": "all"}, {"dump_mode": "input"}, {"dump_data": "stats"}, {"dump_step": "1"}]):
        folder = tmp_path / str(number)
        folder.mkdir()
        assert train(4, fusion=fusion, **_dump(folder, **options)) == plain


def test_the_run_log_says_what_a_step_makes_before_it_is_made_and_who_is_on_the_host(tmp_path, capsys):
    def make():
        return tf.py_func(np.negative, [tf.sin(tf.placeholder(tf.float32, (50, 100), "x"))], tf.float32)

    run(make, {"x:0": np.ones((50, 100))}, **_dump(tmp_path))
    said = capsys.readouterr().err
    assert re.search(r"Data dump: 1 file, about 19\.7 KB, a step of ge_default_\d+_\d+; 1 node on the host without files "
                     r"\(1: Python functions run on the host\)", said), said  # fmt: skip


def test_models_that_make_the_same_are_told_of_once(tmp_path, capsys):
    for _ in range(3):
        run(lambda: tf.sin(tf.placeholder(tf.float32, (7, 100), "x"), name="x7"), {"x:0": np.ones((7, 100))}, **_dump(tmp_path))
    assert len(re.findall("a step of ge_default_", capsys.readouterr().err)) == 1
    assert len(steps(tmp_path)) == 3


def test_every_iteration_of_a_loop_on_the_device_has_its_folder(tmp_path):
    with tf.Graph().as_default():
        count = tf.get_variable("count", initializer=0.0)
        step = tf.assign_add(count, 1.0, name="plus")
        with tf.control_dependencies([step]):
            looped = tf.no_op("IterationOp")
        per_loop = tf.get_variable("npu_runconfig/iterations_per_loop", initializer=2, use_resource=True, dtype=tf.int32)
        assert per_loop is not None
        with device_session(**_dump(tmp_path)) as session:
            session.run(tf.global_variables_initializer())
            session.run(looped)
            session.run(looped)
    folders = last_model(tmp_path)
    assert sorted(folders) == ["0", "1", "2", "3", "4", "5"]
    values = [headers(folders[str(number)])["plus"][0].outputs[0].read() for number in range(6)]
    assert values == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"dump_path": ""}, "enable_dump needs dump_path, the folder for the files; nothing is dumped"),
        ({"dump_path": "not there"}, "there is no such folder; make it; nothing is dumped"),
        ({"dump_step": "0|12-10"}, "dump_step has 12-10, which is no step; write 10-12; nothing is dumped"),
        ({"dump_step": "0|a"}, "dump_step is '0|a'; use numbers and ranges such as 0|5|10-12; nothing is dumped"),
        ({"dump_step": "|".join(map(str, range(101)))}, "dump_step has 101 parts; use at most 100; nothing is dumped"),
        ({"dump_mode": "both"}, "dump_mode is 'both'; use one of input, output, all; nothing is dumped"),
    ],
)
def test_what_is_wrong_with_the_options_is_told_and_nothing_is_dumped(tmp_path, capsys, options, said):
    train(1, **{**_dump(tmp_path), **options})
    assert said in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_shapes_that_come_later_are_steps_of_the_same_graph_in_a_model_of_their_own(tmp_path):
    with tf.Graph().as_default():
        loss, step = lenet()
        with device_session(**_dump(tmp_path, dump_step="1")) as session:
            session.run(tf.global_variables_initializer())
            session.run([loss, step], batch(0))
            session.run([loss, step], {name: value[:3] for name, value in batch(1).items()})
    assert list(last_model(tmp_path)) == ["1"]
