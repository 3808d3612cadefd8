"""``tensorflow.python.data.experimental.ops.threadpool`` of TF 1.15, over the options that took its place."""

from __future__ import annotations

from typing import Any

import tensorflow as tf


class PrivateThreadPool:
    """The number of threads that a dataset has to itself, and the parallelism of one operation."""

    def __init__(self, num_threads: int, display_name: str | None = None, max_intra_op_parallelism: int = 1) -> None:
        self.num_threads, self.display_name = num_threads, display_name
        self.max_intra_op_parallelism = max_intra_op_parallelism


def override_threadpool(dataset: Any, thread_pool: PrivateThreadPool) -> Any:
    """The dataset with threads of its own."""
    options = tf.data.Options()
    options.threading.private_threadpool_size = thread_pool.num_threads
    options.threading.max_intra_op_parallelism = thread_pool.max_intra_op_parallelism
    return dataset.with_options(options)
