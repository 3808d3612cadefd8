"""Defaults of flags that TensorFlow before 1.5 kept as they were written, and absl refuses."""

from __future__ import annotations

from typing import Any

import libcst as cst

from tf2npu.rules.base import Example, rule
from tf2npu.rules.facts.old_libraries import is_guarded
from tf2npu.scanner.sites import Call

_KINDS = ("integer", "string", "boolean", "bool", "float")
_TRUE = ("true", "t", "1", "false", "f", "0")
"""Texts that absl reads as truth values."""


@rule(
    id="NPU990",
    title="Default of a flag that is refused",
    matches=tuple(f"tensorflow.{module}.DEFINE_{kind}" for module in ("app.flags", "flags") for kind in _KINDS),
    why="The flags are absl's since TensorFlow 1.5, which end the program where a default is of another type than the flag.",
    done_when="`tf2npu run` passes the definition, and the flag prints as what the program counts with.",
    source="absl/flags/_argument_parser.py of absl-py; tensorflow/python/platform/flags.py of TensorFlow 1.4 and 1.15",
    examples=(
        Example("tf.flags.DEFINE_integer('steps', 1e5, 'how many')", "tf.flags.DEFINE_integer('steps', 100000, 'how many')"),
        Example("tf.flags.DEFINE_integer('rate', 0.5, 'how fast')", "tf.flags.DEFINE_float('rate', 0.5, 'how fast')"),
        Example("tf.flags.DEFINE_string('size', 3, 'how large')", "tf.flags.DEFINE_integer('size', 3, 'how large')"),
        Example.same(
            "tf.flags.DEFINE_string('sizes', [1, 2], 'how large')",
            level="manual",
            write="tf.flags.DEFINE_list('sizes', ['1', '2'], 'how large')",
        ),
        Example.same("tf.flags.DEFINE_integer('steps', '3', 'how many')", note="absl reads the number"),
        Example.same("tf.flags.DEFINE_float('rate', 1, 'how fast')", note="absl makes 1.0 of it"),
        Example.same("tf.flags.DEFINE_boolean('fast', 0, 'whether')", note="absl makes False of it"),
        Example.same("tf.flags.DEFINE_string('path', None, 'where')", note="no default"),
    ),
)
def refused_default(call: Call) -> None:
    """Gives flags the type of their default where nothing else is meant, and reports other defaults that absl refuses."""
    default = call.value("default_value", 1) or call.value("default", 1)
    kind = call.name.rpartition("_")[2].replace("bool", "boolean").replace("booleanean", "boolean")
    of = _type_of(default)
    if default is None or not of or call.has_star_args or is_guarded(call) or _is_taken(kind, of, default):
        return None
    if kind == "integer" and of == "float" and isinstance(default, cst.Float) and float(default.value).is_integer():
        call.replace(default, str(int(float(default.value))))
        return call.fixed("absl takes no floating-point number for this flag: the default is written as a whole number.")
    if (kind, of) in (("integer", "float"), ("string", "integer"), ("string", "float"), ("string", "boolean")):
        name = call.source(call.node.func)
        call.replace_callee(name[: name.rindex("_") + 1] + of)
        return call.fixed(f"absl refuses a default of another type: the flag is one of the type of its default now, {of}.")
    return call.manual(f"absl ends the program here, as {call.source(default)} is no {kind}: write a default that is one.")


def _type_of(node: Any) -> str:
    """The type of a default that is written out, as flags call it; "" where it is not, or is None."""
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Minus):
        return _type_of(node.expression)
    if isinstance(node, cst.Name):
        return "boolean" if node.value in ("True", "False") else ""
    kinds: dict[type, str] = {
        cst.Integer: "integer",
        cst.Float: "float",
        cst.SimpleString: "string",
        cst.List: "list",
        cst.Tuple: "list",
    }
    return kinds.get(type(node), "")


def _is_taken(kind: str, of: str, default: Any) -> bool:
    """Whether absl takes a default of a type for a flag of a kind."""
    if of == "string":
        return kind == "string" or _is_read(kind, default)
    if kind == "boolean":
        return of == "boolean" or (of == "integer" and getattr(default, "value", "") in ("0", "1"))
    return kind == of or (kind == "float" and of == "integer")


def _is_read(kind: str, default: cst.SimpleString) -> bool:
    """Whether absl reads a text as a value of a kind."""
    text = str(default.evaluated_value)
    if kind == "boolean":
        return text.lower() in _TRUE
    try:
        int(text, 0) if kind == "integer" else float(text)
    except ValueError:
        return False
    return True
