"""Commands and programs for MindSpore: run asks for --frontend, others say what they do not do."""

from __future__ import annotations

from pathlib import Path

import pytest

PROGRAM = "import mindspore.nn as nn\nfrom mindspore import Tensor\nprint(nn.ReLU()(Tensor(-1.0)))\n"


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "train.py"
    path.write_text(PROGRAM)
    return path


@pytest.mark.parametrize("command", [("tune",), ("dump", "reference", "--out", "ref")])
def test_a_command_that_has_nothing_for_it_says_so(tool, program, command):
    done = tool(*command, str(program))
    assert done.code == 2
    assert f"is a program for MindSpore, which `tf2npu {' '.join(command[:2]).removesuffix(' --out')}` does not know" in done.err


def test_a_check_asks_for_the_frontend(tool, program):
    done = tool("check", str(program))
    assert done.code == 2 and "is a program for MindSpore: check it with --frontend mindspore" in done.err
    assert not (program.parent / "check").exists()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--mode", "force_fp16"), "--mode: a program for MindSpore asks for its precision itself"),
        (("--free",), "--free: the steps of a program for MindSpore"),
        (("--migrated", __file__), "--migrated: nothing of a program for MindSpore is converted"),
        (("--soc", "Ascend910A,Ascend910B"), "name one chip"),
    ],
)
def test_a_check_refuses_what_means_nothing_for_it(tool, program, words, says):
    done = tool("check", "--frontend", "mindspore", *words, str(program))
    assert done.code == 2 and says in done.err


def test_a_check_is_of_one_rank(tool, program, monkeypatch):
    monkeypatch.setenv("RANK_SIZE", "2")
    monkeypatch.setenv("RANK_ID", "0")
    done = tool("check", "--frontend", "mindspore", str(program))
    assert done.code == 2 and "RANK_SIZE is 2: a program for MindSpore is checked with one rank" in done.err


def test_doctor_says_how_it_is_run(tool, program):
    done = tool("doctor", "--script", str(program))
    assert f"`tf2npu run --frontend mindspore {program}` runs it as it is" in done.out
    assert "adapters/mindspore" in tool("doctor").out


@pytest.mark.parametrize("own", ["mindspore.py", "mindspore/__init__.py"])
def test_a_module_of_the_programs_own_is_not_taken_for_the_package(tool, program, own):
    (program.parent / own).parent.mkdir(exist_ok=True)
    (program.parent / own).write_text("")
    done = tool("run", "--frontend", "mindspore", str(program))
    assert done.code == 2 and f"{own} hides the package mindspore from the script: rename it" in done.err


def test_a_file_of_mindspore_is_copied_and_told(tool, program, tmp_path):
    done = tool("convert", str(program), str(tmp_path / "out"))
    assert done.code == 0 and (tmp_path / "out" / "train.py").read_text() == PROGRAM
    report = (tmp_path / "out" / "tf2npu-report" / "report.json").read_text()
    assert "NPM001" in report and "--frontend mindspore" in report


@pytest.mark.parametrize(("language", "said"), [("en", "names of MindSpore are not counted"), ("zh", "不统计 MindSpore 的名称")])
def test_names_are_not_said_to_be_none_of_another_framework(tool, program, tmp_path, language, said):
    done = tool("convert", program, tmp_path / "out", "--lang", language)
    assert said in done.out and "references" not in done.out and "引用" not in done.out
