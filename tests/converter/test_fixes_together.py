"""Fixes that are only right together: what keeps one of them from being made keeps the other from it too."""

from __future__ import annotations

import pytest

from tf2npu.config import Config
from tf2npu.engine.convert_file import convert_source
from tf2npu.findings import Level

TF1 = "import tensorflow as tf\n"
_WRAPPED = "tf.estimator.Estimator(fn, config=npu_run_config_init(run_config="
RUN_CONFIGS = {
    "a name is given in an argument that goes": "tf.estimator.RunConfig('d', train_distribute=(s := make()))",
    "a name is given in a positional argument that goes": "tf.estimator.RunConfig(None, 1, 2, 3, 4, c, 5, 6, 7, (s := None))",
    "what goes decides about other code": "tf.estimator.RunConfig('d', device_fn=choose(tf.test.main))",
    "its arguments are not known": "tf.estimator.RunConfig(**settings)",
    "a comment switches its rule off": "tf.estimator.RunConfig('d')  # tf2npu: ignore[NPU202]\n",
}


@pytest.mark.parametrize("made", RUN_CONFIGS.values(), ids=RUN_CONFIGS)
def test_an_estimator_keeps_its_class_where_its_config_keeps_its_own(made: str) -> None:
    result = convert_source(f"{TF1}c = {made}\ne = tf.estimator.Estimator(fn, config=c)\n", "m.py")
    text = result.after.decode()
    assert "NPURunConfig" not in text and "NPUEstimator" not in text
    assert f"{_WRAPPED}c))" in text
    said = [f for f in result.findings if f.rule == "NPU201" and f.level is Level.INFO]
    assert len(said) == 1 and "stays" in said[0].message and "is not known" not in said[0].message
    assert not any("No Estimator is seen" in f.message for f in result.findings)
    assert convert_source(text, "m.py").after == result.after


def test_so_does_one_that_makes_its_config_in_place() -> None:
    text = f"{TF1}e = tf.estimator.Estimator(fn, config=tf.estimator.RunConfig('d', protocol=(s := f())))\n"
    after = convert_source(text, "m.py").after.decode()
    assert f"{_WRAPPED}tf.estimator.RunConfig('d', protocol=(s := f()))))" in after
    assert convert_source(after, "m.py").after.decode() == after


def test_a_name_given_in_an_argument_that_stays_is_no_obstacle() -> None:
    text = f"{TF1}e = tf.estimator.Estimator(fn, config=tf.estimator.RunConfig((d := 'd'), protocol='grpc'))\n"
    assert "NPUEstimator(fn, config=NPURunConfig(model_dir=(d := 'd')))" in convert_source(text, "m.py", Config()).after.decode()
