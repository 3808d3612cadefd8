"""TOML that somebody else wrote: a document, or one sentence on why it is none."""

from __future__ import annotations

import sys
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


class NotToml(Exception):
    """A text is no TOML that can be read; the text says why."""


def parsed(data: bytes) -> dict[str, Any]:
    """The document.

    Raises: NotToml.
    """
    try:
        return tomllib.loads(data.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise NotToml(str(error)) from None
    except RecursionError:
        raise NotToml("its values are nested too deeply") from None
    except (ValueError, OverflowError) as error:  # of Python's own types: numbers of thousands of digits
        raise NotToml(str(error).partition(";")[0]) from None
