"""The files of a check, whole and below their folder."""

from __future__ import annotations

import json
import os

import pytest

from tests.accuracy_check import samples
from tests.accuracy_check.samples import SAMPLES
from tf2npu.accuracy_check import output
from tf2npu.accuracy_check.texts import texts
from tf2npu.prediction.output import ForeignPage
from tf2npu.report.writer import MARKER


@pytest.fixture(autouse=True)
def own_state(tmp_path, monkeypatch):
    """Give the test a state folder of its own, without earlier reports."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def test_everything_goes_into_the_folder(tmp_path):
    paths = output.put(SAMPLES["precision"], tmp_path / "out", texts("en"))
    assert [path.name for path in paths] == ["check.html", "check.json", "customize_dtypes.cfg"]
    assert sorted(os.listdir(tmp_path / "out")) == sorted([MARKER, *(path.name for path in paths)])
    assert paths[2].read_text() == samples.CHANGE["files"]["customize_dtypes.cfg"]
    assert json.loads(paths[1].read_text())["modes"][1]["files"] == ["customize_dtypes.cfg"]


def test_the_same_check_gives_the_same_bytes(tmp_path):
    for folder in ("one", "two"):
        output.put(samples.hostile(), tmp_path / folder, texts("zh"))
    for name in os.listdir(tmp_path / "one"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_a_later_check_takes_the_place_of_an_earlier_one_but_not_of_files_of_others(tmp_path):
    for name in ("clean", "precision", "conversion"):
        output.put(SAMPLES[name], tmp_path / "out", texts("en"))
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "customize_dtypes.cfg").write_text("mine")
    said = r"customize_dtypes\.cfg: exists and was not written by tf2npu.*--out"
    with pytest.raises(ForeignPage, match=said):
        output.put(SAMPLES["precision"], tmp_path / "other", texts("en"))
    with pytest.raises(ForeignPage, match=said):
        output.check_folder(tmp_path / "other")
    output.check_folder(tmp_path / "out")
    output.check_folder(tmp_path / "new")
    assert os.listdir(tmp_path / "other") == ["customize_dtypes.cfg"]


def test_links_are_not_followed(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "out").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError):
        output.put(SAMPLES["clean"], tmp_path / "out", texts("en"))
    assert os.listdir(tmp_path / "elsewhere") == []
