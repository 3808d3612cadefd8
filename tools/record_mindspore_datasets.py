"""Writes tests/fixtures/mindspore/datasets.npz, values of transforms and pipelines:   python -m tools.record_mindspore_datasets

Run by hand with a Python that has MindSpore 2.10 for CPUs, without tf2npu's package `mindspore` on the path. Values are facts of
that release; images are drawn by numpy. `tests/legs/mindspore/test_dataset_recordings.py` compares our package with them.
"""

from __future__ import annotations

import io
import tempfile
from pathlib import Path

import mindspore
import numpy as np
from mindspore import dataset
from mindspore.dataset import transforms, vision
from PIL import Image, ImageEnhance

from tests.legs.mindspore.dataset_cases import Kit, images, run_pipelines, run_transforms
from tests.legs.mindspore.recordings import FIXTURES, write


def kit() -> Kit:
    return Kit(
        dataset,
        vision,
        vision,
        transforms,
        mindspore.dtype,
        vision.ToPIL(),
        np.asarray,
        lambda mean, std: vision.Normalize(mean, std, is_hwc=False),
        lambda rows, count: rows.padded_batch(count, pad_info={}),
    )


def encoded(image: np.ndarray, kind: str) -> np.ndarray:
    """The bytes of a file."""
    file = io.BytesIO()
    Image.fromarray(image).save(file, kind)
    return np.frombuffer(file.getvalue(), np.uint8)


def image_files() -> dict[str, np.ndarray]:
    """Encoded images by the path in their folder."""
    drawn = images()
    return {
        "cat/1.jpg": encoded(drawn["colour"], "JPEG"),
        "cat/2.png": encoded(drawn["square"], "PNG"),
        "dog/1.bmp": encoded(drawn["square"][:13], "BMP"),
        "dog/2.jpeg": encoded(drawn["flat"], "JPEG"),
        "dog/3.png": encoded(drawn["flat"], "PNG"),
    }


def enhanced() -> dict[str, np.ndarray]:
    """Pillow's enhancements, which MindSpore's `RandomColorAdjust` applies in an order that it draws."""
    image = Image.fromarray(images()["colour"])
    kinds = {"brightened": ImageEnhance.Brightness, "contrasted": ImageEnhance.Contrast, "saturated": ImageEnhance.Color}
    return {f"{name} {share}": np.asarray(kind(image).enhance(share)) for name, kind in kinds.items() for share in (0.5, 1.6)}


def main() -> None:
    files = image_files()
    FIXTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        rows = run_pipelines(kit(), Path(folder), files)
    decode = vision.Decode()
    found = run_transforms(kit()) | {f"pipeline {name}": columns for name, columns in rows.items()}
    found |= {"enhanced": enhanced(), "files": files, "decoded": {name: decode(content) for name, content in files.items()}}
    write(FIXTURES / "datasets.npz", found)
    print(f"datasets.npz: {len(found)} cases, {(FIXTURES / 'datasets.npz').stat().st_size} bytes")


if __name__ == "__main__":
    main()
