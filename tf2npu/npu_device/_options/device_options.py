"""The options of a tree as the device is handed them, and what is said of them when a device is opened."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from npu_device._log import once
from npu_device._options.option_table import Row
from npu_device._options.option_tree import OptionTree, OptionValue, text_of

from npu_formats import session_options
from npu_formats.session_options import Given

_RECORDED_VARIABLES = ("GE_USE_STATIC_MEMORY", "NPU_DEBUG", "NPU_DUMP_GRAPH", "NPU_ENABLE_PERF")
"""Environment variables that the vendor's adapter acts on, and this device does not."""


_NOT_OF_SESSIONS = ("hcom_parallel",)
"""Options whose default is not that of a session: this one counts on the clock of several workers."""


def of_session(tree: OptionTree, environment: Mapping[str, str] = os.environ) -> dict[str, Any]:
    """The options as the session reads them: bool, int or text, as npu_formats/session_options.csv has it."""
    return {
        name: _value(session_options.table()[name].field, text) if name in session_options.table() else text
        for name, text in flat(tree, environment).items()
    }


def flat(tree: OptionTree, environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Texts by the names of npu_formats/session_options.csv, or by the option's own where that has none.

    They are those that the script has set; a group in which it has set one comes with its other defaults, as the vendor's, and
    so do those of _NOT_OF_SESSIONS.  AOE_MODE counts where the script says nothing of aoe_mode.
    """
    found = {row.session_option or row.name: option.value for row, option in _handed(tree, is_whole=False)}
    if environment.get("AOE_MODE"):
        found.setdefault("aoe_mode", environment["AOE_MODE"])
    return {name: value for name, value in found.items() if value is not None}


def _handed(tree: OptionTree, is_whole: bool) -> Iterator[tuple[Row, OptionValue]]:
    options = list(tree._options())
    is_whole = is_whole and any(option.is_set for _, option in options)
    yield from ((row, option) for row, option in options if is_whole or option.is_set or row.name in _NOT_OF_SESSIONS)
    for group in tree._groups():
        yield from _handed(group, is_whole=True)


def say_what_has_no_effect(tree: OptionTree, environment: Mapping[str, str] = os.environ) -> None:
    """Say once which options ask for what is not done here, and which are wrong with each other or with this machine."""
    given = _given(flat(tree, environment))
    for problem in session_options.problems(given):
        if "is deprecated" not in problem.text and "is of an older release" not in problem.text:  # told when it was set
            once(problem.text.replace("session option", "the option"))
    recorded = sorted(_recorded(tree) | {name for name in _RECORDED_VARIABLES if environment.get(name)})
    if recorded:
        once(f"recorded, and without effect on the simulated device: {', '.join(recorded)}")


def _given(options: Mapping[str, str]) -> Given:
    found: dict[str, tuple[str, Any]] = {}
    for name, text in options.items():
        option = session_options.table().get(name)
        if option is not None:
            found[name] = option.field, _value(option.field, text)
    return found


def _value(field: str, text: str) -> Any:
    if field == "b":
        return text not in ("0", "")
    return int(text) if field == "i" and text.lstrip("-").isdigit() else text


def _recorded(tree: OptionTree) -> set[str]:
    own = {row.name for row, option in tree._options() if option.is_set and row.here == "recorded" and _asks(option)}
    return own.union(*(_recorded(group) for group in tree._groups()))


def _asks(option: OptionValue) -> bool:
    """Whether a value asks for something else than what is done anyway."""
    return option.value not in (None, "") and option.value != (text_of(option.default) or "0")
