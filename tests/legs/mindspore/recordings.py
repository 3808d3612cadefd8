"""Files of recorded arrays: one index and one run of bytes, because an entry of its own in a .npz costs 250 bytes an array."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

FIXTURES = Path(__file__).parents[2] / "fixtures" / "mindspore"


def write(path: Path, cases: dict[str, dict[str, np.ndarray]]) -> None:
    """Writes the arrays of cases; the same arrays give the same bytes."""
    index, parts, offset = {}, [], 0
    for case, arrays in cases.items():
        for name, value in arrays.items():
            array = np.asarray(value)
            part = np.frombuffer(array.tobytes(), np.uint8)
            index[f"{case}/{name}"] = [array.dtype.str, list(array.shape), offset]
            parts.append(part)
            offset += len(part)
    text = np.frombuffer(json.dumps(index).encode(), np.uint8)
    np.savez_compressed(path, index=text, data=np.concatenate(parts))


def read(name: str) -> dict[str, dict[str, np.ndarray]]:
    """The arrays of a file in the fixtures, by case and by name."""
    cases: dict[str, dict[str, np.ndarray]] = {}
    with np.load(FIXTURES / name) as file:
        index, data = json.loads(file["index"].tobytes()), file["data"]
    for key, (dtype, shape, offset) in index.items():
        case, _, array = key.partition("/")
        end = offset + int(np.prod(shape)) * np.dtype(dtype).itemsize
        cases.setdefault(case, {})[array] = data[offset:end].view(dtype).reshape(shape)
    return cases
