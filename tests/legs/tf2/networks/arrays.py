"""Small data of known content: images and sentences that a network can learn to tell apart."""

from __future__ import annotations

import numpy as np

CLASSES = 10


def images(count: int, size: int, channels: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Noise with a bright row, whose place is the class.  Returns: [count, size, size, channels] of float32, [count] of int32."""
    labels = (np.arange(count) % CLASSES).astype(np.int32)
    pixels = np.random.RandomState(seed).rand(count, size, size, channels).astype(np.float32) * np.float32(0.3)
    pixels[np.arange(count), labels % size] += 1
    return pixels, labels


def sentences(count: int = 64, length: int = 12, kinds: int = 5, words: int = 10) -> tuple[np.ndarray, np.ndarray]:
    """Each kind of sentence has words of its own, and ends in some zeros.  Returns: [count, length] and [count] of int32."""
    random = np.random.RandomState(1)
    labels = (np.arange(count) % kinds).astype(np.int32)
    ids = 1 + labels[:, None] * words + random.randint(0, words, (count, length))
    ends = random.randint(length // 2, length + 1, (count, 1))
    return np.where(np.arange(length) < ends, ids, 0).astype(np.int32), labels
