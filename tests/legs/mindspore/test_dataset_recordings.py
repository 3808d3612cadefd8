"""Transforms and pipelines give the values that real MindSpore gave (tools/record_mindspore_datasets.py)."""

from __future__ import annotations

import mindspore.dataset as ds
import numpy as np
import pytest
from mindspore.common import dtype
from mindspore.dataset.transforms import c_transforms as transforms
from mindspore.dataset.vision import _pillow_colors
from mindspore.dataset.vision import c_transforms as vision
from mindspore.dataset.vision import py_transforms as python_vision

from tests.legs.mindspore.dataset_cases import Kit, images, run_pipelines, run_transforms
from tests.legs.mindspore.recordings import read
from tests.one_item import together

RECORDED = read("datasets.npz")
KIT = Kit(
    ds,
    vision,
    python_vision,
    transforms,
    dtype,
    python_vision.ToPIL(),
    np.asarray,
    python_vision.Normalize,
    lambda rows, count: rows.batch(count, pad_info={}),
)


@pytest.fixture(scope="module")
def ours(tmp_path_factory):
    rows = run_pipelines(KIT, tmp_path_factory.mktemp("data"), RECORDED["files"])
    return run_transforms(KIT) | {f"pipeline {name}": columns for name, columns in rows.items()}


def difference(name: str, ours: np.ndarray, real: np.ndarray) -> str:
    """The difference of two arrays, or nothing: bytes may differ by one grey level, numbers by 1e-6, all else not at all."""
    if (ours.dtype, ours.shape) != (real.dtype, real.shape):
        return f"{name}: {ours.dtype} of {ours.shape}, and in MindSpore {real.dtype} of {real.shape}"
    if ours.dtype.kind == "f":
        close = np.allclose(ours, real, rtol=1e-6, atol=1e-6)
    else:
        close = ours.size == 0 or np.abs(ours.astype(np.int64) - real.astype(np.int64)).max() <= (ours.dtype == np.uint8)
    return "" if close else f"{name}: up to {np.abs(ours.astype(float) - real.astype(float)).max():.3g} apart"


@together("name", sorted(set(RECORDED) - {"enhanced", "files", "decoded"}))
def test_a_case_is_mindspores(name: str, ours):
    real = RECORDED[name]
    assert list(ours[name]) == list(real)
    differences = [difference(column, ours[name][column], real[column]) for column in real]
    assert not any(differences), differences


@together("name", sorted(RECORDED["files"]))
def test_an_image_is_decoded_as_mindspore_does(name: str):
    decoded = vision.Decode()(RECORDED["files"][name])
    assert not difference(name, decoded, RECORDED["decoded"][name])


@together("name", sorted(RECORDED["enhanced"]))
def test_pillows_enhancements_are_those_of_pillow(name: str):
    change, share = name.split()
    image = images()["colour"]
    assert not difference(name, getattr(_pillow_colors, change)(image, float(share)), RECORDED["enhanced"][name])
