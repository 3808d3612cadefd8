"""A check goes into the migration report of a folder, in every format that lies there, and into nothing else."""

from __future__ import annotations

import json

import jsonschema
import pytest

from tests.accuracy_check import samples
from tests.accuracy_check.samples import SAMPLES
from tests.report.samples import SOURCE, result
from tf2npu.accuracy_check.document import document
from tf2npu.report import writer
from tf2npu.report.formats import as_json, as_text
from tf2npu.report.model.build import build
from tf2npu.runs import merge_check
from tf2npu.runs.carry_over import keep_runs, sources_digest


@pytest.fixture
def place(tmp_path, monkeypatch):
    """The folder of a report."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    writer.write(build([result()]), tmp_path / "report", ["html", "json", "text"])
    return tmp_path / "report"


def test_the_verdict_is_in_every_format(place, capsys):
    merge_check.merge(place, document(SAMPLES["precision"]))
    assert capsys.readouterr().err == f"tf2npu check: the verdict is in {place / 'index.html'}\n"
    data = json.loads((place / "report.json").read_text())
    jsonschema.validate(data, json.loads(as_json.SCHEMA_FILE.read_text()))
    assert data["check"] == {
        "script": "train.py", "steps": 3, "sources": sources_digest(build([result()])), "modes": [
            {"mode": "must_keep_origin_dtype", "verdict": "agrees", "cause": "", "first_difference": None, "least_change": []},
            {
                "mode": samples.MIX, "verdict": "differs", "cause": "precision",
                "first_difference": {"node": "encoder/scores", "op": "BatchMatMulV2", "place": "model.py:88"},
                "least_change": ["encoder/scores"],
            },
        ],
    }  # fmt: skip
    for name in ("runs.html", "report.txt"):
        assert "encoder/scores (BatchMatMulV2), model.py:88" in (place / name).read_text()
    assert not (place / "report.sarif").exists()


def test_a_later_check_takes_the_place_of_an_earlier_one(place):
    before = {path.name: path.read_bytes() for path in place.iterdir() if path.is_file()}
    for name in ("failed", "random", "stopped", "clean"):
        merge_check.merge(place, document(SAMPLES[name]))
    text = (place / "report.txt").read_text()
    assert "allow_mix_precision: agrees with the original" in text and "failed in its run" not in text
    data = json.loads((place / "report.json").read_text())
    del data["check"]
    assert data == json.loads(before["report.json"])


def test_a_conversion_keeps_the_check_and_marks_it_where_sources_have_changed(place, tmp_path):
    merge_check.merge(place, document(SAMPLES["precision"]))
    kept = json.loads((place / "report.json").read_text())["check"]
    same, other = build([result()]), build([result(text=SOURCE.replace("an ordinary", "another"))])
    for report in (same, other):
        keep_runs(report, place, tmp_path)
    assert same.check == kept and other.check == {**kept, "is_stale": True}
    assert "Stale: sources have changed since this check." in as_text.render(other)
    assert "Stale" not in as_text.render(same)
    keep_runs(other, place, tmp_path)
    jsonschema.validate(json.loads(as_json.render(other)), json.loads(as_json.SCHEMA_FILE.read_text()))


def test_hostile_names_stay_texts(place):
    merge_check.merge(place, document(samples.hostile()))
    page = (place / "runs.html").read_text()
    assert "&lt;img src=x" in page
    assert "<img src=x" not in page and "window.hit=1</script>" not in page


def test_folders_of_this_computer_are_not_named(place, tmp_path):
    found = samples.record(samples.OVERFLOWING, script=str(tmp_path / "train.py"))
    merge_check.merge(place, document(found))
    assert json.loads((place / "report.json").read_text())["check"]["script"] == "train.py"


def test_a_folder_without_a_report_gets_a_line(tmp_path, capsys):
    merge_check.merge(tmp_path, document(SAMPLES["clean"]))
    assert "cannot be put into the report" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
