"""Equal inputs for two runs: seeds, the order of the data, dropout that keeps all."""

from __future__ import annotations

import functools
import random
import sys
import zlib

SEED = 20


def seed_generators(module):
    """Python's and numpy's generators start anew behind the import of TensorFlow, which may draw from them."""
    random.seed(SEED)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(SEED)


def fix_seeds(random_seed):
    """Every random op gets a seed that depends on its name scope alone; both TensorFlows count their ops differently."""

    def get_seed(op_seed):
        from tensorflow.python.framework import ops

        scope = ops.get_default_graph().get_name_scope()
        return SEED, op_seed if op_seed is not None else zlib.crc32(scope.encode()) % 10000

    random_seed.get_seed = get_seed


def fix_distorted_boxes(gen_image_ops):
    """Random crops do not ask for a seed as the other random ops do."""
    for name in ("sample_distorted_bounding_box", "sample_distorted_bounding_box_v2"):
        op = getattr(gen_image_ops, name)
        setattr(gen_image_ops, name, functools.partial(seeded, op))


def seeded(op, *args, **kwargs):
    """Call a function that makes a random op."""
    return op(*args, **dict(kwargs, seed=SEED, seed2=SEED))


def fix_order(datasets):
    """Datasets neither shuffle nor work in parallel: random ops in a parallel map give no element the same number twice."""
    for kind in (datasets.DatasetV2, datasets.DatasetV1):
        kind.shuffle = lambda self, *args, **kwargs: self
        for name in ("map", "interleave"):
            setattr(kind, name, sequential(getattr(kind, name)))
        kind.list_files = staticmethod(unshuffled_files(kind.list_files))


def sequential(method):
    """A dataset's method without parallel calls."""

    @functools.wraps(method)
    def called(self, map_func, *args, **kwargs):
        names = ("cycle_length", "block_length") if method.__name__ == "interleave" else ()
        given = dict(zip(names, args), **kwargs)  # noqa: B905, as Python 3.7 has no strict=
        return method(self, map_func, **{name: given[name] for name in names if name in given})

    return called


def unshuffled_files(list_files):
    """Dataset.list_files in the order of the names."""
    return lambda pattern, shuffle=None, seed=None, **kwargs: list_files(pattern, shuffle=False)


def fix_shuffle_and_repeat(module):
    """shuffle_and_repeat only repeats."""
    module.shuffle_and_repeat = lambda size, count=None, seed=None: lambda dataset: dataset.repeat(count)


def fix_map_and_batch(module):
    """map_and_batch maps one element after the other."""

    def map_and_batch(map_func, batch_size, num_parallel_batches=None, drop_remainder=False, num_parallel_calls=None):
        return lambda dataset: dataset.map(map_func).batch(batch_size, drop_remainder)

    module.map_and_batch = map_and_batch


def fix_parallel_interleave(module):
    """parallel_interleave takes turns."""

    def parallel_interleave(map_func, cycle_length, block_length=1, sloppy=False, *args, **kwargs):
        return lambda dataset: dataset.interleave(map_func, cycle_length, block_length)

    module.parallel_interleave = parallel_interleave


def fix_dropout(nn_ops):
    """TensorFlow's dropout keeps all."""
    if hasattr(nn_ops, "_dropout"):  # 2.15: what all spellings end in
        inner = nn_ops._dropout
        nn_ops._dropout = lambda *args, **kwargs: inner(**dict(kwargs, rate=0.0)) if not args else args[0]
    else:
        nn_ops.dropout_v2 = lambda x, *args, **kwargs: x


def fix_npu_dropout(npu_ops):
    """The device's dropout keeps all."""
    dropout = npu_ops.dropout
    npu_ops.dropout = lambda x, keep_prob, *args, **kwargs: dropout(x, 1.0, *args, **kwargs)
