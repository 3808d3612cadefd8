"""The adapter of 2021: the config is written out, and nothing is used that this release does not export."""

from __future__ import annotations

import ast

import pytest

from tf2npu.config import Config, Target
from tf2npu.engine.convert_file import convert_source
from tf2npu.findings import FileResult, Level
from tf2npu.rules import all_rules
from tf2npu.rules.engine.adapter_2021 import EXPORTS

OLD = Config(target=Target(adapter="2021"))
ENTRY = 'npu_optimizer.name = "NpuOptimizer"'
TF = "import tensorflow as tf\n"


def convert(code: str, **settings: object) -> FileResult:
    return convert_source(TF + code, "m.py", Config(target=OLD.target, **settings))


def names_imported(text: str) -> set[str]:
    nodes = [n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.ImportFrom) and n.module == "npu_bridge.npu_init"]
    return {alias.name for node in nodes for alias in node.names}


def test_a_config_of_the_user_is_copied_not_changed() -> None:
    result = convert("def f(cfg):\n    c = tf.ConfigProto()\n    with tf.Session(config=c) as s:\n        s.run(x)\n")
    text = result.after.decode()
    assert "    npu_config = tf.ConfigProto()\n    npu_config.CopyFrom(c)\n" in text
    assert "    with tf.Session(config=npu_config) as s:" in text and ENTRY in text


def test_a_config_of_unknown_kind_may_be_none() -> None:
    text = convert("def f(cfg):\n    return tf.Session(config=cfg)\n").after.decode()
    assert "    if cfg is not None:\n        npu_config.CopyFrom(cfg)\n" in text


def test_what_the_guide_asks_for_is_left_alone() -> None:
    code = (
        "from npu_bridge.npu_init import *\nc = tf.ConfigProto()\n"
        "o = c.graph_options.rewrite_options.custom_optimizers.add()\no.name = 'NpuOptimizer'\n"
        "with tf.Session(config=c) as s:\n    s.run(x)\n"
    )
    result = convert(code)
    assert result.after == result.before


@pytest.mark.parametrize(
    "code",
    [
        "f = lambda: tf.Session()",
        "class C(object):\n    s = tf.Session()",
        "a = 1; s = tf.Session()",
        "if x: s = tf.Session()",
        "s = tf.Session(config=make())",
        "with tf.Graph().as_default() as g, tf.Session(config=g.config) as s:\n    pass",
        "with tf.Session() as a, tf.Session() as b:\n    pass",
        "s = [tf.Session() for i in range(3)]",
        "from tensorflow import Session\ndel tf\ns = Session(**kw)",
    ],
)
def test_where_no_line_can_be_put_before_a_person_has_to(code: str) -> None:
    result = convert(code + "\n")
    assert any(f.rule == "NPU101" and f.level is Level.MANUAL and "NpuOptimizer" in f.message for f in result.findings)
    assert b'NpuOptimizer"' not in result.after


def test_the_name_that_is_taken_is_avoided() -> None:
    text = convert("npu_config = 3\ns = tf.Session()\n").after.decode()
    assert "npu_config_ = tf.ConfigProto()" in text and "config=npu_config_)" in text


def test_other_sessions_get_it_too() -> None:
    text = convert("with tf.train.MonitoredTrainingSession(checkpoint_dir='d') as s:\n    s.run(x)\n").after.decode()
    assert "npu_config = tf.ConfigProto()\n" in text and "checkpoint_dir='d', config=npu_config)" in text


def test_a_helper_that_is_missing_becomes_a_remark() -> None:
    result = convert("e = tf.estimator.DNNClassifier([1], c, config=r)\n")
    assert b"npu_run_config_init" not in result.after
    assert any("has no npu_run_config_init" in f.message for f in result.findings)


def test_names_that_do_the_same_are_used() -> None:
    code = "import horovod.tensorflow as hvd\no = hvd.DistributedOptimizer(tf.train.AdamOptimizer(1e-3 * hvd.size()))\n"
    text = convert(code, distributed="horovod").after.decode()
    assert "NPUDistributedOptimizer(" in text and "get_rank_size()" in text and "get_npu_rank_size" not in text


def test_every_example_of_every_rule_uses_only_what_the_release_exports() -> None:
    for rule in all_rules():
        for example in rule.examples:
            source = example.before if "import " in example.before else TF + example.before
            config = Config(distributed=example.config.distributed, unsafe_fixes=True, target=OLD.target)
            once = convert_source(source, "m.py", config)
            if once.after == once.before or "npu_bridge" in example.before:
                continue
            assert names_imported(once.after.decode()) <= EXPORTS, example.before
            assert b"npu_convert_dropout" not in once.after
            assert convert_source(once.after, "m.py", config).after == once.after


def test_keras_and_ranks_are_started_without_helpers() -> None:
    code = "m = tf.keras.Sequential()\nif __name__ == '__main__':\n    m.fit(x, y)\n"
    once = convert(code, distributed="tf")
    text = once.after.decode()
    assert names_imported(text) <= EXPORTS and "helper" not in text
    order = [
        "npu_config = tf.ConfigProto()", 'add().name = "NpuOptimizer"', "npu_sess.run(npu_init)", "set_session(npu_keras_sess)",
        "try:", "m.fit(x, y)", "finally:", "npu_keras_sess.close()", "npu_sess.run(npu_shutdown)", "npu_sess.close()",
    ]  # fmt: skip
    places = [text.index(line) for line in order]
    assert places == sorted(places)
    again = convert_source(once.after, "m.py", Config(target=OLD.target, distributed="tf"))
    assert again.after == once.after
    compile(text, "m.py", "exec")


def test_hooks_of_horovod_come_from_their_module() -> None:
    code = "h = hvd.BroadcastGlobalVariablesHook(0)\nb = hvd.broadcast_global_variables(0)\n"
    text = convert("import horovod.tensorflow as hvd\nhvd.init()\n" + code, distributed="horovod").after.decode()
    assert "from npu_bridge.estimator.npu.npu_hook import NPUBroadcastGlobalVariablesHook\n" in text
    assert "h = NPUBroadcastGlobalVariablesHook(0, index=get_rank_id())" in text
    assert "b = npu_hook.broadcast_global_variables(0, index=get_rank_id())" in text
    assert "hvd" not in text and "initialize_system()" in text


def test_keras_optimizers_are_wrapped_by_the_class_that_was_there() -> None:
    text = convert("o = tf.keras.optimizers.Adam(1e-3)\nm.compile(o, 'mse')\n", distributed="tf").after.decode()
    assert "from npu_bridge.estimator.npu.npu_optimizer import KerasDistributeOptimizer\n" in text
    assert "o = KerasDistributeOptimizer(tf.keras.optimizers.Adam(1e-3))" in text


def test_a_remark_that_names_a_helper_says_what_to_write_there() -> None:
    result = convert("m.fit(x, y)\n", distributed="tf")
    said = [f.message for f in result.findings if "npu_callbacks_append" in f.message]
    assert said and all("The adapter of 2021 has no npu_callbacks_append: " in message for message in said)


def test_the_import_of_an_entry_script_does_not_promise_a_patched_session() -> None:
    text = convert("if __name__ == '__main__':\n    tf.app.run()\n").after.decode()
    assert text.startswith("import npu_bridge.npu_init  # noqa: F401  brings NpuOptimizer\n")


def test_a_config_that_asks_horovod_stays_where_it_is() -> None:
    config = "tf.ConfigProto(gpu_options=tf.GPUOptions(visible_device_list=str(hvd.local_rank())))"
    code = f"import horovod.tensorflow as hvd\nhvd.init()\nif __name__ == '__main__':\n    s = tf.Session(config={config})\n"
    result = convert(code, distributed="horovod")
    text = result.after.decode()
    assert f"tf.Session(config={config.replace('hvd.local_rank()', 'get_local_rank_id()')})" in text
    assert "hvd" not in text and any("Make the config in a line before" in f.message for f in result.findings)
