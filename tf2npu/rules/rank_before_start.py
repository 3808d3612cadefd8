"""Ranks that are asked for before the collective library has started."""

from __future__ import annotations

from tf2npu.rules.base import Example, rule
from tf2npu.scanner.sites import Call

_RANKS = ("get_rank_id", "get_rank_size", "get_local_rank_id", "get_local_rank_size", "create_group")
_STARTS = ("initialize_system", "init_resource", "npu_resource_init", "NPUInit")


@rule(
    id="NPU938",
    title="Rank asked for before the start",
    matches=(*(f"npu_bridge.npu_init.{name}" for name in _RANKS), *(f"hccl.manage.api.{name}" for name in _RANKS)),
    why="HCCL knows its ranks only after npu_ops.initialize_system() was run; before, the call fails.",
    source="TensorFlow adapter porting guide: order of get_rank_id and initialisation",
    examples=(
        Example.same(
            "import tensorflow as tf\nfrom hccl.manage.api import get_rank_id\nrank = get_rank_id()\n",
            level="manual",
            write="import os\nrank = int(os.getenv('RANK_ID', '0'))",
        ),
        Example.same(
            "from hccl.manage.api import get_rank_id\ndef input_fn():\n    return data.shard(8, get_rank_id())",
            note="called by the Estimator, after the start",
        ),
        Example.same(
            "from npu_bridge.npu_init import *\nsess.run(npu_ops.initialize_system())\nrank = get_rank_id()",
            note="after the start",
        ),
    ),
)
def rank_before_start(call: Call) -> None:
    """Reports ranks asked for while a module is imported, with no start before."""
    if call.scope.function is not None:
        return
    before = call.script.text[: call.script.tree.span(call.node)[0]]
    if not any(f"{start}(" in before for start in _STARTS):
        call.manual(
            "Run npu_ops.initialize_system() in a session first, or take the rank from the environment: "
            "int(os.getenv('RANK_ID', '0')), int(os.getenv('RANK_SIZE', '1'))."
        )
