"""Ranks that are asked for before the collective library has started."""

from __future__ import annotations

import re

from tf2npu.frameworks.horovod.names import names_of
from tf2npu.rules.base import Example, part_of, rule
from tf2npu.rules.distributed.horovod import HVD, is_on
from tf2npu.rules.facts.load_time import is_guarded_start, runs_when_loaded, start_when_loaded, starts_when_loaded
from tf2npu.scanner.sites import Call

_RANKS = ("get_rank_id", "get_rank_size", "get_local_rank_id", "get_local_rank_size", "create_group")
_REMEMBERED = ("get_npu_rank_id", "get_npu_rank_size", "get_npu_local_rank_id", "get_npu_local_rank_size")
_STARTS = ("initialize_system", "init_resource", "npu_resource_init", "NPUInit")


@rule(
    id="NPU938",
    title="Rank asked for before the start",
    matches=(
        *(f"npu_bridge.npu_init.{name}" for name in (*_RANKS, *_REMEMBERED)),
        *(f"hccl.manage.api.{name}" for name in _RANKS),
    ),
    why="HCCL knows its ranks only after npu_ops.initialize_system() was run; before, the call fails.",
    done_when="The ranks of `tf2npu run --devices 2` pass this line and print 0 and 1.",
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
    if not runs_when_loaded(call.script, call.node, call.scope):
        return
    before = call.script.text[: call.script.tree.span(call.node)[0]]
    found = [match.start() for start in _STARTS for match in re.finditer(rf"{start}\(", before)]
    if all(is_guarded_start(call.script, offset) for offset in found):
        call.manual(
            "Run npu_ops.initialize_system() in a session first, or take the rank from the environment: "
            "int(os.getenv('RANK_ID', '0')), int(os.getenv('RANK_SIZE', '1'))."
        )


@part_of(
    rank_before_start,
    matches=names_of("rank", "size", "local_rank", "local_size"),
    why="The NPU's ranks are known once its resources are started, which the entry script does behind its imports.",
    source="npu_bridge.npu_init.init_resource, get_npu_rank_id, get_npu_rank_size",
    examples=(
        Example(
            "import tensorflow as tf\nimport horovod.tensorflow as hvd\nrate = 0.1 * hvd.size()\n"
            "if __name__ == '__main__':\n    hvd.init()",
            "from npu_bridge.npu_init import close_session, get_npu_rank_size, init_resource, shutdown_resource\n"
            "import tensorflow as tf\nrate = 0.1 * get_npu_rank_size()\nif __name__ == '__main__':\n"
            "    npu_sess, npu_shutdown = init_resource()\n    try:\n        pass\n    finally:\n"
            "        shutdown_resource(npu_sess, npu_shutdown)\n        close_session(npu_sess)",
            level="manual",
            config=HVD,
        ),
        Example.same("import horovod.tensorflow as hvd\nrate = 0.1 * hvd.size()", note="without --distributed horovod"),
        Example.same("import my_ranks as hvd\nrate = 0.1 * hvd.size()", note="not Horovod's", config=HVD),
    ),
)
def horovod_rank_before_start(call: Call) -> None:
    """Reports ranks that are asked for while a file is loaded, before an entry script starts the NPU."""
    script = call.script
    if not is_on(call) or not runs_when_loaded(script, call.node, call.scope) or starts_when_loaded(script):
        return
    start = start_when_loaded(script)
    if start is not None and script.tree.span(start)[0] < script.tree.span(call.node)[0]:
        call.manual(
            "Where another file loads this one, this runs before that one starts the NPU's resources: ask in a function that is "
            "called later, or take the rank from the environment: int(os.getenv('RANK_ID', '0')), "
            "int(os.getenv('RANK_SIZE', '1'))."
        )
    else:
        call.manual(
            "This runs while the file is loaded, before the NPU's resources are started: ask in a function that is called later, "
            "or take the rank from the environment: int(os.getenv('RANK_ID', '0')), int(os.getenv('RANK_SIZE', '1'))."
        )
