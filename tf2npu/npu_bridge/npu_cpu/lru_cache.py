"""A cache of embedding rows on the device."""

from __future__ import annotations

from typing import Any, NoReturn

import tensorflow as tf
from npu_bridge._unsupported import refuse

_REASON = "the simulated device has no embedding cache; look the rows up with tf.gather"


class LruCache:
    """Made and kept; its operations are refused."""

    def __init__(self, cache_size: int = 100000, load_factor: float = 1, dtype: tf.DType = tf.uint32) -> None:
        self.cache_size, self.load_factor, self.dtype = cache_size, load_factor, dtype

    def cache_add(self, ids: Any) -> NoReturn:
        """Refused."""
        refuse("LruCache.cache_add", _REASON)

    def cache_remote_index_to_local(self, ids: Any) -> NoReturn:
        """Refused."""
        refuse("LruCache.cache_remote_index_to_local", _REASON)

    def cache_all_index_to_local(self) -> NoReturn:
        """Refused."""
        refuse("LruCache.cache_all_index_to_local", _REASON)
