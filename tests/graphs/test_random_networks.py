"""Networks made at random from a seed train on the device as on TensorFlow: losses, outputs, gradients and variables.

TF2NPU_RANDOM_NETWORKS=1000 (make acceptance) draws so many instead of 40. One alone: -k network17.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from npu_runtime.passes.fuse import fuse_elementwise, fuse_optimizer_gradients
from npu_runtime.passes.schedule import plan_overlap
from tests.graphs.check import distance, initialize, load, read
from tests.graphs.drawing import CLIPS, OPTIMIZERS, Draw, Network
from tests.graphs.random_images import BLOCKS, LOSSES, NORMS, image_network
from tests.graphs.random_sequences import CELLS, HEADS, LAYERS, sequence_network
from tests.runtime.device import device_session, leave_extents_open

N_NETWORKS = int(os.environ.get("TF2NPU_RANDOM_NETWORKS", "40"))
N_STEPS = 3
TOLERANCE = 1e-4
"""Norm of a difference over the norm of TensorFlow's value, as for the graphs that were written by hand."""
NUDGE = 16 * np.finfo(np.float32).eps
"""How far inputs are moved at most, relative to them: about what the sums of a layer of this size lose by their order."""
N_NUDGES = 12
"""TensorFlow's own runs at most that say what a value is worth, where the device's is farther off than TOLERANCE."""
Values = dict[str, np.ndarray]


@dataclass
class Moment:
    """A step: the variables it starts from, and all that it gives."""

    before: Values
    given: Values


def network(seed: int) -> Network:
    """Two of three are of images."""
    draw = Draw(seed)
    with tf.variable_scope("", use_resource=draw.chance(0.5)):
        return sequence_network(draw) if seed % 3 == 2 else image_network(draw)


def run(session: tf.Session, made: Network, starts: list[Values], random: np.random.Generator | None = None) -> list[Moment]:
    """N_STEPS steps, from `starts` where they are given.  random: moves what is fed in its last bits."""
    variables = tf.global_variables()
    initialize(session, variables)
    moments = []
    for step in range(N_STEPS):
        feeds = made.feeds(step)
        if step < len(starts):
            load(session, variables, moved(starts[step], random) if random else starts[step])
        before = read(session, variables)
        _, outputs = session.run([made.train, made.outputs], moved(feeds, random) if random else feeds)
        moments.append(Moment(before, {**outputs, **read(session, variables)}))
    return moments


def moved(values: dict, random: np.random.Generator) -> dict:
    """Every fp32 element a little larger or smaller."""
    return {
        key: np.asarray(value * (1 + NUDGE * random.uniform(-1, 1, value.shape)), value.dtype)
        if value.dtype == np.float32
        else value
        for key, value in values.items()
    }


def distances(mine: list[Moment], theirs: list[Moment]) -> dict[str, float]:
    """By name, the largest of all steps.  Raises: AssertionError for another dtype or shape, or if TensorFlow's is not finite."""
    found: dict[str, float] = {}
    for one, other in zip(mine, theirs, strict=True):
        for name, value in other.given.items():
            assert (one.given[name].dtype, one.given[name].shape) == (value.dtype, value.shape), name
            assert np.isfinite(value).all(), f"{name} is not finite on TensorFlow"
            found[name] = max(found.get(name, 0.0), np.nan_to_num(distance(one.given[name], value), nan=np.inf))
    return found


def too_far(made: Network, theirs: list[Moment], mine: list[Moment]) -> dict[str, tuple[float, float]]:
    """(distance, what is allowed) of values farther off than TensorFlow from itself on inputs moved in their last bits."""
    far = {name: (apart, TOLERANCE) for name, apart in distances(mine, theirs).items() if not apart <= TOLERANCE}
    for number in range(N_NUDGES):
        if not far:
            break
        with tf.Session() as session:
            nudged = run(session, made, [moment.before for moment in theirs], np.random.default_rng(number))
        own = distances(nudged, theirs)
        far = {name: (apart, max(allowed, 3 * own[name])) for name, (apart, allowed) in far.items()}
        far = {name: (apart, allowed) for name, (apart, allowed) in far.items() if apart > allowed}
    return far


def compare(seed: int) -> None:
    """Raises: AssertionError that names the network and what is too far off."""
    with tf.Graph().as_default():
        tf.set_random_seed(seed)
        made = network(seed)
        with tf.Session() as session:
            theirs = run(session, made, [])
        with device_session() as session:
            mine = run(session, made, [moment.before for moment in theirs])
        wrong = too_far(made, theirs, mine)
        rows = [f"{name}: {apart:.1e} apart, {allowed:.1e} allowed" for name, (apart, allowed) in wrong.items()]
        assert not wrong, "\n".join([made.description, *rows])


@pytest.mark.parametrize("seed", range(N_NETWORKS), ids=[f"network{seed}" for seed in range(N_NETWORKS)])
def test_same_as_tensorflow(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some with small values fused and run beside others, as only large ones are otherwise; some for feeds of any extent."""
    if seed % 4 > 1:
        leave_extents_open(monkeypatch)
    if seed % 2:
        monkeypatch.setattr(fuse_elementwise, "SMALLEST", 1)
        monkeypatch.setattr(fuse_optimizer_gradients, "SMALLEST", 1)
        monkeypatch.setattr(plan_overlap, "LEAST_SECONDS", -1.0)
    compare(seed)


def test_every_choice_is_drawn() -> None:
    """A draw is a network's description alone, and a thousand have everything."""
    noted = set()
    for seed in range(200):
        with tf.Graph().as_default():
            noted.update(network(seed).description.split(", "))
    wanted = {*BLOCKS, *NORMS, *LOSSES, *LAYERS, *CELLS, *HEADS, *OPTIMIZERS, *CLIPS} - {""}
    assert wanted <= noted
