"""A forked program sees, prints and returns what one that `python` starts does."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import fork_server

PLAIN = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
SOURCES = {
    "what it is": """
import os, sys
main = sys.modules["__main__"].__dict__
print(sys.argv, sys.path[0], __name__, main is globals(), os.getcwd(), os.environ.get("OWN"), main.get("__file__"))
""",
    "its modules": """
import sys
print([name for name in sys.modules if name.split(".")[0] in ("npu_bridge", "npu_runtime", "tf2npu", "tests")])
""",
    "its input": "import sys\nprint(sys.stdin.read().upper())",
    "its own class": "import pickle\nclass Thing: pass\nprint(type(pickle.loads(pickle.dumps(Thing()))))",
    "an error": "def f():\n    return 1 / 0\n\nf()",
    "no Python": "x = (",
    "a message": "import sys\nsys.exit('a message')",
    "a code": "raise SystemExit(7)",
    "a signal": "import os, signal\nos.kill(os.getpid(), signal.SIGTERM)",
    "its end": """
import atexit, sys, threading
atexit.register(print, "at exit")
threading.Timer(0.1, print, ["a thread"]).start()
print("last line", file=sys.stderr)
""",
}


@pytest.fixture(params=["a source", "a script"])
def words(request, tmp_path) -> Callable[[str], list[str]]:
    def made(source: str) -> list[str]:
        (tmp_path / "script.py").write_text(source)
        return (["-c", source] if request.param == "a source" else ["script.py"]) + ["--flag", "a b"]

    return made


@pytest.mark.parametrize("name", SOURCES)
def test_a_program_does_what_it_does_in_python(name: str, words: Callable[[str], list[str]], tmp_path: Path) -> None:
    command, environment = words(SOURCES[name]), {**PLAIN, "OWN": "1"}
    ours = fork_server.python(command, environment, tmp_path, "text")
    theirs = subprocess.run(
        [sys.executable, *command], env=environment, cwd=tmp_path, input="text", capture_output=True, text=True, check=False
    )
    assert (ours.returncode, ours.stdout, ours.stderr) == (theirs.returncode, theirs.stdout, theirs.stderr)


def test_nothing_of_a_program_is_left_for_the_next() -> None:
    first = "import os, sys, tensorflow as tf\ntf.left = sys.left = 1\nos.environ['LEFT'] = '1'\ntf.compat.v1.Session().close()"
    second = "import os, sys, tensorflow as tf\nprint(hasattr(tf, 'left'), hasattr(sys, 'left'), 'LEFT' in os.environ)"
    assert fork_server.python(["-c", first], PLAIN).returncode == 0
    assert fork_server.python(["-c", second], PLAIN).stdout == "False False False\n"


def test_a_conversion_is_that_of_the_command(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("import tensorflow as tf\nwith tf.Session() as session:\n    pass\n")
    command, words = Path(sys.executable).with_name("tf2npu"), ["convert", "train.py", "out", "--format", "json", "--no-cache"]
    theirs = subprocess.run([command, *words], env=PLAIN, cwd=tmp_path, capture_output=True, text=True, check=False)
    made = (tmp_path / "out/train.py").read_text(), (tmp_path / "out/tf2npu-report/report.json").read_text()
    shutil.rmtree(tmp_path / "out")
    ours = fork_server.tf2npu(words, PLAIN, tmp_path)
    assert (ours.returncode, ours.stdout, ours.stderr) == (theirs.returncode, theirs.stdout, theirs.stderr)
    assert made == ((tmp_path / "out/train.py").read_text(), (tmp_path / "out/tf2npu-report/report.json").read_text())


def test_what_the_server_froze_stays_frozen() -> None:
    """npu_bridge unfreezes all behind its import. The end of each program would walk through it, which takes 0.7 s of a core."""
    source = "import gc\nimport npu_bridge.npu_init\nprint(gc.get_freeze_count() > 100_000)"
    assert fork_server.python(["-c", source], PLAIN).stdout == "True\n"


def test_variables_that_are_read_while_tensorflow_is_loaded_count() -> None:
    """oneDNN's is: each value has a server of its own.  Without one it is the processor that decides."""
    source = "from tensorflow.python.util import _pywrap_util_port as port\nprint(port.IsMklEnabled(), end='')"
    for value, is_enabled in (("1", True), ("0", False)):
        done = fork_server.python(["-c", source], {**PLAIN, "TF_ENABLE_ONEDNN_OPTS": value})
        assert done.stdout == str(is_enabled), done.stderr


def test_a_program_can_be_interrupted_though_this_process_ignores_that(tmp_path: Path) -> None:
    """A job in the background of a shell ignores SIGINT from its start, and hands that on."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        environment = {**PLAIN, "TF_SERVER": "begun by a process that ignores SIGINT"}
        source = "import signal\ntry:\n    signal.raise_signal(2)\nexcept KeyboardInterrupt:\n    print('interrupted')"
        done = fork_server.python(["-c", source], environment, tmp_path, loaded=fork_server.CONVERTER)
    finally:
        signal.signal(signal.SIGINT, before)
    assert (done.returncode, done.stdout) == (0, "interrupted\n"), done.stderr
