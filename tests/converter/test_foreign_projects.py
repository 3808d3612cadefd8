"""Faults that reading the conversion of public projects brought to light, in small."""

from __future__ import annotations

import json
import re
import textwrap

import pytest

from tests.converter.test_project_facts import converted, project_of
from tf2npu.api_support.table import signatures, table
from tf2npu.config import Config
from tf2npu.engine.convert_file import convert_file, convert_source
from tf2npu.findings import Finding, Verdict
from tf2npu.frameworks.tensorflow1.estimator_names import WRAPPED


def findings(files: dict[str, str], path: str, rule: str, **settings: object) -> list[Finding]:
    result = convert_file(path, files[path].encode(), Config(**settings), project_of(files))
    return [f for f in result.findings if f.rule == rule]


@pytest.mark.parametrize(
    "first", ["import matplotlib\nmatplotlib.use('Agg')\n", "import os\nos.environ['A'] = '1'\n", "import npu_bridge.x\nf = 1\n"]
)
@pytest.mark.parametrize("kept", ["", "from npu_bridge.npu_init import npu_ops\n", "from npu_bridge.npu_init import *\n"])
def test_what_starts_the_npu_stands_behind_its_import(first: str, kept: str) -> None:
    source = f"{first}{kept}import tensorflow as tf\n# Path of the data.\npath = 'd'\ntf.keras.Sequential().fit(x, y)\n"
    after = converted({"a.py": source})["a.py"]
    assert after.index("npu_bridge.npu_init import") < after.index("npu_keras_sess = ") < after.index("# Path of")
    assert after.endswith("# Path of the data.\npath = 'd'\ntf.keras.Sequential().fit(x, y)\n")


def test_what_starts_the_npu_in_a_notebook_stands_behind_its_import() -> None:
    cells = ["import matplotlib\n%matplotlib inline\nimport tensorflow as tf\n", "!ls\n", "tf.keras.Sequential().fit(x, y)\n"]
    notebook = {"cells": [{"cell_type": "code", "source": [c], "outputs": [], "metadata": {}} for c in cells],
                "metadata": {}, "nbformat": 4, "nbformat_minor": 2}  # fmt: skip
    after = convert_file("a.ipynb", json.dumps(notebook).encode(), Config(), project_of({})).after.decode()
    assert after.index("npu_bridge.npu_init import") < after.index("npu_keras_sess = ") < after.index(".fit(x, y)")


def test_only_scripts_that_use_horovod_start_its_counterpart() -> None:
    guard = "if __name__ == '__main__':\n    main()\n"
    files = {
        "model.py": "import tensorflow as tf\nimport horovod.tensorflow as hvd\ndef scale(lr):\n    return lr * hvd.size()\n",
        "train.py": f"import model\ndef main():\n    pass\n{guard}",
        "read_logs.py": f"import tensorflow as tf\ndef main():\n    pass\n{guard}",
    }
    after = converted(files, distributed="horovod")
    assert "init_resource()" in after["train.py"]
    assert "init_resource" not in after["read_logs.py"]


_INPUT = "import tensorflow as tf\ndef input_fn(drop, is_training):\n{}    return d\n"
_USES = "def run(e):\n    e.train(lambda: input_fn(True, True))\n    e.evaluate(lambda: input_fn(False, False))\n"


@pytest.mark.parametrize(
    ("body", "shards"),
    [
        ("    d = tf.data.TFRecordDataset(f)\n", ["get_rank_size() if is_training else 1, get_rank_id() if is_training else 0"]),
        (
            "    if is_training:\n        d = tf.data.TFRecordDataset(f)\n    else:\n        d = tf.data.TFRecordDataset(g)\n",
            ["get_rank_size(), get_rank_id()"],
        ),
        (
            "    d = tf.data.TFRecordDataset(g) if not is_training else tf.data.TFRecordDataset(f)\n",
            ["get_rank_size(), get_rank_id()"],
        ),
    ],
)
def test_shards_ask_what_tells_training_from_evaluation_and_only_where_it_is_open(body: str, shards: list[str]) -> None:
    after = converted({"a.py": _INPUT.format(body) + _USES}, distributed="tf")["a.py"]
    assert after.count(".shard(") == len(shards)
    assert all(f"(f).shard({shard})" in after for shard in shards)


def test_functions_of_one_name_are_told_apart_by_what_they_are_given_to() -> None:
    source = (
        "import tensorflow as tf\ndef fit(e):\n    def input_fn():\n        return tf.data.TFRecordDataset(f).batch(8)\n"
        "    e.train(input_fn=input_fn)\ndef score(e):\n    def input_fn():\n        return tf.data.TFRecordDataset(g).batch(8)\n"
        "    e.predict(input_fn)\n"
    )
    assert "(f).batch(8, drop_remainder=True)" in converted({"a.py": source})["a.py"]
    (left,) = findings({"a.py": source}, "a.py", "NPU601", ignore=frozenset({"NPU100"}))[1:]
    assert left.message.startswith("This batch feeds evaluation")


def test_a_shard_that_asks_more_of_a_context_is_done_without_one_too() -> None:
    source = (
        "import tensorflow as tf\ndef read(ctx=None):\n    d = tf.data.TFRecordDataset(f)\n"
        "    if ctx and ctx.num_input_pipelines > 1:\n        d = d.shard(ctx.num_input_pipelines, ctx.input_pipeline_id)\n"
        "    return d\n"
    )
    after = converted({"a.py": source}, distributed="tf")["a.py"]
    assert "    else:\n        d = d.shard(get_rank_size(), get_rank_id())\n    return d\n" in after


def test_several_shards_of_a_context_are_done_in_one_other_branch() -> None:
    source = (
        "import tensorflow as tf\ndef read(ctx=None):\n    a = tf.data.TFRecordDataset(f)\n    b = tf.data.TFRecordDataset(g)\n"
        "    if ctx:\n        a = a.shard(ctx.n, ctx.i)\n"
        "        if FLAGS.x:\n            b = b.shard(ctx.n, ctx.i)\n        else:\n            b = b.shard(ctx.n, ctx.i)\n"
        "    return a, b\n"
    )
    after = converted({"a.py": source}, distributed="tf")["a.py"]
    ranks = ".shard(get_rank_size(), get_rank_id())\n"
    assert after.endswith(f"    else:\n        a = a{ranks}        b = b{ranks}    return a, b\n")
    assert converted({"a.py": after}, distributed="tf")["a.py"] == after


def test_datasets_of_contrib_are_datasets() -> None:
    source = "from tensorflow.contrib.data import Dataset\nd = Dataset.from_tensor_slices(x).batch(8)\n"
    assert findings({"a.py": source}, "a.py", "NPU604", distributed="tf")
    assert findings({"a.py": source}, "a.py", "NPU601")


def test_tests_run_in_one_process() -> None:
    case = "class T(tf.test.TestCase):\n    def test(self):\n        {}\n"
    lines = "g = tf.gradients(l, v); o = tf.train.AdamOptimizer(1.0); i = tf.global_variables_initializer(); o.minimize(l)"
    source = "import tensorflow as tf\n" + case.format(lines)
    assert converted({"a.py": source}, distributed="tf")["a.py"] == source
    assert not findings({"a.py": source}, "a.py", "NPU421", distributed="tf")


def test_a_metric_of_which_only_the_update_runs_is_left_alone() -> None:
    source = "import tensorflow as tf\na = tf.metrics.accuracy(l, p)\ntf.summary.scalar('a', a[1])\n"
    assert converted({"a.py": source}, distributed="tf")["a.py"] == source


def test_test_sessions_of_a_file_that_gets_the_import_need_no_remark() -> None:
    case = "import tensorflow as tf\nclass T(tf.test.TestCase):\n    def test(self):\n        s = self.test_session()\n"
    assert findings({"a.py": case}, "a.py", "NPU916")
    assert not findings({"a.py": case + "if __name__ == '__main__':\n    tf.test.main()\n"}, "a.py", "NPU916")


def test_a_keras_model_inside_an_estimator_needs_no_session_of_its_own() -> None:
    files = {
        "model.py": "import tensorflow as tf\ndef net():\n    return tf.keras.Sequential()\n",
        "main.py": "import tensorflow as tf\nimport model\nif __name__ == '__main__':\n    tf.estimator.Estimator(fn).train(f)\n",
        "keras_main.py": "import tensorflow as tf\nimport model\nif __name__ == '__main__':\n    model.net().fit(x)\n",
    }
    after = converted(files)
    assert "set_keras_session_npu_config" not in after["main.py"]
    assert "set_keras_session_npu_config" in after["keras_main.py"]


def test_helpers_of_keras_are_no_model() -> None:
    source = "from tensorflow import keras\np = keras.utils.get_file('a', u)\nif __name__ == '__main__':\n    main(p)\n"
    assert "set_keras_session_npu_config" not in converted({"a.py": source})["a.py"]


def test_a_config_made_with_replace_is_a_config() -> None:
    source = (
        "import tensorflow as tf\nc = tf.estimator.RunConfig().replace(session_config=s)\n"
        "{} = tf.estimator.Estimator(fn, config=c)\nd = tf.estimator.DNNClassifier([1], f, config=c)\n"
    )
    canned = {"a.py": "".join(source.format("e").splitlines(keepends=True)[i] for i in (0, 1, 3))}
    assert not [f for f in findings(canned, "a.py", "NPU202") if "No Estimator" in f.message]
    after = converted({"a.py": source.format("e")})["a.py"]
    assert "c = NPURunConfig().replace(session_config=s)\ne = NPUEstimator(fn, config=c)" in after


@pytest.mark.parametrize("use", ["save_checkpoints_steps=9 if hvd.rank() == 0 else None", "save_checkpoints_steps=n"])
def test_steps_of_none_on_some_ranks_are_reported(use: str) -> None:
    imports = "import tensorflow as tf\nimport horovod.tensorflow as hvd\n"
    source = f"{imports}n = None if hvd.rank() else 9\nc = tf.estimator.RunConfig({use})\n"
    (found,) = findings({"a.py": source}, "a.py", "NPU929")
    assert "save_checkpoints_steps=0" in found.message


def test_gradients_that_are_applied_need_no_second_look() -> None:
    source = (
        "import tensorflow as tf\ng = tf.gradients(loss, mine)\ng = list(zip(g, mine))\n"
        "t = tf.train.AdamOptimizer(1.0).apply_gradients(grads_and_vars=g)\n"
    )
    assert [f.level.value for f in findings({"a.py": source}, "a.py", "NPU414", distributed="tf")] == ["fixed"]


def test_initializers_of_a_file_share_one_remark() -> None:
    inits = "".join(f"i{n} = tf.global_variables_initializer()\n" for n in range(12))
    source = f"import tensorflow as tf\n{inits}o = tf.train.AdamOptimizer(0.1).minimize(l)\n"
    found = findings({"a.py": source}, "a.py", "NPU421", distributed="tf")
    assert [(f.span.line, f.level.value) for f in found] == [(2, "manual")]
    assert "has 12 such places; the others: 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13." in found[0].message
    two = "i = tf.global_variables_initializer()  # tf2npu: ignore[NPU421]\ni = tf.global_variables_initializer()\n"
    one = source.replace(inits, two)
    assert [(f.span.line, "such places" in f.message) for f in findings({"a.py": one}, "a.py", "NPU421", distributed="tf")
            if f.level.value == "manual"] == [(3, False)]  # fmt: skip


@pytest.mark.parametrize(
    ("code", "n_said"),
    [
        ("keep_prob = tf.placeholder(tf.float32)", 0),
        ("self.lr = tf.placeholder('float32', name='lr')", 0),
        ("flag = tf.placeholder(tf.bool)", 0),
        ("p = tf.placeholder(tf.float32)\nsess.run(y, feed_dict={p: -1.0})", 0),
        ("x = tf.placeholder(tf.float32)\nsess.run(y, feed_dict={x: batch})", 1),
        ("images = tf.placeholder(tf.float32, None)", 1),
        ("x = tf.placeholder(tf.float32, [None])\nsess.run(y, feed_dict={x: 3})", 1),
        ("run(tf.placeholder(tf.float32))", 1),
    ],
)
def test_placeholders_of_numbers_have_no_open_size(code: str, n_said: int) -> None:
    assert len(findings({"a.py": f"import tensorflow as tf\n{code}\n"}, "a.py", "NPU922")) == n_said


def test_where_canned_estimators_take_their_config_is_what_tensorflow_says() -> None:
    for name, position in WRAPPED.items():
        signature = signatures()[name]
        names = [part.split("=")[0].split(":")[0].strip("( ") for part in re.sub(r"<[^>]*>", "0", signature)[1:-1].split(", ")]
        assert [n for n in names if n != "self"][position] == "config", name


def test_what_cannot_run_of_contrib_has_a_rule() -> None:
    rows = [api for api in table() if api.name.startswith("tensorflow.contrib.")]
    assert len(rows) > 2000
    assert [api.name for api in rows if api.verdict is Verdict.UNSUPPORTED and not api.rule] == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("sv = tf.train.Supervisor(d)\ns = sv.PrepareSession(m, config=c)", ".PrepareSession(m, config=npu_config_proto(c))"),
        ("sm = tf.train.SessionManager()\ns = sm.prepare_session(m, i)", ".prepare_session(m, i, config=npu_config_proto())"),
        (
            "sm = tf.train.SessionManager()\ns, ok = sm.recover_session(m, a, b, None, False, 9, c)",
            "sm.recover_session(m, a, b, None, False, 9, npu_config_proto(c))",
        ),
        ("s = tf.train.SessionManager().wait_for_session(m, c)", ".wait_for_session(m, npu_config_proto(c))"),
    ],
)
def test_sessions_of_supervisors_and_managers_get_a_config(before: str, after: str) -> None:
    body = textwrap.indent(before, "    ")
    assert after in converted({"a.py": f"import tensorflow as tf\ndef f(m, c):\n{body}\n"})["a.py"]


@pytest.mark.parametrize(
    ("code", "lines"),
    [
        ("import tensorflow as tf\ntfgan = tf.contrib.gan\nx = tfgan.gan_loss(m)\n", "2 and 3"),
        ("from tensorflow.contrib.gan.python.train import gan_train\n\ngan_train(x)\n", "1"),
        ("import tensorflow as tf\nimport tensorflow.contrib.gan as tfgan\n", "2"),
        ("import tensorflow as tf\ntf.contrib.slim.flatten(x)\n", ""),
        ("import tensorflow as tf\ntry:\n    from tensorflow.contrib import gan\nexcept ImportError:\n    gan = None\n", ""),
    ],
)
def test_modules_of_contrib_that_are_gone_are_said_once(code: str, lines: str) -> None:
    found = findings({"a.py": code}, "a.py", "NPU967")
    first, _, second = lines.partition(" and ")
    assert [str(f.span.line) for f in found] == ([first] if first else [])
    assert all(("the others: " + second in f.message) == bool(second) and "tensorflow_gan" in f.message for f in found)


EAGER = """import tensorflow as tf
import horovod.tensorflow as hvd
def main(_):
    hvd.init()
    {}tf.enable_eager_execution()
    m = tf.keras.Sequential()
    m.fit(x, y, steps=100 // hvd.size())
if __name__ == '__main__':
    tf.app.run()
"""


def test_an_eager_program_gets_no_session_before_it_switches() -> None:
    after = converted({"a.py": EAGER.format("")}, distributed="horovod")["a.py"]
    assert after == "import npu_bridge.npu_init  # noqa: F401  puts sessions on the NPU\n" + EAGER.format("")
    said = findings({"a.py": EAGER.format("")}, "a.py", "NPU401", distributed="horovod")
    assert [f.level.value for f in said] == ["manual"] and "eager" in said[0].message
    single = EAGER.format("").replace("    hvd.init()\n", "")
    assert "set_keras_session" not in converted({"a.py": single})["a.py"]
    choice = converted({"a.py": EAGER.format("if FLAGS.eager: ")}, distributed="horovod")["a.py"]
    assert "init_resource()" in choice and "hvd" not in choice


@pytest.mark.parametrize(
    ("argument", "level"),
    [
        ("op=hvd.Adasum", "unsupported"),
        ("op=hvd.Adasum if a else hvd.Average", "unsupported"),
        ("op=hvd.Average", "info"),
        ("backward_passes_per_step=1", "info"),
        ("backward_passes_per_step=2", "unsupported"),
        ("gradient_predivide_factor=1.0", "info"),
        ("compression=hvd.Compression.none", "info"),
        ("compression=hvd.compression.NoneCompressor", "info"),
        ("compression=hvd.Compression.fp16", "unsupported"),
        ("sparse_as_dense=False", "info"),
        ("name='x'", "info"),
    ],
)
def test_what_changes_gradients_does_not_go_without_a_word(argument: str, level: str) -> None:
    source = f"import tensorflow as tf\nimport horovod.tensorflow as hvd\no = hvd.DistributedOptimizer(o, {argument})\n"
    found = findings({"a.py": source}, "a.py", "NPU404", distributed="horovod")
    assert [f.level.value for f in found if "was removed" in f.message] == [level]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("o = hvd.DistributedOptimizer(o, op=hvd.Average,\n        name='x')", "o = npu_distributed_optimizer_wrapper(o)"),
        ("o = hvd.DistributedOptimizer(\n    o,\n    name='x'\n)", "o = npu_distributed_optimizer_wrapper(\n    o\n)"),
        ("o = hvd.DistributedOptimizer(o,  # mine\n    name='x')", "# mine"),
        ("o = hvd.DistributedOptimizer(name='x', optimizer=o)", "o = npu_distributed_optimizer_wrapper(optimizer=o)"),
    ],
)
def test_last_arguments_go_with_their_lines(before: str, after: str) -> None:
    source = f"import tensorflow as tf\nimport horovod.tensorflow as hvd\n{before}\n"
    assert after in converted({"a.py": source}, distributed="horovod")["a.py"]


_TRAINED = (
    "import tensorflow as tf\nd = tf.data.Dataset.from_tensor_slices((a, b)).batch(32)\nit = d.make_initializable_iterator()\n"
    "{}\ntrain = tf.train.AdamOptimizer().minimize(loss)\n"
)


@pytest.mark.parametrize(
    "taken",
    [
        "x, y = it.get_next()\ns.run(loss, {x: test, y: wanted})",
        "batch = it.get_next()\nx = batch['image']\nfeed = {x: test}",
        "self.x, (self.y, n) = it.get_next()\ns.run(loss, feed_dict={self.y: wanted})",
    ],
)
def test_a_batch_that_something_is_fed_for_keeps_any_size(taken: str) -> None:
    """TensorFlow refuses a feed whose rows are not those of a static shape."""
    source = _TRAINED.format(taken)
    assert "batch(32)" in converted({"a.py": source})["a.py"]
    (left,) = findings({"a.py": source}, "a.py", "NPU601")
    assert left.level == "info" and "is fed as well" in left.message


def test_a_batch_is_whole_where_another_name_or_scope_is_fed() -> None:
    taken = "def net():\n    x, y = it.get_next()\nx = tf.placeholder(tf.float32)\ns.run(x, {x: 1, z: 2})"
    assert "batch(32, drop_remainder=True)" in converted({"a.py": _TRAINED.format(taken)})["a.py"]


@pytest.mark.parametrize(
    ("calls", "said"),
    [
        ("train = data(hvd.size(), hvd.rank())\n", []),
        ("train = data(i=hvd.rank(), n=hvd.size())\n", []),
        ("train, test = data(hvd.size(), hvd.rank()), data(1, 0)\n", ["manual"]),
        ("", ["info"]),  # called from somewhere else
    ],
)
def test_a_part_that_the_caller_chooses_stays(calls: str, said: list[str]) -> None:
    """Evaluation that asked for all data, `data(1, 0)`, got a rank's part."""
    code = (
        "import tensorflow as tf\nimport horovod.tensorflow as hvd\nhvd.init()\n"
        f"def data(n, i):\n    return tf.data.Dataset.range(9).shard(n, i)\n{calls}"
    )
    result = convert_source(code, "train.py", Config(distributed="horovod"))
    assert ".shard(n, i)" in (result.after or b"").decode()
    assert [f.level.value for f in result.findings if f.rule == "NPU603"] == said


def test_training_on_several_ranks_by_horovod_is_told_from_evaluation_as_before() -> None:
    """A branch was added that gave evaluation a rank's part, as for a strategy's context (ConvNets of NVIDIA's examples)."""
    code = (
        "import tensorflow as tf\nfrom utils import hvd_wrapper as hvd\ndef input_fn(training):\n"
        "    ds = tf.data.Dataset.range(9)\n    if hvd.size() > 1 and training:\n        ds = ds.shard(hvd.size(), hvd.rank())\n"
        "    return ds\n"
    )
    result = convert_source(code, "train.py", Config(distributed="horovod"))
    assert "get_rank" not in (result.after or b"").decode()
    assert [f.level.value for f in result.findings if f.rule == "NPU603"] == ["info"]


def test_a_part_that_tells_evaluation_from_training_stays_with_a_strategy_too() -> None:
    code = "import tensorflow as tf\ndef data(n, i):\n    return tf.data.Dataset.range(9).shard(n, i)\n"
    for calls, shard in (("a, b = data(k, j), data(1, 0)", "n, i"), ("a = data(k, j)", "get_rank_size(), get_rank_id()")):
        result = convert_source(code + calls, "train.py", Config(distributed="tf"))
        assert f".shard({shard})" in (result.after or b"").decode()


_V2_BEHAVIOR = "import tensorflow.compat.v2 as tf\ntf.enable_v2_behavior()\n"


@pytest.mark.parametrize(
    ("code", "rule"),
    [
        (_V2_BEHAVIOR + "m = tf.keras.Sequential()\nm.fit(x, y)\n", "NPU903"),
        ("import tensorflow.compat.v2 as tf\n@tf.function\ndef step(x):\n    return x\nm = tf.keras.Sequential()\n", "NPU903"),
        # an Estimator makes graphs of its own, so only the switch is in its way
        (_V2_BEHAVIOR + "e = tf.estimator.LinearRegressor(c)\n", "NPU944"),
        ("import tensorflow.compat.v1 as tf\ntf.enable_v2_behavior()\nm = tf.keras.Sequential()\nm.fit(x, y)\n", "NPU944"),
    ],
)
def test_the_behaviour_of_tensorflow_2_is_told_and_gets_no_session(code: str, rule: str) -> None:
    """Such a script was given a session for Keras, after which the switch fails, or nothing was said."""
    result = convert_source(code, "train.py")
    level = "info" if rule == "NPU903" else "unsupported"
    assert [f.rule for f in result.findings if f.level.value == level and f.rule in ("NPU903", "NPU944")] == [rule]
    assert "set_keras_session" not in (result.after or b"").decode()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("e = tf.estimator.Estimator(fn, config=tf.estimator.RunConfig())", "e = NPUEstimator(fn, config=NPURunConfig())"),
        ("e = tf.estimator.DNNRegressor([3], f)", "e = tf.estimator.DNNRegressor([3], f, config=npu_run_config_init())"),
    ],
)
def test_estimators_of_compat_v2_are_those_of_tensorflow(before: str, after: str) -> None:
    """Nothing was done or said; adanet imports all of TensorFlow that way."""
    result = convert_source(f"import tensorflow.compat.v2 as tf\n{before}\n", "train.py")
    assert after in (result.after or b"").decode()


@pytest.mark.parametrize(
    ("test", "parts", "shards"),
    [
        ("ctx", "ctx.n, ctx.i", ["ctx.n, ctx.i", "get_rank_size(), get_rank_id()"]),
        ("ctx is not None and ctx.n > 1", "ctx.n, ctx.i", ["ctx.n, ctx.i", "get_rank_size(), get_rank_id()"]),
        ("self.n > 1", "self.n, self.i", ["self.n, self.i", "get_rank_size(), get_rank_id()"]),
        ("self.training", "self.n, self.i", ["get_rank_size(), get_rank_id()"]),
        ("FLAGS.mode == 'train'", "FLAGS.n, FLAGS.i", ["get_rank_size(), get_rank_id()"]),
        ("self.n > 1 and self.training", "self.n, self.i", ["self.n, self.i"]),
    ],
)
def test_a_condition_that_asks_for_training_gets_no_other_branch(test: str, parts: str, shards: list[str]) -> None:
    """Evaluation got a rank's part where training was asked for by an object that tells the parts too."""
    code = (
        f"import tensorflow as tf\ndef data(self, ctx):\n    d = tf.data.Dataset.range(9)\n    if {test}:\n"
        f"        d = d.shard({parts})\n    return d\n"
    )
    result = convert_source(code, "train.py", Config(distributed="tf"))
    assert re.findall(r"\.shard\((.*)\)", (result.after or b"").decode()) == shards
    assert [f.level.value for f in result.findings if f.rule == "NPU603"] == ["manual" if " and self" in test else "fixed"]


def test_the_variables_of_a_launcher_are_told_also_in_a_file_without_tensorflow() -> None:
    """UNet_Medical of NVIDIA's examples and ludwig look there whether they train together with others."""
    files = {
        "train.py": "import tensorflow as tf\nimport horovod.tensorflow as hvd\nimport runner\nhvd.init()\n",
        "runner.py": "import os\nnames = ['OMPI_COMM_WORLD_RANK', \"HOROVOD_SIZE\"]\nok = all(n in os.environ for n in names)\n",
        "alone.py": "import os\nmany = 'OMPI_COMM_WORLD_RANK' in os.environ\n",
    }
    told = findings(files, "runner.py", "NPU422", distributed="horovod")
    assert [(f.level.value, f.before) for f in told] == [("manual", "OMPI_COMM_WORLD_RANK"), ("manual", "HOROVOD_SIZE")]
    assert "RANK_ID" in told[0].message and "RANK_SIZE" in told[1].message
    assert not findings(files, "runner.py", "NPU422")
    assert not findings(files, "alone.py", "NPU422", distributed="horovod")


_FED_MODEL = (
    "import tensorflow as tf\nclass Model:\n    def __init__(self):\n"
    "        ds = tf.data.Dataset.range(9).repeat().batch(2)\n"
    "        self.it = ds.make_one_shot_iterator()\n        self.x, y = self.it.get_next()\n"
)


@pytest.mark.parametrize(
    ("feed", "level"),
    [
        ("feed_dict={net.x: rows}", "info"),
        ("feed_dict=rows", "fixed"),
        ("feed_dict={net.rate: 0.1}", "fixed"),
        ("feed_dict=dict(zip([net.x], rows))", "fixed"),  # not followed
    ],
)
def test_a_batch_that_another_file_feeds_in_its_place_stays_open(feed: str, level: str) -> None:
    """With drop_remainder=True the tensor has the batch's size, and TensorFlow refuses to be fed another number of rows."""
    files = {
        "model.py": _FED_MODEL,
        "train.py": f"import tensorflow as tf\nfrom model import Model\nnet = Model()\ntf.Session().run(net.y, {feed})\n",
    }
    assert [f.level.value for f in findings(files, "model.py", "NPU601")] == [level]


def test_the_branch_that_can_be_imported_counts() -> None:
    """Files that also serve inside Google try the paths of its own tree first."""
    source = (
        "try:\n    import google3\n    from google3.third_party.tensorflow.python.framework import ops\n"
        "except ImportError:\n    from tensorflow.python.framework import ops\n"
        "with ops.device('/gpu:0'):\n    pass\n"
    )
    assert "ops.device('/cpu:0')" in converted({"a.py": source})["a.py"]
    assert findings({"a.py": source}, "a.py", "NPU953") == []


@pytest.mark.parametrize(
    ("device", "is_several"),
    [
        ("'/gpu:' + str(FLAGS.gpu)", False),
        ("'/gpu:%d' % self.gpu", False),
        ("'/gpu:%d' % GPU", False),
        ("'/gpu:%d' % i", True),
        ("f'/gpu:{index}'", True),
    ],
)
def test_one_device_that_settings_tell_is_no_tower(device: str, is_several: bool) -> None:
    source = (
        "import tensorflow as tf\nFLAGS = tf.app.flags.FLAGS\nGPU = int(FLAGS.gpu)\nclass Net:\n    def build(self, index):\n"
        f"        for i in range(4):\n            with tf.device({device}):\n                tf.ones(1)\n"
    )
    assert "tf.device('/cpu:0')" in converted({"a.py": source})["a.py"]
    told = findings({"a.py": source}, "a.py", "NPU701")
    assert [f.message.startswith("The towers of one model share the NPU") for f in told] == [False, *[True] * is_several]
    assert {f.level.value for f in told} <= {"fixed", "info"}, "towers on one NPU give the numbers that they gave"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("tf.concat(1, [tf.mul(a, b), c], name='d')", "tf.concat(axis=1, values=[tf.multiply(a, b), c], name='d')"),
        ("tf.concat(axis_of(a), [a, b])", "tf.concat(axis=axis_of(a), values=[a, b])"),
        ("tf.concat(parts, [1])", "tf.concat(parts, [1])"),
        ("tf.split(split_dim=0, num_split=2, value=a)", "tf.split(axis=0, num_or_size_splits=2, value=a)"),
        ("tf.select(c, t=a, e=b)", "tf.where(c, x=a, y=b)"),
        ("list(map(tf.neg, a))", "list(map(tf.negative, a))"),
        ("tf.train.SummaryWriter('d', s.graph)", "tf.summary.FileWriter('d', s.graph)"),
        ("tf.unpack(a, 3, 'name')", "tf.unpack(a, 3, 'name')"),
        ("tf.nn.softmax_cross_entropy_with_logits(a, b)", "tf.nn.softmax_cross_entropy_with_logits(logits=a, labels=b)"),
    ],
)
def test_a_call_of_before_1_0_is_brought_to_1_15(before: str, after: str) -> None:
    assert converted({"a.py": f"import tensorflow as tf\ny = {before}\n"})["a.py"] == f"import tensorflow as tf\ny = {after}\n"


def test_a_project_with_ranks_somewhere_says_nothing_of_programs_without():
    """A tree of tutorials has one script with Horovod; a script beside it saves by seconds and is alone."""
    by_seconds = "import tensorflow as tf\nh = tf.train.CheckpointSaverHook('d', save_secs=600)\n"
    ranks = "import tensorflow as tf\nimport horovod.tensorflow as hvd\nimport hooks\nhvd.init()\n"
    files = {"alone.py": by_seconds, "ranks.py": ranks, "hooks.py": by_seconds}
    levels = {path: [f.level.value for f in findings(files, path, "NPU929")] for path in files}
    assert levels == {"alone.py": ["info"], "ranks.py": [], "hooks.py": ["manual"]}


def test_a_file_that_reads_data_by_tensorpack_alone_makes_no_graph():
    reader = "from tensorpack.dataflow import PrefetchData\nfrom tensorpack.dataflow.base import RNGDataFlow\n"
    train = "import tensorflow as tf\nimport reader\ntf.Session().run(reader.x)\n"
    assert findings({"reader.py": reader, "train.py": train}, "reader.py", "NPU905") == []
    whole = f"{reader}from tensorpack import TrainConfig\n"
    assert [f.level.value for f in findings({"reader.py": whole, "train.py": train}, "reader.py", "NPU905")] == ["manual"]
