"""Commands that a report shows with a button that copies them: typed where the page says, they find what they name."""

from __future__ import annotations

import html
import json
import os
import re
import shlex
from pathlib import Path

import pytest

from tests import fork_server
from tf2npu.report import manifest

SCRIPT = "import tensorflow as tf\n\nwith tf.Session() as sess:\n    print(sess)\n"
ODD = ["my src", "it's", "$(touch x)", "a&b <i>", "-dash", "名"]


def tf2npu(cwd: Path, *words: str) -> None:
    done = fork_server.converter(words, os.environ, cwd)
    assert done.returncode == 0, done.stderr


def commands(report: Path) -> list[str]:
    """The lines behind buttons, on all pages."""
    pages = [page.read_text(encoding="utf-8") for page in report.rglob("*.html")]
    return [html.unescape(text) for page in pages for text in re.findall(r'class="command".*?<code>(.*?)</code>', page)]


def paths(line: str) -> tuple[Path, Path, Path]:
    """The migrated script, the report and the original of a line that compares."""
    words = shlex.split(line)
    assert words[:3] == ["tf2npu", "check", "--migrated"] and words[4] == "--report" and len(words) == 7
    return Path(words[3]), Path(words[5]), Path(words[6])


def compared(report: Path, out: Path) -> tuple[Path, Path, Path]:
    (line,) = {line for line in commands(report) if line.startswith("tf2npu check")}
    migrated, folder, original = ((out / path).resolve() for path in paths(line))
    return migrated, folder, original


@pytest.mark.whole(beyond=1)
@pytest.mark.parametrize("name", ODD)
def test_a_comparison_names_both_scripts_and_the_report(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    (tmp_path / name / "train.py").write_text(SCRIPT)
    tf2npu(tmp_path, "convert", f"./{name}", "deep/out", "--report", "a report")
    found = compared(tmp_path / "a report", tmp_path / "deep/out")
    assert found == (tmp_path / "deep/out/train.py", tmp_path / "a report", tmp_path / name / "train.py")


def test_a_single_file_under_a_new_name(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(SCRIPT)
    tf2npu(tmp_path, "convert", "train.py", "new name.py")
    found = compared(tmp_path / "tf2npu-report", tmp_path)
    assert found == (tmp_path / "new name.py", tmp_path / "tf2npu-report", tmp_path / "train.py")
    assert "python 'new name.py'" in commands(tmp_path / "tf2npu-report")


def test_a_link_above_the_output(tmp_path: Path) -> None:
    """The shell goes up from the folder that is really there."""
    (tmp_path / "real/below").mkdir(parents=True)
    (tmp_path / "train.py").write_text(SCRIPT)
    (tmp_path / "link").symlink_to("real/below")
    tf2npu(tmp_path, "convert", "train.py", str(tmp_path / "link/out"))
    found = compared(tmp_path / "real/below/out/tf2npu-report", tmp_path / "real/below/out")
    assert found[2] == tmp_path / "train.py"


def test_no_comparison_where_the_original_is_not_there_any_more(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(SCRIPT)
    tf2npu(tmp_path, "convert", ".", "--in-place")
    lines = commands(tmp_path / "tf2npu-report")
    assert lines and not [line for line in lines if line.startswith("tf2npu check")]


def test_a_scan_names_what_was_looked_at(tmp_path: Path) -> None:
    (tmp_path / "my src").mkdir()
    (tmp_path / "my src" / "train.py").write_text(SCRIPT)
    tf2npu(tmp_path, "scan", "my src", "--report", "r")
    assert set(commands(tmp_path / "r")) == {"tf2npu convert 'my src' out"}


def test_a_report_that_is_written_again_keeps_its_commands(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "train.py").write_text(SCRIPT)
    tf2npu(tmp_path, "convert", "src", "out")
    before = compared(tmp_path / "out/tf2npu-report", tmp_path / "out")
    tf2npu(tmp_path, "report", "out/tf2npu-report/report.json", "--format", "html", "--lang", "zh", "--report", "again")
    assert compared(tmp_path / "again", tmp_path / "out") == before
    assert json.loads((tmp_path / "out/tf2npu-report/report.json").read_text())["summary"]["headline"]
    assert manifest.load(tmp_path / "out/tf2npu-report").paths.source == "../src"
