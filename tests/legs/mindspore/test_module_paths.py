"""Modules stand where r1.1 has them: the import lines of the public model zoo find modules, and not names that hide them."""

from __future__ import annotations

import importlib
import types

import mindspore
import numpy as np
import pytest
from mindspore import Tensor, nn
from mindspore import log as logger
from mindspore.log import _logger

MODULES = ("common.initializer", "common.dtype", "common.parameter", "nn.cell", "ops.operations", "train.callback", "train.amp")


@pytest.fixture
def log_settings(monkeypatch):
    """Gives the environment variables of the log, which are read at its first use."""
    for name in ("GLOG_v", "GLOG_logtostderr", "GLOG_log_dir"):
        monkeypatch.delenv(name, raising=False)
    _logger.cache_clear()
    yield monkeypatch
    _logger.cache_clear()


@pytest.mark.parametrize("path", MODULES)
def test_import_as_gives_the_module(path):
    found: object = importlib.import_module("mindspore")
    for part in path.split("."):
        found = getattr(found, part)
    assert isinstance(found, types.ModuleType) and found.__name__ == f"mindspore.{path}"


def test_initializers_by_the_module():
    import mindspore.common.initializer as weight_init

    made = weight_init.initializer(weight_init.XavierUniform(), (4, 3), mindspore.float32)
    assert made.shape == (4, 3)
    with pytest.raises(AttributeError, match=r"mindspore\.common\.Initializer"):
        _ = mindspore.common.Initializer


def test_the_log_shows_warnings_and_not_infos(log_settings, capsys):
    logger.info("below %s", "the level")
    logger.warning("rate %s", 0.1)
    said = capsys.readouterr().err
    assert "rate 0.1" in said and "[WARNING] ME(" in said and "test_module_paths.py" in said and "below" not in said
    assert logger.get_level() == mindspore.get_level() == "2"


def test_the_log_goes_to_a_file(log_settings, tmp_path):
    for name, value in (("GLOG_v", "1"), ("GLOG_logtostderr", "0"), ("GLOG_log_dir", str(tmp_path))):
        log_settings.setenv(name, value)
    logger.info("a line")
    assert "a line" in (tmp_path / "mindspore.log").read_text()
    assert mindspore.get_log_config()["GLOG_log_dir"] == str(tmp_path)


@pytest.mark.parametrize(("name", "value"), [("GLOG_v", "7"), ("GLOG_logtostderr", "yes"), ("GLOG_logtostderr", "0")])
def test_wrong_settings_of_the_log(log_settings, name, value):
    log_settings.setenv(name, value)
    with pytest.raises(ValueError, match="GLOG"):
        logger.error("never written")


def test_what_changes_nothing_here_takes_the_arguments_of_r1_1():
    net = nn.Dense(2, 2)
    net.set_param_ps()
    replaced = net.init_parameters_data()
    assert list(replaced) == list(net.get_parameters()) and all(new is old for old, new in replaced.items())
    assert net(Tensor(np.ones((1, 2), np.float32))).shape == (1, 2)
