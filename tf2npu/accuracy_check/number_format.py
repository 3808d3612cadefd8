"""Numbers of a check as people read them."""

from __future__ import annotations

import math

_LEAST_SHARE = 1e-9
"""Shares below it are shown as powers of ten: with that many zeros nobody counts them."""
_MOST_SHARE = 1e4
"""Shares from it on, too: a million percent says no more than "nothing agrees"."""


def special(value: float | None) -> str:
    """The text for a value that is no finite number; "" for one that is."""
    if value is None:
        return "-"
    if math.isnan(value):
        return "NaN"
    return "" if math.isfinite(value) else "Infinity" if value > 0 else "-Infinity"


def loss_text(value: float | None) -> str:
    """A loss with five digits."""
    return special(value) or f"{value:#.5g}".rstrip(".")


def share_text(value: float | None) -> str:
    """A relative error in percent with two digits: `19 %`, `0.0004 %`."""
    if value is None or special(100 * value):
        return special(None if value is None else 100 * value)
    if value and not _LEAST_SHARE <= abs(value) < _MOST_SHARE:
        return f"{100 * value:.1e} %"
    percent = float(f"{100 * value:.2g}")
    digits = max(0, 1 - math.floor(math.log10(abs(percent)))) if percent else 0
    text = f"{percent:,.{digits}f}"
    return f"{text.rstrip('0').rstrip('.') if '.' in text else text} %"


def amount_text(value: float | None) -> str:
    """A magnitude with two to five digits: `91,000`, `65,504`, `0.00012`."""
    if value is None or special(value):
        return special(value)
    if value == int(value) and abs(value) < 1e6:
        return f"{value:,.0f}"
    rounded = float(f"{value:.3g}")
    return f"{rounded:,.0f}" if 1e3 <= abs(rounded) < 1e9 else f"{rounded:g}"


def cosine_text(value: float) -> str:
    """A cosine with six digits, never rounded up to 1; what is none is brought into its range."""
    return special(value) or f"{math.floor(min(1.0, max(-1.0, value)) * 1e6) / 1e6:.6f}"
