"""Blanks before the colon of an except clause: the parser does not keep them, and they are kept all the same."""

from __future__ import annotations

import pytest

from tf2npu.engine.convert_file import convert_source
from tf2npu.findings import Status

pytestmark = pytest.mark.each_python


@pytest.mark.parametrize(
    "clause",
    [
        "except ValueError :",
        "except (ValueError, TypeError)  :  # why",
        "except (ValueError,\n        TypeError) :",
        "except errors['a : b'] \\\n  :",
        "except\tValueError\t:",
        "except ValueError : pass\nexcept TypeError:",
        "except :",
        "except ValueError as error :",
        "except* ValueError :",
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_blanks_before_the_colon_of_an_except_clause_stay(clause: str, newline: str) -> None:
    """LibCST reads them and does not keep them; the whole file was left alone for that."""
    text = f"import tensorflow as tf\ntry:\n    with tf.Session() as s:\n        pass\n{clause}\n    tf.Session().close()\n"
    text = text.replace("\n", newline)
    result = convert_source(text, "m.py")
    assert result.status is Status.CONVERTED
    kept = [line for line in result.after.decode().split(newline) if "npu_bridge" not in line]
    assert newline.join(kept).replace("config=npu_config_proto()", "") == text
