"""`profile` from outside, and how the words of `predict` are told apart."""

import json
import sys
from pathlib import Path

import click
import pytest
from jsonschema import Draft202012Validator

from npu_formats.documents import prediction
from npu_formats.documents.prediction_request import PredictionRequest
from tests.prediction import samples
from tests.profiles import trees
from tf2npu import cli
from tf2npu.cli import script_arguments
from tf2npu.prediction.arguments import chips_named, devices_named, processes_for

CHIPS = ["Ascend910A", "Ascend910B1", "Ascend910ProA"]


class TestWords:
    OPTIONS = {"--soc": False, "--steps": False, "--shapes-only": True, "--batch": False, "-q": True}  # noqa: RUF012

    @pytest.mark.parametrize(
        ("words", "ours", "theirs"),
        [
            ("t.py --lr 1 --soc X", "--soc X", "t.py --lr 1"),
            ("--soc X t.py --steps=2 a", "--soc X --steps=2", "t.py a"),
            ("t.py --batch 1 2 x 3", "--batch 1 --batch 2", "t.py x 3"),
            ("--batch 1 2 t.py", "--batch 1 --batch 2", "t.py"),
            ("t.py --shapes-only -q -- --soc Y", "--shapes-only", "t.py -q --soc Y"),
            ("-q t.py", "-q", "t.py"),
        ],
    )
    def test_ours_may_stand_on_both_sides(self, words, ours, theirs):
        assert script_arguments.split_words(words.split(), self.OPTIONS) == (ours.split(), theirs.split())

    @pytest.mark.parametrize("name", ["Ascend 910", "910", "ascend910", "Ascend-910A", "ASCEND910a"])
    def test_a_chip_has_many_spellings(self, name):
        assert chips_named(name, CHIPS) == ("Ascend910A",)
        assert chips_named(f"{name},910ProA,{name}", CHIPS) == ("Ascend910A", "Ascend910ProA")

    def test_a_near_miss_is_named(self):
        with pytest.raises(ValueError, match="did you mean Ascend910B1"):
            chips_named("Ascend910B0", CHIPS)

    @pytest.mark.parametrize(
        ("text", "numbers", "processes"),
        [("1", (1,), 1), ("2", (2,), 2), ("8", (8,), 8), ("16", (16,), 2), ("512, 8,16,8", (8, 16, 512), 2), ("1,1", (1,), 1)],
    )
    def test_numbers_of_devices_need_few_processes(self, text, numbers, processes):
        assert devices_named(text) == numbers
        assert processes_for(numbers) == processes

    @pytest.mark.parametrize("text", ["0", "8;16", "-1", "8,x", "65537", ",", "1" * 5000, "\u0668"])
    def test_what_is_no_number_of_devices_is_one_line(self, tool, tmp_path, text):
        (tmp_path / "t.py").touch()
        done = tool("predict", tmp_path / "t.py", f"--devices={text}")
        assert done.code == 2 and "number of devices" in done.err and "such as 8,16,512" in done.err and len(done.err) < 500

    def test_a_request_is_an_object(self):
        assert json.loads(PredictionRequest("o", ("a",)).as_json())["steps"] == 3
        assert isinstance(cli.cli.commands["predict"], click.Command)


class TestProfile:
    def test_a_tree_is_shown(self, tool, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        tree = trees.new_tree(tmp_path)
        done = tool("profile", tree, "--json", "p.json", "--report", "rep")
        assert done.code == 0 and "one step as it was measured on an unknown chip" in done.out and "conv/Conv2D" in done.out
        Draft202012Validator(prediction.schema()).validate(json.loads(Path("p.json").read_text()))
        assert "<title>PROF_" in (Path("rep") / "profile.html").read_text()

    def test_two_are_compared(self, tool, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        one, other = trees.new_tree(tmp_path), trees.old_tree(tmp_path)
        done = tool("profile", "--compare", one, other, "--json", "c.json", "--report", "rep")
        assert done.code == 0 and "Conv2D" in done.out
        found = json.loads(Path("c.json").read_text())
        assert found["op_types"][0]["a_us"] == found["op_types"][0]["b_us"]
        assert (Path("rep") / "comparison.html").exists()

    def test_several_are_shown_one_after_the_other(self, tool, tmp_path):
        one, other = trees.new_tree(tmp_path), trees.old_tree(tmp_path)
        done = tool("profile", one, other, "--json", "-")
        assert [chip["soc"] for chip in json.loads(done.out)["chips"]] == [one.name, other.name]

    def test_a_prediction_is_compared_with_a_measurement(self, tool, tmp_path):
        tree, made, damaged = trees.new_tree(tmp_path), tmp_path / "p.json", tmp_path / "damaged.json"
        made.write_text("".join(prediction.pieces(samples.sample())))
        found = json.loads(tool("profile", "--compare", made, tree, "--json", "-").out)
        assert {"op_type": "Conv2D", "a_us": 400.0, "b_us": 200.0, "a_tasks": 1, "b_tasks": 1} in found["op_types"]
        assert json.loads(tool("profile", made, "--json", "-").out) == json.loads(made.read_text())
        damaged.write_text("{}")
        done = tool("profile", damaged)
        assert done.code == 2 and "damaged.json: it is no prediction" in done.err

    def test_a_folder_of_several_is_as_if_each_was_named(self, tool, tmp_path):
        one, other = trees.new_tree(tmp_path / "out"), trees.old_tree(tmp_path / "out")
        found = json.loads(tool("profile", tmp_path / "out", "--json", "-").out)
        assert [chip["soc"] for chip in found["chips"]] == [one.name, other.name]
        assert [len(chip["tasks"]) for chip in found["chips"]] == [3, 3]
        done = tool("profile", "--compare", tmp_path / "out", one)
        assert done.code == 2 and "holds 2 profiles: name the one to compare" in done.err

    @pytest.mark.parametrize(
        ("words", "reason"), [((), "name a PROF_* folder"), (("absent",), "absent: cannot be read as a folder")]
    )
    def test_a_wrong_command_is_one_line(self, tool, tmp_path, monkeypatch, words, reason):
        monkeypatch.chdir(tmp_path)
        done = tool("profile", *words)
        assert done.code == 2 and reason in done.err and done.err.count("\n") == 1

    def test_it_loads_neither_tensorflow_nor_the_device(self, tool, tmp_path, monkeypatch):
        for name in [name for name in sys.modules if name.startswith("npu_runtime")]:
            monkeypatch.delitem(sys.modules, name)
        assert tool("profile", trees.new_tree(tmp_path)).code == 0
        assert "npu_runtime" not in sys.modules


def test_a_run_of_a_script_that_is_not_there_makes_no_folder(tool, tmp_path):
    done = tool("run", "--profile", tmp_path / "profiles", tmp_path / "gone.py")
    assert done.code == 2 and "no such file" in done.err and not list(tmp_path.iterdir())
