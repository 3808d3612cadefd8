"""Prints how many variables a fit of 50 steps without callbacks copies between its second step and its last.

A fit with a callback would have eager code between the steps. The counters are read by the input instead, which is asked for a
batch before each step: nothing is prefetched.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3]))

import tensorflow as tf

from tests.legs.tf2 import sides

N_STEPS = 50


def main() -> None:
    sides.begin(sides.DEVICE)
    from tests.legs.tf2.cases.small_networks import X, Y, network

    seen: list[dict[str, int]] = []

    def batches() -> Iterator[tuple[tf.Tensor, tf.Tensor]]:
        for _ in range(N_STEPS):
            seen.append(dict(sides.copies(sides.DEVICE)))
            yield X[:8], Y[:8]

    kinds = (tf.TensorSpec([8, 6]), tf.TensorSpec([8, 2]))
    dataset = tf.data.Dataset.from_generator(batches, output_signature=kinds)
    options = tf.data.Options()
    options.autotune.enabled = False
    network().fit(dataset.with_options(options), steps_per_epoch=N_STEPS, verbose=0)
    print(json.dumps({"between": {way: seen[-1][way] - seen[2][way] for way in seen[2]}}), flush=True)


if __name__ == "__main__":
    main()
