"""The vendor's converter (msFmkTransplt of MindStudio) over a project, and what of its changes a conversion of ours has."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import NamedTuple

from benchmarks.acceptance.measured import Cost, run
from benchmarks.cuda_code.edits import Edit, edits, lines_of

PROGRAM = "src/ms_fmk_transplt"
EXAMPLES = "test/msFmkTransplt/resources"
WHERE = "https://gitcode.com/Ascend/mstt, folder msfmktransplt, with libcst, jedi, pandas and prettytable"

ARGUMENTS = (
    (
        re.compile(r"isinstance\(.*, int\) else"),
        "a device that may be an integer: the vendor's converter wraps each, ours changes what is known to be one",
    ),
)
"""Changes that are not to be made, by the vendor's text, and why."""


_ADAPTER = re.compile(r"\s*import torch[._]npu\b")
_OUR_ADAPTER = re.compile(r"\s*(?:import|from) torch_npu\b")
_QUALIFIED = re.compile(r"\btorch_npu\.npu\.amp\.")
_IMPORTED = "the name is imported from the NPU's module, and its uses stay"
_NO_NAME = "the file needs no name of torch_npu"
_NOTHING: dict = {"findings": []}


class Place(NamedTuple):
    """A change of the vendor's.  answer: made, argued or missing.  reason: of one that is argued."""

    edit: Edit
    answer: str
    reason: str = ""


def convert(program: Path, python: Path, project: Path, out: Path) -> Cost:
    """Convert a project by the vendor's converter; its output is `<out>/<name>_msft`."""
    shutil.rmtree(out / f"{project.name}_msft", ignore_errors=True)
    out.mkdir(parents=True, exist_ok=True)
    folder = program / PROGRAM
    command = ["env", f"PYTHONPATH={folder}", str(python), str(folder / "ms_fmk_transplt.py")]
    return run([*command, "-i", str(project), "-o", str(out), "-v", "2.8.0"], weighs=False)


def copied(project: Path, into: Path) -> Path:
    """The Python files of a project alone, as the vendor's converter wants nobody else to be able to write them."""
    target = into / project.name
    for path in sorted(project.rglob("*.py")):
        copy = target / path.relative_to(project)
        copy.parent.mkdir(parents=True, exist_ok=True, mode=0o750)
        shutil.copyfile(path, copy)
        copy.chmod(0o640)
    return target


def places(project: Path, vendor: Path, ours: Path, files: list[dict]) -> list[Place]:
    """Each change of the vendor's and its answer.  files: of our report."""
    told = {file["path"]: file for file in files}
    found = []
    for path in sorted(project.rglob("*.py")):
        name = str(path.relative_to(project))
        if not (vendor / name).exists():
            continue
        before, theirs, mine = lines_of(path), lines_of(vendor / name), lines_of(ours / name)
        made = {line for edit in edits(name, before, mine, _NOTHING) for line in _touched(edit)}
        added = [line for line in theirs if _ADAPTER.match(line)]
        if added and not any(_ADAPTER.match(line) for line in before):
            has_import = any(_OUR_ADAPTER.match(line) for line in mine)
            answer = "made" if has_import else "missing" if made else "argued"
            found.append(Place(Edit(name, 1, [], added, ""), answer, _NO_NAME if answer == "argued" else ""))
        kept = [line for line in theirs if line not in added]
        changes = (one for group in edits(name, before, kept, _NOTHING) for one in single_lines(group))
        found += [_answered(edit, made, told.get(name, _NOTHING)) for edit in changes]
    return found


def single_lines(edit: Edit) -> list[Edit]:
    """An edit of several lines as one for each line, where as many came as went."""
    if len(edit.before) != len(edit.after):
        return [edit]
    pairs = zip(edit.before, edit.after, strict=True)
    return [Edit(edit.path, edit.line + at, [old], [new], edit.rules) for at, (old, new) in enumerate(pairs)]


def _touched(edit: Edit) -> range:
    return range(edit.line, edit.line + max(1, len(edit.before)))


def _answered(edit: Edit, made: set[int], file: dict) -> Place:
    if edit.before and all(line in made for line in _touched(edit)):
        return Place(edit, "made")
    if [_QUALIFIED.sub("", line) for line in edit.after] == edit.before and made:
        return Place(edit, "argued", _IMPORTED)
    for pattern, reason in ARGUMENTS:
        if pattern.search("\n".join(edit.after)):
            return Place(edit, "argued", reason)
    near = [f for f in file["findings"] if f["level"] != "fixed" and _meets(f, edit)]
    return Place(edit, "argued", f"{near[0]['rule']}: {near[0]['message']}") if near else Place(edit, "missing")


def _meets(finding: dict, edit: Edit) -> bool:
    touched = _touched(edit)
    return finding["line"] <= touched[-1] and finding["end_line"] >= touched[0]
