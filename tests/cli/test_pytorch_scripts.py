"""Scripts for PyTorch before they run: how they are told, what they need, and their path. PyTorch is not needed."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from tf2npu.launch import pytorch
from tf2npu.launch.shims import PYTORCH, TENSORFLOW1, TENSORFLOW2, shim_of, shim_of_run


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def release(monkeypatch, tmp_path_factory):
    """Installs a release of PyTorch, of which there is nothing but its name."""

    def install(version: str) -> None:
        site = tmp_path_factory.mktemp("site")
        (site / "torch").mkdir()
        (site / "torch" / "__init__.py").touch()
        (site / f"torch-{version}.dist-info").mkdir()
        (site / f"torch-{version}.dist-info" / "METADATA").write_text(f"Metadata-Version: 2.1\nName: torch\nVersion: {version}\n")
        monkeypatch.syspath_prepend(site)

    return install


@pytest.mark.parametrize(
    ("source", "shim"),
    [
        ("import torch\n", PYTORCH),
        ("from torch.nn import functional\n", PYTORCH),
        ("def f():\n    import torch.cuda\n", PYTORCH),
        ("import torchvision.models as models\n", PYTORCH),
        ("import pytorch_lightning\n", PYTORCH),
        ("import torch, torch_npu\nx.npu()\n", PYTORCH),
        ("import model\n", PYTORCH),
        ("import torch\nprint 'Python 2'\n", PYTORCH),
        ("import torch\nimport tensorflow as tf\nwith tf.Session() as s: pass\n", TENSORFLOW1),
        ("import torch\nfrom npu_bridge.npu_init import *\n", TENSORFLOW1),
        ("import torch\nimport npu_device\n", TENSORFLOW2),
        ("# import torch\ntorch = 1\n", TENSORFLOW1),
        ("from .torch import x\n", TENSORFLOW1),
        ("", TENSORFLOW1),
    ],
)
def test_a_script_for_pytorch_imports_it_and_not_tensorflow(folder, source, shim):
    (folder / "model.py").write_text("import torch\n")
    (folder / "train.py").write_text(source)
    assert shim_of("train.py") is shim


def test_modules_of_pytorch_are_its_scripts(folder):
    (folder / "job.py").write_text("import torch\n")
    assert shim_of_run("torch.distributed.run", None) is PYTORCH and shim_of_run("job", None) is PYTORCH
    assert shim_of_run("json.tool", None) is TENSORFLOW1


@pytest.mark.parametrize(("version", "what"), [("2.9.1", "too old"), ("1.13.0", "too old"), ("99.0.0+cpu", "too new")])
def test_a_release_that_cannot_run_is_one_line_and_exit_code_2(tool, folder, release, version, what):
    release(version)
    (folder / "train.py").write_text("import torch\n")
    done = tool("run", "train.py")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert f"here is {version}, which is {what}" in done.err and 'pip install "tf2npu[torch]"' in done.err
    assert f"run, scripts for PyTorch: {done.err.removeprefix('tf2npu: ')}" in tool("doctor").out


def test_pytorch_that_is_not_there_is_one_line_with_the_command_to_type(tool, folder, monkeypatch):
    monkeypatch.setattr(pytorch, "version", lambda: "")
    (folder / "train.py").write_text("import torch\n")
    done = tool("run", "train.py")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert 'pip install "tf2npu[torch]"' in done.err


@pytest.mark.parametrize("version", ["2.10.0", "2.13.0+cpu"])
def test_releases_from_the_first_one_can_run_and_the_doctor_says_where_the_adapter_is(tool, release, version):
    release(version)
    said = tool("doctor").out
    assert f"torch: {version}\n" in said and "run, scripts for PyTorch: can run here, on the simulated device" in said
    assert (
        f"torch_npu: {pytorch.FOLDER / 'torch_npu'} (tf2npu's simulated one)" in said and f"PYTHONPATH={pytorch.FOLDER}" in said
    )


def test_the_doctor_sends_a_script_for_pytorch_to_run(tool, folder, release):
    release("2.13.0")
    (folder / "train.py").write_text("import torch\n")
    assert tool("doctor", "--script", "train.py").out.endswith(
        "train.py is a script for PyTorch: `tf2npu run train.py` runs it as it is\n"
    )


class TestThePath:
    @pytest.fixture(autouse=True)
    def own_path(self, monkeypatch):
        monkeypatch.setattr(sys, "path", list(sys.path))

    def test_the_adapter_is_first_for_this_process_and_for_its_children(self):
        variables = {"PYTHONPATH": f"{os.sep}a{os.pathsep}{os.sep}b"}
        pytorch.prepare(False, variables)
        pytorch.prepare(False, variables)
        assert variables == {"TORCH_TRANSFER_TO_NPU": "1", "PYTHONPATH": os.pathsep.join((str(pytorch.FOLDER), "/a", "/b"))}
        assert sys.path[1] == str(pytorch.FOLDER) and sys.path.count(str(pytorch.FOLDER)) == 1

    def test_strict_takes_back_the_wish_to_switch(self):
        variables = {"TORCH_TRANSFER_TO_NPU": "1"}
        pytorch.prepare(True, variables)
        assert variables == {"PYTHONPATH": str(pytorch.FOLDER)}

    def test_a_real_torch_npu_is_not_hidden(self, tmp_path, capsys):
        (tmp_path / "torch_npu").mkdir()
        (tmp_path / "torch_npu" / "__init__.py").touch()
        sys.path.insert(0, str(tmp_path))
        variables: dict[str, str] = {}
        pytorch.prepare(False, variables)
        assert "PYTHONPATH" not in variables and str(pytorch.FOLDER) not in sys.path
        said = capsys.readouterr().err
        assert said.count("\n") == 1 and str(tmp_path) in said and "nothing is simulated" in said
        assert "(not tf2npu's" in pytorch.doctor_lines()[0]

    def test_the_entry_point_by_which_pytorch_loads_it_is_a_function_of_the_adapter(self):
        """PyTorch loads what the group torch.backends names in the metadata of the folders on the path."""
        from importlib.metadata import distributions

        (found,) = [made for made in distributions(path=[str(pytorch.FOLDER)]) if made.metadata["Name"] == "torch_npu"]
        (point,) = found.entry_points.select(group="torch.backends")
        assert (point.module, point.attr) == ("torch_npu", "_autoload")
        assert "\ndef _autoload()" in (pytorch.FOLDER / "torch_npu" / "__init__.py").read_text()


def test_options_that_mean_nothing_are_named():
    given = {"TF2NPU_OPTIONS": json.dumps({"soc": "Ascend910B2", "fusion": "off", "dump_graph": "x"})}
    assert list(pytorch.without_effect(given)) == ["dump_graph", "fusion"]
