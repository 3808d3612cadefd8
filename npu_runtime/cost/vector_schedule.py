"""Schedule of a task of the vector units: how it is cut, and what a core does of it at a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple, dataclass

from npu_formats.device.chip import Chip
from npu_runtime.errors import InvalidArgument

VECTOR_BYTES = 256
"""Bytes of one vector instruction.  Source: vec_calc_size of the platform files, 128 lanes of fp16."""
LEAST_BLOCK_BYTES = 2048
"""Bytes of the largest tensor below which a task is not cut further: 64 bursts of the 32 bytes that the unified buffer is
addressed by (platform files).  Assumed: less would leave a core mostly waiting, and no source tells where cutting ends."""
STEP_BYTES = 512
"""Bytes of which blocks and tiles are multiples.  Source: the vendor's guide to its kernel language, by which transfers from
addresses that are no multiples of 512 reach as little as 70 % of the bandwidth (hiascend, best practices, GM address)."""
WHOLE_TRANSFER_BYTES = 16384
"""Bytes of a tile from which transfers reach their full rate.  Source: measurements of the vendor (hiascend, techArticles
20240906-1, 2024).  How much smaller ones lose is only drawn there, so no record has smaller ones."""
LARGEST, READ, WRITTEN = 0, 1, 2
"""Axes to cut a task along: that of what is largest, of what it reads, or of what it writes."""
EVEN, IN_TURNS = 0, 1
"""Orders of tiles: each core takes an equal share, or whole tiles in turns."""
FIELDS = ("cutAxis", "blockBytes", "tileBytes", "doubleBuffer", "blockDim", "tileOrder")
"""Parts of a record, in the order of those of a schedule: blockDim is the kernel language's word for the cores of a task."""
_STREAMS = 2
"""A core has a tile of what it reads and one of what it writes in the unified buffer."""


@dataclass(frozen=True)
class VectorSchedule:
    """axis: LARGEST, READ or WRITTEN.  block_bytes: least bytes that a core takes of each stream, all where there are fewer.

    tile_bytes: what a core has of a stream in the unified buffer at a time.  buffers: 2 where loads, instructions and stores
    overlap, 1 where they follow each other.  cores: how many work, at most.  order: EVEN or IN_TURNS.
    """

    axis: int
    block_bytes: int
    tile_bytes: int
    buffers: int
    cores: int
    order: int

    def fits(self, chip: Chip) -> bool:
        """Whether the chip has the cores and its unified buffer the room."""
        return self.cores <= chip.n_vector_cores and self.tile_bytes * self.buffers * _STREAMS <= chip.ub_bytes


def default_schedule(chip: Chip) -> VectorSchedule:
    """The schedule of a task that nobody tunes: equal shares of the largest stream for all cores, of LEAST_BLOCK_BYTES at least.

    Tiles are as large as the unified buffer holds twice.
    """
    return VectorSchedule(LARGEST, LEAST_BLOCK_BYTES, largest_tile(chip, 2), 2, chip.n_vector_cores, EVEN)


def largest_tile(chip: Chip, buffers: int) -> int:
    """Bytes of the largest tile of which the unified buffer holds so many of each stream."""
    return chip.ub_bytes // (buffers * _STREAMS) // STEP_BYTES * STEP_BYTES


def least_tile(chip: Chip) -> int:
    """Bytes of the smallest tile that a schedule may have."""
    return min(WHOLE_TRANSFER_BYTES, largest_tile(chip, 2))


class Shares:
    """The bytes of each stream that the core with most to do gets.  Streams: bytes read, bytes written, bytes of instructions."""

    def __init__(self, read_bytes: float, written_bytes: float, instruction_bytes: float, schedule: VectorSchedule) -> None:
        """schedule: one that `fits`."""
        self._least = float(schedule.block_bytes)
        cut = (max(read_bytes, written_bytes, instruction_bytes), read_bytes, written_bytes)[schedule.axis]
        piece = schedule.block_bytes if schedule.order == EVEN else max(schedule.block_bytes, schedule.tile_bytes)
        self.n_blocks = max(1, min(schedule.cores, int(-(-cut // piece))))
        self._part = None if schedule.order == EVEN else _busiest_part(cut, schedule.tile_bytes, self.n_blocks)

    def of(self, n_bytes: float) -> float:
        """Bytes of a stream for the core with most of it."""
        share = n_bytes / self.n_blocks if self._part is None else n_bytes * self._part
        return max(share, min(n_bytes, self._least))


def _busiest_part(n_bytes: float, tile_bytes: int, n_cores: int) -> float:
    """Part of the bytes of the core that has most when cores take whole tiles in turns; the last tile may be smaller."""
    whole, rest = divmod(n_bytes, tile_bytes)
    n_tiles = int(whole) + (rest > 0)
    rounds, left = divmod(n_tiles, n_cores)
    if n_bytes <= 0.0 or n_cores == 1:
        return 1.0
    if left == 1 and rest:
        return (rounds * tile_bytes + rest) / n_bytes
    return min(1.0, (rounds + (left > 0)) * tile_bytes / n_bytes)


def schedule_record(schedule: VectorSchedule) -> dict[str, int]:
    """The record of a schedule: every one of FIELDS, in that order."""
    return dict(zip(FIELDS, astuple(schedule), strict=True))


def read_schedule(record: Mapping[str, object], chip: Chip) -> VectorSchedule:
    """The schedule that a record describes.

    Raises: InvalidArgument when fields are missing, unknown or no such numbers, or when the chip does not have what it takes.
    """
    whole = {name: value for name, value in record.items() if type(value) is int}
    blocks, tiles = (range(least, chip.ub_bytes + 1, STEP_BYTES) for least in (STEP_BYTES, least_tile(chip)))
    allowed = (range(3), blocks, tiles, range(1, 3), range(1, chip.n_vector_cores + 1), range(2))
    wrong = [name for name, values in zip(FIELDS, allowed, strict=True) if name not in whole or whole[name] not in values]
    wrong += [repr(name)[:40] for name in record if name not in FIELDS]
    if wrong:
        raise InvalidArgument(f"vector schedule: wrong {', '.join(wrong)}; leave the record out to use the default")
    made = VectorSchedule(*(whole[name] for name in FIELDS))
    if not made.fits(chip):
        raise InvalidArgument(
            f"vector schedule: {chip.name} cannot hold {made.buffers} tiles of {made.tile_bytes} bytes; tune again for this chip"
        )
    return made
