"""Whole lines of a rank's stream, which comes piece by piece."""

from __future__ import annotations

LONGEST_LINE_BYTES = 1 << 20
"""Bytes of the longest line that is kept whole. A longer one is printed in parts, so that memory does not fill while it waits
for an end."""
_CONTINUED = (0x80, 0xC0)
"""The bits of a byte that goes on with a character in UTF-8, and the mask of the bits that say so."""


class Lines:
    """Holds what has no end yet.

    number: of the rank, which then stands in front of each line.  None leaves the bytes as they are.
    encoding: of the place where the lines go.
    """

    def __init__(self, number: int | None, encoding: str = "utf-8") -> None:
        self._prefix = None if number is None else f"[rank {number}] "
        self._encoding = encoding
        self._held = bytearray()

    def feed(self, data: bytes) -> list[bytes]:
        """The lines that have come to their end, ready to be written."""
        *whole, rest = data.split(b"\n")
        if whole:
            whole[0] = bytes(self._held) + whole[0]
            self._held.clear()
        self._held += rest
        lines = [self._written(line) for line in whole]
        while len(self._held) > LONGEST_LINE_BYTES:
            cut = self._last_cut()
            lines.append(self._written(bytes(self._held[:cut])))
            del self._held[:cut]
        return lines

    def end(self) -> list[bytes]:
        """The rest when no end of the line will come; it gets one, or another rank's line would go on with it."""
        left = bytes(self._held)
        self._held.clear()
        return [self._written(left)] if left else []

    def _last_cut(self) -> int:
        """The offset where a part that is long enough ends: in front of a character."""
        cut = LONGEST_LINE_BYTES
        while cut > LONGEST_LINE_BYTES - 4 and self._held[cut] & _CONTINUED[1] == _CONTINUED[0]:
            cut -= 1
        return cut

    def _written(self, line: bytes) -> bytes:
        """Bytes that are no UTF-8 become replacement characters.

        A progress bar goes back to the start of its line with a carriage return, and finds the rank's number there again.
        """
        if self._prefix is None:
            return line + b"\n"
        text = line.decode("utf-8", "replace").rstrip("\r").replace("\r", f"\r{self._prefix}")
        return f"{self._prefix}{text}\n".encode(self._encoding, "replace")
