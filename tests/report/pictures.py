"""Pictures of pages: taken in Chromium, kept small as PNG, and compared by what stands where instead of pixel by pixel."""

from __future__ import annotations

import base64
import struct
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from playwright.sync_api import Page

Pixels = NDArray[np.uint8]
"""Height by width by red, green and blue."""
SHRUNK = 2
"""Pixels of a page, each way, that are one of a picture: a quarter of the bytes, and letters are still read."""
COLOUR_STEP = 8
"""Steps of a colour that are one in a picture: an eye sees no difference, and PNG takes half the bytes."""
CELL = 8
"""Pixels of a picture, each way, whose mean is compared: a letter or two, so that their edges do not count."""
SHIFTS = range(-14, 15, 2)
"""Pixels of a picture by which a cell may have moved up or down: a line of text more or less above it, and no more."""
DIFFERENT = 0.09
"""The share of the way from black to white from which on a cell is another one: text in the place of paper is 0.15 to 0.3."""
MOST_DIFFERENT = 0.03
"""The share of the cells with something on them that may be other ones: a sentence or two of a screen."""
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_SHRINK = """
async ([address, SHRUNK]) => {
  const picture = new Image();
  picture.src = address;
  await picture.decode();
  const width = Math.floor(picture.width / SHRUNK), height = Math.floor(picture.height / SHRUNK);
  const drawing = new OffscreenCanvas(width, height).getContext("2d");
  drawing.imageSmoothingQuality = "medium";
  drawing.drawImage(picture, 0, 0, width, height);
  const bytes = drawing.getImageData(0, 0, width, height).data;
  let text = "";
  for (let at = 0; at < bytes.length; at += 32768) text += String.fromCharCode(...bytes.subarray(at, at + 32768));
  return [width, height, btoa(text)];
}
"""


def taken(page: Page, height: int, decoder: Page) -> Pixels:
    """The uppermost pixels of a page, as wide as all that stands on it.  decoder: an empty page, whose browser reads PNG."""
    width = page.evaluate("document.documentElement.scrollWidth")
    data = page.screenshot(full_page=True, clip={"x": 0, "y": 0, "width": width, "height": height})
    address = "data:image/png;base64," + base64.b64encode(data).decode()
    columns, rows, text = decoder.evaluate(_SHRINK, [address, SHRUNK])
    colours = np.frombuffer(base64.b64decode(text), np.uint8).reshape(rows, columns, 4)[:, :, :3]
    return np.minimum(np.rint(colours / COLOUR_STEP) * COLOUR_STEP, 255).astype(np.uint8)


def write(path: Path, pixels: Pixels) -> None:
    """A PNG of eight bits a colour, whose rows have no filter: `read` needs no more, and flat areas need none."""
    rows, columns = pixels.shape[:2]
    lines = np.concatenate([np.zeros((rows, 1), np.uint8), pixels.reshape(rows, columns * 3)], axis=1)
    head = struct.pack(">IIBBBBB", columns, rows, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(lines.tobytes(), 9)), (b"IEND", b""))
    path.write_bytes(_SIGNATURE + b"".join(map(_chunk, *zip(*parts, strict=True))))


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def read(path: Path) -> Pixels:
    """A PNG that `write` wrote."""
    data, at, packed = path.read_bytes(), len(_SIGNATURE), b""
    rows = columns = 0
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        body = data[at + 8 : at + 8 + length]
        if kind == b"IHDR":
            columns, rows = struct.unpack(">II", body[:8])
        packed += body if kind == b"IDAT" else b""
        at += 12 + length
    lines = np.frombuffer(zlib.decompress(packed), np.uint8).reshape(rows, 1 + columns * 3)
    assert not lines[:, 0].any(), f"{path} was not written by the test: its rows are filtered"
    return lines[:, 1:].reshape(rows, columns, 3)


def other_cells(golden: Pixels, now: Pixels) -> NDArray[np.bool_]:
    """Mask of the cells that differ; all where the pictures are not equally large: then something reaches beyond the window."""
    expected = _cells(_columns(golden))
    if golden.shape != now.shape:
        return np.ones(expected.shape[:2], np.bool_)
    nearest, columns = np.full(expected.shape[:2], np.inf), _columns(now)
    for shift in SHIFTS:
        moved = _cells(np.roll(columns, shift, axis=0))
        nearest = np.minimum(nearest, np.abs(moved - expected).max(axis=2))
    return nearest > DIFFERENT


def share_of_others(golden: Pixels, now: Pixels) -> float:
    """The share of the cells on which anything stands, in one of the pictures, that are other ones."""
    others = other_cells(golden, now)
    if golden.shape != now.shape:
        return 1.0
    return float(others.sum() / max(1, (_has_ink(golden) | _has_ink(now) | others).sum()))


def _has_ink(pixels: Pixels) -> NDArray[np.bool_]:
    """Mask of the cells that are not of the colour that most of the picture has."""
    cells = _cells(_columns(pixels))
    paper = np.median(cells.reshape(-1, 3), axis=0)
    return np.abs(cells - paper).max(axis=2) > DIFFERENT / 2


def _columns(pixels: Pixels) -> NDArray[np.float64]:
    """The means of the pixels of a cell that stand beside each other, from 0 to 1."""
    rows, columns = pixels.shape[0], pixels.shape[1] // CELL
    return pixels[:, : columns * CELL].reshape(rows, columns, CELL, 3).mean(axis=2) / 255


def _cells(columns: NDArray[np.float64]) -> NDArray[np.float64]:
    """The mean of each cell."""
    rows = columns.shape[0] // CELL
    return columns[: rows * CELL].reshape(rows, CELL, columns.shape[1], 3).mean(axis=1)


def marked(now: Pixels, others: NDArray[np.bool_]) -> Pixels:
    """A picture with the cells that are other ones in red."""
    drawn = now.copy()
    for row, column in zip(*np.nonzero(others), strict=True):
        cell = drawn[row * CELL : (row + 1) * CELL, column * CELL : (column + 1) * CELL]
        cell[:] = (cell * 0.5 + np.array([110, 0, 0])).clip(0, 255)
    return drawn
