"""The generator: two networks of each of six kinds, which differ in their form, and whose sizes are drawn."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.models.drawn import Draws
from benchmarks.models.drawn_tasks import (
    attention_decoders,
    detection_heads,
    graph_networks,
    random_fields,
    reinforcement,
    variational,
)
from benchmarks.models.model import Model

SEED = 54
"""The first that was tried, and the only one: the number of the task that asked for these networks."""

KINDS: tuple[Callable[[Draws], Model], ...] = (
    attention_decoders.attention_decoder_cell, attention_decoders.attention_decoder_loop,
    graph_networks.message_passing, graph_networks.sparse_graph_convolutions,
    detection_heads.anchor_boxes, detection_heads.region_proposals,
    random_fields.recurrent_tags, random_fields.convolutional_tags,
    variational.dense_variational, variational.convolutional_variational,
    reinforcement.deep_q_network, reinforcement.clipped_policy,
)  # fmt: skip


def network(index: int, draw: Callable[[int, int], Draws] = Draws) -> tuple[str, Model]:
    """The name of a network of the generator and its graph; draw: gives the numbers of a seed and an index."""
    kind = KINDS[index]
    return f"{index} {kind.__name__}", kind(draw(SEED, index))
