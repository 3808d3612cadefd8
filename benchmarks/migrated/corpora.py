"""Made-up data for published trainings: BERT's three tasks and an AlexNet that is fine-tuned."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from benchmarks.migrated import texts
from benchmarks.migrated.pictures import strokes


def make_bert(folder: str) -> None:
    """Vocabulary, a small configuration, records to pretrain on, MRPC and SQuAD."""
    vocabulary = texts.make_vocabulary(Path(folder) / "vocab.txt")
    texts.make_bert_config(Path(folder) / "bert_config.json", len(vocabulary))
    texts.make_pretraining_records(Path(folder) / "pretraining.tfrecord", 80, 32, 4, len(vocabulary))
    texts.make_mrpc(Path(folder) / "MRPC", 64, 16)
    make_squad(Path(folder) / "squad.json", 48)


def make_squad(path: Path, n: int) -> None:
    """Questions for the word behind a given word of a text of twelve words."""
    random = np.random.default_rng(16)
    paragraphs = []
    for number in range(n):
        told = [str(word) for word in random.choice(texts.words(), 12, replace=False)]
        place = int(random.integers(0, 11))
        answer = {"text": told[place + 1], "answer_start": len(" ".join(told[: place + 1])) + 1}
        question = {"id": str(number), "question": f"{told[place]} ?", "answers": [answer], "is_impossible": False}
        paragraphs.append({"context": " ".join(told), "qas": [question]})
    path.write_text(json.dumps({"version": "made up", "data": [{"title": "words", "paragraphs": paragraphs}]}) + "\n")


def make_alexnet(folder: str) -> None:
    """Pictures of two classes with their lists, and weights for the layers that are not trained."""
    import tensorflow as tf

    labels = np.arange(48) % 2
    for number, image in enumerate(strokes(5 * labels, 64, 17)):
        path = Path(folder) / "pictures" / f"{number}.png"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(tf.io.encode_png(np.repeat(image[..., None], 3, axis=2)).numpy())
    lines = [f"pictures/{number}.png {label}\n" for number, label in enumerate(labels)]
    (Path(folder) / "train.txt").write_text("".join(lines))
    (Path(folder) / "val.txt").write_text("".join(lines[:8]))
    random = np.random.default_rng(18)
    shapes = {"conv1": (11, 11, 3, 96), "conv2": (5, 5, 48, 256), "conv3": (3, 3, 256, 384), "conv4": (3, 3, 192, 384),
              "conv5": (3, 3, 192, 256)}  # fmt: skip
    layers = {}
    for name, shape in shapes.items():
        scale = (2 / np.prod(shape[:3])) ** 0.5 / (300 if name == "conv1" else 1)  # pixels go up to 255
        layers[name] = [random.normal(0, scale, shape).astype(np.float32), np.zeros(shape[3], np.float32)]
    np.save(Path(folder) / "bvlc_alexnet.npy", layers, allow_pickle=True)
