"""Edits by which the vendor's people moved models to npu_device, and the converter's answer to each on the text before them."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import libcst as cst

from benchmarks.public_scripts.without_npu import Edit, before

MODELS = (
    "vae_ID2593", "coral-ordinal_ID3192", "CircleLossMNIST_ID3551", "tf_v2_01_SGAN_ID3999", "tf_v2_02_CGAN_ID4000",
    "MNIST_ID2481", "ResNet50_ID0360", "densenet_ID3534", "Swin-Transformer_ID2374", "Swin-Transformer_ID2412",
    "convmixer_ID2501", "text_classification_with_transformer_ID2563", "mnist_convnet_ID2524", "WDL_ID2633", "YoloV5_ID2353",
)  # fmt: skip
_ADDED = ("npu_ops.py", "npu_convert_dropout.py", "swin_transformers_origin.py")
"""Files that the vendor's people added, and a second text of a model that is moved, too."""
_RANKS = ("batches of ranks", "optimizer of ranks", "gradients of ranks", "broadcast")
_ANSWERS = {
    "import": ("NPU800", "NPU801"),
    "open": ("NPU801",),
    "option": ("NPU801",),
    "dropout": ("NPU801",),
    "drop_remainder": ("NPU803",),
    "loss scale": ("NPU804",),
    "gelu": ("NPU818",),
    **dict.fromkeys(_RANKS, ("NPU812", "NPU813")),
}
"""For each kind of edit the rules that answer it."""


@dataclass
class Answered:
    """A model's edits, each with what the conversion says: fixed, manual, info, or nothing."""

    model: str
    answers: list[tuple[Edit, str]] = field(default_factory=list)

    @property
    def missed(self) -> list[Edit]:
        """Edits without an answer."""
        return [edit for edit, answer in self.answers if not answer]


def answered(zoo: Path, model: str, scratch: Path) -> Answered:
    """Take the NPU out of a model, convert it, and find the answer to each edit."""
    folder = next(path for path in sorted(zoo.rglob(f"{model}_*")) if path.is_dir())
    source, edits = scratch / "before", []
    shutil.copytree(folder, source, symlinks=True)
    for path in sorted(source.rglob("*.py")):
        if path.name in _ADDED:
            path.unlink()
            continue
        try:
            text, found = before(str(path.relative_to(source)), path.read_text())
        except (cst.ParserSyntaxError, UnicodeDecodeError):
            continue
        if found:
            path.write_text(text)
            edits += found
    is_for_ranks = any(edit.kind in _RANKS for edit in edits)
    flags = ["--distributed", "tf"] if is_for_ranks else []
    report = _converted(source, scratch / "out", flags)
    if any(finding.get("part") == "either_tensorflow" for file in report["files"] for finding in file["findings"]):
        report = _converted(source, scratch / "out-2", [*flags, "--target", "tf2"])  # the answer to the question that it asks
    return Answered(model, [(edit, _answer(edit, report)) for edit in edits])


def _converted(source: Path, out: Path, flags: list[str]) -> dict[str, Any]:
    command = [sys.executable, "-m", "tf2npu", "convert", str(source), str(out), "-q", "--jobs", "1", "--no-cache", *flags]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise RuntimeError(f"exit code {done.returncode} of {' '.join(command)}: {done.stderr}")
    return json.loads((out / "tf2npu-report" / "report.json").read_text())


def _answer(edit: Edit, report: dict[str, Any]) -> str:
    """The level and rule that answer an edit, in its file; what opens the NPU, and ranks, in the project."""
    rules = _ANSWERS.get(edit.kind, ())
    here = [file for file in report["files"] if file["path"] == edit.path]
    everywhere = report["files"] if edit.kind in ("import", "open", "option", "dropout", *_RANKS) else here
    for files in (here, everywhere):
        found = [finding for file in files for finding in file["findings"] if finding["rule"] in rules]
        for level in ("fixed", "manual", "unsupported", "info"):
            if match := next((finding for finding in found if finding["level"] == level), None):
                return f"{level} {match['rule']}"
    return ""


def line(result: Answered) -> str:
    """A model's line of the table."""
    counts = Counter((edit.kind, answer or "MISSED") for edit, answer in result.answers)
    told = "; ".join(f"{n} {kind}: {answer}" for (kind, answer), n in sorted(counts.items()))
    return f"{result.model}: {len(result.answers) - len(result.missed)} of {len(result.answers)} edits ({told})"
