"""Random programs in which code that other code depends on stands inside code that a rule takes out.

Sessions, resources, names and imports are looked for in a whole file before anything is changed; what a fix takes out must
not have decided what is done elsewhere, or a second conversion comes to something else.
"""

from __future__ import annotations

import random

_TENSORFLOW = ("import tensorflow as tf", "import tensorflow.compat.v1 as tf")
_HOROVOD = (
    "import horovod.tensorflow as hvd",
    "try:\n    import horovod.tensorflow as hvd\nexcept ImportError:\n    hvd = None",
    "import os, horovod.tensorflow as hvd",
)
# What other code, or another fix, may depend on.
_NEEDED = (
    "tf.Session(**kw)", "kw", "**kw", "hvd", "hvd.rank()", "hvd.x", "tf.keras.backend.set_session(s)", "K.set_session(s)",
    "tf.estimator.Estimator(fn)", "tf.test.main()", "ds.batch(4)", "tf.keras.Sequential()", "est.train(fn)",
    "tf.distribute.MirroredStrategy()", "strategy", "(y := 1)", "lambda: tf.Session()", "m.fit(x)", "tf.train.Server(c)",
    "tf.Session()", "tf.train.AdamOptimizer(0.1).minimize(l)", "hvd.init()", "tf.nn.dropout(x, 0.5)", "config",
    "tf.config.experimental.set_memory_growth(g, True)", "ds.make_one_shot_iterator()", "tf.ConfigProto()", "tf.GPUOptions()",
    "[i for i in hvd.y]", "gelu", "npu_config_proto", "tf.contrib.tpu.RunConfig()", "1 - keep", "tf.device('/gpu:0')", "sess",
    "tf.estimator.RunConfig(train_distribute=strategy)", "hvd.callbacks.MetricAverageCallback()", "hvd.nccl_built()", "saver",
    "tf.train.replica_device_setter()", "tf.OptimizerOptions.ON_1", "run_config", "input_fn", "(rc := None)",
)  # fmt: skip
# Code of which a fix takes out a part, with places for what is needed.
_REMOVED = (
    "v = hvd.DistributedOptimizer(o, <>)",
    "v = hvd.DistributedOptimizer(o, op=<>)",
    "tf.config.experimental.set_memory_growth(<>, True)",
    "hvd.init(<>)",
    "with tf.device(<>):\n    a = 1",
    "e = tf.contrib.tpu.TPUEstimator(fn, use_tpu=<>)",
    "rc = tf.estimator.RunConfig(train_distribute=<>)",
    "rc = tf.estimator.RunConfig('d', device_fn=<>, session_config=<>)\ne = tf.estimator.Estimator(fn, config=rc)",
    "e = tf.estimator.Estimator(fn, config=tf.estimator.RunConfig(protocol=<>))",
    "t = hvd.allreduce(t, <>)",
    "t = hvd.allreduce(t, compression=<>)",
    "o = tf.OptimizerOptions(global_jit_level=<>)",
    "c = tf.ConfigProto(gpu_options=<>)",
    "with tf.contrib.compiler.jit.experimental_jit_scope(<>):\n    a = 1",
    "h = hvd.BroadcastGlobalVariablesHook(0, <>)",
    "y = tf.nn.dropout(x, <>, <>)",
    "y = tf.nn.dropout(x, rate=<>, seed=<>)",
    "tf.config.set_soft_device_placement(<>)",
    "rc = tf.contrib.tpu.RunConfig(cluster=<>, tpu_config=<>)",
    "g = tf.distribute.MirroredStrategy(<>)",
    "op = tf.contrib.mixed_precision.LossScaleOptimizer(o, <>)",
    "m.compile(<>, 'mse')",
    "s = tf.Session(<>, config=<>)",
    "ds = ds.shard(<>, <>)",
    "e = tf.estimator.Estimator(fn, config=<>, params=<>)",
    "e.train(fn, hooks=<>)",
    "tf.estimator.train_and_evaluate(e, <>, <>)",
    "q = tf.train.experimental.FixedLossScale(<>)",
    "a = tf.metrics.accuracy(<>, p)",
    "p = tf.nn.max_pool_with_argmax(<>)",
    "hvd.broadcast_global_variables(<>)",
    "z = hvd.shutdown(<>)",
    "sv = tf.train.Supervisor(<>)\ns = sv.managed_session(<>)",
    "tf.keras.backend.clear_session(<>)",
)
# Code that depends on what stands elsewhere, or that other code depends on.
_DEPENDING = (
    "s = tf.Session()",
    "s = tf.Session(**kw)",
    "kw = {'config': c}",
    "kw = dict(config=c)",
    "m = tf.keras.Sequential()",
    "m.fit(x)",
    "ds = tf.data.Dataset.range(3)",
    "ds = ds.batch(4)",
    "it = ds.make_one_shot_iterator()",
    "est = tf.estimator.Estimator(fn)",
    "est.train(fn, steps=3)",
    "strategy = tf.distribute.MirroredStrategy()",
    "hvd.init()",
    "if hvd: a = 1",
    "tf.app.run()",
    "import tensorflow.keras.backend as K",
    "def input_fn():\n    return tf.data.Dataset.range(3).batch(2)",
    "est.train(input_fn)",
    "est.evaluate(input_fn)",
    "config = tf.ConfigProto()",
    "config.gpu_options.visible_device_list = str(hvd.local_rank())",
    "def fn(features, labels, mode):\n    return tf.estimator.EstimatorSpec(mode)",
    "tf = hvd.shutdown()",
    "from npu_bridge.npu_init import *",
    "class C:\n    npu_config_proto = 1\n    s = tf.Session()",
    "l = tf.train.AdamOptimizer(hvd.size()).minimize(l)",
    "run_config = tf.estimator.RunConfig()",
    "e = tf.estimator.Estimator(fn, config=rc)",
    "keep = 0.5",
)
_AROUND = (
    (0.15, "def g<>():\n"),
    (0.1, "if x:\n"),
    (0.05, "with tf.Session() as sess:\n"),
    (0.05, "try:\n"),
)  # chance and header


def program(rng: random.Random) -> bytes:
    """One program as bytes."""
    parts = [rng.choice(_TENSORFLOW)]
    parts.insert(rng.randrange(2), rng.choice(_HOROVOD))
    parts += [_in_a_block(rng, _statement(rng)) for _ in range(rng.randrange(2, 8))]
    if rng.random() < 0.5:
        parts.append("if __name__ == '__main__':\n" + _indented("\n".join(_statement(rng) for _ in range(rng.randrange(1, 3)))))
    return ("\n".join(parts) + "\n").encode()


def _statement(rng: random.Random) -> str:
    if rng.random() < 0.5:
        return rng.choice(_DEPENDING)
    first, *others = rng.choice(_REMOVED).split("<>")
    return first + "".join(_needed(rng) + other for other in others)


def _needed(rng: random.Random) -> str:
    text, chance = rng.choice(_NEEDED), rng.random()
    if chance < 0.15:
        return f"f({text})"
    is_element = not text.startswith(("*", "lambda"))
    return f"[{text}, 1]" if chance < 0.2 and is_element else text


def _in_a_block(rng: random.Random, statement: str) -> str:
    chance = rng.random()
    for share, header in _AROUND:
        chance -= share
        if chance < 0:
            end = "\nexcept E:\n    pass" if header.startswith("try") else ""
            return header.replace("<>", str(rng.randrange(3))) + _indented(statement) + end
    return statement


def _indented(text: str) -> str:
    return "\n".join("    " + line for line in text.split("\n"))
