"""Defaults of flags: what absl refuses is changed or told, and what it takes is left alone."""

from __future__ import annotations

import pytest
from absl import flags

from tf2npu.engine.convert_file import convert_source

DEFAULTS = (
    "3",
    "-3",
    "1e5",
    "1.5",
    "True",
    "False",
    "None",
    "'3'",
    "'0x10'",
    "'1.5'",
    "'a'",
    "'true'",
    "'yes'",
    "0",
    "1",
    "2",
    "[1]",
)
KINDS = ("integer", "float", "string", "boolean", "bool")


def defined(code: str) -> object:
    """The value of a flag that a line defines."""
    values = flags.FlagValues()
    makers = {kind: getattr(flags, f"DEFINE_{kind}") for kind in KINDS}
    names = {f"DEFINE_{kind}": lambda *given, make=make: make(*given, flag_values=values) for kind, make in makers.items()}
    exec(code.replace("tf.flags.", ""), names)
    values.mark_as_parsed()
    return values["n"].value


@pytest.mark.parametrize("default", DEFAULTS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_default_is_touched_only_where_absl_refuses_it(kind: str, default: str) -> None:
    code = f"tf.flags.DEFINE_{kind}('n', {default}, 'h')"
    result = convert_source(f"import tensorflow as tf\n{code}\n", "m.py")
    said = [f.level.value for f in result.findings if f.rule == "NPU990"]
    after = next(line for line in result.after.decode().splitlines() if "DEFINE_" in line)
    try:
        defined(code)
    except (flags.IllegalFlagValueError, TypeError):
        assert said in (["fixed"], ["manual"])
    else:
        assert said == [] and after == code
    if said == ["fixed"]:
        assert defined(after) == eval(default)  # as TensorFlow before 1.5 kept it
