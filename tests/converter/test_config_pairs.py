"""RunConfigs and Estimators that meet across a project: both become the NPU's, or neither does."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.converter.config_variants import PAIRS, STAYS
from tf2npu.cli import main
from tf2npu.config import Config
from tf2npu.engine.convert_file import convert_file, gather_facts
from tf2npu.scanner.project_facts import ProjectFacts

_FILE = re.compile(r"^=== (\S+)\n", re.MULTILINE)
_PLAIN_CONFIG = re.compile(r"tf\.estimator\.RunConfig\(")
_PLAIN_ESTIMATOR = re.compile(r"tf\.estimator\.Estimator\(")


def files_of(text: str) -> dict[str, bytes]:
    parts = _FILE.split(text)[1:]
    return {path: _bytes_of(path, source) for path, source in zip(parts[::2], parts[1::2], strict=True)}


def _bytes_of(path: str, source: str) -> bytes:
    if not path.endswith(".ipynb"):
        return source.encode()
    cell: dict[str, object] = {"cell_type": "code", "source": [source], "outputs": [], "metadata": {}, "execution_count": None}
    return json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 2}).encode()


def converted(files: dict[str, bytes], config: Config | None = None) -> dict[str, bytes]:
    project = ProjectFacts.merge(gather_facts(path, data) for path, data in files.items())
    return {path: convert_file(path, data, config or Config(), project).after for path, data in files.items()}


def _text(files: dict[str, bytes]) -> str:
    return "\n".join(data.decode() for data in files.values())


@pytest.mark.parametrize("name", PAIRS)
def test_they_become_the_pair(name: str) -> None:
    before = files_of(PAIRS[name])
    after = _text(converted(before))
    assert not _PLAIN_CONFIG.search(after)
    assert not _PLAIN_ESTIMATOR.search(after)
    assert "npu_run_config_init" not in after
    assert after.count("NPUEstimator(") == len(_PLAIN_ESTIMATOR.findall(_text(before)))
    assert after.count("NPURunConfig(") == len(_PLAIN_CONFIG.findall(_text(before)))


@pytest.mark.parametrize("name", STAYS)
def test_they_stay(name: str) -> None:
    before = files_of(STAYS[name])
    after = _text(converted(before))
    assert "NPURunConfig" not in after
    assert "NPUEstimator" not in after
    assert len(_PLAIN_CONFIG.findall(after)) == len(_PLAIN_CONFIG.findall(_text(before)))
    assert "tf.estimator.Estimator(" in after and "npu_run_config_init(run_config=" in after


@pytest.mark.parametrize("name", [*PAIRS, *STAYS])
def test_a_second_conversion_changes_nothing(name: str) -> None:
    once = converted(files_of({**PAIRS, **STAYS}[name]))
    assert converted(once) == once


@pytest.mark.parametrize("rule", ["NPU201", "NPU202"])
def test_neither_changes_where_one_of_the_rules_is_ignored(rule: str) -> None:
    files = files_of(PAIRS["a function of another file gives the config"])
    after = _text(converted(files, Config(ignore=frozenset({rule}))))
    assert "NPURunConfig" not in after and "NPUEstimator" not in after


def test_places_are_found_behind_characters_of_several_bytes() -> None:
    files = files_of(PAIRS["a function of another file gives the config"])
    line = "x = '\u7f16\u8bd1'; e = tf.estimator.Estimator(fn, config=get_config('d'))\n"
    files["train.py"] = f"import tensorflow as tf\nfrom conf import get_config\n{line}".encode()
    assert "; e = NPUEstimator(fn, config=get_config('d'))" in converted(files)["train.py"].decode()


def test_a_result_of_the_cache_depends_on_the_other_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    source = tmp_path / "src"
    source.mkdir()
    files = files_of(PAIRS["a function of another file gives the config"])
    for name, data in files.items():
        (source / name).write_bytes(data)
    _convert(source, tmp_path / "one")
    assert "NPUEstimator(" in (tmp_path / "one" / "train.py").read_text()
    (source / "conf.py").write_text("def get_config(d):\n    return load(d)\n")
    _convert(source, tmp_path / "two")
    assert "npu_run_config_init(run_config=get_config('d'))" in (tmp_path / "two" / "train.py").read_text()


def _convert(source: Path, out: Path) -> None:
    with pytest.raises(SystemExit):
        main(["convert", str(source), str(out)])
