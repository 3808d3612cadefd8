"""Launchers and settings files beside scripts for PyTorch: lines for CUDA are named, and the files stay as they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from tf2npu.config import Config
from tf2npu.findings import Level, Status
from tf2npu.project.conversion import Conversion, convert_project
from tf2npu.project.request import Request

SCRIPT = "import torch\ndevice = torch.device('cuda')\n"


def converted(folder: Path, files: dict[str, str], config: Config | None = None) -> Conversion:
    source = folder / "src"
    for name, text in files.items():
        path = source / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return convert_project(Request(source, config or Config(), folder / "out", use_cache=False))


def said(of: Conversion, path: str) -> list[tuple[int, str, str]]:
    """Line, level and message of each finding on a file."""
    findings = next(result.findings for result in of.results if result.path == path)
    return [(f.span.line, f.level.value, f.message) for f in findings]


LINES = [
    pytest.param("run.sh", "python train.py --device cuda:0", "write npu:0 for cuda:0", id="option of a script"),
    pytest.param("run.sh", "torchrun train.py --dist-backend=nccl", "write hccl for nccl", id="backend"),
    pytest.param("run.sh", "CUDA_VISIBLE_DEVICES=1 python train.py", "ASCEND_RT_VISIBLE_DEVICES", id="variable"),
    pytest.param("run.sh", "export NCCL_DEBUG=INFO; python train.py", "HCCL does not read NCCL_DEBUG", id="NCCL"),
    pytest.param("run.sh", "python -m torch.distributed.launch train.py", "torchrun", id="old launcher"),
    pytest.param("run.sh", "nvidia-smi; python train.py", "npu-smi", id="tool"),
    pytest.param("run.sh", "docker run --gpus all image python train.py", "/dev/davinci0", id="container"),
    pytest.param("conf/a.yaml", "  device: cuda  # the card", "write npu for cuda", id="YAML"),
    pytest.param("conf/a.json", '{"dist_backend": "nccl", "x": 1}', "write hccl for nccl", id="JSON"),
    pytest.param("conf/a.toml", 'device = "cuda:1"', "write npu:1 for cuda:1", id="TOML"),
    pytest.param("jobs/a.slurm", "srun python train.py --device cuda", "write npu for cuda", id="Slurm"),
]


@pytest.mark.parametrize(("path", "line", "words"), LINES)
def test_a_line_for_cuda_is_named_and_stays(tmp_path: Path, path: str, line: str, words: str) -> None:
    result = converted(tmp_path, {"train.py": SCRIPT, path: f"\n{line}\n"})
    ((number, _, message),) = said(result, path)
    assert number == 2 and words in message
    assert (tmp_path / "out" / path).read_text(encoding="utf-8") == f"\n{line}\n"


OTHERS = [
    pytest.param("run.sh", "# python train.py --device cuda", id="comment"),
    pytest.param("run.sh", "python train.py --cuda --gpus 2", id="options of the script that keep their names"),
    pytest.param("build.sh", "make CUDA=1 cuda_tests --device cuda", id="no script is started"),
    pytest.param("run.sh", "torchrun --standalone train.py", id="torchrun"),
    pytest.param("conf/a.yaml", "path: data/cuda", id="path"),
    pytest.param("conf/a.yaml", "name: cuda", id="another key"),
    pytest.param("conf/a.json", '{"text": "device: cuda is fast"}', id="words"),
    pytest.param(".github/workflows/test.yml", "device: cuda", id="of a service"),
    pytest.param("notes.md", "python train.py --device cuda", id="another kind of file"),
]


@pytest.mark.parametrize(("path", "line"), OTHERS)
def test_other_lines_are_not_named(tmp_path: Path, path: str, line: str) -> None:
    assert said(converted(tmp_path, {"train.py": SCRIPT, path: f"{line}\n"}), path) == []


def test_nothing_is_said_beside_scripts_of_another_framework(tmp_path: Path) -> None:
    files = {"train.py": "import tensorflow as tf\ntf.Session()\n", "run.sh": "python train.py --device cuda\n"}
    assert said(converted(tmp_path, files), "run.sh") == []


def test_the_rule_can_be_switched_off(tmp_path: Path) -> None:
    files = {"train.py": SCRIPT, "run.sh": "python train.py --device cuda\n"}
    assert said(converted(tmp_path, files, Config(ignore=frozenset({"NPT601"}))), "run.sh") == []


def test_bytes_that_are_no_text_stay(tmp_path: Path) -> None:
    source = tmp_path / "src"
    source.mkdir()
    (source / "train.py").write_text(SCRIPT, encoding="utf-8")
    (source / "a.yaml").write_bytes(b"device: cuda\n\xff\xfe\n")
    result = convert_project(Request(source, Config(), tmp_path / "out", use_cache=False))
    assert [line for line, _, _ in said(result, "a.yaml")] == [1]
    assert next(one.status for one in result.results if one.path == "a.yaml") is Status.COPIED
    assert (tmp_path / "out" / "a.yaml").read_bytes() == b"device: cuda\n\xff\xfe\n"


def test_a_person_has_to_rename_what_a_script_reads(tmp_path: Path) -> None:
    files = {"train.py": SCRIPT, "a.yaml": "device: cuda\n", "run.sh": "export CUDA_VISIBLE_DEVICES=0\npython train.py\n"}
    result = converted(tmp_path, files)
    assert [level for _, level, _ in said(result, "a.yaml")] == [Level.MANUAL.value]
    assert [level for _, level, _ in said(result, "run.sh")] == [Level.INFO.value]
