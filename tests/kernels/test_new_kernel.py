"""The tool that begins a kernel."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tools import new_kernel

ROOT = Path(__file__).parents[2]
RUFF = [sys.executable, "-m", "ruff"]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """The folders that the tool reads and writes, in which the device has one kernel, of Sin."""
    for topic in ("elementwise", "array", "image", "fused"):
        for folder in (new_kernel.KERNELS, new_kernel.CASES):
            (tmp_path / folder / topic).mkdir(parents=True)
            (tmp_path / folder / topic / "__init__.py").touch()
    for module in ("kernels/base.py", "kernels/shapes.py", "kernels/threads/tiling.py", "../tests/kernels/harness.py"):
        (tmp_path / "npu_runtime" / module).parent.mkdir(exist_ok=True)
        (tmp_path / "npu_runtime" / module).touch()  # ruff takes what it finds for the project's own
    (tmp_path / new_kernel.KERNELS / "elementwise" / "special.py").write_text('elementwise("Sin")(OneUfunc(np.sin))\n')
    (tmp_path / new_kernel.LIMITATIONS).write_text('_BY_REASON = {COMPLEX: "ConcatV2"}\n')
    shutil.copytree(ROOT / new_kernel.MAP.parent, tmp_path / new_kernel.MAP.parent)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def new(tree: Path, *arguments: str) -> int:
    return new_kernel.main(arguments, root=tree)


@pytest.mark.parametrize(
    ("op", "topic"),
    [("Erf", "elementwise"), ("Unique", "array"), ("ExtractGlimpse", "image"), ("ConcatV2", "array")],
)
def test_what_it_writes_is_clean_and_says_what_is_open(
    tree: Path, op: str, topic: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert new(tree, op, "--topic", topic) == 0
    files = [tree / folder / topic / f"{new_kernel.snake(op)}.py" for folder in (new_kernel.KERNELS, new_kernel.CASES)]
    for file in files:
        ast.parse(file.read_text())
        assert new_kernel.OPEN in file.read_text()
    for command in (["check"], ["format", "--check"]):
        done = subprocess.run([*RUFF, *command, *files], cwd=tree, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + "".join(file.read_text() for file in files)
    said = capsys.readouterr().out
    assert all(word in said for word in ("tensorflow_ops.csv", f"{op},", "generated", "docs/generate.py", "pytest"))
    assert ("limitations.py" in said) == (op == "ConcatV2")


def test_an_op_of_tensors_alone_becomes_elementwise(tree: Path) -> None:
    new(tree, "Erf", "--topic", "elementwise")
    text = (tree / new_kernel.KERNELS / "elementwise" / "erf.py").read_text()
    assert '@elementwise("Erf"' in text and "def erf(out: np.ndarray, x: np.ndarray)" in text


def test_inputs_are_positional_and_attributes_have_the_defaults_of_tensorflow(tree: Path) -> None:
    new(tree, "ExtractGlimpse", "--topic", "image")
    text = (tree / new_kernel.KERNELS / "image" / "extract_glimpse.py").read_text()
    names = [argument.arg for argument in ast.walk(ast.parse(text)) if isinstance(argument, ast.arg)]
    assert names == ["input", "size", "offsets", "centered", "normalized", "uniform_noise", "noise"]
    assert "centered: bool = True" in text and 'noise: str = "uniform"' in text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("Sin", "--topic", "elementwise"), "names Sin: does the device have it already?"),
        (("NoSuchOp", "--topic", "array"), "TensorFlow has no op NoSuchOp"),
        (("Erf", "--topic", "elementwise", "--file", "special"), "special.py is there already: add the op to it, or give "),
        (("Erf", "--topic", "fused"), "say TOPIC=, one of: array, "),
        (("Erf",), "say TOPIC=, one of: array, "),
        (("--topic", "array"), "say OP=, TensorFlow's name of the op"),
    ],
)
def test_what_cannot_be_begun_is_refused(
    tree: Path, arguments: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(tree.rglob("*"))
    assert new(tree, *arguments) == 1
    assert said in capsys.readouterr().err
    assert sorted(tree.rglob("*")) == before


def test_names_of_ops_as_names_of_files() -> None:
    names = ["BesselJ0", "CTCLoss", "Conv2DBackpropFilter", "LRN", "FusedBatchNormV3"]
    assert [new_kernel.snake(name) for name in names] == [
        "bessel_j0", "ctc_loss", "conv2_d_backprop_filter", "lrn", "fused_batch_norm_v3",
    ]  # fmt: skip
