"""Differences of two trainings of a network, and those allowed: 1e-4, or three times TensorFlow's distance from itself."""

from __future__ import annotations

import json
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

import numpy as np

FIXTURE = Path(__file__).parents[2] / "fixtures" / "tf2" / "spreads.json"
STATED_TOLERANCE = 1e-4
SMALLEST_SCALE = 1e-2
"""Weights below this are compared with it: a bias that has hardly left 0 has no digits of its own."""


class Apart(NamedTuple):
    """Relative differences of each loss to the loss, and of each array of weights to its largest number."""

    losses: list[float]
    weights: list[float]


def apart(ours: Path, theirs: Path) -> Apart:
    """The differences between two files of train_networks.py."""
    a, b = np.load(ours), np.load(theirs)
    losses = np.abs(a["losses"] - b["losses"]) / np.abs(b["losses"])
    return Apart(losses.tolist(), [_relative(a[f"w{place}"], b[f"w{place}"]) for place in range(len(b.files) - 1)])


def _relative(ours: np.ndarray, theirs: np.ndarray) -> float:
    if ours.shape != theirs.shape:
        return float("inf")
    ours, theirs = ours.astype(np.float64), theirs.astype(np.float64)
    largest = max(np.abs(theirs).max(initial=0), SMALLEST_SCALE)
    return float(np.abs(ours - theirs).max(initial=0) / largest)


def recorded() -> list[str]:
    """The networks, which all have a record."""
    return sorted(json.loads(FIXTURE.read_text(encoding="utf-8"))["networks"])


def allowed(network: str) -> Apart:
    """One a step and an array. A step is allowed what those before it were, as differences only grow by training."""
    spread = json.loads(FIXTURE.read_text())["networks"][network]
    losses = [max(STATED_TOLERANCE, 3 * one) for one in accumulate(spread["losses"], max)]
    return Apart(losses, [max(STATED_TOLERANCE, 3 * one) for one in spread["weights"]])


def too_far(network: str, found: Apart) -> list[str]:
    """Lines about what is further apart than allowed.

    Losses of several steps at once, means over an epoch and predictions, which have no record of their own, are allowed what
    the last step, or the most distant array, is. NaN is too far.
    """
    limit = allowed(network)
    steps = limit.losses if len(found.losses) >= len(limit.losses) else []
    losses = steps + [limit.losses[-1]] * (len(found.losses) - len(steps))
    weights = limit.weights + [max(limit.weights)] * (len(found.weights) - len(limit.weights))
    rows = [("loss", place, *pair) for place, pair in enumerate(zip(found.losses, losses, strict=True))]
    rows += [("array", place, *pair) for place, pair in enumerate(zip(found.weights, weights, strict=True))]
    return [f"{network} {kind} {place}: {far:.1e} apart, {may:.1e} allowed" for kind, place, far, may in rows if not far <= may]
