"""Shuffles whose buffer takes long to fill."""

from __future__ import annotations

from tf2npu.rules.facts.constant_values import integer_of
from tf2npu.rules.facts.flag_defaults import flag_default
from tf2npu.scanner.script import Script
from tf2npu.scanner.script_facts import fact
from tf2npu.scanner.sites import Call

SHUFFLES = {
    "tensorflow.data.Dataset().shuffle": "buffer_size",
    "tensorflow.data.experimental.shuffle_and_repeat": "buffer_size",
}
"""APIs that shuffle through a buffer, and the parameter that is its size: the first of each."""
LARGE = 1_000_000
"""Elements. tf.data reads and parses some 10,000 to 100,000 small records in a second: this many take 10 s to 100 s, and the
device waits for a step's data for about a minute."""


def buffer_size(call: Call) -> int | None:
    """The size of a shuffle's buffer, where it is written out or the default of a flag."""
    size = call.value(SHUFFLES[call.name], 0)
    if size is None:
        return None
    number = integer_of(size, call.scope)
    return flag_default(call, size) if number is None else number


@fact
def has_large_shuffle(script: Script) -> bool:
    """Whether some shuffle of a file has a buffer that takes long to fill."""
    for node, scope in script.walked.calls:
        name = script.name_of(node.func, scope)
        if name in SHUFFLES and (buffer_size(Call(script, "", node, scope, name)) or 0) >= LARGE:
            return True
    return False
