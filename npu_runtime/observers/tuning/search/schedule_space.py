"""The schedules of a vector task as a chain of decisions."""

from __future__ import annotations

from itertools import product

from npu_formats.device.chip import Chip
from npu_runtime.cost.vector_schedule import (
    EVEN,
    IN_TURNS,
    LARGEST,
    LEAST_BLOCK_BYTES,
    READ,
    STEP_BYTES,
    WRITTEN,
    VectorSchedule,
    largest_tile,
    least_tile,
)  # fmt: skip

Chain = tuple[int, ...]
"""The decisions so far: of each the index among its options."""
DECISIONS = ("axis", "block_bytes", "buffers", "tile_bytes", "cores", "order")
"""Decisions of a schedule, in this order.  Buffers come before tiles, since they say which tiles fit."""
_BLOCKS = (STEP_BYTES, 1024, 1536, LEAST_BLOCK_BYTES, 4096, 8192, 16384, 32768)
"""Bytes of the least block that a search tries: the default, what is finer in every step, and what is coarser by doubling."""
_CORE_SHARES = (1.0, 0.75, 0.5, 0.25)
"""Shares of the chip's cores that a search tries: all, so many that a last round of tiles comes out even, and few."""


class ScheduleSpace:
    """Every schedule of a chip that a search may try.  All of them fit the chip; the default is one."""

    def __init__(self, chip: Chip) -> None:
        self._tiles = {buffers: _tiles(chip, buffers) for buffers in (1, 2)}
        cores = dict.fromkeys(max(1, round(chip.n_vector_cores * share)) for share in _CORE_SHARES)
        self._options: dict[str, tuple[int, ...]] = {
            "axis": (LARGEST, READ, WRITTEN), "block_bytes": _BLOCKS, "buffers": (2, 1), "cores": tuple(cores),
            "order": (EVEN, IN_TURNS),
        }  # fmt: skip

    @property
    def n_decisions(self) -> int:
        """Length of a whole chain."""
        return len(DECISIONS)

    @property
    def most_options(self) -> int:
        """Options of the decision that has most."""
        return max(map(len, (*self._options.values(), *self._tiles.values())))

    def options(self, chain: Chain) -> tuple[int, ...]:
        """The values that the next decision of a chain chooses from."""
        name = DECISIONS[len(chain)]
        if name == "tile_bytes":
            return self._tiles[self._options["buffers"][chain[DECISIONS.index("buffers")]]]
        return self._options[name]

    def schedule(self, chain: Chain) -> VectorSchedule:
        """The schedule of a whole chain."""
        return VectorSchedule(**{name: self.options(chain[:at])[chain[at]] for at, name in enumerate(DECISIONS)})

    def all_chains(self) -> list[Chain]:
        """Every whole chain."""
        chains: list[Chain] = [()]
        for _ in DECISIONS:
            chains = [(*chain, choice) for chain in chains for choice in range(len(self.options(chain)))]
        return chains


def _tiles(chip: Chip, buffers: int) -> tuple[int, ...]:
    """Tiles between the least and the largest: these two, and each power of two and one and a half times it between."""
    least, most = least_tile(chip), largest_tile(chip, buffers)
    steps = {least * times // 2 << power for times, power in product((2, 3), range(most.bit_length()))}
    return tuple(sorted({most, *(size for size in steps if size < most and size % STEP_BYTES == 0)}))
