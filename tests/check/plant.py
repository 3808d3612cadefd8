"""One planted error: scripts are made with it, checked, and what the check says is held against what was planted."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.check.forked_check import Checked, checked
from tf2npu.launch.temporary_conversion import convert_for_run

ROOT = Path(__file__).parent.parent.parent
SCRIPTS, EXAMPLES = ROOT / "tests/fixtures/checked", ROOT / "examples"
_EXAMPLES = {
    "alexnet": "alexnet_session/finetune.py", "lenet": "lenet_estimator/train.py", "keras_cnn": "keras_cnn/mnist_cnn.py",
    "transformer": "transformer/run_classifier.py",
}  # fmt: skip
_OF_FUNCTIONS = {"custom_loop_tf2": "custom_loop_tf2/train.py", "keras_fit_tf2": "keras_fit_tf2/train.py"}
FUNCTIONS = tuple(_OF_FUNCTIONS)
"""Scripts for TensorFlow 2."""
_WITHOUT_DATA = "custom_loop_tf2"
"""The example that makes its data itself."""
NAMES = (*_EXAMPLES, *(path.stem for path in sorted(SCRIPTS.glob("*.py"))))

Edits = tuple[tuple[str, str], ...]
"""Pairs of a text that a script has once, and what takes its place."""


@dataclass(frozen=True)
class Plant:
    """script: one of NAMES or FUNCTIONS.  node, cause: what a check has to say.

    line: text of the original's line that it has to name.
    migrated: edits of the converted script alone, which are errors of its conversion.  both: of the original before that,
    so that both scripts have what a mode or a kernel computes wrongly.  mode: in which it shows, "" for the graph's types.
    broken: source that breaks a kernel or a pass in the process of the device.  file: that the edits are of.
    """

    script: str
    node: str
    line: str
    cause: str = "conversion"
    migrated: Edits = ()
    both: Edits = ()
    mode: str = ""
    broken: str = ""
    file: str = ""

    @property
    def name(self) -> str:
        return f"{self.script} {self.node.replace('/', '.')} {self.cause}"


@dataclass(frozen=True)
class Judged:
    """The verdict of a check on a plant, and the parts of it that are right."""

    checked: Checked
    first: dict[str, Any]
    cause: str
    has_node: bool
    has_line: bool
    has_cause: bool

    def __str__(self) -> str:
        first = self.first
        place = f"{first.get('node')} ({first.get('what')}) {Path(str(first.get('file'))).name}:{first.get('line')}"
        marks = "".join(mark if is_right else "-" for mark, is_right in zip("NLC", self._marks, strict=True))
        return f"{marks} {place}: {self.cause or f'no cause, exit code {self.checked.code}'}"

    @property
    def _marks(self) -> tuple[bool, bool, bool]:
        return self.has_node, self.has_line, self.has_cause


def clean(script: str, folder: Path, modes: tuple[str, ...] = ()) -> Checked:
    """The check of a script without an error."""
    path = _copied(script, folder)
    return checked(path, _words(script, folder), folder / "check", modes=modes)


def judged(plant: Plant, folder: Path) -> Judged:
    """Check a script with a planted error.  folder: an empty one."""
    script = _copied(plant.script, folder)
    _edit(script.parent / (plant.file or script.name), plant.both)
    migrated = None
    if plant.migrated:
        migrated = convert_for_run(script, folder / "conversion").script
        _edit(migrated.parent / (plant.file or script.name), plant.migrated)
    found = checked(
        script, _words(plant.script, folder), folder / "check", migrated=migrated, prelude=plant.broken,
        modes=[plant.mode] if plant.mode else [],
    )  # fmt: skip
    return _judge(plant, found, script.parent / (plant.file or script.name))


def _judge(plant: Plant, found: Checked, file: Path) -> Judged:
    """The first mode that differs is the one that a person reads first."""
    modes = [mode for mode in found.document.get("modes", ()) if mode["verdict"] == "differs"]
    first = (modes[0]["first_difference"] or {}) if modes else {}
    cause = str(modes[0]["cause"] or "") if modes else ""
    has_node = first.get("node") == plant.node
    has_line = Path(str(first.get("file"))).name == file.name and first.get("line") == _line(file, plant.line)
    return Judged(found, first, cause, has_node, has_node and has_line, cause == plant.cause)


def _line(file: Path, text: str) -> int:
    lines = [number for number, line in enumerate(file.read_text().splitlines(), 1) if text in line]
    assert len(lines) == 1, f"{file.name} has {text!r} in lines {lines}"
    return lines[0]


def _copied(script: str, folder: Path) -> Path:
    """The script in a folder of its own, where edits harm nobody."""
    copy = folder / "project"
    examples = {**_EXAMPLES, **_OF_FUNCTIONS}
    if script in examples:
        path = EXAMPLES / examples[script]
        shutil.copytree(path.parent, copy, ignore=shutil.ignore_patterns("__pycache__", "model"))
        return copy / path.name
    copy.mkdir(parents=True)
    return Path(shutil.copy(SCRIPTS / f"{script}.py", copy))


def _words(script: str, folder: Path) -> list[str]:
    if script not in (*_EXAMPLES, *FUNCTIONS):
        return []
    data = [] if script == _WITHOUT_DATA else [f"--data_dir={EXAMPLES / 'data'}"]
    return [*data, f"--model_dir={folder / 'model'}"]


def _edit(file: Path, edits: Edits) -> None:
    text = file.read_text()
    for old, new in edits:
        assert text.count(old) == 1, f"{file.name} has {old!r} {text.count(old)} times"
        text = text.replace(old, new)
    file.write_text(text)
