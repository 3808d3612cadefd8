"""Scripts for TensorFlow 2 without a name that tells it, scripts that either TensorFlow runs, and what `--target` does with both.

tests/fixtures/tensorflow2 and tensorflow_either hold scripts that TensorFlow 2.15 runs.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.converter.test_project_facts import converted, project_of
from tf2npu import Config, convert_source
from tf2npu.engine.convert_file import convert_file
from tf2npu.findings import Finding, Level
from tf2npu.report.model.build import build

FIXTURES = Path(__file__).parents[1] / "fixtures"
OF_2 = {
    "evaluate_of_tensors": "Training on tensors without a number of steps",
    "fit_of_tensors": "Training on tensors without a number of steps",
    "function": "tf.function",
    "gradient_tape": "tf.GradientTape",
    "layers_of_2": "tf.keras.layers.Normalization",
    "loop_over_a_dataset": "A loop over a dataset",
    "model_in_an_object": "A loop over a dataset",
    "next_of_a_dataset": "A loop over a dataset",
    "optimizer_of_2": "tf.keras.optimizers.AdamW",
    "own_training_step": "A model with a training step of its own",
    "seed_and_autotune": "tf.random.set_seed",
    "strategy_around_a_function": "A strategy's model without an input shape",
    "strategy_without_input_shape": "A strategy's model without an input shape",
    "subclassed_fit_of_tensors": "Training on tensors without a number of steps",
    "value_of_a_metric": "The value of a tensor",
    "value_of_a_tensor": "The value of a tensor",
}
EITHER = sorted(path.stem for path in (FIXTURES / "tensorflow_either").glob("*.py"))
START = "import numpy as np\nimport tensorflow as tf\n"
FIT = "m = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(4,))])\nm.compile('sgd', 'mse')\nm.fit(data, y)\n"
DATA = "d = tf.data.Dataset.range(8).batch(2)\n"


def source_of(folder: str, name: str) -> str:
    return (FIXTURES / folder / f"{name}.py").read_text()


def about_dialect(text: str, **settings: str) -> list[Finding]:
    return [f for f in convert_source(text, "train.py", Config(**settings)).findings if f.rule == "NPU903"]


def test_every_script_is_named_here() -> None:
    assert sorted(OF_2) == sorted(path.stem for path in (FIXTURES / "tensorflow2").glob("*.py")) and EITHER


@pytest.mark.parametrize("name", OF_2)
def test_what_1_15_cannot_run_tells_tensorflow_2(name: str) -> None:
    text = source_of("tensorflow2", name)
    result = convert_source(text, "train.py")
    assert b"\nnpu.open().as_default()\n" in (result.after or b"") and b"npu_bridge" not in (result.after or b"")
    (finding,) = [f for f in result.findings if f.rule == "NPU903"]
    assert finding.level is Level.INFO and finding.message.startswith(f"{OF_2[name]} shows that the script is for ")
    assert finding.before and finding.before in text.splitlines()[finding.span.line - 1]


@pytest.mark.parametrize("name", sorted(OF_2.keys() - {"function", "gradient_tape"}))
def test_who_says_tf1_gets_a_conversion(name: str) -> None:
    text = source_of("tensorflow2", name)
    result = convert_source(text, "train.py", Config(dialect="tf1"))
    assert b"set_keras_session_npu_config()" in (result.after or b"")
    assert about_dialect(text, dialect="tf1") == []


@pytest.mark.parametrize("name", EITHER)
def test_what_both_run_is_converted_and_asks(name: str) -> None:
    text = source_of("tensorflow_either", name)
    (finding,) = about_dialect(text)
    assert finding.level is Level.MANUAL and "--target tf1" in finding.message and "--target tf2" in finding.message
    assert finding.part == "either_tensorflow"
    result = convert_source(text, "train.py", Config(dialect="tf1"))
    assert result.after == convert_source(text, "train.py").after != text.encode()
    assert about_dialect(text, dialect="tf1") == []


@pytest.mark.parametrize("name", EITHER)
def test_who_says_tf2_gets_a_conversion_for_npu_device(name: str) -> None:
    text = source_of("tensorflow_either", name)
    result = convert_source(text, "train.py", Config(dialect="tf2"))
    assert b"\nnpu.open().as_default()\n" in (result.after or b"") and b"npu_bridge" not in (result.after or b"")
    (finding,) = about_dialect(text, dialect="tf2")
    assert finding.message.startswith("--target tf2 shows that the script is for TensorFlow 2, so that it was converted for")


@pytest.mark.parametrize(
    "text",
    [
        f"{DATA}if tf.executing_eagerly():\n    for x in d:\n        print(x)\n",
        f"{DATA}if tf.__version__.startswith('2'):\n    print(list(d))\n",
        f"{DATA}try:\n    print(next(iter(d)))\nexcept RuntimeError:\n    pass\n",
        f"{DATA}for x in d.make_one_shot_iterator().get_next():\n    print(x)\n",
        "def show(d):\n    for x in d:\n        print(x.numpy())\n",
        "for d in (np.ones(3), 4):\n    print(d.numpy())\n",
        "x = tf.ones([8, 4])\nm.fit(x, x, steps_per_epoch=2)\n",
        "x = tf.ones([8, 4])\nx = np.ones(3)\nm.fit(x, x)\n",
        "x = tf.ones([8, 4])\nscikit.fit(x, x)\n",
        "def read(x):\n    return tf.reduce_sum(x).numpy()\nd = tf.py_function(read, [y], tf.float32)\n",
        "s = tf.distribute.MirroredStrategy()\nwith s.scope():\n"
        "    n = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(4,))])\n",
        "s = tf.distribute.MirroredStrategy()\nwith s.scope():\n    n = tf.keras.Sequential([tf.keras.layers.Embedding(9, 2)])\n",
        "s = tf.distribute.MirroredStrategy()\nwith s.scope():\n    n = tf.keras.Sequential([mine(2)])\n",
        "s = tf.distribute.MirroredStrategy()\nwith s.scope():\n    n = tf.keras.Sequential([tf.keras.layers.Dense(2, **kw)])\n",
        "try:\n    tf.random.set_seed(1)\nexcept AttributeError:\n    pass\n",
    ],
)
def test_what_is_not_certain_tells_nothing(text: str) -> None:
    (finding,) = about_dialect(f"{START}{FIT}{text}")
    assert finding.level is Level.MANUAL


@pytest.mark.parametrize(
    "name",
    ["tf.Session()", "tf.placeholder(tf.float32)", "tf.app.run()", "tf.estimator.RunConfig()", "tf.contrib.slim.conv2d(x, 2, 3)"],
)
def test_a_name_of_1_outweighs_all_else(name: str) -> None:
    text = f"{START}{DATA}{FIT}for x in d:\n    print(x.numpy())\n{name}\n"
    assert about_dialect(text) == [] and convert_source(text, "train.py").after != text.encode()


def test_a_script_of_the_names_of_1_is_no_script_for_2() -> None:
    text = f"import tensorflow.compat.v1 as tf\n{DATA}{FIT}for x in d:\n    print(x)\n"
    assert not [f for f in about_dialect(text) if f.level is Level.UNSUPPORTED]


LOOP = f"{START}{DATA}for x in d:\n    print(x)\n"
KERAS = f"{START}{FIT}"


@pytest.mark.parametrize("other", ["", "import loop\n"])
def test_a_project_without_1_is_one_for_2(other: str) -> None:
    files = {"loop.py": LOOP, "train.py": f"{other}{KERAS}"}
    assert all("npu_bridge" not in text for text in converted(files).values())
    result = convert_file("train.py", files["train.py"].encode(), Config(), project_of(files))
    assert b"\nnpu.open().as_default()\n" in (result.after or b"")
    (finding,) = [f for f in result.findings if f.rule == "NPU903"]
    assert finding.message.startswith(f"loop.py, which {'this file imports' if other else 'is in the same project'}, is a script")


OLD = "import tensorflow as tf\nx = tf.placeholder(tf.float32)\n"


@pytest.mark.parametrize(
    ("others", "first", "level"),
    [
        ({"old.py": OLD}, "", Level.INFO),
        ({"old.py": OLD, "loop.py": LOOP}, "", Level.MANUAL),
        ({"old.py": OLD, "loop.py": LOOP}, "import old\n", Level.INFO),
    ],
)
def test_a_project_with_1_tells_of_its_scripts_unless_it_has_both(others: dict[str, str], first: str, level: Level) -> None:
    files = {"train.py": f"{first}{KERAS}", **others}
    found = convert_file("train.py", files["train.py"].encode(), Config(), project_of(files)).findings
    assert [finding.level for finding in found if finding.rule == "NPU903"] == [level]
    assert b"npu_bridge" not in (convert_file("loop.py", LOOP.encode(), Config(), project_of(files)).after or b"")


@pytest.mark.parametrize("target", ["tf1", "tf2", "auto"])
def test_a_file_of_the_other_adapter_stays_whatever_is_asked(target: str) -> None:
    files = {"train.py": "import npu_device\nimport net\nnpu_device.open().as_default()\n", "net.py": KERAS}
    assert converted(files, dialect=target) == files


def headline(text: str, **settings: str) -> str:
    return build([convert_source(text, "train.py", Config(**settings))]).headline


def test_the_report_begins_with_the_dialect_where_it_is_not_plain() -> None:
    of_2 = "Written for TensorFlow 2: train.py:4 (for x in d:); converted for npu_device. `tf2npu convert SRC OUT --target tf1` "
    assert headline(LOOP).startswith(of_2)
    assert headline(KERAS).startswith("Nothing tells TensorFlow 1.15 from 2 in train.py; converted as TensorFlow 1.15. ")
    assert headline(f"import npu_device\n{KERAS}") == "Written for TensorFlow 2: train.py:1 (import npu_device); left as it is."
    files = {"moved.py": f"import npu_device\n{KERAS}", "train.py": KERAS}
    both = build([convert_file(path, text.encode(), Config(), project_of(files)) for path, text in files.items()]).headline
    assert both.startswith("Written for TensorFlow 2: moved.py:1 (import npu_device) and 1 more; what has not moved is converted")
    plain = "No distributed training was found; converted for a single device."
    assert headline(KERAS, dialect="tf1") == headline(f"{KERAS}tf.Session()\n") == plain


STEP = "@tf.function\ndef step(x):\n    return x\nprint(step(tf.ones(2)))\n"


@pytest.mark.parametrize(
    "text",
    [
        "tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.ERROR)\n",
        "tf.compat.v1.set_random_seed(1)\n",
        "s = tf.compat.v1.Session(config=tf.compat.v1.ConfigProto())\n",
        "from tensorflow.compat.v1 import ConfigProto, InteractiveSession\nc = ConfigProto()\n"
        "c.gpu_options.allow_growth = True\ns = InteractiveSession(config=c)\n",
        "from tensorflow.python.util.deprecation import deprecated\nfrom tensorflow.python.client import session\n"
        "s = session.Session()\n@deprecated('2020-01-01', 'use h')\ndef g():\n    pass\n",
        "import tensorflow.compat.v1 as tf1\ntf1.logging.info('x')\nprint(tf1.train.exponential_decay)\n",
    ],
)
@pytest.mark.parametrize("told", [STEP, LOOP.removeprefix(START)])
def test_a_name_that_tensorflow_2_keeps_does_not_outweigh_a_sign_of_it(text: str, told: str) -> None:
    result = convert_source(f"{START}{text}{told}", "train.py")
    assert b"\nnpu.open().as_default()\n" in (result.after or b"") and b"npu_bridge" not in (result.after or b"")


def test_what_tensorflow_2_keeps_and_runs_eagerly_tells_nothing() -> None:
    (finding,) = about_dialect(f"{START}tf.compat.v1.logging.set_verbosity(2)\n{FIT}")
    assert finding.level is Level.MANUAL


SESSION = f"{START}x = tf.compat.v1.placeholder(tf.float32)\nwith tf.compat.v1.Session() as s:\n    print(s.run(x))\n"


@pytest.mark.parametrize("text", [SESSION, SESSION.replace("tf.compat.v1", "tf")])
def test_a_session_of_either_spelling_tells_1_where_nothing_tells_2(text: str) -> None:
    assert b"npu_config_proto" in (convert_source(text, "train.py").after or b"") and about_dialect(text) == []


@pytest.mark.parametrize(
    ("others", "is_for_2"),
    [
        ({"old.py": OLD, "loop.py": LOOP, "other.py": LOOP}, True),
        ({"old.py": OLD, "older.py": OLD, "loop.py": LOOP}, False),
        ({"old.py": OLD, "older.py": OLD, "moved.py": f"import npu_device\n{LOOP}"}, True),
    ],
)
def test_a_file_that_tells_nothing_goes_with_most_or_with_those_that_moved(others: dict[str, str], is_for_2: bool) -> None:
    files = {"train.py": KERAS, **others}
    after = convert_file("train.py", KERAS.encode(), Config(), project_of(files)).after or b""
    assert (b"npu.open()" in after) is is_for_2 and (b"npu_bridge" in after) is not is_for_2


def test_a_file_with_names_of_1_that_a_script_for_2_imports_is_asked_about() -> None:
    library = f"{START}def f(x):\n    with tf.variable_scope('a'):\n        return tf.nn.dropout(x, 0.9)\n"
    files = {"net.py": library, "train.py": f"import net\n{LOOP}"}
    result = convert_file("net.py", library.encode(), Config(), project_of(files))
    (finding,) = [f for f in result.findings if f.rule == "NPU903"]
    assert finding.level is Level.MANUAL and finding.before == "tf.variable_scope"
    assert "train.py" in finding.message and "--target tf2" in finding.message
    alone = {"net.py": library, "train.py": f"import net\n{KERAS}"}
    result = convert_file("net.py", library.encode(), Config(), project_of(alone))
    assert [f for f in result.findings if f.rule == "NPU903"] == []


def test_a_second_conversion_of_a_project_of_both_kinds_changes_nothing() -> None:
    graph = (
        f"{START}from net import *\nx = tf.compat.v1.placeholder(tf.float32)\nwith tf.compat.v1.Session() as s:\n    s.run(x)\n"
    )
    net = f"{START}def f(x):\n    return tf.nn.relu(x)\n"
    batch = f"{START}def g(d):\n    return tf.data.Dataset.range(8).batch(4)\n{FIT}"
    for others in ({"old.py": OLD}, {"old.py": OLD, "older.py": OLD}, {"moved.py": f"import npu_device\n{LOOP}"}):
        files = {
            "graph.py": graph,
            "net.py": net,
            "loop.py": LOOP,
            "train.py": f"import net\n{LOOP}",
            "batch.py": batch,
            **others,
        }
        once = converted(files)
        assert converted(once) == once


@pytest.mark.whole
@pytest.mark.parametrize("path", sorted(FIXTURES.glob("tensorflow[2_]*/*.py")), ids=lambda path: path.stem)
def test_tensorflow_2_runs_the_script_as_it_is(path: Path, tmp_path: Path) -> None:
    from tests import fork_server
    from tests.shim.conftest import plain_environment

    done = fork_server.python([path], plain_environment(), tmp_path)
    assert done.returncode == 0, done.stderr
