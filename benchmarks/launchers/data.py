"""Synthetic data in the forms that the published launchers read. Each function fills a folder; all draw from fixed seeds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

_IMAGENET_FILES = {"train": 1024, "validation": 128}
"""Files by the first part of their names: as many as ImageNet's records have, for scripts that write the names out."""
_IMAGE_SIDE = 64
"""Pixels: scripts crop a part and resize it, so small images do."""
_CLICK_LINES = 1000
"""Lines in a record of the click data, as the scripts of these networks have it written down."""
_CLICK_INPUTS, _CLICK_IDS = 39, 200_000
_FILES = 16
"""Files where ranks share them out: at least one for each."""
_CLICK_RECORDS = {"train_part": 96, "test_part": 4}


def reviews(folder: Path) -> None:
    """Vectors of words and 25,000 reviews of 250 words, as numpy's files."""
    draw = np.random.default_rng(0)
    np.save(folder / "wordVectors.npy", draw.standard_normal((500, 50)).astype(np.float32))
    np.save(folder / "idsMatrix.npy", draw.integers(0, 500, (25_000, 250), np.int32))


def imagenet(folder: Path) -> None:
    """One JPEG a file, with a label and a box, as the records that TensorFlow's models make of ImageNet."""
    draw = np.random.default_rng(1)
    for part, n_files in _IMAGENET_FILES.items():
        for number in range(n_files):
            label = int(draw.integers(1, 1001))
            box = {f"image/object/bbox/{side}": [at] for side, at in (("xmin", 0.1), ("ymin", 0.1), ("xmax", 0.9), ("ymax", 0.9))}
            record = {
                "image/encoded": [_jpeg(draw)], "image/format": [b"JPEG"], "image/class/label": [label],
                "image/class/text": [b"none"], "image/object/class/label": [label], "image/object/bbox/label": [label], **box,
            }  # fmt: skip
            _write(folder / f"{part}-{number:05}-of-{n_files:05}", [record])


def clicks(folder: Path) -> None:
    """Criteo's columns as numbers: in each record 1000 lines of a label, 39 ids and 39 values."""
    draw = np.random.default_rng(2)
    for part, n_records in _CLICK_RECORDS.items():
        records = [
            {
                "label": draw.integers(0, 2, _CLICK_LINES).astype(np.float32),
                "feat_ids": draw.integers(0, _CLICK_IDS, _CLICK_LINES * _CLICK_INPUTS),
                "feat_vals": draw.random(_CLICK_LINES * _CLICK_INPUTS, np.float32),
            }
            for _ in range(n_records)
        ]
        _write(folder / f"{part}_0.tfrecord", records)


def shards(folder: Path) -> None:
    """The same images in the form of a ShuffleNet's records, in two folders."""
    draw = np.random.default_rng(4)
    box = {"xmin": [0.1], "ymin": [0.1], "xmax": [0.9], "ymax": [0.9]}
    for part in ("train_shards", "eval_shards"):
        (folder / part).mkdir()
        for number in range(_FILES):
            records = [{"image": [_jpeg(draw)], "label": [int(draw.integers(0, 1000))], **box} for _ in range(16)]
            _write(folder / part / f"shard-{number:04}.tfrecords", records)


def sentences(folder: Path) -> None:
    """Masked pairs of sentences as BERT's pretraining reads them: of 128 words with 20 masks, and of 256 with 23."""
    draw = np.random.default_rng(3)
    (folder / "wikipedia_128").mkdir()
    for number in range(_FILES):
        _write(folder / "wikipedia_128" / f"part-{number:05}.tfrecord", [_pair(draw, 128, 20) for _ in range(32)])
    _write(folder / "wiki_zh.tfrecord", [_pair(draw, 256, 23) for _ in range(64)])


def _pair(draw: np.random.Generator, length: int, masks: int) -> dict[str, Any]:
    return {
        "input_ids": draw.integers(1, 1000, length), "input_mask": np.ones(length, np.int64),
        "segment_ids": np.repeat([0, 1], length // 2), "masked_lm_positions": np.sort(draw.permutation(length)[:masks]),
        "masked_lm_ids": draw.integers(1, 1000, masks), "masked_lm_weights": np.ones(masks, np.float32),
        "next_sentence_labels": draw.integers(0, 2, 1),
    }  # fmt: skip


def _jpeg(draw: np.random.Generator) -> bytes:
    import tensorflow as tf

    return tf.io.encode_jpeg(draw.integers(0, 256, (_IMAGE_SIDE, _IMAGE_SIDE, 3), np.uint8)).numpy()


def _write(path: Path, records: list[dict[str, Any]]) -> None:
    """records: features by name; bytes, whole numbers or floats, each a list or an array."""
    import tensorflow as tf

    with tf.io.TFRecordWriter(str(path)) as writer:
        for record in records:
            features = tf.train.Features(feature={name: _feature(values) for name, values in record.items()})
            writer.write(tf.train.Example(features=features).SerializeToString())


def _feature(values: Any) -> Any:
    from tensorflow import train

    if isinstance(values[0], bytes):
        return train.Feature(bytes_list=train.BytesList(value=values))
    if isinstance(values[0], (float, np.floating)):
        return train.Feature(float_list=train.FloatList(value=values))
    return train.Feature(int64_list=train.Int64List(value=[int(value) for value in values]))
