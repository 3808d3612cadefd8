"""The wheel: what it holds, under which names, and that the converter starts from it alone."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE_FOLDERS = {"tf2npu": "tf2npu", "npu_runtime": "npu_runtime"}
TOP_LEVEL_FROM = {"npu_bridge": "tf2npu/npu_bridge", "hccl": "tf2npu/hccl"}


def run(*command: str | Path, cwd: Path | None = None) -> str:
    done = subprocess.run([str(word) for word in command], cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


def sources() -> list[str]:
    """Every file of the packages as the wheel should name it."""
    names = []
    for top, folder in {**PACKAGE_FOLDERS, **TOP_LEVEL_FROM}.items():
        for path in sorted((ROOT / folder).rglob("*")):
            inner = path.relative_to(ROOT / folder).as_posix()
            if path.is_dir() or "__pycache__" in path.parts:
                continue
            if top == "tf2npu" and inner.split("/")[0] in TOP_LEVEL_FROM:
                continue
            names.append(f"{top}/{inner}")
    return sorted(names)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """A wheel built from a copy, so that nothing of the build stays in the tree."""
    place = tmp_path_factory.mktemp("wheel")
    copy = place / "source"
    copy.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE", "NOTICE"):
        shutil.copy(ROOT / name, copy / name)
    for folder in PACKAGE_FOLDERS.values():
        shutil.copytree(ROOT / folder, copy / folder, ignore=shutil.ignore_patterns("__pycache__"))
    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", place, copy)
    return next(place.glob("*.whl"))


def test_the_wheel_holds_every_file_under_one_name(wheel):
    inside = [name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name]
    assert sorted(inside) == sources()


def test_the_wheel_carries_licence_and_notice(wheel):
    inside = {Path(name).name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" in name}
    assert {"LICENSE", "NOTICE"} <= inside


def test_the_converter_runs_from_the_wheel_without_tensorflow(wheel, tmp_path):
    run(sys.executable, "-m", "venv", tmp_path / "venv")
    python = tmp_path / "venv" / "bin" / "python"
    needs = run(sys.executable, ROOT / ".ci" / "converter_requirements.py").splitlines()
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *needs)
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", wheel)
    assert "convert" in run(tmp_path / "venv" / "bin" / "tf2npu", "--help")
    (tmp_path / "in.py").write_text("import tensorflow as tf\nwith tf.Session() as s:\n    pass\n")
    run(tmp_path / "venv" / "bin" / "tf2npu", "convert", "in.py", "out", cwd=tmp_path)
    assert "npu_config_proto" in (tmp_path / "out" / "in.py").read_text()
    found = "import importlib.util as u; print([bool(u.find_spec(n)) for n in ('npu_bridge', 'hccl', 'tensorflow')])"
    assert run(python, "-c", found, cwd=tmp_path).strip() == "[True, True, False]"
