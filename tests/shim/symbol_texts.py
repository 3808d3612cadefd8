"""A callable's parameters as text, in the form of the table of symbols."""

from __future__ import annotations

import inspect
from typing import Any

_STARS = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}


def signature_of(found: Any) -> str:
    """ "(a, b=1, *, c)", without annotations and the receiver; "" for what is no function or class, or an enumeration."""
    if not callable(found) or (isinstance(found, type) and (hasattr(found, "__members__") or found is dict)):
        return ""
    texts: list[str] = []
    # Python 3.10 reads an inherited __new__, which tells nothing of a Keras layer, before __init__; 3.11 does not.
    has_init = isinstance(found, type) and found.__init__ is not object.__init__
    for parameter in inspect.signature(found.__init__ if has_init else found).parameters.values():
        if parameter.name in ("self", "cls"):
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and not any(text.startswith("*") for text in texts):
            texts.append("*")
        default = "" if parameter.default is parameter.empty else f"={_default(parameter.default)}"
        texts.append(_STARS.get(parameter.kind, "") + parameter.name + default)
    return f"({', '.join(texts)})"


def _default(value: Any) -> str:
    """Enumerations and element types by their name, everything else as Python writes it."""
    name = getattr(value, "name", None)
    return name if isinstance(name, str) else repr(value)
