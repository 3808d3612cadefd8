"""Trials of one reader: a valid file is damaged, read, and put back."""

from __future__ import annotations

import random
import shutil
import zlib
from collections.abc import Iterator
from pathlib import Path

from benchmarks.fuzzing.damage import damaged
from benchmarks.fuzzing.readers import Reader, outcome

_TRIALS_A_FOLDER = 200
"""Trials after which all files are made anew: what commands write among them is new again."""


_OF_VALID = (0, 1)
"""Exit codes for a valid file: 1 says that there is work to do."""


def failures(reader: Reader, trials: int, seed: int, folder: Path) -> Iterator[tuple[str, Path, bytes]]:
    """(what went wrong, the file's path, its content) of each trial that did not end as it should."""
    rng = random.Random(f"{seed} {reader.name}")
    for start in range(0, trials, _TRIALS_A_FOLDER):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        files = reader.make(folder)
        assert not (told := outcome(reader, folder, _OF_VALID)), f"{reader.name}: the valid file: {told}"
        kept = {path: path.read_bytes() for path in files if path.is_file()}
        for _ in range(min(_TRIALS_A_FOLDER, trials - start)):
            path = rng.choice(list(kept))
            data = damaged(kept[path], rng)
            data = reader.seal(data) if reader.seal is not None and rng.random() < 0.8 else data
            path.write_bytes(data)
            told = outcome(reader, folder)
            if told:
                yield told, path, data
            path.write_bytes(kept[path])


def name_of(content: bytes) -> str:
    """A short name for the content of a file that failed."""
    return f"{zlib.crc32(content):08x}"
