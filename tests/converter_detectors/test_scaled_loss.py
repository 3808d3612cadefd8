"""Products of a loss that are loss scaling, in the ways in which programs write them."""

from __future__ import annotations

import pytest

from tf2npu.engine.convert_file import convert_source
from tf2npu.findings import Finding

TF = "import tensorflow as tf\nopt = tf.train.AdamOptimizer(0.1)\n"


def found(code: str, rule: str = "NPU510") -> list[Finding]:
    return [f for f in convert_source(TF + code, "m.py").findings if f.rule == rule]


@pytest.mark.parametrize(
    "code",
    [
        "g = opt.compute_gradients(loss * 128.)",
        "g = opt.compute_gradients(2 ** 15 * loss)",
        "g = opt.compute_gradients(tf.cast(loss, tf.float32) * tf.constant(1024.0))",
        "g = opt.compute_gradients(loss=loss * FLAGS.loss_scale)",
        "g = opt.compute_gradients(loss * tf.cast(loss_scale, loss.dtype))",
        "g = opt.compute_gradients(loss * params['loss_scale'])",
        "g = opt.compute_gradients(tf.reduce_mean(loss * fp16_loss_scaling))",
        "scaled = loss * scale\nopt.minimize(scaled)",
        "scaled = tf.multiply(loss, loss_scale)\ng = tf.gradients(scaled, v)",
        "def f(loss, loss_scale):\n    loss *= loss_scale\n    return opt.minimize(loss)",
        "def f(loss, s):\n    scaled_loss = loss * s\n    g = tf.gradients(scaled_loss, v)\n    return [grad / s for grad in g]",
        "def f(loss):\n    scaled_loss = loss * 1024.\n    return tf.gradients(scaled_loss, v)",
        "g = tf.gradients([loss * hps.cost_scale], v)",
        "g = tf.gradients(loss * k, v)\ng = [tf.math.scalar_mul(1.0 / k, grad) for grad in g]",
        "g = [(tf.divide(grad, 1000.), v) for grad, v in opt.compute_gradients(loss * 1000.)]",
        "class M:\n def f(self):\n  self.scaled = self.loss * self.loss_scale\n  opt.minimize(self.scaled)",
        "op = tf.contrib.slim.learning.create_train_op(loss * loss_scale, opt)",
        "def f(make):\n    return make().compute_gradients(loss * 65536.)",
    ],
)
def test_a_scaled_loss_is_reported(code: str) -> None:
    (finding,) = found(code)
    assert finding.level.value == "manual"


@pytest.mark.parametrize(
    "code",
    [
        "opt.minimize(loss * 0.5)",
        "opt.minimize(loss * 100 + g_loss)",
        "opt.minimize(self.loss * self.is_weight)",
        "opt.minimize(loss + 1e-4 * l2)",
        "opt.minimize(loss + weight_decay * tf.add_n(l2))",
        "g = tf.gradients(loss * batch_size, v)\ng = [grad / batch_size for grad in g]",
        "batch_size = 128\ng = tf.gradients(loss * batch_size, v)",
        "scale = 1.0 / n_towers\ng = opt.compute_gradients(loss * scale)",
        "loss_scale = 0.1\nopt.minimize(loss * loss_scale)",
        "loss_scale = 1\nif loss_scale != 1:\n    g = [(g / loss_scale, v) for g, v in opt.compute_gradients(loss * loss_scale)]",
        "loss = tf.reduce_mean(e) * 1024\ng = opt.compute_gradients(loss)",
        "opt.minimize(loss * tf.cast(n_samples, tf.float32))",
        "opt.minimize(policy_loss * reward_scale)",
        "opt.minimize(l2_scale * l2)",
        "opt.minimize(loss / 128.)",
        "opt.minimize(loss)\nloss *= loss_scale\nprint(loss)",
        "grads = [g / n_gpus for g in grads]",
        "m = reward / loss_scale",
    ],
)
def test_another_product_is_not(code: str) -> None:
    assert found(code) == []


def test_the_lines_of_the_division_are_named() -> None:
    code = "gv = opt.compute_gradients(loss * loss_scale)\ngv = [(g / loss_scale, v) for g, v in gv]"
    (finding,) = found(code)
    assert "the division of gradients (line 4)" in finding.message


def test_a_division_without_the_scaling_is_reported_where_it_stands() -> None:
    (finding,) = found("def f(grads, loss_scale):\n    return [g / loss_scale for g in grads]")
    assert finding.span.line == 4 and "scaled by hand elsewhere" in finding.message


@pytest.mark.parametrize(
    "code",
    [
        "import os\nos.environ['TF_ENABLE_AUTO_MIXED_PRECISION'] = '1'",
        "import os\nos.environ['TF_ENABLE_AUTO_MIXED_PRECISION_GRAPH_REWRITE'] = str(int(amp))",
        "from os import environ\nenviron['TF_ENABLE_AUTO_MIXED_PRECISION'] = '1'",
        "import os as system\nsystem.environ.setdefault('TF_ENABLE_AUTO_MIXED_PRECISION', '1')",
        "import os\nos.environ.update(TF_ENABLE_AUTO_MIXED_PRECISION='1', A='2')",
        "import os\nos.environ.update({'TF_ENABLE_AUTO_MIXED_PRECISION': '1'})",
        "import os\nos.environ.update(dict(TF_ENABLE_AUTO_MIXED_PRECISION='1'))",
        "import os\nos.putenv('TF_ENABLE_AUTO_MIXED_PRECISION', '1')",
        "import os\nNAME = 'TF_ENABLE_AUTO_MIXED_PRECISION'\nos.environ[NAME] = '1'",
    ],
)
def test_mixed_precision_by_the_environment_is_reported(code: str) -> None:
    """It does nothing on the NPU: the script runs in the graph's own types."""
    (finding,) = found(code, "NPU507")
    assert finding.level.value == "info" and "precision_mode" in finding.message


@pytest.mark.parametrize(
    "code",
    [
        "import os\nos.environ['TF_ENABLE_AUTO_MIXED_PRECISION'] = '0'",
        "import os\non = os.environ.get('TF_ENABLE_AUTO_MIXED_PRECISION')",
        "import os\non = os.environ['TF_ENABLE_AUTO_MIXED_PRECISION'] == '1'",
        "import os\nos.environ['CUDA_VISIBLE_DEVICES'] = '1'",
        "settings['TF_ENABLE_AUTO_MIXED_PRECISION'] = '1'",
    ],
)
def test_other_variables_are_not(code: str) -> None:
    assert found(code, "NPU507") == []
