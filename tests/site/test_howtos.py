"""The how-tos and the tutorial are so: scripts convert to the lines shown, leave what is listed, and print what is printed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.site.howto import Block, Reader, blocks

DOCS = Path(__file__).parents[2] / "docs"
FOLDER = DOCS / "howto"
PAGES = sorted(path.stem for path in FOLDER.glob("*.md") if path.stem != "index")


def test_a_page_for_each_workflow():
    assert PAGES == ["distribute", "estimator", "horovod", "keras", "session", "smoke_runs", "tensorflow2", "tpu_estimator"]
    index = (FOLDER / "index.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"\]\((\w+)\.md\)", index)) == PAGES


@pytest.mark.whole(but=("tutorial",))
@pytest.mark.parametrize("name", [*(f"howto/{page}" for page in PAGES if page != "smoke_runs"), "tutorial"])
def test_a_page_does_what_it_says(name: str, tmp_path: Path):
    page = (DOCS / f"{name}.md").read_text(encoding="utf-8")
    reader = Reader(tmp_path)
    for block in blocks(page):
        reader.follow(block)
    section = page.partition("## What is left to do\n")[2].partition("\n## ")[0]
    left = set(re.findall(r"^- \[(NPU\d+)\]", section, re.MULTILINE))
    assert reader.left[0] == left
    assert reader.left[-1] <= left
    run = reader.report()["run"]
    assert run["exit_code"] == 0 and run["device"].startswith("simulated Ascend")
    assert run["steps"] >= 100 and run["device_share"] > 0.99
    if name == "tutorial":
        assert reader.new_shapes == [1, 0]


def test_a_change_that_a_page_asks_for_is_made_line_by_line(tmp_path: Path):
    (tmp_path / "a.py").write_text("one\ntwo\nthree\n", encoding="utf-8")
    reader = Reader(tmp_path)
    for wrong in ("-four\n+4\n", "-three\n", "+0\n"):
        with pytest.raises(AssertionError):
            reader.follow(Block("diff", "a.py", wrong))
    reader.follow(Block("diff", "a.py", "-one\n+1\n+\n+-uno\n-three\n+3\n"))
    assert (tmp_path / "a.py").read_text(encoding="utf-8") == "1\n\n-uno\ntwo\n3\n"
