"""The commands `dump npy` and `dump show`, which read dump files."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from npu_formats.escape import visible
from npu_formats.files.directory import Directory
from npu_formats.files.draft import put_whole, replacing
from tf2npu.comparison.tensors.libraries import EXIT_UNREADABLE, require_numpy
from tf2npu.refused_request import RefusedRequest
from tf2npu.report.formats.as_text import Line, show

if TYPE_CHECKING:
    from tf2npu.comparison.tensors.stored_tensor import StoredOperator, StoredTensor

_LONGEST_NAME = 254
"""Bytes of a file name; longer ones become digits, and mapping.csv has them."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
"""Characters that command a terminal: no file is named with them."""
_SHOWN_ELEMENTS = 8
"""First elements of a tensor that are shown: a line of a terminal."""


def write_npy(dump: Path, out: Path) -> int:
    """`tf2npu dump npy`: each tensor of a dump file, or of those in a folder, as an npy file; returns the exit code."""
    require_numpy("dump npy")
    from tf2npu.comparison.unreadable import Unreadable, told

    n_files = n_unreadable = 0
    long_names: dict[str, str] = {}
    written: set[str] = set()
    try:
        with Directory.given(out, make=True) as folder:
            for path, name in _dump_files(dump):
                try:
                    n_files += _write_operator(folder, path, name, long_names, written)
                except (Unreadable, MemoryError) as error:
                    n_unreadable += 1
                    click.echo(f"tf2npu dump npy: {visible(str(told(error, path)))}", err=True)
            if long_names:
                put_whole(folder, "mapping.csv", (f"{digits},{name}\n" for digits, name in long_names.items()))
    except OSError as error:
        raise RefusedRequest(f"{out}: cannot be written: {error.strerror or error}") from None
    click.echo(f"{n_files} npy files are in {visible(str(out))}")
    return EXIT_UNREADABLE if n_unreadable else 0


def _dump_files(dump: Path) -> Iterator[tuple[Path, str]]:
    """Each file with the name that its npy files begin with."""
    from tf2npu.comparison.tensors.folder import DUMP, read_folder
    from tf2npu.comparison.unreadable import Unreadable

    if dump.is_file():
        yield dump, _CONTROL.sub("_", dump.name)
        return
    if not dump.is_dir():
        raise RefusedRequest(f"{dump}: there is no such file or folder")
    try:
        folder = read_folder(dump)
    except Unreadable as error:
        raise RefusedRequest(str(error)) from None
    if folder.kind != DUMP:
        raise RefusedRequest(f"{dump}: there are no dump files in it; name the folder of a step or one file")
    for files in folder.files.values():
        yield from ((file.path, folder.full_names.get(file.path.name, file.path.name)) for file in files)
    for name, reason in folder.left_out:
        click.echo(f"tf2npu dump npy: {visible(name)} is left out: {reason}", err=True)


def _write_operator(folder: Directory, path: Path, name: str, long_names: dict[str, str], written: set[str]) -> int:
    import numpy as np

    from tf2npu.comparison.tensors.stored_tensor import read_dump_file
    from tf2npu.comparison.unreadable import Unreadable

    stored = read_dump_file(path)
    n_files = 0
    for side, n, tensor in _tensors(stored):
        wanted = f"{name}.{side}.{n}.npy"
        if len(os.fsencode(wanted)) > _LONGEST_NAME:
            digits = f"{len(long_names) + 1:020d}.npy"
            long_names[digits], wanted = wanted, digits
        if wanted in written:
            raise Unreadable(path, f"another file has its name, {name}: which of them mapping.csv means is not known")
        written.add(wanted)
        array = tensor.load().reshape(tensor.shape or (1,))
        with replacing(folder, wanted) as stream:
            np.lib.format.write_array(stream, _plain(array), allow_pickle=False)
        n_files += 1
    return n_files


def _plain(array):
    """The array in an element type that every numpy reads: bfloat16 is widened."""
    import numpy as np

    return array.astype(np.float32) if array.dtype.name == "bfloat16" else array


def _tensors(stored: StoredOperator) -> Iterator[tuple[str, int, StoredTensor]]:
    for side, tensors in (("input", stored.inputs), ("output", stored.outputs)):
        yield from ((side, n, tensor) for n, tensor in enumerate(tensors))


def show_file(path: Path) -> int:
    """`tf2npu dump show`: what a dump file or an npy file holds; returns the exit code."""
    require_numpy("dump show")
    from tf2npu.comparison.tensors.stored_tensor import read_dump_file, read_npy
    from tf2npu.comparison.unreadable import Unreadable, told

    if not path.is_file():
        raise RefusedRequest(f"{path}: {'this is no file' if path.exists() else 'there is no such file'}")
    try:
        if path.suffix == ".npy":
            lines = [Line(visible(str(path)), "bold"), *_tensor_lines("array", read_npy(path))]
        else:
            stored = read_dump_file(path)
            lines = [Line(f"{visible(stored.name)}  {stored.when}  version {visible(stored.version)}", "bold")]
            lines += [line for side, n, tensor in _tensors(stored) for line in _tensor_lines(f"{side} {n}", tensor)]
    except (Unreadable, MemoryError) as error:
        click.echo(f"tf2npu dump show: {visible(str(told(error, path)))}", err=True)
        return EXIT_UNREADABLE
    show(lines, sys.stdout)
    return 0


def _tensor_lines(name: str, tensor: StoredTensor) -> Iterator[Line]:
    from tf2npu.comparison.tensors.layouts import FORMATS
    from tf2npu.comparison.tensors.statistics import statistics

    layout = next((text for text, number in FORMATS.items() if number == tensor.format), str(tensor.format))
    yield Line(f"{name}: {tensor.dtype.name} {list(tensor.shape)} {layout if tensor.path.suffix != '.npy' else ''}".rstrip())
    array = tensor.load()
    for label, value in statistics(array):
        yield Line(f"    {label:8} {value}")
    elements = " ".join(map(str, array[:_SHOWN_ELEMENTS]))
    yield Line(f"    first    {elements}{' ...' if len(array) > _SHOWN_ELEMENTS else ''}")
