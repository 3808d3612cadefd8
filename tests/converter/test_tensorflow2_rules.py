"""Places of scripts for TensorFlow 2 at which rules have more than one way to go."""

from __future__ import annotations

import re

import pytest

from tests.converter.test_project_facts import converted, project_of
from tf2npu.config import Config, Target
from tf2npu.engine.convert_file import convert_file, convert_source
from tf2npu.findings import Level
from tf2npu.frameworks.tensorflow2.framework import FRAMEWORK
from tf2npu.rules import Rule, rule_parts

HEAD = "import tensorflow as tf\n"
GPUS = "gpus = tf.config.list_physical_devices('GPU')\n"
GROW = "tf.config.experimental.set_memory_growth"
OPEN = "npu.open().as_default()\n"


def after(text: str, **settings: object) -> str:
    return (convert_source(text, "train.py", Config(dialect="tf2", **settings)).after or b"").decode()


@pytest.mark.parametrize(
    ("before", "left"),
    [
        (f"if gpus: {GROW}(gpus[0], True)\nx = 1\n", "x = 1\n"),
        (f"{GROW}(gpus[0], True); x = 1\n", "pass; x = 1\n"),
        (f"for g in gpus:\n    {GROW}(g, True)\nelse:\n    x = 1\n", "for g in gpus:\n    pass\nelse:\n    x = 1\n"),
        (f"for g in gpus:\n    {GROW}(g, True)\nprint(g)\n", "for g in gpus:\n    pass\nprint(g)\n"),
        (f"for g in gpus:\n    {GROW}(g, True)\nfor g in gpus:\n    print(g)\n", "for g in gpus:\n    print(g)\n"),
        (f"if ask():\n    {GROW}(gpus[0], True)\n", "if ask():\n    pass\n"),
        (f"if gpus:\n    {GROW}(gpus[0], True)\nelse:\n    x = 1\n", "if gpus:\n    pass\nelse:\n    x = 1\n"),
        (f"try:\n    {GROW}(gpus[0], True)\nfinally:\n    x = 1\n", "try:\n    pass\nfinally:\n    x = 1\n"),
        (f"ok = {GROW}(gpus[0], True)\n", "ok = None\n"),
        (f"def f():\n    {GROW}(gpus[0], True)\n    {GROW}(gpus[1], True)\n", "def f():\n    pass\n"),
        (f"if __name__ == '__main__':\n    {GROW}(gpus[0], True)\n", "if __name__ == '__main__':\n    pass\n"),
        (f"with tf.name_scope('a'):\n    {GROW}(gpus[0], True)\n", "with tf.name_scope('a'):\n    pass\n"),
        (f"{GROW}(gpus[0], True)  # tf2npu: ignore\n", f"{GROW}(gpus[0], True)  # tf2npu: ignore\n"),
        (f"for g in gpus:\r\n    {GROW}(g, True)\r\nx = 1\r\n", "x = 1\r\n"),
        (f"x = 1\nif gpus:\n    {GROW}(gpus[0], True)", "x = 1\n"),
    ],
)
def test_settings_of_gpus_leave_no_empty_block(before: str, left: str) -> None:
    start = HEAD + GPUS
    newline = "\r\n" if "\r\n" in before else "\n"
    text = after((start + before).replace("\n", newline) if newline == "\n" else start.replace("\n", "\r\n") + before)
    compile(text, "train.py", "exec")
    kept = [line for line in text.splitlines(keepends=True) if not line.startswith(("import npu", "npu.open"))]
    assert "".join(kept) == start.replace("\n", newline) + left
    assert after(text) == text


LIB = f"{HEAD}def train():\n    pass\nif __name__ == '__main__':\n    train()\n"


def test_a_script_that_others_import_opens_the_npu_only_where_it_is_run() -> None:
    files = {"lib.py": LIB, "main.py": f"{HEAD}import lib\nfor x in tf.data.Dataset.range(3):\n    print(x)\nlib.train()\n"}
    texts = converted(files, dialect="tf2")
    assert f"if __name__ == '__main__':\n    {OPEN}    train()\n" in texts["lib.py"]
    assert f"\n{OPEN}for x in" in texts["main.py"]
    assert converted(texts, dialect="tf2") == texts


def test_a_try_block_that_uses_tensorflow_is_no_block_of_imports() -> None:
    """Such a block looks for a TPU; the NPU was opened behind it, and the strategy stood before."""
    block = "try:\n    s = tf.distribute.get_strategy()\nexcept ValueError:\n    s = None\n"
    imports = "try:\n    import json\nexcept ImportError:\n    json = None\n"
    text = after(f"{HEAD}{imports}{block}for x in tf.data.Dataset.range(3):\n    print(x)\n")
    assert f"    json = None\n{OPEN}{block}" in text


@pytest.mark.parametrize("body", ["train()", "x = 1; train()"])
def test_a_guard_in_one_line_is_opened_too(body: str) -> None:
    files = {"lib.py": f"{HEAD}def train():\n    pass\nif __name__ == '__main__': {body}\n", "main.py": "import lib\n"}
    assert f"if __name__ == '__main__': npu.open().as_default(); {body}\n" in converted(files, dialect="tf2")["lib.py"]


def test_what_a_conversion_would_change_in_a_file_that_has_moved_is_a_remark() -> None:
    source = f"import npu_device\n{HEAD}npu_device.open().as_default()\n{GPUS}{GROW}(gpus[0], True)\n@tf.function\ndef f(it):\n"
    source += "    for i in tf.range(4):\n        next(it)\n"
    result = convert_source(source, "train.py")
    assert result.after == source.encode()
    levels = {finding.rule: finding.level for finding in result.findings}
    assert levels["NPU802"] is levels["NPU903"] is Level.INFO and levels["NPU811"] is Level.MANUAL


@pytest.mark.parametrize("settings", [{"import_style": "star"}, {"target": Target(adapter="2021")}])
def test_settings_of_the_other_adapter_change_nothing(settings: dict[str, object]) -> None:
    text = f"{HEAD}model = tf.keras.Sequential()\nmodel.fit(x, y)\n"
    assert after(text, **settings) == after(text) == f"{HEAD}import npu_device as npu\n{OPEN}{text.removeprefix(HEAD)}"


def test_a_rule_can_be_selected_and_ignored() -> None:
    text = f"{HEAD}{GPUS}{GROW}(gpus[0], True)\nmodel = tf.keras.Sequential()\nmodel.fit(x, y)\n"
    assert GROW in after(text, ignore=frozenset({"NPU802"})) and OPEN in after(text, ignore=frozenset({"NPU802"}))
    assert GROW not in after(text, select=frozenset({"NPU802"})) and OPEN not in after(text, select=frozenset({"NPU802"}))


STEP = "@tf.function\ndef step(x):\n    opt.apply_gradients(zip(g(x), v))\n"


@pytest.mark.parametrize(
    ("loop", "is_dropped"),
    [
        ("for x in ds:\n    step(x)\n", True),
        ("for n, x in enumerate(ds.prefetch(1)):\n    step(x)\n", True),
        ("def train(data):\n    for x in data:\n        step(x)\ntrain(ds)\n", True),
        ("class A:\n    def r(self, d):\n        for x in d:\n            step(x)\n    def f(self):\n        self.r(ds)\n", True),
        ("def run(x):\n    strategy.run(step, args=(x,))\nfor x in ds:\n    run(x)\n", True),
        ("for x in ds:\n    print(x)\n", False),
        ("for x in ds:\n    step(x)\nfor x in ds:\n    print(x)\n", False),
        ("for x in ds.take(1):\n    step(x)\n", False),
    ],
)
def test_a_loop_that_applies_gradients_trains(loop: str, is_dropped: bool) -> None:
    text = f"{HEAD}ds = tf.data.Dataset.from_tensor_slices(x).batch(8)\n{STEP}{loop}"
    assert ("drop_remainder=True" in after(text)) is is_dropped


def test_a_file_without_names_of_tensorflow_is_found_by_what_it_imports() -> None:
    """The record of TensorFlow 2 reaches what that of TensorFlow 1 reaches."""
    files = {
        "net.py": f"{HEAD}@tf.function\ndef f(x):\n    return x\n",
        "main.py": "import net\nif __name__ == '__main__':\n    net.f(1)\n",
    }
    result = convert_file("main.py", files["main.py"].encode(), Config(), project_of(files))
    assert OPEN.encode() in (result.after or b"")


FIT = (
    "d = tf.data.Dataset.from_tensor_slices((x, y)).batch(8)\n"
    "m = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(4,))])\n"
    "m.compile('sgd', 'mse')\nm.fit(d, epochs=2)\n"
)


def ranks(text: str, **others: str) -> dict[str, str]:
    """The conversion of a script for several ranks, beside other files."""
    return converted({"train.py": f"{HEAD}{text}", **others}, dialect="tf2", distributed="tf")


def test_all_of_a_fit_is_distributed() -> None:
    text = ranks(FIT)["train.py"]
    assert all(f"npu.distribute.{name}(" in text for name in ("broadcast", "shard_and_rebatch_dataset"))
    assert "m.compile(npu.distribute.npu_distributed_keras_optimizer_wrapper('sgd'), 'mse')" in text
    assert text.index(OPEN) < text.index("npu.distribute.shard") < text.index("npu.distribute.broadcast")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("input_shape=(4,)", "activation='relu'"),
        ("m.fit(d, epochs=2)", "m.fit(x, y, epochs=2)"),
        ("m.fit(d, epochs=2)", "m.fit(d, epochs=2)\nm.train_on_batch(x, y)"),
        ("m.fit(d, epochs=2)", "m.fit(d, epochs=2)\no.apply_gradients(zip(t.gradient(l, m.trainable_variables), v))"),
        ("m.compile('sgd', 'mse')", "m.compile(**kw)"),
        ("m.compile('sgd', 'mse')", "m.compile(make(), 'mse')"),
        (".batch(8)", ".batch(*size)"),
        (".batch(8)", ".batch(8)  # tf2npu: ignore[NPU813]"),
        ("d = tf.data", "data = tf.data"),
        ("m.fit(d, epochs=2)", "m.fit(d, epochs=2)\nstrategy = tf.distribute.MirroredStrategy()\nstrategy.run(f)"),
        ("m.fit(d, epochs=2)", "from tensorflow.distribute import MirroredStrategy as S\ns = S()\nm.fit(d, epochs=2)"),
    ],
)
def test_what_cannot_be_distributed_whole_stays_for_one_npu(old: str, new: str) -> None:
    assert FIT.count(old) == 1
    text = f"{HEAD}{FIT.replace(old, new)}"
    result = convert_source(text, "train.py", Config(dialect="tf2", distributed="tf"))
    assert "npu.distribute" not in (result.after or b"").decode()
    assert any(f.rule == "NPU813" and f.level is Level.MANUAL and f.message.startswith("Stays for one") for f in result.findings)


def test_training_in_several_files_stays_for_one_npu_and_scripts_beside_each_other_do_not() -> None:
    lib = {"lib.py": f"{HEAD}def data(x):\n    return tf.data.Dataset.from_tensor_slices(x).batch(8)\n"}
    assert "npu.distribute" not in "".join(ranks(f"import lib\n{FIT}", **lib).values())
    assert "npu.distribute" in ranks(FIT, **{"other.py": f"{HEAD}{FIT}"})["train.py"]


def test_a_strategy_becomes_the_default_one_and_its_replicas_the_ranks() -> None:
    text = ranks(f"s = tf.distribute.MirroredStrategy(['gpu:0'])\nn = 8 * s.num_replicas_in_sync\n{FIT.replace('(8)', '(n)')}")[
        "train.py"
    ]
    assert "s = tf.distribute.get_strategy()\nn = 8 * npu.open().workers_num\n" in text


@pytest.mark.parametrize(
    "text",
    [
        "def show(path):\n    x = tf.image.decode_image(tf.io.read_file(path))\n    return x * tf.Variable(2)\nshow('a.png')\n",
        "x = tf.keras.layers.Input([2])\nd = tf.data.Dataset.range(3).map(lambda i: i if x is None else i)\n",
    ],
    ids=["reads a picture eagerly", "a tensor of a model"],
)
def test_what_no_dataset_calls_or_what_has_no_variables_is_not_reported(text: str) -> None:
    assert [f for f in convert_source(HEAD + text, "train.py", Config(dialect="tf2")).findings if f.rule == "NPU808"] == []


WORDS_OF_1 = (
    r"\bsessions?\b", "mix_compile_mode", "hccl_ops", "npu_bridge", "npu_scope", "npu_ops", "npu_config", "Estimator",
    r"get_rank_\w+", "cluster=None", "NPU's config", r"\bfetch",
)  # fmt: skip
OF_1 = re.compile("|".join(WORDS_OF_1))
TPU_CALLS = [
    "bfloat16_scope", "cross_replica_sum", "initialize_system", "shutdown_system", "outside_compilation", "rewrite", "replicate",
    "shard", "batch_parallel", "core",
]  # fmt: skip
OF_SESSIONS = ("NPU819",)
"""The rule that is about sessions."""
AS_1 = [
    pytest.param(part, example.before, id=f"{part.id}-{number}")
    for part in rule_parts()
    if part.id.startswith(FRAMEWORK.rule_ids) and part.id not in OF_SESSIONS
    for number, example in enumerate(part.examples)
]


@pytest.mark.parametrize(("part", "text"), AS_1)
def test_what_is_said_of_a_script_for_tensorflow_2_names_nothing_of_1(part: Rule, text: str) -> None:
    source = text if "import tensorflow" in text else f"{HEAD}{text}"
    found = convert_source(f"{source}\n@tf.function\ndef f_(x):\n    return x\n", "train.py", Config(dialect="tf2")).findings
    said = [f"{one.message} {one.after}" for one in found if one.rule == part.id]
    assert not [one for one in said if OF_1.search(one)], said


@pytest.mark.parametrize("name", TPU_CALLS)
def test_a_call_for_tpus_is_answered_with_what_npu_device_has(name: str) -> None:
    result = convert_source(
        f"{HEAD}@tf.function\ndef f(x):\n    return tf.compat.v1.tpu.{name}(x)\n", "train.py", Config(dialect="tf2")
    )
    said = [f"{one.message} {one.after}" for one in result.findings if one.rule == "NPU943"]
    assert said and not OF_1.search(" ".join(said))


SUMS = "        s.assign_add(tf.cast(tf.reduce_sum(x), tf.float32))\n"
DATA = "ds = tf.data.Dataset.from_tensor_slices([[1.0], [2.0]]).batch(1)\ns = tf.Variable(0.0)\n"


@pytest.mark.parametrize(
    ("text", "is_told"),
    [
        (f"@tf.function\ndef f(d):\n    for x in d:\n{SUMS}f(ds)\n", True),
        (f"@tf.function\ndef f(d):\n    for x in d:\n{SUMS}f(d=ds.take(2))\n", True),
        (f"@tf.function\ndef f():\n    for x in ds:\n{SUMS}f()\n", True),
        (f"@tf.function\ndef f():\n    for x in ds.take(2):\n{SUMS}f()\n", True),
        (f"@tf.function\ndef f():\n    for i, x in enumerate(ds):\n{SUMS}f()\n", True),
        (f"@tf.function\ndef f():\n    for x, y in tf.data.Dataset.zip((ds, ds)):\n{SUMS}f()\n", True),
        (f"def g():\n    for x in ds:\n{SUMS}@tf.function\ndef f():\n    g()\nf()\n", True),
        (f"class A:\n    @tf.function\n    def f(self, d):\n        for x in d:\n    {SUMS}a = A()\na.f(ds)\n", True),
        (f"def f():\n    for x in ds:\n{SUMS}f()\n", False),
        (f"@tf.function\ndef f(it):\n    for x in it:\n{SUMS}f(iter(ds))\n", False),
        (f"@tf.function\ndef f():\n    for x in [1.0, 2.0]:\n{SUMS}f()\n", False),
    ],
)  # fmt: skip
def test_loops_over_datasets_in_functions_are_told(text: str, is_told: bool) -> None:
    result = convert_source(f"{HEAD}{DATA}{text}", "train.py", Config(dialect="tf2"))
    assert bool([one for one in result.findings if one.rule == "NPU820"]) is is_told
