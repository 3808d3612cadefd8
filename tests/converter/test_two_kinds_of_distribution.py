"""A program that uses Horovod, converted for tf.distribute: whose gradients are averaged by which, and what is told."""

from __future__ import annotations

import pytest

from tf2npu.config import Config
from tf2npu.engine.convert_file import ProjectFacts, convert_file, gather_facts
from tf2npu.findings import FileResult, Level

TF = Config(distributed="tf")
MODEL = "import tensorflow as tf\ndef opt():\n    return tf.train.AdamOptimizer(0.1)\n"
HOROVOD = """import tensorflow as tf
import horovod.tensorflow as hvd
import model
hvd.init()
opt = hvd.DistributedOptimizer(model.opt())
with tf.train.MonitoredTrainingSession() as s:
    s.run(opt.minimize(loss))
"""
PLAIN = """import tensorflow as tf
import model
with tf.train.MonitoredTrainingSession() as s:
    s.run(model.opt().minimize(loss))
"""
OPTIONAL = """import tensorflow as tf
try:
    import horovod.tensorflow as hvd
except ImportError:
    hvd = None
opt = tf.train.AdamOptimizer(0.1)
if hvd:
    opt = hvd.DistributedOptimizer(opt)
with tf.Session() as s:
    s.run(opt.minimize(loss))
"""


def converted(config: Config = TF, **files: str) -> dict[str, FileResult]:
    texts = {f"{name}.py": text.encode() for name, text in files.items()}
    project = ProjectFacts.merge([gather_facts(path, text) for path, text in texts.items()])
    return {path: convert_file(path, text, config, project) for path, text in texts.items()}


def messages(result: FileResult, rule: str) -> list[str]:
    return [f.message for f in result.findings if f.rule == rule]


def test_what_horovod_distributes_stays_as_the_remark_says() -> None:
    """The optimizer was wrapped, beside a remark that the code stays: its gradients would have been averaged twice."""
    results = converted(train=HOROVOD, model=MODEL)
    text = results["train.py"].after.decode()
    assert text.replace("config=npu_config_proto()", "").partition("\n")[2] == HOROVOD
    assert results["model.py"].after.decode() == MODEL
    assert messages(results["train.py"], "NPU401") == [
        "Horovod found: convert with --distributed horovod to train on several NPUs. The code stays as it is."
    ]


def test_a_file_that_another_program_uses_too_is_converted() -> None:
    results = converted(train=HOROVOD, plain=PLAIN, model=MODEL)
    assert "npu_distributed_optimizer_wrapper(tf.train.AdamOptimizer(0.1))" in results["model.py"].after.decode()
    assert "hooks=npu_hooks_append()" in results["plain.py"].after.decode()
    assert "npu_hooks_append" not in results["train.py"].after.decode()


def test_a_program_that_can_do_without_horovod_is_converted_and_warned() -> None:
    result = converted(train=OPTIONAL)["train.py"]
    text = result.after.decode()
    assert "opt = npu_distributed_optimizer_wrapper(tf.train.AdamOptimizer(0.1))" in text
    assert "    opt = hvd.DistributedOptimizer(opt)\n" in text
    (message,) = messages(result, "NPU401")
    assert "--distributed tf does not convert" in message and "twice" in message


def test_a_strategy_beside_horovod_is_left_to_the_user() -> None:
    source = HOROVOD + "strategy = tf.distribute.MirroredStrategy()\n"
    result = converted(train=source, model=MODEL)["train.py"]
    assert "strategy = tf.distribute.MirroredStrategy()" in result.after.decode()
    (message,) = messages(result, "NPU411")
    assert "beside Horovod" in message


@pytest.mark.parametrize(("mode", "wanted"), [("none", "Convert with --distributed tf"), ("tf", "Take it out")])
def test_nccl_is_told_what_helps_in_the_mode_that_was_asked_for(mode: str, wanted: str) -> None:
    source = (
        "import tensorflow as tf\nops = tf.distribute.NcclAllReduce()\ns = tf.distribute.MirroredStrategy(cross_device_ops=ops)\n"
    )
    result = converted(Config(distributed=mode), train=source)["train.py"]
    (finding,) = [f for f in result.findings if f.rule == "NPU949"]
    assert finding.level is Level.UNSUPPORTED and finding.message.startswith(wanted)


def test_a_program_that_imports_what_needs_horovod_only_when_asked_is_converted() -> None:
    """As OpenNMT-tf does: its optimizer for Horovod is imported in the function that was told to use it."""
    wrapper = "import horovod.tensorflow as hvd\nclass Wrapper(hvd.DistributedOptimizer):\n    pass\n"
    model = MODEL.replace("return", "if use:\n        from wrapper import Wrapper\n        return Wrapper()\n    return")
    results = converted(train=PLAIN, model=model, wrapper=wrapper)
    assert "npu_distributed_optimizer_wrapper(tf.train.AdamOptimizer(0.1))" in results["model.py"].after.decode()
    assert "hooks=npu_hooks_append()" in results["train.py"].after.decode()
    assert results["wrapper.py"].after.decode() == wrapper
