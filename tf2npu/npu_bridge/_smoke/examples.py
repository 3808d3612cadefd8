"""Made-up records of tf.Example: the features that the parse operations of a graph ask for, with values that fit their use."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from npu_bridge._smoke.graph_nodes import Nodes
from npu_bridge._smoke.images import encoded_image
from tensorflow.core.example import example_pb2, feature_pb2
from tensorflow.python.framework import dtypes

IMAGE_SIDE = 128
"""Rows and columns of a made-up image of which nothing tells the size."""
_VARIABLE = 3
"""Values of a feature whose length is open."""
_DECODERS = {"DecodeJpeg": "jpeg", "DecodePng": "png", "DecodeImage": "png", "DecodeBmp": "png", "DecodeGif": "png",
             "DecodeAndCropJpeg": "jpeg"}  # fmt: skip
_PASSING = frozenset(("Identity", "Reshape", "Squeeze", "ExpandDims", "Substr", "Switch", "Merge", "IdentityN", "Enter"))
_SIDES = re.compile(r"(?i)(height|width|rows|cols|_h$|_w$)")
_CHANNELS = re.compile(r"(?i)(depth|channel)")


@dataclass(frozen=True)
class Feature:
    """A feature that is parsed.

    shape: None for an open length.  kind: of its values, as numpy names a type; "object" for bytes.  content: of bytes, "jpeg",
    "png", "raw:TYPE:COUNT", "example" or "".  is_list: a list of features, one a step of a sequence.
    """

    key: str
    kind: str
    shape: tuple[int, ...] | None
    content: str = ""
    is_list: bool = False


def features(nodes: Nodes) -> Iterator[Feature]:
    """The features that a body parses."""
    for node in list(nodes.by_name.values()):
        if node.op in _READERS:
            yield from _READERS[node.op](nodes, node)


def _types(node: Any, name: str) -> list[str]:
    return [dtypes.as_dtype(number).as_numpy_dtype.__name__ for number in node.attr[name].list.type]


def _shapes(node: Any, name: str = "dense_shapes") -> list[tuple[int, ...] | None]:
    return [
        None if shape.unknown_rank or any(d.size < 0 for d in shape.dim) else tuple(d.size for d in shape.dim)
        for shape in node.attr[name].list.shape
    ]


def _texts(values: Iterable[Any]) -> list[str]:
    return [value.decode() if isinstance(value, bytes) else str(value) for value in values]


def _of_attributes(nodes: Nodes, node: Any) -> Iterator[Feature]:
    """ParseSingleExample and ParseExampleDataset, which have the keys as attributes."""
    sparse, dense = (_texts(node.attr[name].list.s) for name in ("sparse_keys", "dense_keys"))
    yield from _found(nodes, node, sparse, dense)


def _of_inputs(nodes: Nodes, node: Any) -> Iterator[Feature]:
    """ParseExample: serialized, names, a scalar for each key of sparse, then of dense features."""
    n_sparse, n_dense = node.attr["Nsparse"].i, node.attr["Ndense"].i
    keys = [nodes.constant(one) for one in nodes.inputs(node)[2 : 2 + n_sparse + n_dense]]
    if all(key is not None for key in keys):
        texts = _texts(key.item() for key in keys)
        yield from _found(nodes, node, texts[:n_sparse], texts[n_sparse:])


def _of_vectors(nodes: Nodes, node: Any) -> Iterator[Feature]:
    """ParseExampleV2: serialized, names, then a vector of keys for sparse, dense and ragged features."""
    keys = [nodes.constant(one) for one in nodes.inputs(node)[2:5]]
    if all(key is not None for key in keys):
        sparse, dense, ragged = (_texts(key.ravel().tolist()) for key in keys)
        yield from _found(nodes, node, sparse, dense)
        for key, kind in zip(ragged, _types(node, "ragged_value_types"), strict=False):
            yield Feature(key, kind, None)


def _of_sequence(nodes: Nodes, node: Any) -> Iterator[Feature]:
    """ParseSingleSequenceExample: its keys are scalars; ParseSequenceExample has them as attributes or vectors."""
    kinds = ("context_sparse", "context_dense", "feature_list_sparse", "feature_list_dense")
    types = {
        "context_sparse": "context_sparse_types", "context_dense": "Tcontext_dense",
        "feature_list_sparse": "feature_list_sparse_types", "feature_list_dense": "feature_list_dense_types",
    }  # fmt: skip
    keys = _sequence_keys(nodes, node, [len(node.attr[types[kind]].list.type) for kind in kinds])
    for kind, found in zip(kinds, keys, strict=True):
        is_dense = kind.endswith("dense")
        shapes = _shapes(node, f"{kind}_shapes") if is_dense else [None] * len(found)
        for i, key in enumerate(found):
            shape = shapes[i] if i < len(shapes) else None
            content = _content(nodes, node, f"{kind}_values", i, -1)
            yield Feature(key, _types(node, types[kind])[i], shape, content, kind.startswith("feature_list"))


def _sequence_keys(nodes: Nodes, node: Any, counts: Sequence[int]) -> list[list[str]]:
    """The keys of context features, sparse and dense, and of feature lists, sparse and dense."""
    names = ("context_sparse_keys", "context_dense_keys", "feature_list_sparse_keys", "feature_list_dense_keys")
    if node.op == "ParseSequenceExample":
        return [_texts(node.attr[name].list.s) for name in names]
    if node.op == "ParseSequenceExampleV2":
        order = [nodes.constant(one) for one in nodes.inputs(node)[2:8]]
        found = [[] if one is None else _texts(one.ravel().tolist()) for one in order]
        return [found[0], found[1], found[3], found[4]]
    given = [nodes.constant(one) for one in nodes.inputs(node)[2 : 2 + sum(counts)]]
    texts = _texts(one.item() if one is not None else "" for one in given)
    in_order = (counts[0], counts[2], counts[1], counts[3])  # sparse ones first
    cut, at = [], 0
    for count in in_order:
        cut.append(texts[at : at + count])
        at += count
    return [cut[0], cut[2], cut[1], cut[3]]


def _found(nodes: Nodes, node: Any, sparse: Sequence[str], dense: Sequence[str]) -> Iterator[Feature]:
    for i, (key, kind) in enumerate(zip(sparse, _types(node, "sparse_types"), strict=False)):
        yield Feature(key, kind, None, _content(nodes, node, "sparse_values", i, len(sparse) + i))
    for i, (key, kind, shape) in enumerate(zip(dense, _types(node, "Tdense"), _shapes(node), strict=False)):
        yield Feature(key, kind, shape, _content(nodes, node, "dense_values", i, 3 * len(sparse) + i))


def _content(nodes: Nodes, node: Any, label: str, index: int, flat: int) -> str:
    """The form of the bytes of an output, told by what reads it.  flat: its place among all outputs of the node."""
    todo = [
        consumer for output, consumer in nodes.consumers[node.name]
        if (output.label == label and output.index == index) or (not output.label and output.index == flat)
    ]  # fmt: skip
    seen: set[str] = set()
    while todo:
        consumer = todo.pop()
        if consumer.name in seen:
            continue
        seen.add(consumer.name)
        if consumer.op in _DECODERS:
            return _DECODERS[consumer.op]
        if consumer.op in ("DecodeRaw", "DecodePaddedRaw"):
            return _raw(nodes, consumer)
        if consumer.op in _PASSING:
            todo += [further for _, further in nodes.consumers[consumer.name]]
    return ""


def _raw(nodes: Nodes, node: Any) -> str:
    """The type and the number of elements of raw bytes, 0 where nothing tells."""
    kind = dtypes.as_dtype(node.attr["out_type"].type).as_numpy_dtype.__name__
    shape = next(iter(node.attr["_output_shapes"].list.shape), None)
    if shape is not None and not shape.unknown_rank and all(d.size > 0 for d in shape.dim):
        return f"raw:{kind}:{math.prod(d.size for d in shape.dim)}"
    todo, seen = [consumer for _, consumer in nodes.consumers[node.name]], set()
    while todo:
        consumer = todo.pop()
        if consumer.name in seen:
            continue
        seen.add(consumer.name)
        if consumer.op == "Reshape":
            size = nodes.constant(nodes.inputs(consumer)[1]) if len(consumer.input) > 1 else None
            if size is not None and size.size and (size > 0).all():
                return f"raw:{kind}:{int(np.prod(size))}"
        if consumer.op in ("Cast", "Identity"):
            todo += [further for _, further in nodes.consumers[consumer.name]]
    return f"raw:{kind}:0"


_READERS: dict[str, Any] = {
    "ParseSingleExample": _of_attributes, "ParseExampleDataset": _of_attributes, "ParseExampleDatasetV2": _of_attributes,
    "ParseExample": _of_inputs, "ParseExampleV2": _of_vectors, "ParseSingleSequenceExample": _of_sequence,
    "ParseSequenceExample": _of_sequence, "ParseSequenceExampleV2": _of_sequence,
}  # fmt: skip


def record(asked: Sequence[Feature], draw: np.random.Generator) -> bytes:
    """One serialized tf.train.SequenceExample, whose context a tf.train.Example has too: both name it as field 1."""
    made = example_pb2.SequenceExample()
    steps = _VARIABLE
    raw = {f.content for f in asked if f.content.startswith("raw:")}
    for feature in asked:
        if feature.is_list:
            inner = [_values(feature, raw, draw) for _ in range(steps)]
            made.feature_lists.feature_list[feature.key].feature.extend(inner)
        else:
            made.context.feature[feature.key].CopyFrom(_values(feature, raw, draw))
    data: bytes = made.SerializeToString()
    return data


def _values(feature: Feature, raw: set[str], draw: np.random.Generator) -> Any:
    made = feature_pb2.Feature()
    count = _VARIABLE if feature.shape is None else math.prod(feature.shape)
    if feature.is_list and feature.shape is None:
        count = 1
    if feature.kind == "float32":
        made.float_list.value.extend(draw.random(count, np.float32).tolist())
    elif feature.kind == "int64":
        made.int64_list.value.extend(_whole_numbers(feature.key, count, draw))
    else:
        count = 1 if feature.shape is None and feature.content else count
        made.bytes_list.value.extend(_bytes(feature.content, draw) for _ in range(count))
    return made


def _whole_numbers(key: str, count: int, draw: np.random.Generator) -> list[int]:
    """Numbers that are classes of any model, 0 and 1, or the sides of the images beside them."""
    if _SIDES.search(key):
        return [IMAGE_SIDE] * count
    if _CHANNELS.search(key):
        return [3] * count
    numbers: list[int] = draw.integers(0, 2, count).tolist()
    return numbers


def _bytes(content: str, draw: np.random.Generator) -> bytes:
    if content in ("jpeg", "png"):
        return encoded_image(IMAGE_SIDE, IMAGE_SIDE, content, draw)
    if content.startswith("raw:"):
        _, kind, count = content.split(":")
        size = int(count) or IMAGE_SIDE * IMAGE_SIDE * 3
        high = 256 if kind == "uint8" else 2
        return draw.integers(0, high, size).astype(kind).tobytes()
    return draw.choice([b"one", b"two"]).item()
