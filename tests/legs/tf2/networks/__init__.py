"""Networks that are trained by Keras, by a loop of their own, and with several steps in one call."""

from __future__ import annotations

from tests.legs.tf2.networks import generative, sequences, tables, vision
from tests.legs.tf2.networks.problem import OwnStep, Problem

NETWORKS: dict[str, Problem | OwnStep] = {
    **vision.NETWORKS,
    **sequences.NETWORKS,
    **generative.NETWORKS,
    **tables.NETWORKS,
}
