"""The benchmark of published steps: its rows, and the one line that it says without torch."""

from __future__ import annotations

import csv
import importlib.util

import pytest

from benchmarks import pytorch_published


def test_each_row_names_a_network_that_there_is_and_the_place_of_its_figure():
    rows = list(csv.DictReader(pytorch_published.PUBLISHED.read_text(encoding="utf-8").splitlines()))
    assert {row["network"] for row in rows} == set(pytorch_published.NETWORKS)
    assert sum(row["network"] == "resnet50" for row in rows) == 3 and len(rows) >= 18
    assert all(row["source"].startswith(("built-in/", "contrib/")) and float(row["images_per_s"]) > 0 for row in rows)


def test_each_later_row_has_a_network_and_a_size_and_is_none_of_the_first():
    rows = list(csv.DictReader(pytorch_published.LATER.read_text(encoding="utf-8").splitlines()))
    first = {row["source"] for row in csv.DictReader(pytorch_published.PUBLISHED.read_text(encoding="utf-8").splitlines())}
    assert {row["network"] for row in rows} == set(pytorch_published.LATER_NETWORKS)
    assert all(row["source"] not in first and int(row["size"]) > 0 and float(row["per_s"]) > 0 for row in rows)


@pytest.mark.parametrize(
    ("operators", "fused", "miss"),
    [(90.0, 110.0, 0.0), (110.0, 140.0, 0.1), (50.0, 80.0, -0.2)],
    ids=["between", "device faster", "device slower"],
)
def test_the_miss_is_that_of_the_nearer_bound(operators: float, fused: float, miss: float):
    row = pytorch_published.Row("resnet50", 1, 100.0, "O2", "", operators, fused, 0)
    assert row.miss == pytest.approx(miss)


def test_it_says_in_a_line_that_torch_is_missing(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert pytorch_published.main([]) == 2
    assert capsys.readouterr().err == f"{pytorch_published.WITHOUT_TORCH}\n"


def test_it_names_the_networks_that_have_no_row(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())
    assert pytorch_published.main(["lenet"]) == 2
    said = capsys.readouterr().err
    assert "lenet" in said and "resnet50" in said and said.count("\n") == 1
