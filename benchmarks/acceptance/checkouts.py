"""Brings a corpus to a folder of its own: a checkout, a (bare) git directory, or an archive from PyPI."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import zipfile
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Repository:
    """A corpus that the caller must bring. option: how the command line names it; below: the part that is converted."""

    name: str
    option: str
    where: str
    below: str = ""


@dataclass(frozen=True)
class Brought:
    """A corpus on disk. version: commit or release; n_absent: files that the git directory names but does not hold."""

    name: str
    folder: Path
    version: str
    n_absent: int = 0


REPOSITORIES = (
    Repository("bert", "bert", "https://github.com/google-research/bert"),
    Repository("alexnet", "alexnet", "https://github.com/kratzert/finetune_alexnet_with_tensorflow"),
    Repository("TF-Examples v1", "examples", "https://github.com/aymericdamien/TensorFlow-Examples", "tensorflow_v1"),
    Repository("models", "models", "https://github.com/vincentcheny/models"),
    Repository("model zoo", "model_zoo", "https://gitee.com/ascend/ModelZoo-TensorFlow"),
)
CONVERTER_2021 = Repository("2021 converter", "converter_2021", "https://gitee.com/ascend/tensorflow", "convert_tf2npu")

# (requirement, what it is called here); tf_slim is published as a wheel only.
RELEASES = (
    ("deepctr==0.8.7", "deepctr"),
    ("tf_slim==1.1.0", "tf_slim"),
    ("OpenNMT-tf==1.25.3", "OpenNMT-tf"),
    ("stable-baselines==2.10.2", "stable-baselines"),
    ("tensorpack==0.11", "tensorpack"),
    ("horovod==0.19.5", "horovod"),
    ("tensor2tensor==1.15.7", "tensor2tensor"),
    ("tflearn==0.5.0", "tflearn"),
)

# Those the vendor's converter was timed on; 482 lines/s was measured over all of them.
TIMED_CORPORA = ("bert", "alexnet", "TF-Examples v1", *(name for _, name in RELEASES))


class Absent(Exception):
    """A corpus that is not where the caller says; the text says where to find it."""


def bring(repository: Repository, given: Path, into: Path) -> Brought:
    """The files of a repository below `into`, or the checkout itself where `given` is one.

    Raises: Absent.
    """
    git_dir = _git_dir(given)
    if git_dir is None and not given.is_dir():
        raise Absent(f"{repository.name}: {given} is no folder; the public repository is {repository.where}")
    version = "no commit known" if git_dir is None else _git(git_dir, "rev-parse", "HEAD").decode().strip()
    folder, n_absent = given, 0
    if git_dir is not None and not _has_work_tree(given):
        folder = into / repository.option
        n_absent = _extract(git_dir, folder)
    return Brought(repository.name, folder / repository.below if repository.below else folder, version, n_absent)


def _git_dir(given: Path) -> Path | None:
    for candidate in (given / ".git", given):
        if (candidate / "HEAD").is_file() and (candidate / "objects").is_dir():
            return candidate
    return None


def _has_work_tree(given: Path) -> bool:
    return (given / ".git").exists() and any(item.name != ".git" for item in given.iterdir())


def _git(git_dir: Path, *words: str) -> bytes:
    return subprocess.run(["git", "--git-dir", str(git_dir), *words], check=True, stdout=subprocess.PIPE).stdout


def _extract(git_dir: Path, folder: Path) -> int:
    """Write the tree of HEAD; returns how many of its files the git directory does not hold (partial clones)."""
    listed = _git(git_dir, "ls-tree", "-r", "-z", "HEAD").split(b"\0")
    entries = [line.split(b"\t", 1) for line in listed if line and b" commit " not in line.split(b"\t")[0]]
    environment = {**os.environ, "GIT_NO_LAZY_FETCH": "1"}
    command = ["git", "--git-dir", str(git_dir), "cat-file", "--batch"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as reader:
        return sum(not _extract_one(reader, about.split(), folder / os.fsdecode(path)) for about, path in entries)


def _extract_one(reader: subprocess.Popen[bytes], about: list[bytes], path: Path) -> bool:
    assert reader.stdin is not None and reader.stdout is not None
    mode, _, name = about
    reader.stdin.write(name + b"\n")
    reader.stdin.flush()
    header = reader.stdout.readline().split()
    if header[-1] == b"missing":
        return False
    data = reader.stdout.read(int(header[2]))
    reader.stdout.read(1)
    path.parent.mkdir(parents=True, exist_ok=True)
    if mode == b"120000":
        path.symlink_to(os.fsdecode(data))
    else:
        path.write_bytes(data)
        path.chmod(0o755 if mode == b"100755" else 0o644)
    return True


def download(requirement: str, name: str, into: Path) -> Brought:
    """A release from PyPI, unpacked; its source distribution where there is one.

    Raises: Absent where the package index does not have it.
    """
    store = into / "archives" / name
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(store)]
    for form in (["--no-binary", ":all:", "--no-build-isolation"], []):
        done = subprocess.run([*command, *form, requirement], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            break
    else:
        raise Absent(f"{name}: pip cannot download {requirement} ({done.stderr.strip().splitlines()[-1]})")
    folder = into / name
    for archive in store.iterdir():
        if archive.suffix == ".whl":
            with zipfile.ZipFile(archive) as packed:
                packed.extractall(folder)
        else:
            with tarfile.open(archive) as packed:
                packed.extractall(folder, filter="data")
    return Brought(name, folder, requirement)
