"""Work of the chip's cores in a step of each network with a published step time, as the compiler lowers it.

    python -m benchmarks.published_works [NETWORK ...] > works.json      all take a minute on one core

The compiler needs TensorFlow, the cost model does not: who fits or tests the model reads the JSON, in a process of its own.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from npu_runtime.cost.core_task import CoreWork
from npu_runtime.cost.tiling import Product

Works = Mapping[str, Mapping[CoreWork, int]]
"""Number of times that a step does each work, by "network batch"."""
NETWORKS = {"mobilenet_v3_large": (256, 192, 128, 64, 32, 1), "resnet101": (128,), "bert_large": (96,)}
"""Batch sizes with a published step time, by function of `benchmarks.models.published`."""
SOC, PRECISION = "Ascend910A", "allow_mix_precision"
"""The chip and the mode of those runs: "Ascend 910" and "mixed" where they are published."""


def load_works(*networks: str) -> Works:
    """The works of some networks or of all, compiled in a process of its own.  Raises: CalledProcessError if that fails."""
    command = [sys.executable, "-m", "benchmarks.published_works", *networks]
    return read_works(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def read_works(text: str) -> Works:
    """The works in the output of `main`."""
    return {name: {_work(row["work"]): row["count"] for row in rows} for name, rows in json.loads(text).items()}


def _work(fields: Mapping[str, Any]) -> CoreWork:
    product = fields["product"]
    return CoreWork(**{**fields, "product": None if product is None else Product(**product)})


def main() -> None:
    import npu_bridge  # noqa: F401  `import tensorflow` means TensorFlow 1 behind this line

    from benchmarks.models import published

    made = {}
    for network in sys.argv[1:] or NETWORKS:
        for batch in NETWORKS[network]:
            counted = _compiled_works(getattr(published, network), batch)
            made[f"{network} {batch}"] = [{"count": n, "work": asdict(work)} for work, n in counted.items()]
    json.dump(made, sys.stdout)


def _compiled_works(build: Callable[[int], Any], batch: int) -> Counter[CoreWork]:
    """The works of one training step.  Steps of the compiler that fuse for the simulated device's kernels are left out."""
    import tensorflow.compat.v1 as tf

    from npu_runtime.compiler.compilation import run_steps
    from npu_runtime.compiler.pipeline import LOWER, ON_SHAPES, SIMPLIFY
    from npu_runtime.lowering.lower import lower
    from npu_runtime.session import Request
    from tests.runtime.device import device_of, device_session

    tf.reset_default_graph()
    model = build(batch)
    feeds = [op.outputs[0] for op in tf.get_default_graph().get_operations() if op.type == "Placeholder"]
    device = device_of(device_session(soc=SOC, precision_mode=PRECISION))
    plan = device._plan_for(Request((model.loss.name,), (model.train.name,), tuple(feed.name for feed in feeds)))
    made = device._compilation(plan.main, build.__name__)
    made.extents = [tuple(feed.shape.as_list()) for feed in feeds]
    run_steps((*ON_SHAPES, *LOWER, *SIMPLIFY), made)
    return Counter(task.work for task in lower(made.graph, made.settings.chip) if task.work is not None)


if __name__ == "__main__":
    main()
