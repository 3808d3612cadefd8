"""The clocks of a collection: simulated time as counter ticks of the device, as the host's raw clock, and as time of day."""

from __future__ import annotations

from dataclasses import dataclass

TICK_NS = 10
"""Nanoseconds of one tick of the device's counter: its task scheduler counts at 100 MHz. Source: `hwts_frequency` of the
info.json that the vendor's parser reads for the training chip."""
TICKS_PER_US = 1000 // TICK_NS
"""Ticks of one microsecond."""
OPENED_RAW_NS = 1_000_000_000_000_000
"""The host's raw clock when the simulated device was opened, nanoseconds. The vendor's parser computes times as floating-point
numbers of nanoseconds: at this size such a number is exact to an eighth, so that its rounding errors vanish in whole ones."""
OPENED_TICKS = 1_000_000_000
"""The device's counter at that moment, ticks; the parser divides it by 1e9, so that it too stays exact."""
LEAD_NS = 1_000_000
"""Nanoseconds from the begin of a collection to the opening of the device. The parser drops tasks that start at or before the
begin, and the simulated clock starts at 0."""


def ticks(us: float) -> int:
    """The counter at a simulated time in microseconds, rounded to a tick: the order of times is kept."""
    return OPENED_TICKS + round(us * TICKS_PER_US)


def raw_ns(us: float) -> int:
    """The host's raw clock at a simulated time in microseconds, nanoseconds."""
    return OPENED_RAW_NS + round(us * 1000)


def tick_ns(at: int) -> int:
    """The host's raw clock at a tick of the device, nanoseconds."""
    return OPENED_RAW_NS + (at - OPENED_TICKS) * TICK_NS


def decimal_us(ns: int) -> str:
    """Nanoseconds as microseconds with three decimals."""
    return f"{ns // 1000}.{ns % 1000:03d}"


@dataclass(frozen=True)
class Clocks:
    """opened_ns: time of day when the simulated device was opened, nanoseconds since 1970, a whole number of microseconds."""

    opened_ns: int

    @classmethod
    def of_day(cls, began_ns: int) -> Clocks:
        """The clocks of a collection for a device that was opened at a time of day, cut to a microsecond."""
        return cls(began_ns // 1000 * 1000)

    def day_us(self, raw: int) -> str:
        """A time of the host's raw clock as time of day: microseconds since 1970 with three decimals."""
        return decimal_us(self.opened_ns + raw - OPENED_RAW_NS)

    @staticmethod
    def since_begin_us(raw: int) -> str:
        """A time of the host's raw clock from the begin of the collection on: microseconds with three decimals."""
        return decimal_us(raw - OPENED_RAW_NS + LEAD_NS)
