"""Parses and emits files with LibCST and does nothing else: the yardstick for the converter's processor time.

Paths below a folder come one a line:

    python bare_parse.py FOLDER < PATHS
"""

from __future__ import annotations

import sys
from pathlib import Path

import libcst


def main(folder: Path) -> None:
    n_characters = 0
    for line in sys.stdin:
        try:
            data = (folder / line.rstrip("\n")).read_bytes()
            n_characters += len(libcst.parse_module(data).code)
        except (libcst.ParserSyntaxError, UnicodeError, LookupError, RecursionError, ValueError):
            continue
    print(n_characters)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
