"""Flags as TensorFlow had them before 1.5, when they became absl's."""

from __future__ import annotations

import re

import libcst as cst

from tf2npu.rules.base import Example, part_of
from tf2npu.rules.facts.constant_values import text_of
from tf2npu.rules.facts.old_libraries import is_guarded
from tf2npu.rules.facts.written_code import called
from tf2npu.rules.outdated.older_tensorflow import old_name
from tf2npu.scanner.sites import Call

_SOURCE = "tensorflow/python/platform/flags.py of TensorFlow 1.4 and 1.15"

_DEFINED = tuple(
    f"tensorflow.{module}.DEFINE_{kind}" for module in ("app.flags", "flags") for kind in ("string", "boolean", "bool", "integer")
)
_TAKEN = frozenset((
    "log_dir", "logtostderr", "alsologtostderr", "v", "verbosity", "stderrthreshold", "showprefixforinfo", "run_with_pdb",
    "pdb_post_mortem", "run_with_profiling", "profile_file", "test_srcdir", "test_tmpdir", "test_random_seed", "xml_output_file",
))  # fmt: skip
"""Flags that absl's logging, app and tests define when TensorFlow 1.15 is imported, of kinds that scripts define as well."""
_COUNTS = re.compile(r"(?:size|dim|layers|units|heads|hops)$|^num_", re.IGNORECASE)
"""Names of flags that give whole numbers."""


@part_of(
    old_name,
    matches=("tensorflow.app.flags.FLAGS._parse_flags", "tensorflow.flags.FLAGS._parse_flags"),
    why="The flags are absl's since TensorFlow 1.5, which have no such method: the program ends there.",
    done_when="`tf2npu run` passes this line, and the flags have the values of the command line.",
    source=_SOURCE,
    examples=(
        Example("FLAGS = tf.flags.FLAGS\nFLAGS._parse_flags()", "FLAGS = tf.flags.FLAGS\nimport sys\nFLAGS(sys.argv)"),
        Example(
            "import sys\nimport tensorflow as tf\nFLAGS = tf.app.flags.FLAGS\nFLAGS._parse_flags()",
            "import sys\nimport tensorflow as tf\nFLAGS = tf.app.flags.FLAGS\nFLAGS(sys.argv)",
        ),
        Example.same(
            "FLAGS = tf.flags.FLAGS\nok = FLAGS._parse_flags() is None",
            level="manual",
            write="import sys\nimport tensorflow as tf\nFLAGS = tf.flags.FLAGS\nFLAGS(sys.argv)",
        ),
        Example.same("import argparse\nparser = argparse.ArgumentParser()\nparser._parse_flags()", note="another object"),
    ),
)
def parsed_flags(call: Call) -> None:
    """Has the command line read as absl's flags do it."""
    script = call.script
    statement = script.walked.parents.get(id(call.node))
    line = script.walked.parents.get(id(statement)) if statement is not None else None
    if is_guarded(call) or not isinstance(call.node.func, cst.Attribute):
        return
    is_alone = isinstance(statement, cst.Expr) and isinstance(line, cst.SimpleStatementLine) and len(line.body) == 1
    if not is_alone or call.args:
        return call.manual("Flags have no _parse_flags since TensorFlow 1.5: write FLAGS(sys.argv).")
    start, end = script.tree.span(call.node)
    bindings = call.scope.lookup("sys")
    if not bindings or any(b.kind != "import" or b.target != "sys" for b in bindings):
        line_start = script.lines.line_start(start)
        call.insert(line_start, "".join((script.text[line_start:start], "import sys", script.newline_at(start))))
    call.replace_range(script.tree.span(call.node.func.value)[1], end, "(sys.argv)")
    return call.fixed("Flags have no _parse_flags since TensorFlow 1.5: FLAGS(sys.argv) reads the command line.")


@part_of(
    old_name,
    matches=("tensorflow.app.flags.DEFINE_float", "tensorflow.flags.DEFINE_float"),
    why="Before TensorFlow 1.5 the default of a flag stayed what was written; absl makes 20.0 of 20, and no list is cut by that.",
    done_when="`tf2npu run` passes the lines that count with the flag, and its value prints as an int.",
    source=_SOURCE,
    examples=(
        Example(
            "tf.app.flags.DEFINE_float('batch_size', 20, 'rows')\nFLAGS = tf.app.flags.FLAGS\nn = FLAGS.batch_size",
            "tf.app.flags.DEFINE_integer('batch_size', 20, 'rows')\nFLAGS = tf.app.flags.FLAGS\nn = FLAGS.batch_size",
        ),
        Example.same(
            "tf.app.flags.DEFINE_float('batch_size', 20, 'rows')",
            level="manual",
            write="tf.app.flags.DEFINE_integer('batch_size', 20, 'rows')",
            note="read elsewhere, if at all",
        ),
        Example.same("tf.app.flags.DEFINE_float('batch_size', 20.0, 'rows')", note="written as what it is"),
        Example.same("tf.app.flags.DEFINE_float('max_norm', 5, 'limit')", note="counts nothing"),
    ),
)
def counting_float(call: Call) -> None:
    """Has flags that count something, and whose default is whole, defined as whole numbers.

    The default is then what it was before TensorFlow 1.5; a value of the command line was a float there as well, and cut no list.
    """
    name, default = call.value("name", 0), call.value("default_value", 1)
    text = text_of(name, call.scope) if name is not None else None
    if text is None or not isinstance(default, cst.Integer) or not _COUNTS.search(text):
        return
    function = call.node.func
    if isinstance(function, cst.Attribute) and re.search(rf"\.{re.escape(text)}\b", call.script.text):
        call.replace(function.attr, "DEFINE_integer")
        return call.fixed(
            f"Since TensorFlow 1.5 DEFINE_float makes {default.value}.0 of {default.value}, which is no index or size: "
            "DEFINE_integer keeps it whole."
        )
    return call.manual(
        f"Since TensorFlow 1.5 this flag is {default.value}.0, which is no index or size: write DEFINE_integer if it counts "
        "something.",
        called(call, call.source(function).removesuffix("float") + "integer"),
        replaces=True,
    )


@part_of(
    old_name,
    matches=_DEFINED,
    why="TensorFlow 1.15 imports absl's logging and tests, which have flags of these names: a second one ends the program.",
    source="absl/logging/__init__.py and absl/flags/_flagvalues.py of absl-py",
    examples=(
        Example(
            "tf.app.flags.DEFINE_string('log_dir', 'logs', 'where')",
            "tf.app.flags.DEFINE_string('log_dir', 'logs', 'where', allow_override=True)",
        ),
        Example.same("tf.app.flags.DEFINE_string('logdir', 'logs', 'where')", note="a name that is free"),
        Example.same("tf.app.flags.DEFINE_string('log_dir', 'l', 'where', allow_override=True)", note="takes the other's place"),
    ),
)
def taken_name(call: Call) -> None:
    """Has flags whose name absl has taken replace absl's."""
    name = call.value("name", 0)
    text = text_of(name, call.scope) if name is not None else None
    if text not in _TAKEN or call.has_star_args or call.value("allow_override") is not None or is_guarded(call):
        return
    call.add_keyword("allow_override=True")
    call.fixed("absl has a flag of this name, and two end the program: allow_override=True lets this one take its place.")
