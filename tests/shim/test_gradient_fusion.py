"""Gradients that share a call have the bits of those that do not, and of TensorFlow's own sums, over real ranks."""

from __future__ import annotations

import hashlib
import json

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tests.shim.test_launch import launch, script  # noqa: F401

REDUCED = """
import hashlib, json, os
import numpy as np
from npu_bridge.npu_init import *
tf.disable_eager_execution()
rank = int(os.environ["RANK_ID"])
SPLIT
tensors = []
for number, (shape, dtype) in enumerate([([3, 5], "float32"), ([], "float32"), ([7], "float16"), ([1300, 1000], "float32"),
                                         ([2, 2, 2], "float16"), ([4], "int32"), ([0, 3], "float32"), ([4], "int32")]):
    value = np.random.RandomState(10 * rank + number).standard_normal(shape) * 100
    tensors.append(tf.placeholder_with_default(np.asarray(value).astype(dtype), shape))
reduced = [hccl_ops.allreduce(tensor * 3, "sum", fusion=FUSION) for tensor in tensors]
config = tf.ConfigProto()
config.graph_options.rewrite_options.custom_optimizers.add().name = "NpuOptimizer"
config.graph_options.rewrite_options.remapping = RewriterConfig.OFF
with tf.Session(config=config) as session:
    session.run(npu_ops.initialize_system())
    for _ in range(2):
        made = session.run([reduced, [2 * value for value in reduced]])
    print(json.dumps([[[str(v.dtype), v.shape, hashlib.sha256(v.tobytes()).hexdigest()] for v in some] for some in made]))
"""


def _printed(stdout: str) -> list[object]:
    return [json.loads(line.split("] ", 1)[-1]) for line in stdout.splitlines() if "float16" in line]


def _sums() -> list[np.ndarray]:
    """TensorFlow's sums of what both ranks bring, one of which takes several pieces.

    Those of 16-bit floats are rounded once, as the first rounding is that of the product.
    """
    shapes = [([3, 5], "float32"), ([], "float32"), ([7], "float16"), ([1300, 1000], "float32"), ([2, 2, 2], "float16"),
              ([4], "int32"), ([0, 3], "float32"), ([4], "int32")]  # fmt: skip
    with tf.Graph().as_default(), tf.Session() as session:
        made = []
        for number, (shape, dtype) in enumerate(shapes):
            both = [np.random.RandomState(10 * rank + number).standard_normal(shape) * 100 for rank in (0, 1)]
            made.append(tf.add_n([tf.constant(np.asarray(value).astype(dtype)) * 3 for value in both]))
        return session.run(made)


@pytest.mark.whole(beyond=1)
@pytest.mark.parametrize(
    ("fusion", "split"),
    [
        (0, ""),
        (1, ""),
        (1, "set_split_strategy_by_size([30, 30, 40])"),
        (1, "set_split_strategy_by_idx([1, 3])"),
        ("2, fusion_id=4", ""),
    ],
    ids=["unfused", "default", "by size", "by index", "by id"],
)
def test_two_ranks_have_tensorflows_sums_however_calls_are_shared(script, fusion, split):  # noqa: F811
    text = REDUCED.replace("SPLIT", split).replace("FUSION", str(fusion))
    done = launch("--devices", "2", script(text))
    assert done.returncode == 0, done.stderr[-3000:]
    ranks = _printed(done.stdout)
    assert len(ranks) == 2 and ranks[0] == ranks[1]
    sums = _sums()
    wanted = [
        [[str(v.dtype), list(v.shape), hashlib.sha256(v.tobytes()).hexdigest()] for v in some]
        for some in (sums, [v * v.dtype.type(2) for v in sums])
    ]
    assert ranks[0] == wanted


def test_ranks_that_would_share_other_gradients_are_told(script):  # noqa: F811
    """Gradients of the same size in all, in another order, would be added up silently."""
    turned = "tensors = tensors[::-1] if rank else tensors\nreduced = "
    text = REDUCED.replace("SPLIT", "").replace("FUSION", "1").replace("reduced = ", turned, 1)
    done = launch("--devices", "2", script(text))
    assert done.returncode != 0
    assert "different operations at the same time: rank 0 HcomAllReduce sum tag" in done.stderr
    assert "sums of several gradients in one call" in done.stderr and "fusion=0" in done.stderr
