"""Make characters visible that a terminal or a browser would obey, reorder or hide.

Control characters can drive a terminal, bidirectional ones make source read as something else than it is, zero-width
ones hide differences, and a lone surrogate (an undecodable byte of a file name) cannot be written as UTF-8 at all.
"""

from __future__ import annotations

import re

# C0 without tab, DEL and C1; soft hyphen; Arabic letter mark; zero-width and bidi marks; separators that editors do not
# break at; bidi embeddings and isolates, invisible operators; BOM inside text; surrogates; interlinear and tag characters.
ODD = re.compile(
    "[\x00-\x08\x0a-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ud800-\udfff\ufff9-\ufffb\U000e0000-\U000e007f]"
)


def code_point(character: str) -> str:
    """The name a reader can look up, "U+202E"."""
    return f"U+{ord(character):04X}"


def visible_lines(text: str) -> str:
    """`text` with its line ends, and each other odd character written as in `visible`."""
    return "\n".join(map(visible, text.split("\n")))


def for_xml(text: str) -> str:
    """A text that is visible already, without the two characters that XML 1.0 has no way to write."""
    return text.replace("\ufffe", "<U+FFFE>").replace("\uffff", "<U+FFFF>")


def visible(text: str) -> str:
    """`text` on one line, with each odd character written as <U+hhhh>, h a hex digit."""
    return ODD.sub(lambda match: f"<{code_point(match.group())}>", text.replace("\r\n", " ").replace("\n", " "))
