"""Attributes of a class that are set by its name or by `cls`: they mean what is put there, wherever that is done."""

from __future__ import annotations

import ast
import textwrap

import pytest

from tf2npu.config import Config
from tf2npu.engine.convert_file import convert_source
from tf2npu.findings import Level

HVD = Config(distributed="horovod")


def test_what_another_value_may_have_replaced_is_left_alone() -> None:
    """It was taken for what the class body gives it, and the user's own function was no longer called."""
    source = textwrap.dedent("""
        import tensorflow as tf
        def use(x):
            return Layers.drop(x, 0.5), Layers.keep(x, 0.5)
        class Layers:
            drop = tf.nn.dropout
            keep = tf.nn.dropout
        Layers.drop = lambda x, keep: x
    """)
    after = convert_source(source, "m.py").after.decode()
    assert "return Layers.drop(x, 0.5), npu_ops.dropout(x, 0.5)" in after


WRAPPERS = {
    "by its name": """
        class Ranks(object):
            hvd = None
            @staticmethod
            def rank():
                return Ranks.hvd.rank() if Ranks.hvd else 0
        def start():
            import horovod.tensorflow as hvd
            hvd.init()
            Ranks.hvd = hvd
    """,
    "by cls": """
        class Ranks(object):
            hvd = None
            @classmethod
            def start(cls):
                import horovod.tensorflow as hvd
                hvd.init()
                cls.hvd = hvd
            @classmethod
            def rank(cls):
                return cls.hvd.rank() if cls.hvd else 0
    """,
    "before the class": """
        def start():
            import horovod.tensorflow as hvd
            hvd.init()
            Ranks.hvd = hvd
        def rank():
            return Ranks.hvd.rank() if Ranks.hvd else 0
        class Ranks(object):
            hvd = None
    """,
}


@pytest.mark.parametrize("how", WRAPPERS)
def test_horovod_that_a_class_keeps_is_converted(how: str) -> None:
    source = "import tensorflow as tf\n" + textwrap.dedent(WRAPPERS[how])
    result = convert_source(source, "m.py", HVD)
    text = result.after.decode()
    assert "return get_npu_rank_id() if" in text and "hvd.init()" not in text
    assert [f.rule for f in result.findings if f.level is Level.MANUAL] == ["NPU401"]  # the import, which hands Horovod on
    ast.parse(text)
    assert convert_source(text, "m.py", HVD).after == result.after


@pytest.mark.parametrize(
    "other",
    ["Ranks.hvd = StandIn()", "Ranks.hvd, n = make(), 2", "def f(Ranks):\n    Ranks.hvd = None\nRanks = make()"],
)
def test_what_may_be_something_else_stays(other: str) -> None:
    source = f"""import tensorflow as tf
import horovod.tensorflow as collectives
class Ranks(object):
    hvd = collectives
{other}
print(Ranks.hvd.rank())
"""
    assert "print(Ranks.hvd.rank())" in convert_source(source, "m.py", HVD).after.decode()


def test_an_object_of_the_project_is_no_tensor_that_something_lies_beside() -> None:
    """The advice began with "Where self is a tensor"."""
    source = textwrap.dedent("""
        import tensorflow as tf
        class Net:
            def __init__(self, device):
                self.device = device
            def build(self, x):
                with tf.device(self.device):
                    y = x + 1
                with tf.device(x.device):
                    return y * 2
        net = Net("/gpu:0")
        with tf.device(net.device):
            z = tf.zeros([1])
    """)
    said = {f.span.line: f.message for f in convert_source(source, "m.py").findings if f.rule == "NPU701"}
    assert [line for line, message in said.items() if message.startswith("Where x is a tensor")] == [9]
    assert not any("self" in message or "net" in message for message in said.values())
