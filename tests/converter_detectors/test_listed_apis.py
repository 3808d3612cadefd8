"""APIs of the support table of which no rule speaks: the place where they are used is told."""

from __future__ import annotations

import pytest

from tf2npu.api_support import Api, table
from tf2npu.config import Config
from tf2npu.engine.convert_file import convert_source
from tf2npu.findings import Finding, Level, Verdict

HEAD = "import tensorflow\nimport horovod.tensorflow, horovod.tensorflow.keras, horovod.keras\n"
TOLD = (Level.MANUAL, Level.UNSUPPORTED, Level.INFO)


def said(code: str, **settings: object) -> list[Finding]:
    return convert_source(code, "m.py", config=Config(**settings)).findings


def is_told(api: Api) -> bool:
    """Whether a use of an API gives a finding at its place, or the rule that handles it one about the import."""
    use = f"x = {api.name}" if api.kind in ("constant", "member", "module") else f"{api.name}(a, b)"
    modes = ("none", "horovod") if api.name.startswith("horovod.") else ("none",)
    found = [f for mode in modes for f in said(f"{HEAD}{use}\n", distributed=mode) if f.level in TOLD]
    return any(f.span.line == 3 or (modes[1:] and f.rule == api.rule) for f in found)


def test_every_api_that_needs_a_person_is_told_where_it_is_used() -> None:
    """Members are told by their class, or by themselves."""
    rows = {api.name: api for api in table() if api.verdict is Verdict.MANUAL}
    silent = {name for name, api in rows.items() if not is_told(api)}
    assert {name for name in silent if rows[name].kind != "member" or name.rpartition(".")[0] in silent} == set()


@pytest.mark.parametrize(
    ("code", "level", "words"),
    [
        (
            "tf.nn.embedding_lookup_sparse(a, b, c)\ntf.nn.embedding_lookup_sparse(a, b, d)",
            Level.MANUAL,
            "tf.nn.embedding_lookup_sparse (lines 2, 3): the vendor's list both supports and forbids the API",
        ),
        ("tf.nn.ctc_loss(a, b, c)", Level.INFO, "train with it (CNN-CTC_ID0683, Jasper_ID0020). The code runs as it is"),
        (
            "x = tf.sparse_placeholder(tf.float32)",
            Level.INFO,
            "tf.sparse.placeholder (line 2): the published list contradicts itself",
        ),
        ("o = tf.train.Adam(0.1)", Level.MANUAL, "Neither TensorFlow 1.15 nor 2.15 has tf.train.Adam: the program ends here."),
        ("f = tf.nn.l2_norm", Level.MANUAL, "Neither TensorFlow 1.15 nor 2.15 has tf.nn.l2_norm"),
        ("x = tf.sparse.cross([a, b])", Level.MANUAL, "tf.sparse.cross (line 2): the published list contradicts itself"),
        (
            "c = tf.lite.TFLiteConverter.from_session(s, [a], [b])\nc.convert()",
            Level.MANUAL,
            "tf.lite.TFLiteConverter.from_session",
        ),
        (
            "with tf.contrib.framework.arg_scope([f]):\n    pass",
            Level.INFO,
            "tf.contrib.framework.arg_scope (line 2): deprecated",
        ),
        ("tf.compat.v2.math.bincount(a)", Level.MANUAL, "what rule NPU921 says holds here"),
        ("f = functools.partial(tf.train.batch_join, batch_size=3)", Level.MANUAL, "what rule NPU911 says holds here"),
    ],
)
def test_what_no_rule_speaks_of_is_told(code: str, level: Level, words: str) -> None:
    (finding,) = [f for f in said(f"import tensorflow as tf\n{code}\n") if f.rule == "NPU970"]
    assert (finding.level, finding.span.line) == (level, 2) and words in finding.message


@pytest.mark.parametrize(
    "code",
    [
        "tf.nn.conv2d(a, b)",
        "d = tf.data.Dataset.range(3).map(lambda x: tf.py_func(f, [x], tf.float32))",
        "batch = tf.train.batch\nx = batch([a], 3)",
        "isinstance(x, tf.lookup.StaticHashTable)",
        "tf.contrib.data.shuffle_and_repeat(9)",
        "tf.nn.ctc_loss(a, b, c)  # tf2npu: ignore[NPU970]",
        "x = tf.float64",
        "if isinstance(x, (tf.Tensor, tf.SparseTensor)):\n    pass",
        "d = tf.data.Dataset.range(9).map(lambda x: tf.sparse.reorder(x))",
        "x = tf.sparse_to_dense(a, b, c)",
        "h = tf.contrib.training.HParams()  # tf2npu: ignore\nh.values()",
        "with tf.device(tf.train.replica_device_setter(2)):\n    pass",
        "import tensorflow.contrib.slim as slim\nslim.xavier_initializer()",
    ],
)
def test_what_a_rule_speaks_of_or_nobody_has_to_look_at_is_not(code: str) -> None:
    assert [f for f in said(f"import tensorflow as tf\n{code}\n") if f.rule == "NPU970"] == []


def test_apis_with_the_same_remark_are_told_together() -> None:
    code = "import tensorflow as tf\ny = tf.sparse.reorder(x)\nz = tf.sparse.transpose(x)\n"
    (finding,) = [f for f in said(code) if f.rule == "NPU970"]
    assert "tf.sparse.reorder (line 2), tf.sparse.transpose (line 3)" in finding.message


@pytest.mark.parametrize(
    "code",
    [
        "try:\n    c = tf.concat_v2\nexcept AttributeError:\n    c = tf.concat",
        "tf.nn.mine = f\ntf.nn.mine(x)",
        "if 'concat_v2' in dir(tf):\n    def f(x):\n        return tf.concat_v2(x, 1)",
        "tf.train.AdamOptimizer(0.1)",
        "tf.train._private(1)",
        "tf.python.ops.anything(1)",
    ],
)
def test_what_may_exist_is_not_said_to_be_absent(code: str) -> None:
    assert not [f for f in said(f"import tensorflow as tf\n{code}\n") if "Neither" in f.message]
