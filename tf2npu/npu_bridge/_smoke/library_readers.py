"""Readers of libraries that open a file in their own C code, or that want one of a form of their own."""

from __future__ import annotations

import os
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
from npu_bridge._smoke.imports import after_import
from npu_bridge._smoke.line_forms import N_COLUMNS, LineForm
from npu_bridge._smoke.made_files import MadeFiles, Missing

_N_ROWS = 2_000
"""Rows of a made-up table: about a week."""


def install(files: MadeFiles) -> None:
    """Make what these readers are given and does not exist."""
    after_import("cv2", lambda module: _replace(module, "imread", files, "image"))
    after_import("soundfile", lambda module: _replace(module.SoundFile, "__init__", files, "sound", place=1))
    after_import("gym.core", lambda module: _install_window(module, files))
    after_import("pandas", lambda module: _install_tables(module, files))


def _replace(owner: Any, name: str, files: MadeFiles, form: str, place: int = 0) -> None:
    """Replace a function whose argument at a place is a path."""
    real: Callable[..., Any] = getattr(owner, name)

    def read(*arguments: Any, **named: Any) -> Any:
        given = arguments[place] if len(arguments) > place else None
        if isinstance(given, str | os.PathLike):
            path = os.fspath(given)
            made = files.make(path, [form]) if files.places.is_missing(path) else files.places.read(path)
            arguments = (*arguments[:place], made or path, *arguments[place + 1 :])
        return real(*arguments, **named)

    setattr(owner, name, read)


def _install_tables(pandas: ModuleType, files: MadeFiles) -> None:
    """pandas.read_hdf: a table of numbers whose rows are five minutes apart, as those of sensors are."""
    real = pandas.read_hdf

    def read_hdf(path_or_buf: Any, *arguments: Any, **named: Any) -> Any:
        if not isinstance(path_or_buf, str | os.PathLike):
            return real(path_or_buf, *arguments, **named)
        path = os.fspath(path_or_buf)
        if not files.places.is_missing(path):
            return real(files.places.read(path), *arguments, **named)
        asked = Missing(path, "read", files.form_of(path, LineForm(n_columns=N_COLUMNS, has_numbers=True, is_table=True)))
        files.texts[files.places.told(path)] = asked
        n = asked.lines.n_columns
        files.made[files.places.shown(path)] = f"a table of {_N_ROWS} rows, 5 minutes apart, and {n} columns"
        times = pandas.date_range("2020-01-01", periods=_N_ROWS, freq="5min")
        return pandas.DataFrame(np.random.default_rng(0).random((_N_ROWS, n)) * 60.0, index=times)

    vars(pandas)["read_hdf"] = read_hdf


def _install_window(module: ModuleType, files: MadeFiles) -> None:
    """The picture of a game: where there is no screen, nothing is drawn."""
    real = module.Wrapper.render

    def render(self: Any, *arguments: Any, **named: Any) -> Any:
        try:
            return real(self, *arguments, **named)
        except Exception as error:
            files.made["gym's window"] = f"nothing is drawn ({type(error).__name__})"
            return None

    module.Wrapper.render = render
