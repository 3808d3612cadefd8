"""Settings from pyproject.toml and the command line, and what is said about wrong ones."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from tf2npu.config import Config, ConfigError, EffortSettings, load_config

pytestmark = pytest.mark.each_python


def write(folder: Path, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "pyproject.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_without_a_file_the_defaults_hold(tmp_path: Path) -> None:
    write(tmp_path, "[project]\nname = 'x'\n")
    assert load_config(tmp_path) == Config()


def test_the_nearest_file_above_is_read(tmp_path: Path) -> None:
    write(tmp_path, "[tool.tf2npu]\ndistributed = 'tf'\n")
    write(tmp_path / "a", "[tool.tf2npu]\nimport-style = 'star'\nselect = ['NPU1', 'NPU503']\nunsafe-fixes = true\n")
    script = tmp_path / "a" / "b" / "train.py"
    script.parent.mkdir()
    script.write_text("")
    expected = Config(import_style="star", select=frozenset({"NPU1", "NPU503"}), unsafe_fixes=True)
    assert load_config(script) == expected
    assert load_config(tmp_path) == Config(distributed="tf")


def test_settings_of_the_effort_are_read(tmp_path: Path) -> None:
    write(tmp_path, "[tool.tf2npu.effort]\nlow = 0.7\nhigh = 3\nminutes = {NPU9 = [30, 10], NPU601 = [5, 0]}\n")
    expected = EffortSettings(0.7, 3.0, (("NPU601", 5.0, 0.0), ("NPU9", 30.0, 10.0)))
    assert load_config(tmp_path).effort == expected


def test_the_command_line_wins(tmp_path: Path) -> None:
    write(tmp_path, "[tool.tf2npu]\ndistributed = 'tf'\nmain = 'a.py'\n")
    config = load_config(tmp_path, distributed="horovod", ignore="NPU5, NPU601", main=None)
    assert config == Config(distributed="horovod", main="a.py", ignore=frozenset({"NPU5", "NPU601"}))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[tool.tf2npu]\ncolour = 'red'\n", "colour"),
        ("[tool.tf2npu]\ndistributed = 'mpi'\n", "none, auto, horovod, tf"),
        ("[tool.tf2npu]\nselect = 'X1'\n", "'X1'"),
        ("[tool.tf2npu]\nselect = [1]\n", "list of rule ids"),
        ("[tool.tf2npu]\nunsafe-fixes = 'yes'\n", "boolean"),
        ("[tool.tf2npu]\nmain = 3\n", "string"),
        ("[tool.tf2npu]\neffort = 3\n", "effort must be a table with low, high, minutes"),
        ("[tool.tf2npu.effort]\nmost = 3\n", "unknown key 'most' in effort"),
        ("[tool.tf2npu.effort]\nlow = nan\n", "effort.low must be a number from 0 to 1"),
        ("[tool.tf2npu.effort]\nhigh = 0.5\n", "effort.high must be a number from 1 on"),
        ("[tool.tf2npu.effort]\nminutes = {X = [1, 2]}\n", "effort.minutes: 'X' is neither a rule id"),
        ("[tool.tf2npu.effort]\nminutes = {NPU1 = 3}\n", "effort.minutes.NPU1 must be two numbers of minutes"),
        ("[tool.tf2npu.effort]\nminutes = {NPU1 = [3, -1]}\n", "effort.minutes.NPU1 must be a number from 0 to"),
        ("[tool.tf2npu.effort]\nminutes = {NPU1 = [true, 1]}\n", "effort.minutes.NPU1 must be a number"),
        ("[tool]\ntf2npu = 3\n", "table"),
        ("[tool.tf2npu\n", "not valid TOML"),
    ],
)
def test_a_wrong_setting_names_file_and_key(tmp_path: Path, text: str, words: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(ConfigError) as caught:
        load_config(tmp_path)
    assert words in str(caught.value) and str(path) in str(caught.value)


def test_an_unknown_override_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="colour"):
        load_config(tmp_path, colour="red")


@pytest.mark.parametrize(
    ("config", "rule", "expected"),
    [
        (Config(), "NPU101", True),
        (Config(select=frozenset({"NPU1"})), "NPU101", True),
        (Config(select=frozenset({"NPU1"})), "NPU201", False),
        (Config(select=frozenset({"NPU1"}), ignore=frozenset({"NPU101"})), "NPU101", False),
        (Config(ignore=frozenset({"NPU"})), "NPU101", False),
    ],
)
def test_rules_match_by_prefix(config: Config, rule: str, expected: bool) -> None:
    assert config.is_enabled(rule) is expected


def test_unsafe_fixes_are_allowed_in_general_or_by_the_full_id() -> None:
    assert Config(unsafe_fixes=True).allows_unsafe("NPU503")
    assert Config(select=frozenset({"NPU503"})).allows_unsafe("NPU503")
    assert not Config(select=frozenset({"NPU5"})).allows_unsafe("NPU503")


def test_a_config_can_be_sent_to_workers() -> None:
    config = Config(select=frozenset({"NPU1"}))
    assert pickle.loads(pickle.dumps(config)) == config and hash(config) is not None
