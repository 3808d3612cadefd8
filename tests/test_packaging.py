"""The package: what it holds, what an index shows of it, and that the converter starts from the wheel alone."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from email.parser import BytesParser
from pathlib import Path

import pytest
from trove_classifiers import classifiers as CLASSIFIERS

ROOT = Path(__file__).parent.parent
PACKAGE_FOLDERS = {"tf2npu": "tf2npu", "npu_runtime": "npu_runtime", "npu_formats": "npu_formats"}
OF_THE_WHEEL = re.compile(r"[^/]+\.dist-info/")
"""Files that an installer reads of a wheel; the adapter of PyTorch brings a folder of that kind along, further down."""
METADATA = re.compile(OF_THE_WHEEL.pattern + "METADATA")
TOP_LEVEL_FROM = {"npu_bridge": "tf2npu/npu_bridge", "npu_device": "tf2npu/npu_device", "hccl": "tf2npu/hccl"}


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
def built(tmp_path_factory) -> Path:
    """The folder of a source distribution, and of the wheel that was built of it, as a release is built.

    They are built from a copy, so that nothing of the build stays in the tree. It has folders of the repository that no package
    holds: a test beside a fixture, documents, a benchmark.
    """
    copy = tmp_path_factory.mktemp("built") / "source"
    copy.mkdir()
    for name in ("pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE", "NOTICE", "CHANGELOG.md"):
        shutil.copy(ROOT / name, copy / name)
    for folder in PACKAGE_FOLDERS.values():
        shutil.copytree(ROOT / folder, copy / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for path in ("tests/test_packaging.py", "docs/index.md", "benchmarks/demo.py", "tools/new_rule.py", "tests/fixtures/sarif"):
        (copy / path).parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if (ROOT / path).is_dir() else shutil.copy)(ROOT / path, copy / path)
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", copy.parent / "dist", copy)
    return copy.parent / "dist"


@pytest.fixture(scope="module")
def wheel(built) -> Path:
    return next(built.glob("*.whl"))


def test_an_index_would_take_both(built):
    said = run(sys.executable, "-m", "twine", "check", "--strict", *sorted(built.iterdir()))
    assert said.count("PASSED") == 2


def test_the_source_distribution_holds_the_packages_and_what_builds_them(built):
    (archive,) = built.glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        inside = [member.name.partition("/")[2] for member in opened.getmembers() if member.isfile()]
    of_the_build = {name for name in inside if ".egg-info/" not in name and not name.startswith(tuple(PACKAGE_FOLDERS.values()))}
    assert of_the_build == {
        "CHANGELOG.md", "LICENSE", "MANIFEST.in", "NOTICE", "PKG-INFO", "README.md", "pyproject.toml", "setup.cfg", "setup.py",
    }  # fmt: skip
    packages = [name for name in inside if name.startswith(tuple(f"{folder}/" for folder in PACKAGE_FOLDERS.values()))]
    assert len(packages) == len(sources())


def test_links_of_the_page_on_an_index_lead_into_the_repository(wheel):
    """A relative link leads nowhere there; each one goes to a file that the repository has."""
    (name,) = [name for name in zipfile.ZipFile(wheel).namelist() if METADATA.fullmatch(name)]
    metadata = BytesParser().parsebytes(zipfile.ZipFile(wheel).read(name))
    repository = dict(url.split(", ") for url in metadata.get_all("Project-URL"))["Repository"]
    links = re.findall(r"\]\(([^)]*)\)", metadata.get_payload())
    assert len(links) > 20 and metadata["Description-Content-Type"] == "text/markdown"
    assert [link for link in links if not link.startswith("https://")] == []
    files = [link.removeprefix(f"{repository}/blob/main/").partition("#")[0] for link in links if link.startswith(repository)]
    assert files and [file for file in files if not (ROOT / file).exists()] == []


def test_the_metadata_says_what_an_index_shows(wheel):
    (name,) = [name for name in zipfile.ZipFile(wheel).namelist() if METADATA.fullmatch(name)]
    metadata = BytesParser().parsebytes(zipfile.ZipFile(wheel).read(name))
    assert metadata["Author"] and metadata["License-Expression"] == "Apache-2.0"
    labels = {url.split(", ")[0] for url in metadata.get_all("Project-URL")}
    assert labels >= {"Repository", "Documentation", "Changelog", "Issues", "Security"}
    assert set(metadata.get_all("Classifier")) <= CLASSIFIERS


def test_the_wheel_holds_every_file_under_one_name(wheel):
    inside = [name for name in zipfile.ZipFile(wheel).namelist() if not OF_THE_WHEEL.match(name)]
    assert sorted(inside) == sources()


def test_the_wheel_carries_licence_and_notice(wheel):
    inside = {Path(name).name for name in zipfile.ZipFile(wheel).namelist() if OF_THE_WHEEL.match(name)}
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
    found = (
        "import importlib.util as u; print([bool(u.find_spec(n)) for n in ('npu_bridge', 'npu_device', 'hccl', 'tensorflow')])"
    )
    assert run(python, "-c", found, cwd=tmp_path).strip() == "[True, True, True, False]"
