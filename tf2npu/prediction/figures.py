"""Amounts as people read them: three or four digits and a unit, the same in every language."""

from __future__ import annotations

UNKNOWN = "-"
_DECIMAL, _BINARY = 1000, 1024
"""Factors from a unit to the next: of times and operations, and of bytes."""


def ms(value: float | None) -> str:
    """Milliseconds with a unit that fits."""
    return UNKNOWN if value is None else us(value * 1000)


def us(value: float | None) -> str:
    """Microseconds with a unit that fits."""
    return _scaled(value, ("us", "ms", "s"), _DECIMAL)


def n_bytes(value: float | None) -> str:
    """Bytes with a unit that fits; 1 GB is 2**30, as chips have it."""
    return _scaled(value, ("bytes", "KB", "MB", "GB", "TB"), _BINARY)


def flops(value: float | None) -> str:
    """Operations with a unit that fits."""
    return _scaled(value, ("FLOP", "KFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP"), _DECIMAL)


def percent(value: float | None) -> str:
    """A share as per cent."""
    return UNKNOWN if value is None else f"{100 * value:.1f} %"


def number(value: float | None) -> str:
    """An amount in four digits at least, with commas."""
    if value is None:
        return UNKNOWN
    digits = 0 if abs(value) >= 100 or value == int(value) else 1 if abs(value) >= 10 else 2
    return f"{value:,.{digits}f}"


def _scaled(value: float | None, units: tuple[str, ...], base: int) -> str:
    if value is None:
        return UNKNOWN
    for unit in units[:-1]:
        if float(number(value).replace(",", "")) < base:
            return f"{number(value)} {unit}"
        value /= base
    return f"{number(value)} {units[-1]}"
