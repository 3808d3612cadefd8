"""Sessions that are closed by an edit: where it is certain when, by one line, and nothing else changes."""

from __future__ import annotations

import json

import pytest

from tf2npu.config import Config
from tf2npu.engine.convert_file import convert_source
from tf2npu.findings import FileResult

TF = "import tensorflow as tf\n"
MADE = "tf.Session(config=npu_config_proto())"


def converted(code: str, path: str = "train.py", **settings: object) -> FileResult:
    return convert_source(f"from npu_bridge.npu_init import npu_config_proto\n{TF}{code}", path, Config(**settings))


def added(code: str, **settings: object) -> list[str]:
    """The lines that the conversion adds; it takes none away."""
    result = converted(code, **settings)
    before, after = result.before.decode().splitlines(), result.after.decode().splitlines()
    rest = list(after)
    for line in before:
        assert line in rest, line
        rest.remove(line)
    again = convert_source(result.after, "train.py", Config(**settings))
    assert again.after == result.after
    return [line for line in rest if "npu_bridge" not in line]


def level(code: str) -> set[str]:
    return {f.level.value for f in converted(code).findings if f.rule == "NPU910"}


def closing(indent: str = "", name: str = "sess") -> list[str]:
    return [f"{indent}import atexit", f"{indent}atexit.register({name}.close)"]


@pytest.mark.parametrize(
    ("code", "indent"),
    [
        (f"sess = {MADE}\nsess.run(x)\n", ""),
        (f"sess = {MADE}  # the one\nsess.run(x)\n", ""),
        ("sess = tf.InteractiveSession(\n    config=npu_config_proto()\n)\nx.eval()\n", ""),
        (f"if restore:\n    sess = {MADE}\n    saver.restore(sess, path)\n", "    "),
        (f"with tf.Graph().as_default():\n\tsess = {MADE}\n\tsess.run(x)\n", "\t"),
        (f"if __name__ == '__main__':\n    sess = {MADE}\n    train(sess)\n", "    "),
        (f"def main():\n    sess = {MADE}\n    sess.run(x)\n\n\nmain()\n", "    "),
        (f"def main(_):\n    sess = {MADE}\n    sess.run(x)\n\n\nif __name__ == '__main__':\n    tf.app.run()\n", "    "),
        (f"def train(_):\n    sess = {MADE}\n    sess.run(x)\n\n\nif __name__ == '__main__':\n    tf.app.run(train)\n", "    "),
        (f"def train():\n    sess = {MADE}\n    return sess.run(x)\n\n\ndef main():\n    print(train())\n\n\nmain()\n", "    "),
        (f"def start():\n    global sess\n    sess = {MADE}\n    sess.run(x)\n\n\nstart()\n", "    "),
    ],
)
def test_a_session_that_lives_as_long_as_the_process_is_closed_when_that_ends(code: str, indent: str) -> None:
    assert added(code) == closing(indent)
    assert level(code) == {"fixed"}


def test_atexit_is_imported_once_for_sessions_of_the_module() -> None:
    code = f"a = {MADE}\na.run(x)\nif y:\n    b = {MADE}\n    b.run(x)\n"
    assert added(code) == ["import atexit", "atexit.register(a.close)", "    atexit.register(b.close)"]


def test_the_line_stands_directly_behind_the_construction_with_its_line_ends() -> None:
    result = converted(f"sess = {MADE}\r\n\r\n# Train.\r\nsess.run(x)")
    assert result.after.decode().endswith(
        f"sess = {MADE}\r\nimport atexit\r\natexit.register(sess.close)\r\n\r\n# Train.\r\nsess.run(x)"
    )


@pytest.mark.parametrize(
    "code",
    [
        f"for lr in rates:\n    sess = {MADE}\n    sess.run(x)\n",
        f"while True:\n    sess = {MADE}\n    sess.run(x)\n",
        f"def f():\n    sess = {MADE}\n    sess.run(x)\n\n\nf()\nf()\n",
        f"def f():\n    sess = {MADE}\n    sess.run(x)\n\n\nfor _ in range(3):\n    f()\n",
        f"def f():\n    sess = {MADE}\n    sess.run(x)\n\n\nrun(f)\n",
        f"def f():\n    sess = {MADE}\n    sess.run(x)\n",
        f"@again\ndef f():\n    sess = {MADE}\n    sess.run(x)\n\n\nf()\n",
        f"def f():\n    sess = {MADE}\n    yield sess.run(x)\n\n\nf()\n",
        f"class M(object):\n    def f(self):\n        sess = {MADE}\n        sess.run(x)\n\n\nM().f()\n",
        f"def f(n):\n    sess = {MADE}\n    sess.run(x)\n    f(n - 1)\n\n\nf(3)\n",
        f"try:\n    sess = {MADE}\n    sess.run(x)\nexcept ValueError:\n    pass\n",
        f"import threading\nsess = {MADE}\nthreading.Thread(target=lambda: sess.run(x)).start()\n",
        f"sess = {MADE}\ntf.train.start_queue_runners(sess)\nsess.run(x)\n",
        f"import atexit\nsess = {MADE}\natexit.register(lambda: sess.run(x))\n",
        f"import os\nsess = {MADE}\nif os.fork():\n    sess.run(x)\n",
        f"class M(object):\n    def __del__(self):\n        sess.run(x)\nsess = {MADE}\nm = M()\n",
        f"sess = {MADE}; sess.run(x)\n",
        f"if y: sess = {MADE}\nz = 1\n",
        f"a = sess = {MADE}\nsess.run(x)\n",
        f"holder.sess = {MADE}\nholder.sess.run(x)\n",
        f"sess = given or {MADE}\nsess.run(x)\n",
    ],
)
def test_where_it_is_not_certain_nothing_changes_and_it_is_no_work(code: str) -> None:
    assert added(code) == [] and "fixed" not in level(code)
    assert not {"manual", "unsupported"} & level(code)


@pytest.mark.parametrize(
    "code",
    [
        f"with {MADE} as sess:\n    sess.run(x)\n",
        f"sess = {MADE}\nsess.run(x)\nsess.close()\n",
        f"sess = {MADE}\ntry:\n    sess.run(x)\nfinally:\n    sess.close()\n",
        f"sess = {MADE}\nwith sess:\n    sess.run(x)\n",
    ],
)
def test_what_is_closed_stays(code: str) -> None:
    assert added(code) == [] and level(code) == set()


HOLDER = f"class M(object):\n    def __init__(self):\n        self.sess = {MADE}\n\n"


@pytest.mark.parametrize(
    "method",
    [
        "    def close(self):\n        self.file.close()\n",
        "    def close(self):\n        '''Gives all up.'''\n        pass  # nothing yet\n",
        "    def __exit__(self, *args):\n        self.file.close()\n",
        "    def __del__(self):\n        print('gone')\n",
        "    def close(self):\n        self.file.close()\n\n    def __del__(self):\n        print('gone')\n",
    ],
)
def test_the_session_of_an_object_is_closed_where_the_class_is(method: str) -> None:
    code = f"{HOLDER}{method}\n\nm = M()\n"
    assert added(code) == ["        self.sess.close()"] and level(code) == {"fixed"}
    lines = converted(code).after.decode().splitlines()
    first = next(n for n, line in enumerate(lines) if line == "        self.sess.close()")
    assert lines[first - 1] in method and "def " not in lines[first - 1]


@pytest.mark.parametrize(
    "code",
    [
        f"{HOLDER}    def run(self):\n        self.sess.run(x)\n",
        f"{HOLDER}    def close(self):\n        if self.file is None:\n            return\n        self.file.close()\n",
        f"{HOLDER}    def close(self):\n        return self.file.close()\n",
        f"{HOLDER}    def close(self):\n        for f in self.files:\n            f.close()\n",
        f"{HOLDER}    @staticmethod\n    def close():\n        pass\n",
        f"{HOLDER}    def close(this):\n        pass\n",
        f"{HOLDER}    def close(self): pass\n",
        f"{HOLDER}    def again(self):\n        self.sess = make()\n\n    def close(self):\n        pass\n",
        f"class M(object):\n    def start(self):\n        self.sess = {MADE}\n\n    def close(self):\n        pass\n",
        f"class M(object):\n    def __init__(self):\n        if y:\n            self.sess = {MADE}\n\n"
        "    def close(self):\n        pass\n",
    ],
)
def test_an_object_whose_session_may_not_be_there_or_is_given_up_otherwise_stays(code: str) -> None:
    assert added(f"{code}\n\nm = M()\n") == []


def test_the_start_and_the_end_of_the_ranks_around_a_guard_fit_together() -> None:
    code = f"import horovod.tensorflow as hvd\nif __name__ == '__main__':\n    hvd.init()\n    sess = {MADE}\n    sess.run(x)\n"
    result = converted(code, distributed="horovod")
    compile(result.after, "train.py", "exec")
    assert convert_source(result.after, "train.py", Config(distributed="horovod")).after == result.after


def test_a_notebook_keeps_its_sessions_as_its_kernel_outlives_its_cells() -> None:
    cells = [{"cell_type": "code", "metadata": {}, "source": f"{TF}sess = {MADE}\nsess.run(x)\n", "outputs": []}]
    text = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 2})
    result = convert_source(text, "a.ipynb")
    assert b"atexit" not in result.after
    assert {f.level.value for f in result.findings if f.rule == "NPU910"} == {"info"}


def test_it_can_be_switched_off() -> None:
    assert added(f"sess = {MADE}\nsess.run(x)\n", ignore=frozenset({"NPU910"})) == []
    assert added(f"sess = {MADE}  # tf2npu: ignore[NPU910]\nsess.run(x)\n") == []
