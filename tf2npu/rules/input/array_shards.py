"""Arrays that a Keras model is trained on: every rank holds all of them."""

from __future__ import annotations

import re
from typing import Any

from tf2npu.config import Config
from tf2npu.rules.base import Example, part_of
from tf2npu.rules.facts.constant_values import bound_value
from tf2npu.rules.facts.files.script_kinds import is_test_script
from tf2npu.rules.input.shards import missing_shard
from tf2npu.scanner.sites import Call

_TF = Config(distributed="tf", select=frozenset({"NPU604"}))
_MODEL = "m = tf.keras.Model(i, o)\n"
_BY_RANK = re.compile(r"rank|shard", re.IGNORECASE)


@part_of(
    missing_shard,
    matches=("tensorflow.keras.Model().fit", "tensorflow.keras.Sequential().fit"),
    source="tf.keras.Model.fit(x, y, ...) of TensorFlow 1.15, where y comes with arrays only; TensorFlow adapter porting guide",
    examples=(
        Example.same(f"{_MODEL}m.fit(x, y, epochs=3)", level="manual", config=_TF),
        Example.same(f"{_MODEL}m.fit(x=images, y=labels)", level="manual", config=_TF),
        Example.same(f"{_MODEL}m.fit(x[get_rank_id()::get_rank_size()], y[get_rank_id()::get_rank_size()])", config=_TF),
        Example.same(f"{_MODEL}m.fit(dataset, epochs=3)", note="no arrays", config=_TF),
        Example.same(f"{_MODEL}m.fit(x, y, epochs=3)", note="one device", config=Config(select=frozenset({"NPU604"}))),
    ),
)
def whole_arrays(call: Call) -> None:
    """Reports arrays of which every rank would train on all."""
    data, labels = call.value("x", 0), call.value("y", 1)
    if call.script.config.distributed not in ("horovod", "tf") or data is None or is_test_script(call.script):
        return
    if labels is not None and call.resolve(labels) != "None" and not _is_part(call, data):
        call.manual(
            f"Every rank trains on all of {call.source(data)}: give it its part of the arrays, as with "
            "[get_rank_id()::get_rank_size()] behind each."
        )


def _is_part(call: Call, data: Any) -> bool:
    """Whether the text tells that an array is a rank's part."""
    made = bound_value(data, call.scope)
    return any(_BY_RANK.search(call.source(node)) for node in (data, made) if node is not None)
