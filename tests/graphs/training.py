"""The type of a graph of this suite, and the recipe most TF1 programs share: clip, apply, summarise, save."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

Feeds = dict[Any, Any]


@dataclass
class Training:
    """A built graph.

    step(session, feeds) -> loss: one training step.  feeds(i): what step i is fed.  saver: of its variables, if any.
    more_variables: those that are in no collection.
    """

    step: Callable[[tf.Session, Feeds], Any]
    feeds: Callable[[int], Feeds]
    saver: Any = None
    more_variables: Sequence[Any] = ()


def numbers(step: int, *shape: int, low: float = -1.0, high: float = 1.0) -> np.ndarray:
    """Uniform fp32 of a shape, other ones in every step."""
    return np.random.default_rng((step, *shape)).uniform(low, high, shape).astype(np.float32)


def labels(step: int, n_classes: int, *shape: int) -> np.ndarray:
    """int32 classes of a shape, other ones in every step."""
    return np.random.default_rng((step, n_classes, *shape)).integers(0, n_classes, shape).astype(np.int32)


def by_session(loss: Any, train: Any, feeds: Callable[[int], Feeds], fetches: Sequence[Any] = (), **more: Any) -> Training:
    """A graph trained by session.run; `fetches` are made in every step and not looked at."""

    def step(session: tf.Session, values: Feeds) -> Any:
        return session.run([loss, train, *fetches], values)[0]

    return Training(step, feeds, **more)


def usual(loss: Any, optimizer: Any, feeds: Callable[[int], Feeds], clip: float = 5.0, **more: Any) -> Training:
    """Regularisation losses, gradients clipped by their global norm, global step, update ops, a summary and a saver."""
    total = tf.raw_ops.Add(x=loss, y=tf.losses.get_regularization_loss())  # TF1's addition; 2.15 writes AddV2
    global_step = tf.train.get_or_create_global_step()
    pairs = [(g, v) for g, v in optimizer.compute_gradients(total) if g is not None]
    clipped, norm = tf.clip_by_global_norm([g for g, _ in pairs], clip)
    # The loss first: a penalty that reads a ref variable may otherwise see what the step made of it.
    with tf.control_dependencies([total, *tf.get_collection(tf.GraphKeys.UPDATE_OPS)]):
        train = optimizer.apply_gradients(list(zip(clipped, [v for _, v in pairs], strict=True)), global_step)
    tf.summary.scalar("loss", total)
    tf.summary.scalar("norm", norm)
    return by_session(total, train, feeds, [tf.summary.merge_all()], saver=tf.train.Saver(), **more)
