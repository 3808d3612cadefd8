"""The engine on files as they are found: encodings, line ends, odd syntax, broken sources, pragmas, deep nesting."""

from __future__ import annotations

import pickle
import subprocess
import sys
import warnings

import pytest

from tf2npu.config import Config, Target
from tf2npu.engine.convert_file import ProjectFacts, convert_file, convert_source, gather_facts, mentions_relevant_module
from tf2npu.findings import Level, Status

SESSION = "import tensorflow as tf\nwith tf.Session() as s:\n    pass\n"
CONVERTED = "from npu_bridge.npu_init import npu_config_proto\n" + SESSION.replace("()", "(config=npu_config_proto())", 1)


def test_the_converter_imports_neither_tensorflow_nor_numpy() -> None:
    code = (
        "import sys\nfrom tf2npu.engine.convert_file import convert_source\n"
        f"result = convert_source({SESSION!r})\nassert result.edits\n"
        "heavy = {'tensorflow', 'numpy', 'keras', 'npu_runtime', 'npu_bridge'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("ending", ["", "\n", "\n\n\n"])
def test_layout_of_a_file_is_kept(newline: str, bom: bytes, ending: str) -> None:
    source = (SESSION.rstrip("\n") + ending).replace("\n", newline)
    expected = (CONVERTED.rstrip("\n") + ending).replace("\n", newline)
    assert convert_source(bom + source.encode()).after == bom + expected.encode()


@pytest.mark.parametrize(
    ("cookie", "text"),
    [("latin-1", "café"), ("gbk", "训练"), ("utf-8", "训练 é 😀"), ("iso-8859-15", "€"), ("shift_jis", "学習")],
)
def test_encoding_by_cookie_is_kept(cookie: str, text: str) -> None:
    head = f"#!/usr/bin/env python\n# vim: set fileencoding={cookie} :\nNAME = '{text}'\n"
    result = convert_source((head + SESSION).encode(cookie))
    assert result.after == (head + CONVERTED).encode(cookie)


@pytest.mark.parametrize(
    ("data", "line", "words"),
    [
        (b"import tensorflow as tf\n\nx = '\xff'\n", 3, "not valid utf-8"),
        (b"# coding: no-such-thing\nimport tensorflow\n", 1, "unknown encoding"),
        (b"import tensorflow as tf\nprint 'hello'\n", 2, "print statement"),
        (b"import tensorflow as tf\nprint  tf.__version__, 1\n", 2, "print statement"),
        (b"import tensorflow as tf\ntry:\n    pass\nexcept ValueError, e:\n    pass\n", 4, "except clause"),
        (b"import tensorflow as tf\nraise ValueError, 'x'\n", 2, "raise statement"),
        (b"import tensorflow as tf\nx = 0777\n", 2, "octal"),
        (b"import tensorflow as tf\nx = `1`\n", 2, "backquotes"),
        (b"import tensorflow as tf\nx = ur'a'\n", 2, "ur''"),
        (b"import tensorflow as tf\nif 1 <> 2: pass\n", 2, "<> operator"),
        (b"import tensorflow as tf\ndef f(:\n    pass\n", 2, "syntax error"),
        (b"import tensorflow as tf\nx = (\n", 2, "syntax error"),
        (b"import tensorflow as tf\n\x00\n", 1, "Not converted"),
    ],
)
def test_a_file_that_cannot_be_converted_stays_and_says_where(data: bytes, line: int, words: str) -> None:
    result = convert_source(data, "bad.py")
    assert result.status is Status.FAILED
    assert result.after == result.before == data
    finding = result.findings[0]
    assert words in finding.message
    assert finding.rule == "NPU900" and finding.level is Level.SKIPPED
    assert finding.span.line == line or words == "Not converted"


@pytest.mark.parametrize("text", ["", "# only a comment\n", "\n\n", "'''tensorflow'''\n", "import math\nprint(math.pi)\n"])
def test_a_file_without_tensorflow_stays_as_it_is(text: str) -> None:
    result = convert_source(text)
    assert result.after == text.encode() and not result.findings
    assert result.status in (Status.COPIED, Status.UNCHANGED)


@pytest.mark.parametrize(
    "code",
    [
        "match s:\n    case [1, *rest] if (t := tf.Session()):\n        pass",
        "try:\n    s = tf.Session()\nexcept* ValueError:\n    pass",
        "def f[T](x: T) -> T:\n    return tf.Session()",
        "type A = int\ns = tf.Session()",
        "with (tf.Session() as s, open('f') as f):\n    pass",
        "x = f'{tf.Session()!r:>{10}} {1=} {\"a\" 'b'}'",
        "def f(a, /, b, *, c=tf.Session()): pass",
        "async def f():\n    async with a as b:\n        s: tf.Session = tf.Session()\n    return [i async for i in b]",
        "x = [s for s in (tf.Session(),) if (y := s)]",
        "@d(tf.Session())\nclass A(B, metaclass=C, k=tf.Session()): 'doc'",
        "if 1:\n\ts = tf.Session()\n\n\x0c\ndef g(): return 1",
        "s = \\\n   tf.Session() ; y = 2",
        "lambda *a, k=tf.Session(), **kw: (yield)",
        "for i in tf.Session(): break\nelse: del i",
        "print(*tf.Session(), **{'a': 1}, sep='')",
    ],
)
def test_current_syntax_is_converted(code: str) -> None:
    result = convert_source(f"import tensorflow as tf\n{code}\n")
    assert result.status is Status.CONVERTED, result.findings
    assert result.after.decode().count("tf.Session(config=npu_config_proto())") == code.count("tf.Session()")


@pytest.mark.parametrize("terms", [300, 1_500])
def test_deep_expressions_are_converted(terms: int) -> None:
    source = SESSION + "x = " + " + ".join(["a"] * terms) + "\n"
    limit = sys.getrecursionlimit()
    result = convert_source(source)
    assert sys.getrecursionlimit() == limit
    assert result.status is Status.CONVERTED
    assert result.after.decode().startswith(CONVERTED)


@pytest.mark.parametrize(
    "expression",
    [" + ".join(["a"] * 50_000), "(" * 20_000 + "1" + ")" * 20_000, "not " * 50_000 + "1", "a" + ".b" * 50_000, "[" * 30_000],
    ids=["sum", "parentheses", "not", "attributes", "open"],
)
def test_hopelessly_deep_expressions_are_reported_at_once(expression: str) -> None:
    source = SESSION + f"x = {expression}\n"
    result = convert_source(source)
    assert result.status is Status.FAILED and result.after == source.encode()
    assert "nested too deeply" in result.findings[0].message


def test_a_long_flat_table_is_not_deep() -> None:
    source = SESSION + "x = [" + ", ".join(["-1"] * 20_000) + "]\n"
    assert convert_source(source).status is Status.CONVERTED


def test_conversion_gives_no_warning_about_the_users_source() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        convert_source(SESSION + "x = '\\d'\ny = 1 is 1\n")


@pytest.mark.parametrize(
    ("comment", "is_kept"),
    [("# tf2npu: ignore", True), ("# tf2npu: ignore[NPU101]", True), ("# tf2npu: ignore[NPU1, NPU5]", True),
     ("# tf2npu: ignore[NPU5]", False), ("# noqa", False)],
)  # fmt: skip
def test_a_comment_switches_rules_off(comment: str, is_kept: bool) -> None:
    source = f"import tensorflow as tf\ndef f():\n    with tf.Session(\n    ):  {comment}\n        pass\n"
    result = convert_source(source)
    assert (result.after == source.encode()) is is_kept
    assert ("NPU902" in {f.rule for f in result.findings}) is is_kept


def test_a_comment_on_a_config_keeps_its_estimator() -> None:
    source = (
        "import tensorflow as tf\nc = tf.estimator.RunConfig('d')  # tf2npu: ignore[NPU202]\n"
        "e = tf.estimator.Estimator(fn, config=c)\n"
    )
    text = convert_source(source).after.decode()
    assert "config=npu_run_config_init(run_config=c)" in text and "NPUEstimator" not in text


@pytest.mark.parametrize(
    ("config", "converts"),
    [(Config(), True), (Config(select=frozenset({"NPU1"})), True), (Config(select=frozenset({"NPU2"})), False),
     (Config(ignore=frozenset({"NPU1"})), False)],
)  # fmt: skip
def test_rules_are_selected(config: Config, converts: bool) -> None:
    assert (convert_source(SESSION, config=config).status is Status.CONVERTED) is converts


def test_results_and_facts_can_be_sent_to_another_process() -> None:
    facts = gather_facts("m.py", SESSION.encode())
    project = ProjectFacts.merge([pickle.loads(pickle.dumps(facts))])
    result = convert_file("m.py", SESSION.encode(), Config(), pickle.loads(pickle.dumps(project)))
    assert pickle.loads(pickle.dumps(result)) == result
    assert len(pickle.dumps(facts)) < 1_000


@pytest.mark.parametrize(
    ("data", "expected"),
    [(b"import tensorflow", True), (b"from compat import tf", True), (b"import math", False), (b"", False),
     (b"import horovod.torch", True), (b"settings = 'tfx'", False), (b"if __name__ == '__main__':\n    main()", False)],
)  # fmt: skip
def test_files_that_cannot_matter_are_not_parsed(data: bytes, expected: bool) -> None:
    assert mentions_relevant_module(data) is expected


def test_the_same_input_gives_the_same_output() -> None:
    code = (
        "import pickle, sys\nfrom tf2npu.engine.convert_file import convert_source\n"
        f"r = convert_source({SESSION + 'y = tf.nn.dropout(x, .5)'!r})\n"
        "sys.stdout.buffer.write(pickle.dumps((r.after, r.findings)))"
    )
    outputs = {
        subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, env={"PYTHONHASHSEED": seed}).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1


def test_a_node_that_is_replaced_keeps_no_wrapping_of_its_own() -> None:
    """Found by a property test: the wrapper of a GraphOptions stayed around the False that took its place."""
    source = "import tensorflow as tf\ne = tf.contrib.tpu.TPUEstimator(f, use_tpu=tf.GraphOptions(optimizer_options=x))\n"
    once = convert_source(source)
    assert b"use_tpu=False, config=npu_run_config_init()" in once.after
    assert convert_source(once.after).after == once.after


def test_code_that_gives_a_name_is_not_taken_out() -> None:
    """Found by fuzzing: the name that a walrus gave inside an argument was gone, and used further on."""
    scope = "with tf.contrib.compiler.jit.experimental_jit_scope((wanted := True)):\n    print(wanted)\n"
    source = f"import tensorflow as tf\n{scope}s = tf.Session()\n"
    result = convert_source(source)
    assert b"wanted := True" in result.after and b"npu_config_proto()" in result.after
    assert any("gives a name by `:=`" in f.message for f in result.findings if f.level is Level.MANUAL)
    assert convert_source(result.after).after == result.after


def test_a_name_that_is_not_written_does_not_disturb_others() -> None:
    """Found by fuzzing: what was looked up by a name of no node was remembered under a number that a later node got again."""
    script = "import tensorflow as tf\n" + "".join(f"if x:\n    s{n} = tf.Session(graph=g{n})\n" for n in range(40))
    config = Config(target=Target(adapter="2021"))
    once = convert_source(script, config=config)
    assert once.after.count(b'.name = "NpuOptimizer"') == 40
    assert convert_source(once.after, config=config).after == once.after


def test_a_name_of_npu_bridge_that_is_the_files_own_in_a_class_gets_another() -> None:
    source = "from npu_bridge.npu_init import npu_config_proto\nimport tensorflow as tf\nclass C:\n    npu_config_proto = 1\n"
    after = convert_source(f"{source}    with tf.Session() as s:\n        pass\n").after
    assert b"import npu_config_proto, npu_config_proto as npu_config_proto_\n" in after
    assert b"tf.Session(config=npu_config_proto_())" in after


def test_what_is_put_around_replaced_text_stays() -> None:
    source = "import horovod.tensorflow as hvd\nimport tensorflow as tf\ns = tf.Session(config=hvd.rank)\n"
    after = convert_source(source, config=Config(distributed="horovod")).after
    assert b"tf.Session(config=npu_config_proto(get_npu_rank_id))" in after


@pytest.mark.parametrize(
    "newer", ["f'{x['a']}'", "f'''{\n  x}''' f'{'\"' + '''y'''}'", "x[f'{y!r:{'>'}}']"], ids=["quotes", "lines", "nested"]
)
def test_strings_of_a_newer_python_keep_no_file_from_conversion(newer: str) -> None:
    result = convert_source(f"import tensorflow as tf\ns = tf.Session()\nprint({newer})\n")
    assert b"npu_config_proto()" in result.after


def test_what_no_python_takes_is_not_converted() -> None:
    """Found by fuzzing: a backslash before an indented line, which only the parser of the tree takes."""
    result = convert_source("import tensorflow as tf\nprint(f'{x['a']}')\n \\\nif x:\n    s = tf.Session()\n")
    assert result.status is Status.FAILED and result.findings[0].span.line == 4
    assert "syntax error" in result.findings[0].message


def test_newer_declarations_keep_no_file_from_conversion() -> None:
    source = "import tensorflow as tf\ntype A = int\ndef f[T](x: T): return tf.Session()\nclass C[T]: pass\n"
    assert b"npu_config_proto()" in convert_source(source).after


def test_an_import_that_a_mapped_and_an_unknown_name_need_says_which_stays() -> None:
    source = "import horovod.tensorflow as hvd\nn = hvd.size()\nhvd.start_timeline(f)\n"
    found = convert_source(source, config=Config(distributed="horovod")).findings
    assert "still needs it: hvd.start_timeline. " in next(f.message for f in found if f.rule == "NPU401")


def test_a_table_of_data_is_refused_before_it_takes_all_memory() -> None:
    head = "import tensorflow as tf\ns = tf.Session()\n"
    result = convert_source(head + "x = [" + "1," * 500_001 + "]\n", "m.py")
    assert result.status is Status.FAILED and result.after == result.before
    assert "move the table into a data file" in result.findings[0].message
