"""`tf2npu run` runs a script as python does, in a process that is a simulated Ascend host."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from npu_formats import converted_copy
from npu_formats.session_options import LAUNCHERS
from npu_runtime.config import RuntimeConfig
from tests import fork_server
from tests.shim.conftest import plain_environment
from tf2npu.report.formats.as_json import SCHEMA_FILE

TF2NPU = Path(sys.executable).with_name("tf2npu")


def launch(*words: object, cwd: Path | None = None, **variables: str) -> subprocess.CompletedProcess:
    """`tf2npu run WORDS...` in a process in which TensorFlow is imported already; several ranks start their own."""
    if "--devices" in words:
        return launch_anew(*words, cwd=cwd, **variables)
    return fork_server.tf2npu(["run", *words], {**plain_environment(), **variables}, cwd)


def launch_anew(*words: object, cwd: Path | None = None, **variables: str) -> subprocess.CompletedProcess:
    """`tf2npu run WORDS...` as installed."""
    command = [str(word) for word in (TF2NPU, "run", *words)]
    return subprocess.run(command, env={**plain_environment(), **variables}, capture_output=True, text=True, cwd=cwd, check=False)


def python(*words: object, cwd: Path | None = None) -> subprocess.CompletedProcess:
    command = [sys.executable, *map(str, words)]
    return subprocess.run(command, env=plain_environment(), capture_output=True, text=True, cwd=cwd, check=False)


@pytest.fixture
def script(tmp_path):
    def write(source: str, name: str = "script.py") -> Path:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(source)
        return tmp_path / name

    return write


IDENTITY = """
import sys, os, inspect, pickle, neighbour
class Thing: pass
assert isinstance(pickle.loads(pickle.dumps(Thing())), Thing)
def f(): pass
print(__name__, __file__ == os.path.abspath("deep/script.py"), __package__, __spec__, __doc__, __builtins__.__name__)
print(sys.argv, sys.path[0] == os.path.realpath("deep"), sys.modules["__main__"].Thing is Thing, neighbour.value)
print(inspect.getsource(f).strip(), sorted(n for n in globals() if n.startswith("__")))
"""


def test_a_script_sees_what_python_shows_it(script, tmp_path):
    script("value = 3", "deep/neighbour.py")
    script(IDENTITY, "deep/script.py")
    words = ("deep/script.py", "--devices", "2", "-x", "a b")
    ours, theirs = launch_anew(*words, cwd=tmp_path), python(*words, cwd=tmp_path)
    assert theirs.returncode == 0, theirs.stderr
    assert (ours.returncode, ours.stdout) == (0, theirs.stdout)


@pytest.mark.whole
def test_modules_run_too(script, tmp_path):
    script("import sys; print(__name__, sys.argv[1:], sys.path[0] == __import__('os').getcwd(), __package__)", "pack/run.py")
    (tmp_path / "pack" / "__init__.py").write_text("")
    ours, theirs = launch_anew("-m", "pack.run", "-v", cwd=tmp_path), python("-m", "pack.run", "-v", cwd=tmp_path)
    assert (ours.returncode, ours.stdout) == (0, theirs.stdout) and theirs.stdout.startswith("__main__ ['-v'] True pack")
    assert launch_anew("-m", "no_such_module", cwd=tmp_path).returncode == 1


@pytest.mark.whole(beyond=2)
@pytest.mark.parametrize(
    "source",
    ["import sys; sys.exit(7)", "import sys; sys.exit('a message')", "import sys; sys.exit()", "exit(0)", "raise ValueError('x')",
     "def f():\n    return 1 / 0\n\nf()", "x = (", "import no_such_module_at_all", "raise SystemExit(3)",
     "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    raise KeyError('k') from e"],
)  # fmt: skip
def test_exit_codes_and_tracebacks_are_pythons(script, source):
    path = script(source)
    ours, theirs = (
        launch(path, JOB_ID="1", RANK_ID="0", RANK_SIZE="1", DEVICE_ID="0", ASCEND_DEVICE_ID="0", DEVICE_INDEX="0"),
        python(path),
    )
    assert (ours.returncode, ours.stdout, ours.stderr) == (theirs.returncode, theirs.stdout, theirs.stderr)


def test_what_cannot_start(script, tmp_path):
    for words, message in (
        (["missing.py"], "no such file"), (["--devices", "0", script("1")], "--devices"),
        ([script("{}", "train.ipynb")], "open it in Jupyter"), ([tmp_path], "a folder without a __main__.py"),
    ):  # fmt: skip
        done = launch(*words, cwd=tmp_path)
        assert done.returncode == 2 and message in done.stderr and "Traceback" not in done.stderr


BEFORE = """
import tensorflow.contrib.slim as slim
from tensorflow import Session
from tensorflow.contrib import layers
import tensorflow as tf
with Session() as session:
    print(float(session.run(tf.reduce_sum(tf.ones([3])))), slim.conv2d.__name__)
    print(any(e.name == "NpuOptimizer" for e in session._config.graph_options.rewrite_options.custom_optimizers) if session._config else False)
import npu_bridge.npu_init
with Session() as session:
    print([e.name for e in session._config.graph_options.rewrite_options.custom_optimizers])
"""  # noqa: E501


def test_tf1_imports_ahead_of_npu_bridge(script):
    done = launch_anew(script(BEFORE))
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["3.0 convolution2d", "False", "['NpuOptimizer']"]


OPTIONS = """
import json, os
print(os.environ.get("TF2NPU_OPTIONS"), os.environ.get("TF2NPU_ALL_SESSIONS"), os.environ.get("TF2NPU_STRICT"))
import tensorflow as tf
with tf.Session() as session:
    print(session.run(tf.constant(1) + 1))
"""


def test_options_reach_the_runtime(script):
    done = launch("--soc", "Ascend910A", "--option", "host_fallback=allow", "--all-sessions", "--strict", script(OPTIONS))
    assert done.stdout.splitlines() == ['{"host_fallback": "allow", "soc": "Ascend910A"} 1 1', "2"], done.stderr
    assert launch(script(OPTIONS)).stdout.splitlines() == ["None None None", "2"]


def test_a_wrong_option_is_one_clear_message(script):
    wrong = {"host_fallback=perhaps": "allow, error", "precision_mode=half": "force_fp16", "soc=Ascend999": "Ascend910A"}
    for option, known in wrong.items():
        done = launch("--option", option, "--all-sessions", script(OPTIONS))
        assert (done.returncode, done.stdout) == (2, ""), "before the script begins"
        assert option.split("=")[1] in done.stderr and known in done.stderr and "Traceback" not in done.stderr


@pytest.mark.whole
def test_options_of_the_launcher_have_the_types_of_a_scripts(script):
    """As text, false would be true and 0 no number."""
    stays = launch("--option", "use_off_line=false", "--all-sessions", script(OPTIONS))
    assert stays.returncode == 0 and "on the device" not in stays.stderr
    assert "on the device" in launch("--option", "use_off_line=true", "--all-sessions", script(OPTIONS)).stderr
    infers = ["--option", "device_defaults=on", "--option", "graph_run_mode=0", "--all-sessions"]
    assert "precision: force_fp16" in launch(*infers, script(OPTIONS)).stderr


def test_an_option_of_the_launcher_without_effect_is_told(script):
    done = launch("--option", "hcom_parallel=true", "--all-sessions", script(OPTIONS))
    assert "options without effect here: hcom_parallel" in done.stderr


@pytest.mark.whole
def test_a_script_that_never_reaches_the_device_is_told(script):
    done = launch(script(OPTIONS))
    assert done.returncode == 0 and "no session ran on the device: those made at " in done.stderr
    assert "script.py:5 stayed on TensorFlow" in done.stderr and "--all-sessions" in done.stderr
    assert "no session ran" not in launch("--all-sessions", script(OPTIONS)).stderr
    strict = launch("--strict", script(OPTIONS))
    assert (
        strict.returncode == 1
        and strict.stdout.splitlines()[1] == "2"
        and "--strict: no session ran on the device" in strict.stderr
    )
    assert launch("--strict", script("print(1)")).returncode == 0


IDLE = """
import tensorflow as tf
with tf.compat.v1.Session() as session:
    print(session.graph is not None)
"""


@pytest.mark.whole
def test_sessions_that_run_nothing_are_told(script):
    done = launch("--all-sessions", script(IDLE))
    assert done.returncode == 0
    assert "no session ran on the device: those made at" in done.stderr and "script.py:3 were asked to run nothing" in done.stderr
    assert "run nothing" not in launch("--all-sessions", script(IDLE + "    session.run(tf.constant(1.0) + 1.0)")).stderr


BESIDE = """
import tensorflow as tf
with tf.Session() as early:
    early.run(tf.constant(1.0) * 2.0)
from npu_bridge.npu_init import *
with tf.Session() as on_device:
    on_device.run(tf.constant(1.0) + 2.0)
"""


def test_a_session_that_stays_on_tensorflow_beside_the_device_is_named(script, tmp_path):
    path = script(BESIDE)
    done = launch("--strict", path)
    assert done.returncode == 0 and "no session ran" not in done.stderr
    assert "sessions that stayed on TensorFlow, as their config names no NpuOptimizer: " in done.stderr
    assert "script.py:3\n" in done.stderr and "script.py:6" not in done.stderr


def test_the_launchers_own_options_are_those_of_the_runtime():
    own = {field.name for field in dataclasses.fields(RuntimeConfig)} - {
        "precision",
        "parameters",
        "splits",
        "switched_off",
        "in_float32",
    }
    assert set(LAUNCHERS) == own


TRAINING = """
import numpy as np
import tensorflow as tf
from npu_bridge.npu_init import *
x = tf.placeholder(tf.float32, [None, 6])
y = tf.reduce_sum(tf.layers.dense(npu_ops.dropout(npu_unary_ops.gelu(x), 0.7, seed=4), 3, kernel_initializer=tf.glorot_uniform_initializer(seed=2)) ** 2)
step = tf.train.AdamOptimizer(0.1).minimize(y)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for i in range(8):
        print(session.run([y, step], {x: np.random.RandomState(i).randn(5, 6)})[0].tobytes().hex())
"""  # noqa: E501


@pytest.mark.whole
def test_losses_are_bit_identical_to_plain_python(script):
    path = script(TRAINING)
    ours, theirs = launch_anew(path), python(path)
    assert ours.returncode == theirs.returncode == 0, ours.stderr + theirs.stderr
    assert ours.stdout == theirs.stdout and len(set(ours.stdout.split())) == 8


RUN = """
from npu_bridge.npu_init import *
config = tf.ConfigProto()
entry = npu_config_proto(config).graph_options.rewrite_options.custom_optimizers[0]
entry.parameter_map["hcom_parallel"].b = True
entry.parameter_map["use_off_line"].b = True
x = tf.placeholder(tf.float32, [None, 2])
text = tf.as_string(tf.reduce_sum(tf.matmul(x, tf.ones([2, 3]))))
session = tf.Session(config=config)
for rows in (1, 2, 2):
    session.run(text, {x: [[1.0, 2.0]] * rows})
raise SystemExit(3)
"""


@pytest.mark.whole
def test_a_run_goes_into_the_report(script, tmp_path):
    """The report that the converter wrote, whichever its formats; a second run takes the place of the first."""
    (tmp_path / "src").mkdir()
    script("import tensorflow as tf\ns = tf.Session()\n", "src/train.py")
    words = ["convert", "src", "out", "--report", "report", "--format", "html,json,text"]
    fork_server.tf2npu(words, plain_environment(), tmp_path)
    before = json.loads((tmp_path / "report" / "report.json").read_text())
    script(RUN, "run.py")
    for _ in range(2):
        done = launch("--report", "report", "run.py", cwd=tmp_path)
        assert done.returncode == 3 and "the run is in" in done.stderr, done.stderr
    assert "options without effect here: hcom_parallel" in done.stderr and "still open at the end, made at" in done.stderr
    after = json.loads((tmp_path / "report" / "report.json").read_text())
    jsonschema.validate(after, json.loads(SCHEMA_FILE.read_text(encoding="utf-8")))
    run = after.pop("run")
    assert run["precision"][0].startswith("precision: the types of the graph, as TensorFlow computes")
    assert after == before
    assert (run["script"], run["exit_code"], run["steps"], run["recompilations"]) == ("run.py", 3, 3, 1)
    assert run["device_share"] == 1.0 and run["host_nodes"][0]["reason"] == "text is host data"
    assert run["options_without_effect"] == [{"option": "hcom_parallel", "effect": "recorded"}]
    assert run["sessions_left_open"] == ["run.py:9"] and run["sessions_on_tensorflow"] == []
    assert "run.py ended with exit code 3 after 3 runs in 1 session" in (tmp_path / "report" / "report.txt").read_text()
    assert "text is host data" in (tmp_path / "report" / "runs.html").read_text()


def test_a_report_that_is_not_there_is_told_before_the_run(script, tmp_path):
    done = launch("--report", "nowhere", script("print('ran')"), cwd=tmp_path)
    assert done.returncode == 2 and "there is no report.json" in done.stderr and done.stdout == ""
    (tmp_path / "out" / "tf2npu-report").mkdir(parents=True)
    (tmp_path / "out" / "tf2npu-report" / "report.json").write_text("{}")
    done = launch("--report", "out", script("print('ran')"), cwd=tmp_path)
    assert done.returncode == 2 and "there is one in out/tf2npu-report" in done.stderr


def test_strict_refuses_what_a_host_refuses(script):
    path = script("from npu_bridge.npu_init import *\nprint(get_npu_rank_size())\n")
    lenient, strict = launch(path), launch("--strict", path)
    assert (lenient.returncode, lenient.stdout) == (0, "1\n") and "script.py:2); on a host it raises NameError" in lenient.stderr
    assert strict.returncode == 1 and strict.stdout == "" and "NameError" in strict.stderr.splitlines()[-1]


@pytest.mark.whole
def test_options_of_a_session_are_told_at_debug_level(script):
    path = script("from npu_bridge.npu_init import *\ntf.Session(config=npu_config_proto()).run(tf.constant(1))\n" + DEBUGGED)
    assert "session option graph_run_mode = 1" in launch(path, TF2NPU_LOG="debug").stderr
    assert "session option graph_run_mode" not in launch(path).stderr


DEBUGGED = """
config = npu_config_proto()
config.graph_options.rewrite_options.custom_optimizers[0].parameter_map["graph_run_mode"].i = 1
tf.Session(config=config).close()
"""


def test_a_copy_that_fails_names_the_users_file(tmp_path):
    """`tf2npu predict` and its like run a converted copy, which is gone when the traceback is read."""
    mine, copy = tmp_path / "mine", tmp_path / "copy"
    for folder, text in (
        (mine, "x = 1\nraise ValueError(__file__)\n"),
        (copy, "import tensorflow\nx = 1\nraise ValueError(__file__)\n"),
    ):
        folder.mkdir()
        (folder / "train.py").write_text(text)
    done = launch("--all-sessions", copy / "train.py", cwd=tmp_path, TF2NPU_CONVERTED=converted_copy.variable(copy, mine))
    assert done.returncode == 1 and f'File "{mine / "train.py"}", line 2' in done.stderr
    assert f"ValueError: {mine / 'train.py'}" in done.stderr and str(copy) not in done.stderr
