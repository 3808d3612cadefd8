"""The options that a script sets, in the types of a session's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from npu_formats.session_options import Given, table

_OFF = frozenset({"", "0", "false", "False"})


def parameters(options: Mapping[str, str]) -> dict[str, Any]:
    """The values that texts mean.  options: by the names of session options; others stay text."""
    return {name: _value(table()[name].field, text) if name in table() else text for name, text in options.items()}


def given(settings: Mapping[str, Any]) -> Given:
    """Settings as session options are checked: with the fields that they belong into; others are left out."""
    return {name: (table()[name].field, value) for name, value in settings.items() if name in table()}


def _value(field: str, text: str) -> Any:
    if field == "b":
        return text not in _OFF
    return int(text) if field == "i" and text.lstrip("-").isdigit() else text
