"""Networks made at random from a seed train on the device as on TensorFlow: losses, outputs, gradients and variables.

TF2NPU_RANDOM_NETWORKS=1000 (make acceptance) draws so many instead of 10. One alone: -k network17.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tests.graphs.check import distance, initialize, load, read
from tests.graphs.drawing import Draw, Network
from tests.graphs.random_images import image_network
from tests.graphs.random_sequences import sequence_network
from tests.how_many import drawn
from tests.runtime.device import compile_in_another_way, device_session

N_NETWORKS = int(os.environ.get("TF2NPU_RANDOM_NETWORKS", str(drawn(40))))
N_STEPS = 3
TOLERANCE = 1e-4
"""Norm of a difference over the norm of TensorFlow's value, as for the graphs that were written by hand."""
ROUNDING = 8 * np.finfo(np.float32).eps
"""Part of the largest gradient: what a smaller one may be off, as it is made of sums of that size which cancel."""
NUDGE = 16 * np.finfo(np.float32).eps
"""Largest move of inputs, relative to them: about the loss of a layer's sums of this size by their order."""
N_NUDGES = 12
"""TensorFlow's own runs at most that say what a value is worth, where the device's is farther off than TOLERANCE."""
NOISE = 0.1
"""Values that TensorFlow gives so far from its own are noise of rounding: of a bias before a norm, whose gradient is zero."""
OWN, OWN_OF_NOISE = 3, 100
"""Times TensorFlow's own distance that the device may be off.  Noise may be ten times as large, and second moments square it."""
INITIAL = 1e-6
"""As TOLERANCE, for initial values: the random numbers are the same, and an initializer does little with them."""

Values = dict[str, np.ndarray]
Key = TypeVar("Key")


@dataclass
class Moment:
    """A step: the variables it starts from, and all that it gives."""

    before: Values
    given: Values


def network(seed: int) -> Network:
    """Of images, or of sequences."""
    draw = Draw(seed)
    with tf.variable_scope("", use_resource=draw.chance(0.5)):
        return image_network(draw) if draw.chance(0.5) else sequence_network(draw)


def run(session: tf.Session, made: Network, starts: list[Values], random: np.random.Generator | None = None) -> list[Moment]:
    """N_STEPS steps, each but the first from one of `starts` if there are any.

    random: moves what the steps are fed and start from in its last bits, the first one's too.
    """
    variables = tf.global_variables()
    initialize(session, variables)
    moments = []
    for step in range(N_STEPS):
        feeds = made.feeds(step)
        if random:
            load(session, variables, moved(starts[step], random))
        elif starts and step:
            load(session, variables, starts[step])
        before = read(session, variables)
        _, outputs = session.run([made.train, made.outputs], moved(feeds, random) if random else feeds)
        moments.append(Moment(before, {**outputs, **read(session, variables)}))
    return moments


def moved(values: dict[Key, np.ndarray], random: np.random.Generator) -> dict[Key, np.ndarray]:
    return {key: slightly_moved(value, random) for key, value in values.items()}


def slightly_moved(value: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Every fp32 element a little larger or smaller."""
    if value.dtype != np.float32:
        return value
    return np.asarray(value * (1 + NUDGE * random.uniform(-1, 1, value.shape)), np.float32)


def distances(mine: list[Moment], theirs: list[Moment]) -> dict[str, float]:
    """By name, the largest of all steps.  Raises: AssertionError for another dtype or shape, or if TensorFlow's is not finite."""
    found: dict[str, float] = {}
    for one, other in zip(mine, theirs, strict=True):
        rounding = ROUNDING * max(np.linalg.norm(value) for name, value in other.given.items() if is_gradient(name))
        for name, value in other.given.items():
            assert (one.given[name].dtype, one.given[name].shape) == (value.dtype, value.shape), name
            assert np.isfinite(value).all(), f"{name} is not finite on TensorFlow"
            if not is_gradient(name) or not np.linalg.norm(one.given[name] - value) <= rounding:
                found[name] = max(found.get(name, 0.0), np.nan_to_num(distance(one.given[name], value), nan=np.inf))
    return found


def is_gradient(name: str) -> bool:
    return name.startswith("gradient ")


def too_far(made: Network, theirs: list[Moment], mine: list[Moment]) -> dict[str, tuple[float, float]]:
    """(distance, what is allowed) of values farther off than TensorFlow from itself on inputs moved in their last bits."""
    far = {name: (apart, TOLERANCE) for name, apart in distances(mine, theirs).items() if not apart <= TOLERANCE}
    for number in range(N_NUDGES):
        if not far:
            break
        with tf.Session() as session:
            nudged = run(session, made, [moment.before for moment in theirs], np.random.default_rng(number))
        own = distances(nudged, theirs)
        far = {name: (apart, max(allowed, allowance(own.get(name, 0.0)))) for name, (apart, allowed) in far.items()}
        far = {name: (apart, allowed) for name, (apart, allowed) in far.items() if apart > allowed}
    return far


def allowance(own: float) -> float:
    """own: a distance of TensorFlow from itself."""
    return own * (OWN_OF_NOISE if own > NOISE else OWN)


def compare(seed: int) -> None:
    """Raises: AssertionError that names the network and what is too far off."""
    with tf.Graph().as_default():
        tf.set_random_seed(seed)
        made = network(seed)
        with tf.Session() as session:
            theirs = run(session, made, [])
        with device_session() as session:
            mine = run(session, made, [moment.before for moment in theirs])
        for name, value in theirs[0].before.items():
            assert distance(mine[0].before[name], value) <= INITIAL, (made.description, name)
        wrong = too_far(made, theirs, mine)
        rows = [f"{name}: {apart:.1e} apart, {allowed:.1e} allowed" for name, (apart, allowed) in wrong.items()]
        assert not wrong, "\n".join([made.description, *rows])


@pytest.mark.parametrize("seed", range(N_NETWORKS), ids=[f"network{seed}" for seed in range(N_NETWORKS)])
def test_same_as_tensorflow(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    compile_in_another_way(seed, monkeypatch)
    compare(seed)
