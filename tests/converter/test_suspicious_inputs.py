"""Code that looks like what a rule converts and is not quite it."""

from __future__ import annotations

import pytest

from tf2npu.config import Config
from tf2npu.engine.convert_file import convert_source
from tf2npu.findings import Level

pytestmark = pytest.mark.each_python

HEAD = "import math\nimport tensorflow as tf\n"
_FORMULA = "0.5 * {0} * (1 + tf.tanh(math.sqrt(2 / math.pi) * ({0} + 0.044715 * {0} ** 3)))"
OTHER_DTYPES = {
    "the argument is cast": "y = tf.cast(x, tf.float32)\n    return " + _FORMULA.format("y"),
    "the result is cast": f"return tf.cast({_FORMULA.format('x')}, tf.float16)",
    "the dtype is a parameter": "y = tf.cast(x, dtype=dtype)\n    return " + _FORMULA.format("y"),
    "the result is cast by a function of its own": f"return tf.to_float({_FORMULA.format('x')})",
}
SAME_DTYPE = {
    "a constant is cast": "c = tf.cast(0.5, tf.float32)\n    return c * 2 * " + _FORMULA.format("x"),
    "constants are made of its dtype": "c = tf.constant(0.5, dtype=x.dtype)\n    return 2 * c * " + _FORMULA.format("x"),
    "what is cast has its dtype": f"return tf.cast({_FORMULA.format('x')}, x.dtype)",
    "by keyword": f"return tf.cast({_FORMULA.format('x')}, dtype=x.dtype)",
}


@pytest.mark.parametrize("body", OTHER_DTYPES.values(), ids=OTHER_DTYPES)
def test_a_gelu_of_another_dtype_than_its_argument_stays(body: str) -> None:
    text = f"{HEAD}def gelu(x, dtype=tf.float32):\n    {body}\n"
    result = convert_source(text, "m.py")
    assert result.after.decode() == text
    assert any(f.rule == "NPU503" for f in result.findings)


@pytest.mark.parametrize("body", SAME_DTYPE.values(), ids=SAME_DTYPE)
def test_a_gelu_of_the_dtype_of_its_argument_is_converted(body: str) -> None:
    after = convert_source(f"{HEAD}def gelu(x):\n    {body}\n", "m.py").after.decode()
    assert after.endswith("def gelu(x):\n    return npu_unary_ops.gelu(x)\n")


ALIASES = {
    "an alias that is one of two": "if fast:\n    drop = {}\nelse:\n    drop = mine\ny = drop(x, 0.5)\n",
    "an alias that a loop changes": "drop = {}\nfor drop in (1, 2):\n    y = drop(x, 0.5)\n",
}


@pytest.mark.parametrize("text", ALIASES.values(), ids=ALIASES)
@pytest.mark.parametrize(("api", "level"), [("tf.nn.dropout", Level.INFO), ("tf.estimator.Estimator", Level.MANUAL)])
def test_an_alias_whose_calls_are_not_certain_is_reported(text: str, api: str, level: Level) -> None:
    code = HEAD + text.format(api)
    result = convert_source(code, "m.py")
    assert result.after.decode() == code
    told = [f for f in result.findings if f.level is level and f.before == api]
    assert len(told) == 1


@pytest.mark.parametrize("api", ["tf.nn.dropout", "tf.estimator.Estimator"])
def test_a_certain_alias_is_not(api: str) -> None:
    result = convert_source(f"{HEAD}make = {api}\ny = make(x)\n", "m.py")
    assert not any(f.before == api for f in result.findings)


@pytest.mark.parametrize("mode", ["none", "horovod", "tf"])
def test_a_changed_copy_of_a_config_loses_what_the_npu_does_not_have(mode: str) -> None:
    text = (
        "c = tf.estimator.RunConfig(model_dir='d').replace(\n    save_summary_steps=9,  # often\n"
        "    train_distribute=strategy,  # on GPUs\n    device_fn=None)\ne = tf.estimator.Estimator(fn, config=c)\n"
    )
    result = convert_source(HEAD + text, "m.py", Config(distributed=mode))
    after = result.after.decode()
    assert "NPURunConfig(model_dir='d').replace(\n    save_summary_steps=9  # often\n" in after
    assert "train_distribute" not in after and "device_fn" not in after and "# on GPUs" in after
    told = {f.message.partition(" was removed")[0]: f.level for f in result.findings if " was removed" in f.message}
    assert told == {"train_distribute=strategy": Level.INFO, "device_fn=None": Level.INFO}
    assert convert_source(after, "m.py", Config(distributed=mode)).after.decode() == after


def test_a_changed_copy_that_has_to_stay_keeps_the_classes() -> None:
    text = "e = tf.estimator.Estimator(fn, config=tf.estimator.RunConfig().replace(protocol=(s := f())))\n"
    after = convert_source(HEAD + text, "m.py").after.decode()
    assert "npu_run_config_init(run_config=tf.estimator.RunConfig().replace(protocol=(s := f())))" in after


_ENDLESS = "tf.data.Dataset.range(3).repeat()"
MAY_END = (
    f"{_ENDLESS}.apply(tf.data.experimental.take_while(f))",
    f"{_ENDLESS}.apply(tf.contrib.data.sliding_window_batch(2)).apply(lambda d: d.take(7))",
    f"{_ENDLESS}.apply(mine)",
    f"{_ENDLESS}.apply(mine(tf.data.experimental.ignore_errors()))",
    "tf.data.Dataset.range(3).apply(tf.data.experimental.shuffle_and_repeat(**settings))",
    "tf.data.Dataset.range(3).apply(tf.data.experimental.shuffle_and_repeat(9, count=2))",
    "tf.data.Dataset.range(3).apply(tf.data.experimental.shuffle_and_repeat(9)).take(5)",
    "tf.data.Dataset.range(3).repeat(*counts)",
)
NEVER_END = (
    f"{_ENDLESS}.apply(tf.data.experimental.ignore_errors())",
    f"{_ENDLESS}.apply(tf.contrib.data.map_and_batch(f, 3)).apply(tf.contrib.data.unbatch())",
    "tf.data.Dataset.range(3).apply(tf.contrib.data.shuffle_and_repeat(buffer_size=9))",
)


@pytest.mark.parametrize("dataset", MAY_END)
def test_a_dataset_that_may_end_keeps_its_last_batch(dataset: str) -> None:
    assert ".batch(4)\n" in convert_source(f"{HEAD}ds = {dataset}.batch(4)\n", "m.py").after.decode()


@pytest.mark.parametrize("dataset", NEVER_END)
def test_a_dataset_that_never_ends_has_no_last_batch(dataset: str) -> None:
    after = convert_source(f"{HEAD}ds = {dataset}.batch(4)\n", "m.py").after.decode()
    assert ".batch(4, drop_remainder=True)\n" in after


def test_an_argument_of_horovods_optimizer_is_judged_alike_by_position_and_by_name() -> None:
    def told(call: str) -> dict[str, Level]:
        text = f"{HEAD}import horovod.tensorflow as hvd\nimport horovod.tensorflow.keras as hk\no = {call}\n"
        findings = convert_source(text, "m.py", Config(distributed="horovod")).findings
        return {f.message.partition(" was removed")[0]: f.level for f in findings if " was removed" in f.message}

    by_position = told("hvd.DistributedOptimizer(o, 'n', True, '/gpu:0', '', hvd.Compression.fp16, True, 4, hvd.Sum)")
    by_name = told(
        "hvd.DistributedOptimizer(o, name='n', use_locking=True, device_dense='/gpu:0', device_sparse='', "
        "compression=hvd.Compression.fp16, sparse_as_dense=True, backward_passes_per_step=4, op=hvd.Sum)"
    )
    assert by_position == by_name
    assert [text.partition("=")[0] for text, level in by_name.items() if level is Level.UNSUPPORTED] == [
        "backward_passes_per_step", "compression", "op", "sparse_as_dense",
    ]  # fmt: skip
    assert told("hk.DistributedOptimizer(o, 'n', '', '', hvd.Compression.fp16)")["compression=hvd.Compression.fp16"]


def test_a_parameter_that_is_deleted_is_not_asked() -> None:
    text = (
        "def input_fn(training, params):\n    del params{}\n    return tf.data.TFRecordDataset('f').batch(4)\n"
        "e = tf.estimator.Estimator(fn)\ne.train(lambda: input_fn(True, {{}}))\ne.evaluate(lambda: input_fn(False, {{}}))\n"
    )
    assert "drop_remainder=training" in convert_source(HEAD + text.format(""), "m.py").after.decode()
    assert "drop_remainder" not in convert_source(HEAD + text.format(", training"), "m.py").after.decode()


@pytest.mark.parametrize("parameters", ["x", "x, name=None", "x, *rest, **others", "x=1"])
def test_a_lambda_is_a_gelu_whatever_else_it_takes(parameters: str) -> None:
    after = convert_source(f"{HEAD}act = lambda {parameters}: {_FORMULA.format('x')}\n", "m.py").after.decode()
    assert after.endswith(f"act = lambda {parameters}: npu_unary_ops.gelu(x)\n")


@pytest.mark.parametrize("parameters", ["y, x", "*x", "*, x", "y, x=1"])
def test_a_lambda_of_something_else_than_its_first_parameter_stays(parameters: str) -> None:
    text = f"{HEAD}act = lambda {parameters}: {_FORMULA.format('x')}\n"
    assert convert_source(text, "m.py").after.decode() == text


_PARTS = "parts = tf.data.TFRecordDataset(files)\n"
NOT_OF_RANKS = {
    "read side by side": "d = tf.data.Dataset.range(4).interleave(lambda i: parts.shard(4, i), cycle_length=4)\n",
    "by a function": "def part(i):\n    return parts.shard(n, i)\nd = tf.data.Dataset.range(n).flat_map(part)\n",
    "in a comprehension": "ds = [parts.shard(n, i) for i in range(n)]\n",
    "in a loop": "ds = []\nfor i in range(n):\n    ds.append(parts.shard(num_shards=n, index=i))\n",
    "set aside": "held_out = parts.shard(10, 0)\n",
}
OF_RANKS = {
    "flags": "d = parts.shard(FLAGS.n_workers, FLAGS.worker)\n",
    "parameters": "def input_fn(n, i):\n    return parts.shard(n, i)\n",
    "variables": "n, i = 4, int(os.environ['RANK'])\nd = parts.shard(n, i)\n",
    "a function that is called": "def part(i):\n    return parts.shard(n, i)\nd = part(FLAGS.worker).map(f)\n",
}


@pytest.mark.parametrize("mode", ["tf", "horovod"])
@pytest.mark.parametrize("text", NOT_OF_RANKS.values(), ids=NOT_OF_RANKS)
def test_parts_that_are_not_those_of_ranks_stay(text: str, mode: str) -> None:
    result = convert_source(HEAD + _PARTS + text, "m.py", Config(distributed=mode))
    assert "get_rank" not in result.after.decode()
    assert [f.level for f in result.findings if f.rule == "NPU603"] == [Level.MANUAL]


@pytest.mark.parametrize("text", OF_RANKS.values(), ids=OF_RANKS)
def test_parts_of_workers_become_those_of_ranks(text: str) -> None:
    after = convert_source(HEAD + _PARTS + text, "m.py", Config(distributed="tf")).after.decode()
    assert ".shard(get_rank_size(), get_rank_id())" in after
