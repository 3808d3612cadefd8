"""Properties of every source: converting twice is converting once, the output parses, and only the edits change."""

from __future__ import annotations

import ast
import io
import itertools
import random
import tokenize

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchmarks.fuzzing import checks, examples, grammar, mutations, removals
from tests.how_many import drawn
from tf2npu.engine.convert_file import convert_source
from tf2npu.findings import FileResult, Level, Status
from tf2npu.scanner.edits import splice

PROFILE = settings(max_examples=drawn(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])

WIDE = settings(max_examples=drawn(150), deadline=None, suppress_health_check=list(HealthCheck))

SPELLINGS = [
    ("import tensorflow as tf", "tf"),
    ("import tensorflow", "tensorflow"),
    ("import tensorflow.compat.v1 as tf", "tf"),
    ("import tensorflow.compat.v1 as T", "T"),
    ("import tensorflow", "tensorflow.compat.v1"),
    ("import tensorflow as q", "q.compat.v1"),
    ("from tensorflow.compat import v1", "v1"),
    ("import tensorflow_core as tf", "tf"),
    ("try:\n    import tensorflow.compat.v1 as tf\nexcept ImportError:\n    import tensorflow as tf", "tf"),
    ("import tensorflow as first\ntf = first", "tf"),
    ("if True:\n    import tensorflow as tf", "tf"),
]
MEMBERS = [
    ("nn", "dropout", "x, 0.5"),
    ("nn", "dropout", "x, rate=a or b"),
    ("", "Session", ""),
    ("", "Session", "'', g, cfg"),
    ("", "device", "'/gpu:0'"),
    ("estimator", "Estimator", "fn"),
    ("train", "MonitoredTrainingSession", "config=c"),
]

names = st.sampled_from(["x", "y_1", "self.z", "cfg", "a.b.c"])
numbers = st.sampled_from(["0", "1.5", "2**15", "-1", "0x1f"])
atoms = st.one_of(names, numbers, st.sampled_from(["'text'", '"""two\nlines"""', "f'{x!r:>{w}}'", "None", "[1, 2]", "{'k': v}"]))


def compound(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Expressions around expressions, with the calls that rules look for among them."""
    return st.one_of(
        st.builds("({} if {} else {})".format, inner, inner, inner),
        st.builds("({} or {})".format, inner, inner),
        st.builds("(lambda v: {})".format, inner),
        st.builds("[i for i in {} if {}]".format, names, inner),
        st.builds("tf.nn.dropout({}, rate={})".format, names, inner),
        st.builds("tf.nn.dropout(\n    {},  # input\n    keep_prob={},  # keep\n)".format, names, inner),
        st.builds("tf.Session(config={})".format, inner),
        st.builds("tf.Session('', {}, {})".format, names, inner),
        st.builds("tf.GraphOptions(optimizer_options={})".format, inner),
        st.builds("tf.estimator.Estimator(fn, {}, tf.estimator.RunConfig({}, protocol={}))".format, names, inner, inner),
        st.builds("tf.train.experimental.MixedPrecisionLossScaleOptimizer({}, {})".format, inner, inner),
        st.builds("tf.data.Dataset.range({}).repeat().batch(3)".format, inner),
        st.builds("tf.data.TFRecordDataset({}).batch(\n  3  # three\n)".format, inner),
        st.builds("tf.contrib.tpu.TPUEstimator({}, use_tpu={})".format, inner, inner),
        st.builds("tf.config.experimental.set_memory_growth({}, True)".format, inner),
    )


expressions = compound(st.one_of(atoms, compound(atoms)))
statements = st.one_of(
    st.builds("v = {}".format, expressions),
    st.builds("v = {}  # why".format, expressions),
    st.builds("with tf.device({}):\n    w = ({})".format, expressions, expressions),
    st.builds("def f(a, b={}):\n\t# inside\n\treturn ({})".format, expressions, expressions),
    st.builds("class C(tf.estimator.Estimator):\n  k = ({})".format, expressions),
    st.builds("if __name__ == '__main__': ({})".format, expressions),
    st.builds("if __name__ == '__main__':\n    m = tf.keras.Sequential()\n    # go\n    ({})\n".format, expressions),
    st.just("# a comment\n\n\x0c"),
)
heads = st.sampled_from(
    [
        "import tensorflow as tf\n",
        "'''Doc.'''\nfrom __future__ import division\nimport os, tensorflow as tf\n",
        "#!/usr/bin/env python\n# coding: latin-1\n\nimport tensorflow.compat.v1 as tf # old\n",
    ]
)
newlines = st.sampled_from(["\n", "\r\n"])


@st.composite
def sources(draw: st.DrawFn) -> bytes:
    body = draw(st.lists(statements, min_size=1, max_size=5))
    text = draw(heads) + "\n".join(body) + draw(st.sampled_from(["", "\n", "\n\n"]))
    return text.replace("\n", draw(newlines)).encode("latin-1")


def converted(data: bytes) -> FileResult:
    result = convert_source(data, "m.py")
    assert result.status is not Status.FAILED, result.findings
    return result


@PROFILE
@given(sources())
def test_converting_twice_is_converting_once(data: bytes) -> None:
    once = converted(data)
    assert convert_source(once.after, "m.py").after == once.after


@PROFILE
@given(sources())
def test_output_parses_and_only_edits_change(data: bytes) -> None:
    result = converted(data)
    ast.parse(result.after)
    text = data.decode("latin-1")
    assert splice(text, result.edits).encode("latin-1") == result.after
    positions = [(e.start, e.end) for e in result.edits]
    assert positions == sorted(positions)
    assert all(a[1] <= b[0] for a, b in itertools.pairwise(positions))


def comments(data: bytes) -> list[str]:
    tokens = tokenize.tokenize(io.BytesIO(data).readline)
    return sorted(t.string for t in tokens if t.type == tokenize.COMMENT and "npu_bridge" not in t.line)


@PROFILE
@given(sources())
def test_no_comment_is_lost(data: bytes) -> None:
    after = comments(converted(data).after)
    for comment in set(comments(data)):
        assert after.count(comment) >= comments(data).count(comment)


@PROFILE
@given(sources())
def test_every_change_is_reported(data: bytes) -> None:
    result = converted(data)
    fixed = [f for f in result.findings if f.level is Level.FIXED]
    assert bool(result.edits) == bool(fixed)
    lines = data.decode("latin-1").replace("\r\n", "\n").split("\n")
    for finding in result.findings:
        assert 1 <= finding.span.line <= finding.span.end_line <= len(lines) + 1
        assert finding.span.column >= 1


@PROFILE
@given(st.sampled_from(SPELLINGS), st.sampled_from(MEMBERS))
def test_every_spelling_of_an_import_gives_the_same_edit(spelling: tuple[str, str], member: tuple[str, str, str]) -> None:
    statement, root = spelling
    module, name, arguments = member
    plain = converted(_use("import tensorflow as tf", "tf", module, name, arguments))
    other = converted(_use(statement, root, module, name, arguments))
    assert _rules(other) == _rules(plain)
    from_import = f"from {'.'.join(p for p in ('tensorflow', module) if p)} import {name} as N"
    third = converted(f"{from_import}\nv = N({arguments})\n".encode())
    assert _rules(third) == _rules(plain)


def _use(statement: str, root: str, module: str, name: str, arguments: str) -> bytes:
    dotted = ".".join(part for part in (root, module, name) if part)
    return f"{statement}\nv = {dotted}({arguments})\n".encode()


def _rules(result: FileResult) -> list[tuple[str, str, str]]:
    return [(f.rule, f.level.value, f.api) for f in result.findings]


@pytest.mark.parametrize(
    "code",
    [
        "def g(tf):\n    return tf.Session()",
        "tf = make()\ntf.Session()",
        "g = lambda tf: tf.Session()",
        "g = [tf.Session() for tf in things]",
        "def g():\n    tf = make()\n    return tf.Session()",
        "for tf in things:\n    tf.Session()",
    ],
)
def test_a_shadowed_name_is_left_alone(code: str) -> None:
    data = f"import tensorflow as tf\n{code}\n".encode()
    assert converted(data).after == data


@WIDE
@given(st.randoms(use_true_random=False))
def test_every_property_holds_for_programs_of_the_grammar(rng: random.Random) -> None:
    config = checks.settings(rng)
    assert not checks.look(grammar.program(rng), config).violations


@WIDE
@given(st.randoms(use_true_random=False))
def test_every_property_holds_for_edited_programs(rng: random.Random) -> None:
    """Many of them are no longer Python: those stay as they are."""
    config = checks.settings(rng)
    data = mutations.mutated(rng, grammar.program(rng).decode("latin-1"))
    assert not checks.look(data, config).violations


@WIDE
@given(st.randoms(use_true_random=False))
def test_whatever_a_fix_takes_out_decides_nothing_else(rng: random.Random) -> None:
    config = checks.settings(rng)
    assert not checks.look(removals.program(rng), config).violations


@WIDE
@given(st.randoms(use_true_random=False))
def test_what_a_rule_does_it_does_everywhere(rng: random.Random) -> None:
    """The rules' own examples in functions, branches and guards, twice, and on a line with other code."""
    config = checks.settings(rng)
    looked = checks.look(examples.program(rng), config)
    assert not looked.violations
