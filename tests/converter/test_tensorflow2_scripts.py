"""Whole scripts and projects for TensorFlow 2: what is converted runs where the original runs.

They are script2_*, and ranks2_* for several ranks, in tests/fixtures/convert.
Converted scripts run with the stub of npu_device in tests/fixtures, on TensorFlow alone. That their conversion is as recorded,
and a second one changes nothing, is asked of all golden conversions.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests import fork_server
from tests.how_many import some

FIXTURES = Path(__file__).parents[1] / "fixtures"
STUB = FIXTURES / "npu_device_stub"
ENTRIES = {
    "script2_absl": "main.py", "script2_package": "tool/__main__.py", "script2_project": "train.py",
    "ranks2_two_files": "train.py",
}  # fmt: skip
"""The scripts of cases of several files."""
CASES = sorted(path.name for kind in ("script2", "ranks2") for path in (FIXTURES / "convert").glob(f"{kind}_*"))


def entry_of(case: str, folder: str) -> Path:
    root = FIXTURES / "convert" / case / folder
    name = ENTRIES.get(case)
    (path,) = [root / name] if name else root.glob("*.py")
    return path


@pytest.mark.parametrize("case", CASES)
def test_an_entry_script_opens_the_npu(case: str) -> None:
    converted = entry_of(case, "out").read_text()
    assert converted.count(".open().as_default()") == 1 and converted.count("import npu_device as npu") == 1


@pytest.mark.parametrize("case", some(CASES))
def test_what_is_converted_prints_what_the_original_prints(case: str, tmp_path: Path) -> None:
    from tests.shim.conftest import plain_environment

    environment = {**plain_environment(), "PYTHONPATH": str(STUB), "TF_CPP_MIN_LOG_LEVEL": "3"}
    printed = {}
    for folder in ("src", "out"):
        path = entry_of(case, folder)
        copy = Path(shutil.copytree(FIXTURES / "convert" / case / folder, tmp_path / folder))
        script = copy / path.relative_to(FIXTURES / "convert" / case / folder)
        words = ["-c", f"import runpy; runpy.run_module({script.parent.name!r}, run_name='__main__')"]
        done = fork_server.python(words if script.name == "__main__.py" else [script], environment, copy)
        assert done.returncode == 0, done.stderr
        printed[folder] = done.stdout
    assert printed["out"] == printed["src"] != ""
