"""Groups of options as attributes of objects: what `npu.global_options()` gives."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from npu_device._log import once
from npu_device._options.option_table import GROUP, Row, rows

from npu_formats.environment import TF2NPU_STRICT

_read = False
"""Whether a device has been opened, which reads the options once."""


class OptionValue:
    """One option.  default, optional: its default, and the values that it takes, None for any."""

    def __init__(self, row: Row) -> None:
        self._row = row
        self._value = self.default = row.default_value
        self.optional = row.allowed
        self.is_set = False

    @property
    def value(self) -> str | None:
        """The value as text, as the device is handed it: 1 and 0 for True and False; None for none."""
        return text_of(self._value)

    @value.setter
    def value(self, value: Any) -> None:
        """Raises: TypeError for a value of another type than the default, ValueError for one that is not in the list."""
        if self.optional is not None and value not in self.optional:
            if self.default is not None and not isinstance(value, type(self.default)):
                raise TypeError(f"Expected {type(self.default).__name__}, got {type(value).__name__}")
            raise ValueError(f"'{value}' not in optional list {self.optional}")
        self._value, self.is_set = value, True
        _say_what_is_wrong_with(self._row)


def text_of(value: Any) -> str | None:
    """A value as the vendor's adapter writes it; None stays None."""
    return None if value is None else {"True": "1", "False": "0"}.get(str(value), str(value))


class OptionTree:
    """A group of options, read and set as attributes.  Its class has the vendor's name, which messages have."""

    def __init__(self) -> None:
        made = {row.name: make(row.default) if row.status == GROUP else OptionValue(row) for row in rows()[type(self).__name__]}
        self.__dict__.update(made)

    def __setattr__(self, name: str, value: Any) -> None:
        """Raises: ValueError for an option that is not there, and what OptionValue.value does."""
        known = self.__dict__.get(name)
        listed = [row.name for row in rows()[type(self).__name__] if row.status != "removed"]
        if known is None or (name not in listed and os.environ.get(TF2NPU_STRICT)):
            raise ValueError(f"{type(self).__name__} has no option {name}, all options {listed}")
        if isinstance(known, OptionValue):
            known.value = value
        elif type(value) is type(known):
            self.__dict__[name] = value
        else:
            raise TypeError(f"Expected {type(known).__name__}, got {type(value).__name__}")

    def _options(self) -> Iterator[tuple[Row, OptionValue]]:
        """The options of this group alone."""
        for row in rows()[type(self).__name__]:
            if row.status != GROUP:
                yield row, self.__dict__[row.name]

    def _groups(self) -> Iterator[OptionTree]:
        """The groups in this one."""
        for row in rows()[type(self).__name__]:
            if row.status == GROUP:
                yield self.__dict__[row.name]


def make(config: str) -> OptionTree:
    """A new group of options, all of them at their defaults."""
    return _CLASSES[config]()


_CLASSES: dict[str, type[OptionTree]] = {config: type(config, (OptionTree,), {}) for config in rows()}


def class_of(config: str) -> type[OptionTree]:
    """The class of a group."""
    return _CLASSES[config]


def were_read() -> None:
    """From now on options come too late, and whoever sets one is told."""
    global _read
    _read = True


def _say_what_is_wrong_with(row: Row) -> None:
    if _read and row.config != "GraphMemoryOptimizeConfig":  # which npu_run_context takes at any time
        once(f"the option {row.name} was set after npu_device.open(), which reads the options once: it has no effect")
    if row.status == "deprecated":
        way_out = f"use {row.instead}" if row.instead else "leave it out"
        once(f"the option {row.name} is deprecated, and later releases will not have it: {way_out}")
    if row.status == "removed":
        once(f"the option {row.name} is of an older release, and a host of today refuses it: use {row.instead}")
