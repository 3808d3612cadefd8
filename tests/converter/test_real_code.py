"""Faults on public code that the converter had never seen, each reduced to the lines that show it."""

from __future__ import annotations

import textwrap

from tf2npu.engine.convert_file import convert_source


def converted(text: str) -> str:
    """The converted text of a single file."""
    return convert_source(textwrap.dedent(text)).after.decode()


def test_a_name_bound_many_times_over_from_itself_ends():
    """Notebooks rebind one name in every cell; following each path from binding to binding takes for ever."""
    lines = ["import tensorflow as tf", "data = tf.data.Dataset.range(9)"]
    lines += [f"data = data.map(lambda x: x + {n})" for n in range(40)] + ["sess = tf.Session()"]
    assert "npu_config_proto()" in converted("\n".join(lines))


def test_a_name_that_changes_its_meaning_on_the_way_has_none():
    source = """\
        import tensorflow as tf
        it = tf.data.Dataset.range(9)
        it = it.batch(3)
        it = it.make_one_shot_iterator()
        it = it.batch(2)
        """
    assert converted(source) == textwrap.dedent(source)


def test_two_names_in_a_circle():
    source = """\
        import tensorflow as tf

        def input_fn(params):
            a = tf.data.Dataset.range(9)
            for n in range(3):
                b = a.shuffle(9)
                a = b.repeat(2)
            return a.batch(4)

        tf.estimator.Estimator(model_fn).train(input_fn, steps=1)
        """
    assert "a.batch(4, drop_remainder=True)" in converted(source)
