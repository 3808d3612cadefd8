"""The contents of made-up files, by the form in which they are read."""

from __future__ import annotations

import gzip
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from npu_bridge._smoke.examples import Feature, record
from npu_bridge._smoke.images import encoded_image
from npu_bridge._smoke.line_forms import LineForm
from tensorflow.python.lib.io import tf_record

N_RECORDS = 512
"""Examples of a made-up file: some batches of a usual size, and little enough to be made at once."""
N_IMAGES_OF_RECORDS = 160
"""The same where each holds an image, which takes a while to encode."""
N_IDX = {"train": 60_000, "": 10_000}
"""Examples of a file of MNIST's form, by a part of its name: scripts give arrays these sizes."""
N_LINES = 3_000
"""Lines of a made-up text."""
_IMAGE_SIDE = 256
_WIDTH, _LEAST_WIDTH, _MOST_WIDTH = 50, 10, 4_096
"""Width of an array of which nothing tells it, and the numbers in a name that do."""
_TEXT = (
    "the of and to in a is that for it as was with be by on not he his but at are this have from or had an they which "
    "one you were all her she there would their we him been has when who will no more if out so up said what its about "
    "than into them can only other time new some could these two may first then do any like my now over such our man me "
    "even most made after also did many"
)
_WORDS = _TEXT.split()
"""Words of made-up texts: some are met often, as in real ones."""


@dataclass
class Contents:
    """The facts of a script by which files are made.

    features: of records.  columns: numpy names of the types of a line's columns.  delimiter: between them.  n_bytes: of a record
    of a fixed length.  has_pairs: lines of "number:number" pairs.  has_numbers: words of lines are made numbers.
    n_channels: of images.
    """

    features: dict[tuple[str, bool], Feature] = field(default_factory=dict)
    columns: list[str] = field(default_factory=list)
    delimiter: str = ","
    n_bytes: int = 0
    has_pairs: bool = False
    has_numbers: bool = False
    n_channels: int = 3

    def meet(self, feature: Feature) -> None:
        """Add a feature; one that is known better stays so."""
        known = self.features.get((feature.key, feature.is_list))
        if known is None or (not known.content and feature.content):
            self.features[feature.key, feature.is_list] = feature


def records(path: str, facts: Contents) -> str:
    """A TFRecord file of examples."""
    draw, asked = np.random.default_rng(0), list(facts.features.values())
    count = N_IMAGES_OF_RECORDS if any(feature.content for feature in asked) else N_RECORDS
    options = tf_record.TFRecordOptions("GZIP") if path.endswith(".gz") else None
    with tf_record.TFRecordWriter(path, options) as writer:
        for _ in range(count):
            writer.write(record(asked, draw))
    return f"{count} examples of {len(asked)} features"


def text(path: str, facts: Contents) -> str:
    """Lines: columns where the script reads them so, else words."""
    draw = np.random.default_rng(0)
    if facts.columns:
        lines = [facts.delimiter.join(_cell(kind, draw) for kind in facts.columns) for _ in range(N_LINES)]
        told = f"{N_LINES} lines of {len(facts.columns)} columns"
    elif facts.has_pairs:
        lines = [f"{draw.integers(0, 2)} 1:{draw.random():.3f} 2:{draw.random():.3f}" for _ in range(N_LINES)]
        told = f"{N_LINES} lines of a label and pairs"
    elif facts.has_numbers:
        lines = [" ".join(map(str, draw.integers(0, 2, 10))) for _ in range(N_LINES)]
        told = f"{N_LINES} lines of numbers"
    else:
        lines = [" ".join(draw.choice(_WORDS, draw.integers(5, 15))) for _ in range(N_LINES)]
        told = f"{N_LINES} lines of words"
    _write(path, "\n".join(lines) + "\n")
    return told


def lines(path: str, form: LineForm) -> str:
    """Lines of a form: columns of numbers or words where the script parts or counts them, else sentences."""
    if not form.has_columns:
        return text(path, Contents())
    _write(path, "\n".join(form.lines(N_LINES, _WORDS)) + "\n")
    return f"{N_LINES} lines of {form.n_columns} columns"


def _cell(kind: str, draw: np.random.Generator) -> str:
    if kind.startswith("float"):
        return f"{draw.random():.4f}"
    return str(draw.integers(0, 2)) if kind.startswith("int") else str(draw.choice(["one", "two"]))


def words(path: str, facts: Contents) -> str:
    """A vocabulary, a word a line."""
    lines = [*_WORDS, "one", "two", "<unk>", "<s>", "</s>"]
    _write(path, "\n".join(dict.fromkeys(lines)) + "\n")
    return "a vocabulary"


def fixed(path: str, facts: Contents) -> str:
    """Records of a fixed length, whose first two bytes are labels of 0 and 1."""
    size = facts.n_bytes or 3073
    made = np.random.default_rng(0).integers(0, 256, (N_RECORDS, size)).astype(np.uint8)
    made[:, :2] %= 2
    with open(path, "wb") as stream:
        stream.write(made.tobytes())
    return f"{N_RECORDS} records of {size} bytes"


def picture(path: str, facts: Contents) -> str:
    """An image; a JPEG unless the name says otherwise."""
    form = "png" if path.lower().endswith("png") else "jpeg"
    with open(path, "wb") as stream:
        draw = np.random.default_rng(len(path))
        stream.write(encoded_image(_IMAGE_SIDE, _IMAGE_SIDE, form, draw, facts.n_channels))
    return f"{'a grey' if facts.n_channels == 1 else 'an'} image of {_IMAGE_SIDE} x {_IMAGE_SIDE}"


def idx(path: str, facts: Contents) -> str:
    """A file of MNIST's form, images of 28 x 28 or labels of ten classes.  Source: the description of the MNIST files."""
    draw, name = np.random.default_rng(0), os.path.basename(path)
    count = next(count for part, count in N_IDX.items() if part in name)
    if "label" in name:
        data = np.array([2049, count], ">u4").tobytes() + draw.integers(0, 10, count).astype(np.uint8).tobytes()
    else:
        some = draw.integers(0, 256, 100 * 784).astype(np.uint8).tobytes()
        data = np.array([2051, count, 28, 28], ">u4").tobytes() + some * (count // 100)
    with gzip.open(path, "wb", compresslevel=1) if path.endswith(".gz") else open(path, "wb") as stream:
        stream.write(data)
    return f"{count} examples"


def sound(path: str, facts: Contents) -> str:
    """Two seconds of 16 kHz sound."""
    import wave

    draw = np.random.default_rng(0)
    with wave.open(path, "wb") as stream:
        stream.setnchannels(1)
        stream.setsampwidth(2)
        stream.setframerate(16_000)
        tone = np.sin(np.arange(32_000) * 0.05) * 8_000 + draw.normal(0, 200, 32_000)
        stream.writeframes(tone.astype("<i2").tobytes())
    return "2 seconds of sound"


def array(path: str, facts: Contents) -> str:
    """Rows of numbers, as embeddings are."""
    return arrays(path, (), width_of(path))


def width_of(path: str) -> int:
    """The width of an array: a number in the file's name, as in those of embeddings."""
    numbers = [int(one) for one in re.findall(r"\d+", os.path.basename(path)) if _LEAST_WIDTH <= int(one) <= _MOST_WIDTH]
    return numbers[-1] if numbers else _WIDTH


def arrays(path: str, keys: Sequence[str], width: int) -> str:
    """A file of the arrays that the script takes by these names, or of one without a name."""
    made = np.random.default_rng(0).random((N_LINES, width), np.float32)
    with open(path, "wb") as stream:
        if keys:
            np.savez(stream, **dict.fromkeys(keys, made))
        else:
            np.save(stream, made)
    return f"{len(keys)} arrays of {N_LINES} x {width}" if keys else f"an array of {N_LINES} x {width}"


def annotation(path: str, facts: Contents) -> str:
    """The objects of an image.  Source: the development kit of the PASCAL VOC challenge, which describes the form."""
    side, name = _IMAGE_SIDE, os.path.splitext(os.path.basename(path))[0]
    objects = "".join(
        f"<object><name>{kind}</name><pose>Left</pose><truncated>0</truncated><difficult>0</difficult>"
        f"<bndbox><xmin>{low}</xmin><ymin>{low}</ymin><xmax>{high}</xmax><ymax>{high}</ymax></bndbox></object>"
        for kind, low, high in (("person", 20, 120), ("dog", 100, side - 20))
    )
    size = f"<size><width>{side}</width><height>{side}</height><depth>3</depth></size>"
    _write(path, f"<annotation><folder>made</folder><filename>{name}.jpg</filename>{size}{objects}</annotation>\n")
    return "an annotation of 2 objects"


def _write(path: str, content: str) -> None:
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(content)


Make = Callable[[str, Contents], str]
MAKERS: dict[str, Make] = {
    "records": records, "text": text, "words": words, "fixed": fixed, "image": picture, "idx": idx, "sound": sound,
    "array": array, "annotation": annotation,
}  # fmt: skip
"""make(path, facts) writes a file and says what is in it; by the form in which it is read."""
_BY_SUFFIX = (
    (re.compile(r"(?i)\.(jpe?g|png|bmp|gif)$"), "image"),
    (re.compile(r"(?i)\.wav$"), "sound"),
    (re.compile(r"(?i)\.xml$"), "annotation"),
    (re.compile(r"(?i)idx[13].ubyte(\.gz)?$"), "idx"),
    (re.compile(r"(?i)\.(json|ya?ml|pkl|pickle|npz|mat|h5|hdf5)$"), ""),
    (re.compile(r"(?i)\.npy$"), "array"),
    (re.compile(r"(?i)tf_?records?(\W|$|-)"), "records"),
    (re.compile(r"(?i)vocab"), "words"),
    (re.compile(r"(?i)\.(txt|csv|tsv|dat|data|en|de|fr|src|tgt|train|test|valid)$"), "text"),
)


def form_of(path: str, forms: Sequence[str]) -> str:
    """The form of a file.  forms: those that its reader may take, the likeliest first; "" where only the script knows it."""
    by_name = next((form for pattern, form in _BY_SUFFIX if pattern.search(path)), None)
    if by_name is not None and (by_name in forms or not forms or not by_name):
        return by_name
    return forms[0] if forms else ""
