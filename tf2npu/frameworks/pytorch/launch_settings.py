"""Lines of launchers and settings files that are written for CUDA. They are named, and a person edits them."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from tf2npu.file_findings import LAUNCH_SETTINGS
from tf2npu.findings import Finding, Level, Span

_SHELL = frozenset((".sh", ".bash", ".slurm", ".sbatch"))
_OF_SERVICES = re.compile(
    r"(?:^|/)\.(?:github|circleci|gitlab|azure|devcontainer)[^/]*/|(?:^|/)(?:package(?:-lock)?|tsconfig)\.json$"
)
_STARTS = re.compile(r"\b(?:python[\d.]*|torchrun|accelerate|deepspeed|srun)\b")
_COMMENT = re.compile(r"(?:^|\s)#.*$")
_MOST_LINE = 1_000
"""Characters of a line that a person wrote."""

_VARIABLE = re.compile(
    r"""(?:^|[\s"'])(?:export\s+|-[-\w]*\s+)?(?:CUDA_VISIBLE_DEVICES|(?P<nccl>(?:TORCH_)?NCCL_[A-Z0-9_]+))["']?\s*[=:]"""
)
_OPTION = re.compile(r"--?[\w-]+[= ]+[\"']?(cuda(?::\d+)?|nccl)[\"']?(?=[\s;\\)]|$)")
_KEY = r"[\w.-]*(?:device|map_location|accelerator|backend)[\w-]*"
_VALUE = r"""\s*[:=]\s*["']?(cuda(?::\d+)?|nccl)["']?(?=\s*(?:[,}\]]|$))"""
_ENTRY = re.compile(rf"""(?:["']{_KEY}["']|^[\s-]*{_KEY}){_VALUE}""", re.IGNORECASE)
_LAUNCH = re.compile(r"-m\s+torch\.distributed\.launch\b")
_TOOL = re.compile(r"(?:^|[\s;&|(])(?P<tool>nvidia-smi|nsys|ncu|nvprof)\b")
_DOCKER = re.compile(r"\bdocker\b.*\s--(?:gpus|runtime[= ]nvidia)\b")
_TOOLS = {"nvidia-smi": "npu-smi"}


def said_of_settings(path: str, text: str) -> Iterator[Finding]:
    """What there is to say of the lines of a launcher, or of a settings file in YAML, JSON or TOML."""
    suffix = posixpath.splitext(path)[1]
    if _OF_SERVICES.search(path):
        return
    is_shell = suffix in _SHELL
    if is_shell and not _STARTS.search(text):
        return
    for number, whole in enumerate(text.splitlines(), 1):
        line = whole if suffix == ".json" else _COMMENT.sub("", whole)
        if len(line) <= _MOST_LINE:
            said = _said_of_command(line) if is_shell else _said_of_entry(line)
            for level, message in said:
                span = Span(number, 1, number, len(whole) + 1)
                yield LAUNCH_SETTINGS.finding(level, message, span)


def _said_of_command(line: str) -> Iterator[tuple[Level, str]]:
    """What there is to say of a line of a shell script."""
    yield from _said_of_variable(line)
    yield from map(_renamed, _OPTION.findall(line))
    if _LAUNCH.search(line):
        yield (
            Level.INFO,
            "torch.distributed.launch starts ranks on NPUs as well; torchrun is what PyTorch has for it today, and tells each "
            "its LOCAL_RANK by the environment.",
        )
    if _DOCKER.search(line):
        yield (
            Level.MANUAL,
            "This gives GPUs to the container: pass the NPUs on, as `--device /dev/davinci0` and those of the driver.",
        )
    elif tool := _TOOL.search(line):
        instead = _TOOLS.get(tool["tool"], "msprof")
        yield Level.MANUAL, f"{tool['tool']} sees GPUs only: write {instead}, whose options are others."


def _said_of_entry(line: str) -> Iterator[tuple[Level, str]]:
    """What there is to say of a line of a settings file."""
    yield from _said_of_variable(line)
    yield from map(_renamed, _ENTRY.findall(line))


def _said_of_variable(line: str) -> Iterator[tuple[Level, str]]:
    variable = _VARIABLE.search(line)
    if variable is None:
        return
    if variable["nccl"]:
        yield Level.INFO, f"HCCL does not read {variable['nccl']}, so that it has no effect on NPUs."
    else:
        yield Level.INFO, "CUDA_VISIBLE_DEVICES chooses no NPU: ASCEND_RT_VISIBLE_DEVICES does."


def _renamed(value: str) -> tuple[Level, str]:
    new = "hccl" if value == "nccl" else value.replace("cuda", "npu")
    return Level.MANUAL, f"The converted scripts take another name here: write {new} for {value}."
