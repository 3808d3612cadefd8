"""Writes the banks that the package brings: the products of published networks, tuned for the chips of their step times.

    python -m benchmarks.built_in_bank      five minutes on two cores; the same files for the same code

The networks are ResNet-50, MobileNetV3-Large and BERT-base of `benchmarks.models`, a training step of each in mixed precision.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

BATCHES: dict[str, tuple[int, ...]] = {"resnet50": (32, 256), "mobilenet_v3_large": (32, 256), "bert_base": (8, 32)}
"""Batch sizes by network: of one that many scripts have, and of one that fills the chip."""
SOCS = ("Ascend910A", "Ascend910B2")
"""The chip of the published step times, and the one of the generation after it that most have."""
PRECISION = "allow_mix_precision"
PLACE = Path(__file__).parents[1] / "npu_runtime" / "observers" / "tuning" / "bank" / "built_in"


def main() -> None:
    import npu_bridge  # noqa: F401  `import tensorflow` means TensorFlow 1 behind this line

    for soc in SOCS:
        entries = [entry for name, batches in BATCHES.items() for batch in batches for entry in _tuned(name, batch, soc)]
        _write(soc, {entry.key: entry for entry in entries})


def _networks() -> dict[str, Callable[[int], Any]]:
    from benchmarks.models import language, published, vision

    return {
        "resnet50": vision.resnet50, "mobilenet_v3_large": published.mobilenet_v3_large, "bert_base": language.bert_base,
    }  # fmt: skip


def _tuned(name: str, batch: int, soc: str) -> list[Any]:
    """The entries of a network's products."""
    from npu_formats.device.chip import load_chip
    from npu_runtime.observers.tuning.programs.program_tuner import ProgramTuner
    from npu_runtime.observers.tuning.programs.tuning_request import GA, TuningRequest
    from npu_runtime.observers.tuning.search.parallel import tune_all

    tasks = _lowered(_networks()[name], batch, soc)
    with tempfile.TemporaryDirectory() as folder:
        request = TuningRequest(GA, Path(folder), reads_bank=False, workers=2, seconds=3600.0)
        tuner = ProgramTuner(request, load_chip(soc), tune_all, lambda line: print(line, file=sys.stderr))
        made = tuner.tune(name, tasks)
        before, after = made.us()
        print(f"{soc} {name} {batch}: {len(made.outcomes)} operators, {before:.0f} -> {after:.0f} us")
        return list(tuner.bank.custom.read().values())


def _lowered(build: Callable[..., Any], batch: int, soc: str) -> Any:
    """The tasks of one training step."""
    import tensorflow.compat.v1 as tf

    from npu_formats.device.chip import load_chip
    from npu_runtime.session import Request
    from npu_runtime.simulation.device_compiler import Target, lower_for
    from tests.runtime.device import device_of, device_session

    tf.reset_default_graph()
    model = build(batch)
    feeds = [op.outputs[0] for op in tf.get_default_graph().get_operations() if op.type == "Placeholder"]
    device = device_of(device_session(soc=soc, precision_mode=PRECISION))
    plan = device._plan_for(Request((model.loss.name,), (model.train.name,), tuple(feed.name for feed in feeds)))
    shapes = [tuple(feed.shape.as_list()) for feed in feeds]
    return lower_for(plan.main, shapes, device._placement, device._state.config, Target(load_chip(soc))).tasks


def _write(soc: str, entries: dict[str, Any]) -> None:
    from npu_runtime.observers.tuning.bank.document import render
    from npu_runtime.observers.tuning.bank.operator_bank import OPERATORS
    from npu_runtime.observers.tuning.bank.operator_entry import value_of

    text = render(OPERATORS, {"soc": soc}, [value_of(entries[key]) for key in sorted(entries)])
    PLACE.mkdir(exist_ok=True)
    (PLACE / f"{soc}.json").write_text(text, encoding="utf-8")
    print(f"{soc}: {len(entries)} entries, {len(text) / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
