"""Child process: the original script on plain TensorFlow; writes what its profiler says of the first training step.

A test starts it:

    python profiled_run.py RECORD.json SCRIPT [ARGS...]
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections import Counter
from pathlib import Path

from plain_tf1 import put_v1_in_place, run_script


def main(record: str, script: str, *arguments: str) -> None:
    v1 = put_v1_in_place()
    from recorder import Recorder

    _switch_grappler_off(v1)
    steps = []

    def keep_first(*step) -> None:
        steps.extend([step] if not steps else [])

    with tempfile.TemporaryDirectory() as work:
        recorder = Recorder(Path(work) / "step0", restore=False, on_traced_step=keep_first)
        recorder.install()
        run_script(script, list(arguments))
    Path(record).write_text(json.dumps(flops_by_op(v1, *steps[0])))


def _switch_grappler_off(v1) -> None:
    """Every node of the graph then runs under its own name, and the trace has its shapes."""
    original = v1.Session.__bases__[0].__init__

    def init(session, target="", graph=None, config=None):
        config = v1.ConfigProto() if config is None else config
        config.graph_options.rewrite_options.disable_meta_optimizer = True
        original(session, target, graph, config)

    v1.Session.__bases__[0].__init__ = init


def _give_feeds_their_shapes(graph, metadata) -> None:
    """The profiler fills in shapes that are open in the graph from what ran, but a fed placeholder does not run.

    Only for after the last step: the graph takes no other batch size any more.
    """
    for device in metadata.step_stats.dev_stats:
        for node in device.node_stats:
            fed = re.fullmatch(r"_arg_(.+)_(\d+)_\d+", node.node_name)
            if fed and node.output:
                shape = [dimension.size for dimension in node.output[0].tensor_description.shape.dim]
                graph.get_tensor_by_name(f"{fed[1]}:{fed[2]}").set_shape(shape)


def flops_by_op(v1, graph, ops, metadata) -> dict[str, int]:
    """Floating-point operations of `ops` by op type, as TensorFlow's profiler counts them; 0 where it does not."""
    _give_feeds_their_shapes(graph, metadata)
    options = v1.profiler.ProfileOptionBuilder(v1.profiler.ProfileOptionBuilder.float_operation())
    tree = v1.profiler.profile(graph, metadata, cmd="scope", options=options.with_empty_output().build())
    types = {op.name: op.type for op in ops}
    counts: Counter[str] = Counter(dict.fromkeys(types.values(), 0))
    todo = [tree]
    while todo:
        node = todo.pop()
        todo.extend(node.children)
        if node.name in types:
            counts[types[node.name]] += node.float_ops
    return dict(sorted(counts.items()))


if __name__ == "__main__":
    main(*sys.argv[1:])
