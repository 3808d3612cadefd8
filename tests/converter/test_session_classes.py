"""Session classes that are passed on or extended: their configs are wrapped where they can be seen, the rest is told."""

from __future__ import annotations

import pytest

from tf2npu.config import Config, Target
from tf2npu.engine.convert_file import convert_source
from tf2npu.findings import Level

TF = "import tensorflow as tf\n"
PARTIAL = "from functools import partial\n" + TF


def converted(source: str, config: Config | None = None) -> str:
    text = convert_source(source, "lib.py", config).after.decode()
    assert convert_source(text, "lib.py", config).after.decode() == text
    compile(text, "lib.py", "exec")
    return text


def levels(source: str, config: Config | None = None) -> list[Level]:
    return [f.level for f in convert_source(source, "lib.py", config).findings if f.rule == "NPU101"]


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("make = partial(tf.Session, config=c)", "make = partial(tf.Session, config=npu_config_proto(c))"),
        ("make = partial(tf.Session, '', g, c)", "make = partial(tf.Session, '', g, npu_config_proto(c))"),
        ("make = partial(tf.Session, config=None)", "make = partial(tf.Session, config=npu_config_proto())"),
        (
            "make = partial(tf.train.MonitoredTrainingSession, config=c, hooks=h)",
            "make = partial(tf.train.MonitoredTrainingSession, config=npu_config_proto(c), hooks=h)",
        ),
        (
            "train = partial(tf.contrib.slim.learning.train, session_config=c)",
            "train = partial(tf.contrib.slim.learning.train, session_config=npu_config_proto(c))",
        ),
    ],
)
def test_the_config_that_partial_keeps_is_wrapped(line: str, wanted: str) -> None:
    text = converted(PARTIAL + line)
    assert text.endswith(wanted) and "from npu_bridge.npu_init import npu_config_proto\n" in text
    assert levels(PARTIAL + line) == [Level.FIXED]


@pytest.mark.parametrize("given", ["tf.Session", "tf.Session, graph=g", "tf.Session, **kw", "tf.Session, *args"])
def test_a_partial_that_may_get_its_config_later_stays_and_is_told_once(given: str) -> None:
    source = f"{PARTIAL}make = partial({given})"
    assert converted(source).endswith(f"make = partial({given})")
    assert levels(source) == [Level.INFO]


@pytest.mark.parametrize(
    ("base", "call", "wanted"),
    [
        ("tf.Session", "super().__init__(config=c)", "super().__init__(config=npu_config_proto(c))"),
        ("tf.Session", "super(A, self).__init__('', g)", "super(A, self).__init__('', g, config=npu_config_proto())"),
        ("tf.Session", "tf.Session.__init__(self, '', g, c)", "tf.Session.__init__(self, '', g, npu_config_proto(c))"),
        ("tf.InteractiveSession", "super().__init__('', g, c)", "super().__init__('', g, npu_config_proto(c))"),
        (
            "tf.train.SingularMonitoredSession",
            "super().__init__([h], None, '', c)",
            "super().__init__([h], None, '', npu_config_proto(c))",
        ),
        ("tf.train.ChiefSessionCreator", "super().__init__(config=c)", "super().__init__(config=npu_config_proto(c))"),
    ],
)
def test_the_config_that_a_class_hands_to_its_base_is_wrapped(base: str, call: str, wanted: str) -> None:
    source = f"{TF}class A({base}):\n    def __init__(self, g, h, c):\n        {call}\n"
    assert wanted in converted(source)
    assert levels(source) == [Level.FIXED]


def test_a_class_that_extends_one_of_its_own_file_is_followed() -> None:
    source = f"{TF}class A(tf.Session):\n    pass\nclass B(A):\n    def __init__(self, c):\n        super().__init__(config=c)\n"
    assert "super().__init__(config=npu_config_proto(c))" in converted(source)
    assert levels(source) == [Level.INFO, Level.FIXED]


@pytest.mark.parametrize(
    "source",
    [
        "class A(tf.Session):\n    pass\n",
        "make = tf.Session if plain else tf.InteractiveSession\n",
        "s = (tf.Session if plain else tf.InteractiveSession)()\n",
        "def f(**kw):\n    return tf.Session(**kw)\n",
    ],
)
def test_what_is_only_told_imports_what_covers_the_sessions(source: str) -> None:
    """The remark says that importing npu_init covers them, and no other code of the file asks for that import."""
    text = converted(TF + source)
    assert text.startswith("import npu_bridge.npu_init") and text.endswith(source)
    assert not [f for f in convert_source(text, "lib.py").findings if f.rule == "NPU100"]


def test_without_the_rule_of_the_import_nothing_is_imported() -> None:
    assert converted(f"{TF}class A(tf.Session):\n    pass\n", Config(ignore=frozenset({"NPU100"}))).startswith(TF)


def test_the_adapter_of_2021_patches_no_session_so_nothing_is_promised() -> None:
    config = Config(target=Target(adapter="2021"))
    source = f"{TF}class A(tf.Session):\n    pass\n"
    (finding,) = [f for f in convert_source(source, "lib.py", config).findings if f.rule == "NPU101"]
    assert "covers" not in finding.message and "NpuOptimizer" in finding.message
    assert converted(source, config) == source
    inside = f"{TF}class A(tf.Session):\n    def __init__(self, c):\n        super().__init__(config=c)\n"
    assert 'npu_optimizer.name = "NpuOptimizer"' in converted(inside, config)


def test_a_monitored_session_that_makes_its_config_itself_is_told_where_nothing_covers_it() -> None:
    config = Config(target=Target(adapter="2021"))
    source = f"{TF}s = tf.train.MonitoredSession({{}})\n"
    assert levels(source.format(""), config) == levels(source.format("None, [h]"), config) == [Level.MANUAL]
    assert levels(source.format("creator"), config) == levels(source.format("")) == []
