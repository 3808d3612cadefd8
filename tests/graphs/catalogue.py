"""The graphs of this suite by name, and what is known of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from tests.graphs import images, keras_models, others, sequences, tables
from tests.graphs.training import Training

GRAPHS: dict[str, Callable[[], Training]] = {
    build.__name__: build
    for build in (
        images.slim_resnet50, images.slim_vgg16, images.slim_inception3, images.slim_alexnet, images.lenet_layers,
        images.bn_groups, images.dcgan, keras_models.keras_resnet50, keras_models.keras_mobilenetv2, keras_models.keras_lstm,
        sequences.rnn_static, sequences.rnn_dynamic_bi, sequences.seq2seq_attention, sequences.bert_pretrain, sequences.crf_ctc,
        tables.wide_deep, tables.deepfm, tables.word2vec, others.unet_detect, others.conv3d_conv1d, others.rl_pg,
    )
}  # fmt: skip

SUMMARIES = {("ScalarSummary", "summaries are written by the host"), ("MergeSummary", "summaries are written by the host")}
STRINGS = "strings are host data"
HOST: dict[str, set[tuple[str, str]]] = {
    "bert_pretrain": set(),
    "keras_resnet50": set(),
    "keras_mobilenetv2": set(),
    "keras_lstm": set(),
    "wide_deep": SUMMARIES
    | {("HistogramSummary", "summaries are written by the host")}
    | {(op, STRINGS) for op in ("ExpandDims", "GatherNd", "NotEqual", "Shape")}
    | {(op, "text is host data") for op in ("AsString", "StringToHashBucketFast")}
    | {("SparseCross", "the device has no kernel for op SparseCross")},
}
"""(op type, reason) of what runs on the host in a step; SUMMARIES where a graph is not named.

SparseCross is the one op here that could run on a device; it hashes the text it is given.
"""

_HERE = Path(__file__).parent
OP_TYPES: dict[str, list[str]] = json.loads((_HERE / "op_types.json").read_text())
"""Op types that a graph has to contain. Together they are those that such programs are made of."""
SPREADS: dict[str, dict[str, float]] = json.loads((_HERE / "spreads.json").read_text())
"""Spread of TensorFlow between its own runs; see record_spreads."""


def host_nodes(name: str) -> set[tuple[str, str]]:
    return HOST.get(name, SUMMARIES)
