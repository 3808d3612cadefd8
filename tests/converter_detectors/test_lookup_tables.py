"""A table that only the input pipeline looks up is in its place."""

from __future__ import annotations

import pytest

from tf2npu.engine.convert_file import convert_source

TABLE = "import tensorflow as tf\ndef f(d):\n    t = tf.contrib.lookup.index_table_from_file('v')\n"


def messages(code: str) -> list[str]:
    return [f.message for f in convert_source(TABLE + code, "m.py").findings if f.rule == "NPU932"]


@pytest.mark.parametrize(
    "code",
    [
        "    return d.map(lambda x: t.lookup(x))\n",
        "    def look(x):\n        return t.lookup(x)\n    return d.repeat().map(look)\n",
        "    tf.get_default_session().run(t.init)\n    return d.map(lambda x: (t.lookup(x), 1))\n",
    ],
)
def test_lookups_in_a_pipeline_need_nothing(code: str) -> None:
    assert messages(code) == []


@pytest.mark.parametrize(
    ("code", "end"),
    [
        ("    eos = t.lookup(tf.constant('</s>'))\n    return d.map(lambda x: (t.lookup(x), eos))\n", "used in line 4."),
        ("    return t.lookup(d)\n", "used in line 4."),
        ("    return t\n", "config."),
        ("    return g(t, d)\n", "config."),
        ("    pass\n", "config."),
    ],
)
def test_others_are_reported_with_their_lines(code: str, end: str) -> None:
    (message,) = messages(code)
    assert message.endswith(end)
