"""Facts that files share: re-exports, users of TensorFlow, entry points, input functions, kinds of distribution."""

from __future__ import annotations

import pytest

from tf2npu.config import Config
from tf2npu.engine.convert_file import ProjectFacts, convert_file, gather_facts
from tf2npu.findings import Level
from tf2npu.frameworks.tensorflow1.project import tensorflow_in
from tf2npu.scanner.input_roles import InputUse


def project_of(files: dict[str, str]) -> ProjectFacts:
    return ProjectFacts.merge(gather_facts(path, text.encode()) for path, text in files.items())


def converted(files: dict[str, str], **settings: object) -> dict[str, str]:
    project = project_of(files)
    config = Config(**settings)
    return {path: convert_file(path, text.encode(), config, project).after.decode() for path, text in files.items()}


@pytest.mark.parametrize(
    ("statement", "use"),
    [
        ("from compat import tf", "tf.Session()"),
        ("from compat import tf as T", "T.Session()"),
        ("import compat", "compat.tf.Session()"),
        ("import compat as c", "c.tf.Session()"),
        ("from compat import *", "tf.Session()"),
        ("from again import tf", "tf.Session()"),
        ("from compat import Make", "Make()"),
        ("from again import Open", "Open()"),
        ("import again", "again.Other()"),
        ("from again import *", "Third()"),
    ],
)
def test_reexports_are_followed(statement: str, use: str) -> None:
    files = {
        "compat.py": "import tensorflow.compat.v1 as tf\nMake = tf.Session\n",
        "again.py": "from compat import tf\nimport compat as c\nOpen = tf.Session\nOther = c.tf.Session\nThird = Open\n",
        "use.py": f"{statement}\ndef f():\n    with {use} as s:\n        pass\n",
    }
    after = converted(files)["use.py"]
    assert f"{use[:-1]}config=npu_config_proto())" in after
    assert after.startswith("from npu_bridge.npu_init import npu_config_proto\n" + statement)


@pytest.mark.parametrize(
    ("path", "statement"),
    [("pkg/a/use.py", "from ..compat import tf"), ("pkg/a/use.py", "from .. import compat\ntf = compat.tf"),
     ("pkg/use.py", "from .compat import tf"), ("pkg/use.py", "from . import compat\ntf = compat.tf")],
)  # fmt: skip
def test_relative_imports_are_followed(path: str, statement: str) -> None:
    files = {
        "pkg/__init__.py": "",
        "pkg/a/__init__.py": "",
        "pkg/compat.py": "import tensorflow as tf\n",
        path: f"{statement}\nx = lambda: tf.Session()\n",
    }
    assert "npu_config_proto()" in converted(files)[path]


def test_what_a_file_makes_of_the_projects_own_is_its_own() -> None:
    """Names assigned from a module of the project that has nothing of TensorFlow's, and a name that is assigned to again."""
    files = {
        "own.py": "class Session(object):\n    pass\n",
        "again.py": "import own\nfrom compat import tf\nOpen = own.Session\nOther = tf.Session\nOther = own.Session\n",
        "compat.py": "import tensorflow as tf\n",
        "use.py": "from again import Open, Other\nimport tensorflow\nx = lambda: (Open(), Other())\n",
    }
    assert converted(files)["use.py"] == files["use.py"]


def test_a_name_that_the_project_defines_is_its_own() -> None:
    files = {
        "tensorflow_util.py": "class Session(object):\n    pass\n",
        "use.py": "from tensorflow_util import Session\nimport tensorflow\nx = Session()\n",
    }
    assert converted(files)["use.py"] == files["use.py"]


def test_projects_in_one_tree_are_kept_apart() -> None:
    files = {
        "one/compat.py": "import tensorflow as tf\n",
        "one/use.py": "from compat import tf\nx = lambda: tf.Session()\n",
        "two/compat.py": "class tf(object):\n    Session = dict\n",
        "two/use.py": "from compat import tf\nx = lambda: tf.Session()\n",
    }
    after = converted(files)
    assert "npu_config_proto" in after["one/use.py"]
    assert after["two/use.py"] == files["two/use.py"]


def test_an_import_cycle_ends() -> None:
    files = {"a.py": "from b import tf\n", "b.py": "from a import tf\n", "c.py": "from a import tf\ntf.Session()\n"}
    assert converted(files) == files


def test_an_entry_script_that_reaches_tensorflow_imports_the_adapter_first() -> None:
    files = {
        "net.py": "import tensorflow as tf\nW = lambda: tf.ones([1])\n",
        "train.py": '"""Doc."""\nimport os\nimport net\n\nif __name__ == "__main__":\n    net.W()\n',
        "tool.py": 'if __name__ == "__main__":\n    print(1)\n',
    }
    after = converted(files)
    line = "import npu_bridge.npu_init  # noqa: F401  puts sessions on the NPU\n"
    assert after["train.py"] == files["train.py"].replace("import net\n", line + "import net\n")
    assert after["net.py"] == files["net.py"] and after["tool.py"] == files["tool.py"]


def test_the_configured_main_file_is_the_entry() -> None:
    files = {
        "a.py": "import tensorflow as tf\nif __name__ == '__main__':\n    tf.ones([1])\n",
        "run/b.py": "import tensorflow as tf\ntf.ones([1])\n",
    }
    after = converted(files, main="run/b.py")
    assert after["a.py"] == files["a.py"]
    assert "import npu_bridge.npu_init" in after["run/b.py"]


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("import horovod.tensorflow as hvd\nhvd.init()", ("horovod",)),
        ("from horovod.tensorflow import rank", ("horovod",)),
        ("import tensorflow as tf\ns = tf.distribute.MirroredStrategy()", ("tf",)),
        ("from tensorflow.contrib.distribute import MirroredStrategy", ("tf",)),
        ("import tensorflow as tf\ntf.device(tf.train.replica_device_setter(2))", ("parameter-server",)),
        ("import tensorflow as tf\ntf.distribute.experimental.ParameterServerStrategy()", ("parameter-server",)),
        ("import tensorflow as tf\ntf.distribute.get_strategy()", ()),
        ("import horovod.torch as hvd\nhvd.init()", ()),
        ("from horovod import mxnet as hvd", ()),
        ("from horovod.spark import torch as hvd, tensorflow as tfd", ("horovod",)),
    ],
)
def test_kinds_of_distribution_are_seen(text: str, kinds: tuple[str, ...]) -> None:
    project = project_of({"m.py": text})
    assert project.distribution_kinds == kinds
    for kind in kinds:
        assert project.distribution_places(kind)[0].path == "m.py"


def uses(files: dict[str, str], path: str, name: str) -> set[InputUse]:
    return set(project_of(files).input_uses.get((path, name), ()))


@pytest.mark.parametrize(
    ("call", "role"),
    [
        ("est.train(input_fn=f)", "train"),
        ("est.train(f)", "train"),
        ("est.train(lambda: f())", "train"),
        ("est.train(functools.partial(f))", "train"),
        ("est.train(input_fn=lambda: data.f().prefetch(1))", "train"),
        ("est.evaluate(input_fn=f)", "eval"),
        ("est.predict(lambda: f())", "eval"),
        ("tf.estimator.TrainSpec(f, 100)", "train"),
        ("tf.estimator.EvalSpec(input_fn=f)", "eval"),
        ("model.fit(f())", "train"),
        ("g = f\nest.train(g)", "train"),
        ("def main():\n    g = f()\n    est.train(input_fn=g)", "train"),
    ],
)
def test_roles_of_input_functions_cross_files(call: str, role: str) -> None:
    files = {
        "data.py": "def inner(): pass\ndef f():\n    return inner()\n",
        "train.py": f"import functools, data\nimport tensorflow as tf\nfrom data import f\n{call}\n",
    }
    assert {u.role for u in uses(files, "data.py", "f")} == {role}
    assert {u.role for u in uses(files, "data.py", "inner")} == {role}


def test_constants_reach_the_inner_function() -> None:
    files = {
        "data.py": "def read(path, training=False):\n    pass\ndef f(training):\n    return read('x', training)\n",
        "train.py": "from data import f\ne.train(lambda: f(True))\ne.evaluate(lambda: f(training=False))\n",
    }
    found = {(u.role, u.constant("training")) for u in uses(files, "data.py", "read")}
    assert found == {("train", True), ("eval", False)}


@pytest.mark.parametrize("text", ["print 'x'\nimport tensorflow\n", "x = (", "\x00", "import tensorflow as tf\n" + "(" * 300])
def test_facts_of_a_broken_file_do_not_stop_the_others(text: str) -> None:
    project = project_of({"bad.py": text, "good.py": "import tensorflow as tf\n"})
    assert "good.py" in project.reaching


def test_the_order_of_the_files_does_not_matter() -> None:
    files = {"a.py": "import tensorflow as tf\n", "b.py": "from a import tf\nimport c\n", "c.py": "import b\n"}
    facts = [gather_facts(p, t.encode()) for p, t in files.items()]
    assert ProjectFacts.merge(facts) == ProjectFacts.merge(reversed(facts))


def test_one_more_file_reaches_what_the_project_reaches() -> None:
    files = {"nets.py": "import tensorflow as tf\ntf.keras.Model()\n"}
    notebook = "import nets\ndef inputs():\n    pass\ne.train(inputs)\n"
    project = project_of(files)
    whole = project.including(gather_facts("try.py", notebook.encode()))
    assert "try.py" in whole.reaching and "try.py" not in project.reaching
    assert "try.py" in tensorflow_in(whole).keras_nets
    assert {u.role for u in whole.input_uses["try.py", "inputs"]} == {"train"}


@pytest.mark.parametrize(
    ("body", "call"),
    [
        ("return tf.data.TFRecordDataset(f).map(g)", "data.read()"),
        ("d = tf.data.TFRecordDataset(f)\n    d = d.map(g)\n    return d", "data.read()"),
        ("if f:\n        return tf.data.Dataset.range(3)\n    return tf.data.Dataset.range(4).repeat()", "read_again()"),
    ],
)
def test_what_functions_of_other_files_give_is_followed(body: str, call: str) -> None:
    files = {
        "pkg/data.py": f"import tensorflow as tf\ndef read():\n    {body}\ndef again():\n    return read()\n",
        "pkg/names.py": "from .data import again as read_again\n",
        "pkg/use.py": "import tensorflow as tf\nfrom pkg import data\nfrom pkg.names import read_again\n"
        f"d = {call}.repeat().batch(8)\n",
    }
    assert f"d = {call}.repeat().batch(8, drop_remainder=True)" in converted(files)["pkg/use.py"]


@pytest.mark.parametrize("star", ["from data import *", "from again import *", "from other import *\nfrom again import *"])
def test_what_functions_give_is_followed_through_star_imports(star: str) -> None:
    use = "import tensorflow as tf\n{}\ndef own():\n    return read()\nd = {}().repeat().batch(8)\ne = make(f)\ne.train(read)\n"
    files = {
        "data.py": "import tensorflow as tf\ndef read():\n    return tf.data.Dataset.range(3)\n"
        "def make(f):\n    return tf.estimator.Estimator(f)\n",
        "other.py": "def other():\n    return 1\ndef _read():\n    pass\n",
        "again.py": "from data import *\n",
        "use.py": use.format(star, "read"),
        "own.py": use.format(star, "own"),
        "mine.py": use.format(star, "read").replace("def own", "def read"),
    }
    after = converted(files)
    assert "d = read().repeat().batch(8, drop_remainder=True)" in after["use.py"]
    assert "d = own().repeat().batch(8, drop_remainder=True)" in after["own.py"]
    assert {u.role for u in uses(files, "data.py", "read")} == {"train"}
    mine = converted({**files, "mine.py": files["mine.py"].replace("return read()", "return 3")})["mine.py"]
    assert "drop_remainder" not in mine


def test_what_a_star_import_defines_is_not_tensorflows() -> None:
    use = "from tensorflow import *\nfrom nets import *\ns = Session()\n"
    files = {"nets.py": "class Session(object):\n    pass\n", "use.py": use}
    assert converted(files)["use.py"] == files["use.py"]


@pytest.mark.parametrize(
    "body",
    [
        "return mine(f)",
        "if f:\n        return tf.data.Dataset.range(3)\n    return mine(f)",
        "def inner():\n        return tf.data.Dataset.range(3)\n    return inner",
        "d = mine(f)\n    d = d.map(tf.data.Dataset.range)\n    return d",
        "return (tf.data.Dataset.range(3), 4)",
        "return read()",
    ],
)
def test_what_functions_of_other_files_give_is_not_guessed(body: str) -> None:
    files = {
        "data.py": f"import tensorflow as tf\ndef read():\n    {body}\n",
        "use.py": "import tensorflow as tf\nimport data\nd = data.read().repeat().batch(8)\n",
    }
    assert converted(files)["use.py"] == files["use.py"]


KERAS_COMMAND = """import tensorflow as tf


def main():
    \"\"\"Trains.\"\"\"
    tf.keras.Sequential().fit(x, y)
"""
STARTED = """    \"\"\"Trains.\"\"\"
    import atexit
    npu_keras_sess = set_keras_session_npu_config()
    atexit.register(close_session, npu_keras_sess)
    tf.keras.Sequential().fit(x, y)
"""


@pytest.mark.parametrize(
    ("name", "text", "path"),
    [
        ("setup.py", "setup(entry_points={'console_scripts': ['train = pkg.cli:main']})", "pkg/cli.py"),
        ("setup.py", 'setup(entry_points="""\n[console_scripts]\ntrain=pkg.cli:main [gpu]\n""")', "src/pkg/cli.py"),
        ("setup.cfg", "[options.entry_points]\nconsole_scripts =\n    o = os:cwd\n    train = pkg.cli:main\n", "lib/pkg/cli.py"),
        ("setup.cfg", "[entry_points]\nconsole_scripts=\n    train=pkg.cli:main\n", "pkg/cli.py"),
        ("pyproject.toml", '[project.scripts]\ntrain = "pkg.cli:main"\n', "src/pkg/cli.py"),
        ("pyproject.toml", '[tool.poetry.scripts]\ntrain = "pkg.cli:main"\n', "pkg/cli.py"),
        ("pyproject.toml", '[tool.poetry.scripts]\ntrain = {reference = "pkg.cli:main", type = "console"}\n', "pkg/cli.py"),
        ("pyproject.toml", '[tool.flit.scripts]\ntrain = "pkg:main"\n', "pkg/cli.py"),
        ("deep/er/pyproject.toml", '[project.gui-scripts]\ntrain = "pkg.cli:main"\n', "deep/er/pkg/cli.py"),
    ],
)
def test_what_an_installed_command_runs_is_started_on_the_npu(name: str, text: str, path: str) -> None:
    package = path.replace("cli.py", "__init__.py")
    files = {name: text, path: KERAS_COMMAND, package: "from .cli import main\n"}
    assert STARTED in converted(files)[path]
    assert converted({path: KERAS_COMMAND, package: files[package]})[path] == KERAS_COMMAND
    once = converted(files)
    assert converted(once) == once


def test_a_guard_that_calls_the_command_needs_no_start_of_its_own() -> None:
    guard = "\nif __name__ == '__main__':\n    main()\n"
    files = {"setup.cfg": "[options.entry_points]\nconsole_scripts =\n    train = cli:main\n", "cli.py": KERAS_COMMAND + guard}
    after = converted(files)["cli.py"]
    assert after.count("set_keras_session_npu_config()") == 1 and after.endswith(STARTED + guard)


def test_a_guard_that_does_something_else_has_a_start_of_its_own() -> None:
    guard = "\nif __name__ == '__main__':\n    tf.keras.Sequential().fit(x, y)\n"
    files = {"setup.cfg": "[options.entry_points]\nconsole_scripts =\n    train = cli:main\n", "cli.py": KERAS_COMMAND + guard}
    after = converted(files)["cli.py"]
    assert after.count("set_keras_session_npu_config()") == 2 and STARTED in after
    assert converted({**files, "cli.py": after})["cli.py"] == after


@pytest.mark.parametrize("suite", ["def main(): tf.keras.Sequential().fit(x, y)", "def main():\n    import os; run(os)"])
def test_a_command_of_one_line_is_started_too(suite: str) -> None:
    source = f"import tensorflow as tf\nnet = tf.keras.Sequential()\n{suite}\n"
    files = {"setup.cfg": "[options.entry_points]\nconsole_scripts =\n    train = cli:main\n", "cli.py": source}
    after = converted(files)["cli.py"]
    compile(after, "cli.py", "exec")
    assert after.index("def main") < after.index("npu_keras_sess = ") < after.index("atexit.register")
    assert after.index("atexit.register") < after.index(suite.partition("main():")[2].split()[0], after.index("atexit.register"))


@pytest.mark.parametrize(
    "text", ["[project", "[project]\nscripts = 3\n", "[project.scripts]\na = 3\nb = 'c'\n", "\xff[tool]\npoetry = []"]
)
@pytest.mark.parametrize("name", ["pyproject.toml", "setup.cfg"])
def test_settings_that_name_no_command_are_none(name: str, text: str) -> None:
    assert converted({"cli.py": KERAS_COMMAND, name: text})["cli.py"] == KERAS_COMMAND


@pytest.mark.parametrize(
    "text",
    [
        "main()",
        "import sys\nsys.exit(main())",
        "from absl import app\napp.run(main)",
        "if True:\n    history = main()",
        "class T(object):\n    def go(self):\n        main()\nT().go()",
        "class T(object):\n    def go(self):\n        main()\nt = T()\nt.go()",
    ],
)
def test_a_script_that_trains_when_it_is_loaded_is_run(text: str) -> None:
    files = {"m.py": f"{KERAS_COMMAND}{text}\n"}
    assert "npu_keras_sess" in converted(files)["m.py"]
    assert converted({**files, "other.py": "import m\n"})["m.py"] == files["m.py"]


@pytest.mark.parametrize("backend", ["tf.keras.backend", "K"])
@pytest.mark.parametrize(
    ("call", "runs"),
    [
        ("is_sparse(x)", False),
        ("mean(x)", False),
        ("learning_phase()", False),
        ("get_value(x)", True),
        ("function([x], [x])", True),
    ],
)
def test_helpers_of_keras_that_only_build_a_graph_start_no_session(backend: str, call: str, runs: bool) -> None:
    """Source: tensorflow/python/keras/backend.py of TF 1.15, whose eval, function and set_value call get_session."""
    start = "import tensorflow as tf\nfrom tensorflow.keras import backend as K\n"
    text = f"{start}def main():\n    net.compile({backend}.{call})\nif __name__ == '__main__':\n    main()\n"
    assert ("npu_keras_sess" in converted({"m.py": text})["m.py"]) is runs


@pytest.mark.parametrize(
    "text",
    ["import net\nnet.main()", "from net import main\nmain()", "import sys, net\nsys.exit(net.main())",
     "from net import Trainer\nt = Trainer()\nt.go()", "from net import Trainer\nTrainer(3).go()",
     "from net import *\nmain()", "from net import *\nt = Trainer()\nt.go()"],
)  # fmt: skip
def test_a_script_that_starts_the_training_of_another_file_is_run(text: str) -> None:
    net = f"{KERAS_COMMAND}class Trainer(object):\n    go = main\n"
    files = {"net.py": net, "run.py": f"{text}\n"}
    assert "npu_keras_sess" in converted(files)["run.py"]
    assert converted(files)["net.py"] == net


@pytest.mark.parametrize("text", ["x = main", "def again():\n    main()", "print(tf.__version__)", "register(main2)"])
def test_a_file_that_only_defines_is_not_run(text: str) -> None:
    assert converted({"m.py": f"{KERAS_COMMAND}{text}\n"})["m.py"] == f"{KERAS_COMMAND}{text}\n"


INIT = """import tensorflow as tf
import horovod.tensorflow as hvd
class Trainer(object):
    def __init__(self):
        hvd.init()
        self.n = hvd.size()
"""


def test_horovod_in_a_class_is_started_by_the_script_that_uses_it() -> None:
    after = converted({"a.py": INIT, "b.py": "import a\na.Trainer()\n"}, distributed="horovod")
    assert "init_resource" not in after["a.py"] and after["b.py"].count("init_resource()") == 1


@pytest.mark.parametrize("other", [{}, {"test_a.py": "import a\ndef test():\n    a.Trainer()\n"}])
def test_horovod_that_no_script_starts_is_started_where_it_was(other: dict[str, str]) -> None:
    files = {"a.py": INIT, **other}
    after = converted(files, distributed="horovod")
    assert "    def __init__(self):\n        import atexit\n        npu_sess, npu_shutdown = init_resource()\n" in after["a.py"]
    assert "hvd" not in after["a.py"] and converted(after, distributed="horovod") == after


TRAINS = "import tensorflow as tf\nimport horovod.tensorflow as hvd\nhvd.init()\ndef scaled(x):\n    return x * hvd.size()\n"
CALLS = "import tensorflow as tf\n{}\n@tf.function\ndef f(x):\n    return {}(x)\nprint(f(tf.ones(2)))\n"


@pytest.mark.parametrize(
    ("statement", "use"),
    [
        ("import net", "net.scaled"),
        ("from net import scaled", "scaled"),
        ("from net import *", "scaled"),
        ("import net as n", "n.scaled"),
    ],
)
def test_horovod_2_of_one_file_goes_whoever_imports_that_file(statement: str, use: str) -> None:
    files = {"net.py": TRAINS, "main.py": CALLS.format(statement, use)}
    after = converted(files, dialect="tf2", distributed="horovod")
    assert "hvd" not in after["net.py"] and "x * npu.open().workers_num" in after["net.py"]
    assert "npu.open().as_default()" in after["main.py"]
    assert converted(after, dialect="tf2", distributed="horovod") == after


@pytest.mark.parametrize(
    ("statement", "use"),
    [
        ("import net", "net.hvd.rank()"),
        ("import net as n", "n.hvd.rank()"),
        ("from net import hvd", "hvd.rank()"),
        ("from net import hvd as h", "h.rank()"),
        ("from net import *", "hvd.rank()"),
        ("import between", "between.ranks.rank()"),
        ("import horovod.tensorflow as h", "h.rank()"),
        ("def g():\n    import net\n    return net.hvd.rank()", "g()"),
    ],
)
def test_horovod_2_stays_where_another_file_uses_it_too(statement: str, use: str) -> None:
    between = "import net\nranks = net.hvd\n" if "between" in statement else ""
    files = {"net.py": TRAINS, "between.py": between, "main.py": f"{CALLS.format(statement, 'tf.abs')}print({use})\n"}
    project, config = project_of(files), Config(dialect="tf2", distributed="horovod")
    result = convert_file("net.py", TRAINS.encode(), config, project)
    others = "between.py, main.py" if between else "main.py"
    assert f"Horovod is used in several files (also {others})" in " ".join(f.message for f in result.findings)
    assert "import horovod.tensorflow as hvd\nhvd.init()" in (result.after or b"").decode()


NEUTRAL = "import tensorflow as tf\ndef net(x):\n    with tf.device('/gpu:0'):\n        return tf.nn.dropout(x, 0.5)\n"
PLAIN = "import tensorflow as tf\ndef loss(x):\n    return tf.reduce_mean(x)\n"
FOR_2 = "import tensorflow as tf\nimport net\nimport plain\n@tf.function\ndef step(x):\n    return net.net(x)\n"
FOR_1 = "import tensorflow as tf\nimport {}\ny = net.net(tf.placeholder(tf.float32, [2]))\n"


@pytest.mark.parametrize(
    ("other", "is_left"),
    [
        ({}, True),
        ({"test_net.py": "import net\nassert net\n"}, True),
        ({"old.py": FOR_1.format("net")}, False),
        ({"old.py": FOR_1.format("between"), "between.py": "import net\n"}, False),
    ],
)
def test_what_only_scripts_for_tensorflow_2_import_is_left_with_them(other: dict[str, str], is_left: bool) -> None:
    files = {"train2.py": FOR_2, "net.py": NEUTRAL, "plain.py": PLAIN, **other}
    project = project_of(files)
    result = convert_file("net.py", NEUTRAL.encode(), Config(), project)
    assert (result.after == NEUTRAL.encode()) is is_left
    said = {f.message.partition(".")[0] for f in result.findings if f.rule == "NPU903"}
    assert said == set()  # nothing in it to convert
    assert convert_file("plain.py", PLAIN.encode(), Config(), project).findings == []  # nothing in it to convert
    assert converted({"net.py": NEUTRAL})["net.py"] != NEUTRAL


@pytest.mark.parametrize("name", ["tf.random.normal", "tf.random.uniform"])
def test_a_name_that_both_have_does_not_make_a_script_for_tensorflow_2_one_for_1(name: str) -> None:
    """Its second argument of dropout is the rate; NPU501 took it for the probability to keep."""
    script = f"import tensorflow as tf\n@tf.function\ndef step():\n    return tf.nn.dropout({name}([16, 4]), 0.3)\n"
    assert converted({"gan.py": script})["gan.py"] == script


_STEP = "import tensorflow as tf\n@tf.function\ndef step(x):\n    return x\n"
_DATA = "import tensorflow as tf\ndef data(x):\n    return tf.data.Dataset.from_tensor_slices(x).repeat().batch(2)\n"
_MAIN = "import tensorflow as tf\nfrom {0} import step\nfrom data import data\nm = tf.keras.Sequential()\nm.fit(data(x))\n"


def test_what_is_built_on_a_script_for_tensorflow_2_is_left_with_it() -> None:
    files = {"loop.py": _STEP, "steps.py": "from loop import step\n", "data.py": _DATA, "main.py": _MAIN.format("steps")}
    assert all("npu_bridge" not in text for text in converted(files).values())
    project = project_of(files)
    (finding,) = [f for f in convert_file("main.py", files["main.py"].encode(), Config(), project).findings if f.rule == "NPU903"]
    assert finding.level is Level.INFO
    assert finding.message.startswith("loop.py, which this file imports, is a script for TensorFlow 2;")
    assert not convert_file("steps.py", files["steps.py"].encode(), Config(), project).findings


@pytest.mark.parametrize(
    "another",
    [
        {
            "old.py": "import tensorflow as tf\ns = tf.placeholder(tf.float32)\n",
            "steps.py": "from loop import step\nimport old\n",
        },
        {"train.py": "import tensorflow as tf\nimport main\ntf.app.run()\n", "steps.py": "from loop import step\n"},
    ],
)
def test_a_part_of_a_program_for_tensorflow_1_is_converted(another: dict[str, str]) -> None:
    files = {"loop.py": _STEP, "data.py": _DATA, "main.py": _MAIN.format("steps"), **another}
    after = converted(files)
    assert after["main.py"] != files["main.py"] or "train.py" in files
    assert "drop_remainder=True" in after["data.py"]
    assert after["loop.py"] == files["loop.py"]


_PLUGIN = "from {0} import build\nfrom registry import known\nclass Loader:\n    def load(self):\n        return build()\n{1}"
_NET = "import tensorflow as tf\ndef build():\n    return tf.keras.Sequential()\n"


def test_a_member_of_a_package_that_only_registers_something_is_no_script() -> None:
    files = {
        "pkg/net.py": _NET,
        "pkg/registry.py": "from .net import build\nknown = Known()\n",
        "pkg/plugin.py": _PLUGIN.format(".net", "known.register(Loader)\nbuild().summary()\n"),
        "script.py": _PLUGIN.format("pkg.net", "build().summary()\n"),
    }
    after = converted(files)
    assert after["pkg/plugin.py"] == files["pkg/plugin.py"]
    assert "registry import known\nimport atexit\n" in after["script.py"]
    assert "atexit.register(close_session, npu_keras_sess)\n\n\nclass Loader" in after["script.py"]


def test_a_member_of_a_package_that_trains_when_it_is_loaded_is_a_script() -> None:
    files = {
        "pkg/net.py": _NET,
        "pkg/train.py": "import tensorflow as tf\nfrom .net import build\nwith tf.Session():\n    pass\n",
    }
    assert "config=npu_config_proto()" in converted(files)["pkg/train.py"]
    assert project_of(files).entries == {"pkg/train.py"}


_OPTIONAL = "try:\n    import tensorflow as tf\n    HAS = True\nexcept ImportError:\n    HAS = False\n"
_LAZY = "def seed(n):\n    import tensorflow as tf\n    tf.set_random_seed(n)\n"
_RUN = "{0}from tools import HAS\nif __name__ == '__main__':\n    main()\n"


@pytest.mark.parametrize("tools", [_OPTIONAL, f"HAS = False\n{_LAZY}"])
def test_a_script_for_another_framework_that_can_do_without_tensorflow_stays(tools: str) -> None:
    files = {
        "tools.py": tools,
        "net.py": "import theano\nimport tools\n",
        "torch_run.py": _RUN.format("import torch\n"),
        "net_run.py": _RUN.format("import net\n"),
        "run.py": _RUN.format(""),
    }
    after = converted(files)
    assert [path for path in files if after[path] != files[path]] == ["run.py"]


def test_a_script_that_trains_with_pytorch_and_writes_summaries_with_tensorflow_is_pytorch_s() -> None:
    train = "import torch\nfrom logger import Logger\nfor x in data:\n    loss = net(x.cuda())\n    loss.backward()\n"
    after = converted({"logger.py": "import tensorflow as tf\nclass Logger:\n    pass\n", "train.py": train})["train.py"]
    assert "npu_bridge" not in after and "x.npu()" in after


def test_a_script_of_pytorch_that_imports_tensorflow_in_a_function_is_pytorch_s_unless_asked() -> None:
    text = "import torch\ndef export(net):\n    import tensorflow as tf\n    return tf.Session()\n"
    text += "if __name__ == '__main__':\n    main()\n"
    found = convert_file("run.py", text.encode(), Config(), project_of({"run.py": text}))
    assert found.after.decode() == text and "--framework tensorflow" in found.findings[0].message
    asked = convert_file("run.py", text.encode(), Config(framework="tensorflow"), project_of({"run.py": text}))
    assert "npu_bridge" in asked.after.decode()


_EXPORTS = "import torch\ndef export(net):\n    import tensorflow as tf\n    return tf.Session()\n"
_ASKED = "def create():\n    from net import Net\n    return Net()\nif __name__ == '__main__':\n    create()\n"


@pytest.mark.parametrize("more", ["", "def more():\n    import keras_net\n"])
def test_a_script_that_reaches_tensorflow_through_such_a_script_alone_is_pytorch_s(more: str) -> None:
    files = {
        "export.py": _EXPORTS,
        "net.py": "import torch\nclass Net:\n    def load(self):\n        import export\n",
        "hub.py": more + _ASKED,
        "keras_net.py": "import tensorflow as tf\ndef build():\n    return tf.keras.Sequential()\n",
    }
    assert ("npu_bridge" in converted(files)["hub.py"]) is bool(more)


@pytest.mark.parametrize("more", ["import model\n", "import tensorflow as tf\n", "def f():\n    import tensorflow\n"])
def test_a_script_of_tensorflow_may_load_another_framework(more: str) -> None:
    files = {"tools.py": _OPTIONAL, "model.py": "import tensorflow as tf\n", "run.py": _RUN.format("import theano\n" + more)}
    assert "import npu_bridge.npu_init" in converted(files)["run.py"]


@pytest.mark.parametrize(
    ("statement", "use"),
    [
        ("from helper import import_tf\ntf = import_tf(1)", "tf.Session()"),
        ("import helper\ndef f(verbose):\n    tf = helper.import_tf(verbose)\n    return tf", "f(True).Session()"),
        ("from helper import again\nT = again()", "T.Session()"),
    ],
)
def test_a_function_that_gives_tensorflow_is_followed(statement: str, use: str) -> None:
    helper = "def import_tf(n=0):\n    import tensorflow as tf\n    tf.logging.set_verbosity(n)\n    return tf\n"
    files = {
        "helper.py": helper + "def again():\n    return import_tf()\n",
        "use.py": f"{statement}\nwith {use} as s:\n    pass\n",
    }
    assert f"{use[:-1]}config=npu_config_proto())" in converted(files)["use.py"]


@pytest.mark.parametrize(
    "body", ["def give(tf):\n    return tf\n", "def give():\n    tf = load()\n    return tf\n", "def give():\n    return tf.nn\n"]
)
def test_a_function_that_gives_something_else_is_not(body: str) -> None:
    files = {"helper.py": f"import tensorflow as tf\n{body}", "use.py": "from helper import give\nt = give(x)\ns = t.Session()\n"}
    assert converted(files)["use.py"] == files["use.py"]


@pytest.mark.parametrize(
    "use",
    [
        "list(est.predict_cluster_idx(input_fn=lambda: read(1)))",
        "est.score(input_fn=lambda: read(1))",
        "model.predict_generator(read(1))",
        "hook = tf.estimator.experimental.InMemoryEvaluatorHook(est, lambda: read(1))",
        "tf.contrib.learn.Experiment(estimator=est, train_input_fn=f, eval_input_fn=lambda: read(1))",
    ],
)
def test_what_is_evaluated_or_predicted_too_loses_no_examples(use: str) -> None:
    """`drop_remainder=True` was given to a function that training and such a call share."""
    text = (
        "import tensorflow as tf\ndef read(n_epochs=None):\n    return tf.data.Dataset.range(9).batch(4).repeat(n_epochs)\n"
        f"est.train(input_fn=lambda: read())\n{use}\n"
    )
    assert {u.role for u in project_of({"a.py": text}).input_uses["a.py", "read"]} == {"train", "eval"}
    assert "drop_remainder" not in converted({"a.py": text})["a.py"]
    alone = text.replace(use, "est.export(lambda: read(1))")
    assert "batch(4, drop_remainder=True)" in converted({"a.py": alone})["a.py"]


def test_an_import_below_a_global_statement_is_one_of_the_module():
    text = (
        "def load():\n    global Pipe\n    from parallel import Pipe\n"
        "class Model(Base):\n    def build(self, config):\n        self.model = Pipe(config)\n        return Pipe.run(config)\n"
    )
    assert gather_facts("a.py", text.encode()).path == "a.py"
