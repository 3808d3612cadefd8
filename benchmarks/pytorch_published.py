"""Published step times of PyTorch networks beside the two bounds that the device's model gives for them.

    python -m benchmarks.pytorch_published [NETWORK ...]      all take a minute; needs torch, any build

Rows are the single-card figures of tests/fixtures/published_torch.csv, and of published_torch_later.csv, which were chosen before
any was predicted. A step is recorded on torch's meta device, in half
precision with SGD of one task for all parameters, as the published scripts have it, and costed without anything fitted to these
rows.
"""

from __future__ import annotations

import csv
import importlib.util
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FIXTURES = Path(__file__).parents[1] / "tests/fixtures"
PUBLISHED, LATER = FIXTURES / "published_torch.csv", FIXTURES / "published_torch_later.csv"
SOC = "Ascend910A"
"""The chip of the rows is called 910, without its variant."""
NETWORKS: dict[str, tuple[str, dict[str, Any]]] = {
    "resnet18": ("resnet", {"depths": (2, 2, 2, 2), "is_basic": True}),
    "resnet34": ("resnet", {"depths": (3, 4, 6, 3), "is_basic": True}),
    "resnet50": ("resnet", {"depths": (3, 4, 6, 3)}),
    "resnet101": ("resnet", {"depths": (3, 4, 23, 3)}),
    "resnet152": ("resnet", {"depths": (3, 8, 36, 3)}),
    "wide_resnet50_2": ("resnet", {"depths": (3, 4, 6, 3), "base": 128}),
    "wide_resnet101_2": ("resnet", {"depths": (3, 4, 23, 3), "base": 128}),
    "resnext101_32x8d": ("resnet", {"depths": (3, 4, 23, 3), "groups": 32, "base": 8}),
    "se_resnet50": ("resnet", {"depths": (3, 4, 6, 3), "gate": 16}),
    "se_resnext50_32x4d": ("resnet", {"depths": (3, 4, 6, 3), "groups": 32, "base": 4, "gate": 16}),
    "densenet121": ("densenet", {"depths": (6, 12, 24, 16)}),
    "densenet161": ("densenet", {"depths": (6, 12, 36, 24), "growth": 48, "channels": 96}),
    "densenet169": ("densenet", {"depths": (6, 12, 32, 32)}),
    "densenet201": ("densenet", {"depths": (6, 12, 48, 32)}),
    "mobilenet_v1": ("mobilenet_v1", {}),
    "mobilenet_v2": ("mobilenet_v2", {}),
    "mnasnet": ("mnasnet", {}),
    "efficientnet_b0": ("efficientnet", {}),
    "shufflenet_v2": ("shufflenet_v2", {}),
    "vgg16": ("vgg16", {}),
    "alexnet": ("alexnet", {}),
}
"""The function of `benchmarks.models.torch_networks` for each network, and what it is called with."""
LATER_NETWORKS: dict[str, tuple[str, dict[str, Any]]] = {
    "efficientnet_b1": ("efficientnet", {"width": 1.0, "depth": 1.1}),
    "efficientnet_b2": ("efficientnet", {"width": 1.1, "depth": 1.2}),
    "efficientnet_b3": ("efficientnet", {"width": 1.2, "depth": 1.4}),
    "efficientnet_b4": ("efficientnet", {"width": 1.4, "depth": 1.8}),
    "efficientnet_b5": ("efficientnet", {"width": 1.6, "depth": 2.2}),
    "resnext50_32x4d": ("resnet", {"depths": (3, 4, 6, 3), "groups": 32, "base": 4}),
    "mobilenet_v3_large": ("mobilenet_v3_large", {}),
    "googlenet": ("googlenet", {}),
    "vit_base_patch32": ("vision_transformer", {"patch": 32}),
    "deit_small": ("vision_transformer", {"patch": 16, "width": 384, "heads": 6}),
    "bert_base_squad": ("QuestionBert", {"width": 768, "depth": 12, "heads": 12}),
    "bert_large_squad": ("QuestionBert", {"width": 1024, "depth": 24, "heads": 16}),
}
"""Those of the second set, also of `benchmarks.models.torch_later_networks`."""
WITHOUT_TORCH = "pytorch_published: torch is not installed, with which the networks are recorded; run `pip install torch` first"


@dataclass(frozen=True)
class Row:
    """A published figure, and images a second at each bound: an operator a task, and fused as a graph."""

    network: str
    batch: int
    published: float
    level: str
    source: str
    operators: float
    fused: float
    unmapped: int

    @property
    def is_between(self) -> bool:
        return self.operators <= self.published <= self.fused

    @property
    def miss(self) -> float:
        """The distance of the published figure from the nearer bound, as a part of it; 0 between them."""
        if self.is_between:
            return 0.0
        return min((bound / self.published - 1 for bound in (self.operators, self.fused)), key=abs)


def rows(names: Sequence[str]) -> Iterator[Row]:
    """The rows of some networks, of all if none is named."""
    from benchmarks.models.torch_recorder import recorded
    from npu_formats.device.chip import load_chip
    from npu_runtime.simulation.operator_bounds import step_bounds

    for row in published():
        if names and row["network"] not in names:
            continue
        batch = int(row["batch"])
        step = _step(row["network"], batch, int(row["size"]))
        made = step_bounds(recorded(step.run, step.parameters), load_chip(SOC))
        rates = (batch / bound.us * 1e6 for bound in (made.operators, made.fused))
        yield Row(row["network"], batch, float(row["per_s"]), row["level"], row["source"], *rates, sum(made.unmapped.values()))


def published() -> Iterator[dict[str, str]]:
    """The rows of both sets; images of the first have 224 pixels a side."""
    with PUBLISHED.open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            yield {**row, "size": "224", "per_s": row["images_per_s"]}
    with LATER.open(encoding="utf-8") as file:
        yield from csv.DictReader(file)


def _step(network: str, batch: int, size: int) -> Any:
    """The step of a network.  size: pixels a side of its images, or words of its texts."""
    from benchmarks.models import torch_later_networks, torch_networks

    function, options = {**NETWORKS, **LATER_NETWORKS}[network]
    make = getattr(torch_networks, function, None) or getattr(torch_later_networks, function)
    if network.endswith("_squad"):
        return torch_later_networks.question_step(make(**options), batch, size)
    return torch_networks.image_step(make(**options), batch, size=size)


def main(names: Sequence[str]) -> int:
    if importlib.util.find_spec("torch") is None:
        print(WITHOUT_TORCH, file=sys.stderr)
        return 2
    known = {**NETWORKS, **LATER_NETWORKS}
    if unknown := set(names) - set(known):
        print(f"pytorch_published: no row is of {', '.join(sorted(unknown))}; rows: {', '.join(known)}", file=sys.stderr)
        return 2
    print("| network | batch | published, images/s | an operator a task | fused as a graph | miss |")
    print("|---|---|---|---|---|---|")
    made = []
    for row in rows(names):
        made.append(row)
        bounds = " | ".join(f"{rate:.0f} ({rate / row.published - 1:+.0%})" for rate in (row.operators, row.fused))
        miss = "between" if row.is_between else f"{row.miss:+.0%}"
        print(
            f"| {row.network}{'' if row.level == 'O2' else ' (O1)'} | {row.batch} | {row.published:.0f} | {bounds} | {miss} |",
            flush=True,
        )
    within = sum(abs(row.miss) <= 0.2 for row in made)
    print(f"\n{sum(row.is_between for row in made)} of {len(made)} between the bounds, {within} there or within 20 % of one; "
          f"operators without a row in the table: {sum(row.unmapped for row in made)}")  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
