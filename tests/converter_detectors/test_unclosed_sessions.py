"""Sessions that an object holds, and the code that closes them."""

from __future__ import annotations

import pytest

from tf2npu.config import Config
from tf2npu.engine.convert_file import ProjectFacts, convert_file, convert_source, gather_facts

HOLDER = """import tensorflow as tf
class M(object):
    def __init__(self):
        self.sess = tf.Session(config=npu_config_proto())
"""


def lines(text: str) -> list[int]:
    return [f.span.line for f in convert_source(text, "m.py").findings if f.rule == "NPU910"]


@pytest.mark.parametrize(
    "code",
    [
        "    def stop(self):\n        self.sess.close()\n",
        "m = M()\nm.sess.close()\n",
        "def main():\n    m = M()\n    try:\n        m.run()\n    finally:\n        m.sess.close()\n",
        "for m in [M(), M()]:\n    m.sess.close()\n",
        "import atexit\nm = M()\natexit.register(m.sess.close)\n",
        "m = M()\nwith m.sess:\n    pass\n",
        "class N(M):\n    def stop(self):\n        self.sess.close()\n",
        "class App(object):\n    def __init__(self):\n        self.m = M()\n    def stop(self):\n        self.m.sess.close()\n",
    ],
)
def test_whoever_has_the_object_may_close_it(code: str) -> None:
    assert lines(HOLDER + code) == []


@pytest.mark.parametrize(
    "code",
    [
        "m = M()\nm.sess.run(x)\n",
        "m = M()\nm.session.close()\n",
        "class Other(object):\n def __init__(self, s):\n  self.sess = s\n def stop(self):\n  self.sess.close()\n",
        "m = M()\nprint(m.sess.closed)\n",
    ],
)
def test_something_else_that_is_closed_does_not_count(code: str) -> None:
    assert lines(HOLDER + code) == [4]


@pytest.mark.parametrize(
    ("code", "n_findings"),
    [
        ("tf.InteractiveSession()\nprint(x.eval())\n", 1),
        ("print(tf.Session().run(x))\n", 1),
        ("tf.InteractiveSession()\nprint(x.eval())\ntf.get_default_session().close()\n", 0),
        ("print(tf.Session().graph)\n", 1),
        ("tf.Session().close()\n", 0),
    ],
)
def test_a_session_without_a_name_can_only_be_closed_as_the_default_one(code: str, n_findings: int) -> None:
    assert len(lines(f"import tensorflow as tf\n{code}")) == n_findings


@pytest.mark.parametrize(
    ("user", "n_findings"),
    [
        ("from model import M\nm = M()\nm.sess.close()\n", 0),
        ("import model\nwith model.M().sess as s:\n    s.run(1)\n", 0),
        ("from model import M\nm = M()\nm.file.close()\n", 1),
        ("import other\nother.thing.sess.close()\n", 1),
    ],
)
def test_a_file_that_imports_the_class_may_close_it(user: str, n_findings: int) -> None:
    files = {"model.py": HOLDER.encode(), "main.py": user.encode()}
    project = ProjectFacts.merge(gather_facts(path, data) for path, data in files.items())
    findings = convert_file("model.py", files["model.py"], Config(), project).findings
    assert sum(f.rule == "NPU910" for f in findings) == n_findings


def test_sessions_of_which_there_is_the_same_to_say_are_told_once() -> None:
    code = (
        "import tensorflow as tf\ndef f():\n    s = tf.Session()\n    s.run(x)\ndef g():\n    s = tf.Session()\nt = tf.Session()"
    )
    findings = [f for f in convert_source(code, "m.py").findings if f.rule == "NPU910"]
    assert [f.span.line for f in findings] == [3, 7]
    assert "Call s.close()" in findings[0].message and findings[0].message.endswith("the others: 6.")
    assert "Call t.close()" in findings[1].message


def test_a_session_that_a_comment_keeps_is_not_the_one_that_is_told_of() -> None:
    code = "import tensorflow as tf\ns = tf.Session()  # tf2npu: ignore[NPU910]\nprint(s)\ns = tf.Session()\n"
    (finding,) = [f for f in convert_source(code, "m.py").findings if f.rule == "NPU910"]
    assert finding.span.line == 4 and "places" not in finding.message


def test_sessions_of_unit_tests_end_with_their_process() -> None:
    code = "import tensorflow as tf\nclass T(tf.test.TestCase):\n    def test_it(self):\n        s = tf.Session()\n"
    assert lines(code) == []


MAKER = "import tensorflow as tf\ndef make():\n    sess = tf.Session()\n    sess.run(1)\n    return sess\n"


def places(files: dict[str, str]) -> list[tuple[str, int]]:
    project = ProjectFacts.merge(gather_facts(path, text.encode()) for path, text in files.items())
    found = [(path, convert_file(path, text.encode(), Config(), project).findings) for path, text in files.items()]
    return [(path, f.span.line) for path, findings in found for f in findings if f.rule == "NPU910"]


@pytest.mark.parametrize(
    "user",
    [
        "import maker\nsess = maker.make()\nsess.run(1)\n",
        "from maker import make\nsess = make()\nsess.run(1)\n",
        "from maker import make as m\nprint(m().run(1))\n",
        "from again import make\nsess = make()\nsess.run(1)\n",
        "from maker import *\nclass M(object):\n    def __init__(self):\n        self.s = make()\n",
    ],
)
def test_a_session_that_another_file_makes_is_told_where_it_stays_open(user: str) -> None:
    files = {"maker.py": MAKER, "again.py": "from maker import make\n", "main.py": user}
    assert [path for path, _ in places(files)] == ["main.py"]


@pytest.mark.parametrize(
    "user",
    [
        "import maker\nsess = maker.make()\nsess.run(1)\nsess.close()\n",
        "import maker\nwith maker.make() as sess:\n    sess.run(1)\n",
        "import maker\nsess = maker.make()\nwith sess:\n    sess.run(1)\n",
        "import maker\ndef again():\n    return maker.make()\n",
        "import maker\ndef again():\n    sess = maker.make()\n    return sess\nwith again() as s:\n    s.run(1)\n",
        "import other\nsess = other.make()\nsess.run(1)\n",
        "import maker\nclass T(tf.test.TestCase):\n    def test_it(self):\n        sess = maker.make()\n",
        "import maker\nsess = maker.make()  # tf2npu: ignore[NPU910]\n",
    ],
)
def test_a_session_that_another_file_makes_and_this_one_closes_is_not_told(user: str) -> None:
    assert (
        places(
            {"maker.py": MAKER, "other.py": "def make():\n    return Thing()\n", "main.py": "import tensorflow as tf\n" + user}
        )
        == []
    )


def test_a_session_that_a_function_keeps_in_a_variable_before_it_gives_it_is_told() -> None:
    assert lines(MAKER + "s = make()\ns.run(1)\n") == [6]
    assert lines(MAKER + "s = make()\ns.close()\n") == []
    assert lines("import tensorflow as tf\ndef make():\n    return tf.Session()\ns = make()\ns.run(1)\n") == [3]


@pytest.mark.parametrize("given", ["tf.get_default_session()", "tf.keras.backend.get_session()", "m.test_session()"])
def test_a_session_that_tensorflow_gives_is_not_the_script_s_to_close(given: str) -> None:
    assert (
        lines(f"import tensorflow as tf\ndef f(m):\n    with tf.Session():\n        s = {given}\n        s.run({given}.graph)\n")
        == []
    )


def test_another_file_may_close_the_session_of_a_module() -> None:
    shared = "import tensorflow as tf\nsess = tf.Session()\n"
    assert places({"shared.py": shared, "main.py": "import shared\nshared.sess.run(1)\nshared.sess.close()\n"}) == []
    assert places({"shared.py": shared, "main.py": "import shared\nshared.sess.run(1)\n"}) == [("shared.py", 2)]
