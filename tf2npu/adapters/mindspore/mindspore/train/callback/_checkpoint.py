"""ModelCheckpoint, its settings and the files that it keeps.  Source: train/callback/_checkpoint.py of r1.1, read."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path
from typing import Any

from mindspore.nn.cell import Cell
from mindspore.train.callback._callback import Callback, RunContext, step_in_epoch
from mindspore.train.serialization import save_checkpoint

from npu_formats.files.directory import Directory


def _checked_count(name: str, value: Any) -> Any:
    """Raises: ValueError for what is no whole number from 0 on and not None."""
    if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 0):
        raise ValueError(f"CheckpointConfig({name}={value!r}): a whole number, 0 or more, or None")
    return value or None


class CheckpointConfig:
    """The times at which checkpoints are saved, and how many are kept.

    save_checkpoint_seconds and keep_checkpoint_per_n_minutes count only where the numbers before them are 0 or None.
    """

    def __init__(
        self, save_checkpoint_steps: int | None = 1, save_checkpoint_seconds: int | None = 0, keep_checkpoint_max: int | None = 5,
        keep_checkpoint_per_n_minutes: int | None = 0, integrated_save: bool = True, async_save: bool = False,
        saved_network: Cell | None = None,
    ) -> None:  # fmt: skip
        self.save_checkpoint_steps = _checked_count("save_checkpoint_steps", save_checkpoint_steps)
        self.save_checkpoint_seconds = _checked_count("save_checkpoint_seconds", save_checkpoint_seconds)
        self.keep_checkpoint_max = _checked_count("keep_checkpoint_max", keep_checkpoint_max)
        self.keep_checkpoint_per_n_minutes = _checked_count("keep_checkpoint_per_n_minutes", keep_checkpoint_per_n_minutes)
        if not any(vars(self).values()):
            raise ValueError("CheckpointConfig: all of its numbers are 0 or None: save_checkpoint_steps=1 saves after each step")
        if self.save_checkpoint_steps:
            self.save_checkpoint_seconds = None
        if self.keep_checkpoint_max:
            self.keep_checkpoint_per_n_minutes = None
        elif not self.keep_checkpoint_per_n_minutes:
            self.keep_checkpoint_max = 1
        if saved_network is not None and not isinstance(saved_network, Cell):
            raise TypeError(f"CheckpointConfig(saved_network=...): a Cell or None, not {type(saved_network).__name__}")
        self.integrated_save, self.async_save, self.saved_network = integrated_save, async_save, saved_network

    def get_checkpoint_policy(self) -> dict[str, Any]:
        """The settings as a dict."""
        return {name: value for name, value in vars(self).items() if name not in ("integrated_save", "async_save")}


class CheckpointManager:
    """The checkpoint files of a prefix in a folder."""

    def __init__(self) -> None:
        self.ckpoint_filelist: list[str] = []

    @property
    def ckpoint_num(self) -> int:
        """The number of files."""
        return len(self.ckpoint_filelist)

    def update_ckpoint_filelist(self, directory: str, prefix: str) -> None:
        """Looks which files there are: PREFIX-EPOCH_STEP.ckpt."""
        named = re.compile(re.escape(prefix) + r"[^a-zA-Z]*\.ckpt")
        self.ckpoint_filelist = [os.path.join(directory, one) for one in os.listdir(directory) if named.fullmatch(one)]

    def remove_oldest_ckpoint_file(self) -> None:
        """Removes the oldest one."""
        self._remove(min(self.ckpoint_filelist, key=os.path.getmtime))

    def keep_one_ckpoint_per_minutes(self, minutes: int, cur_time: float) -> None:
        """Removes all of the last minutes but the oldest."""
        recent = [one for one in self.ckpoint_filelist if cur_time - os.path.getmtime(one) < 60 * minutes]
        for one in sorted(recent, key=os.path.getmtime)[1:]:
            self._remove(one)

    def _remove(self, path: str) -> None:
        folder, name = os.path.split(path)
        with Directory.followed(Path(folder)) as place:
            place.remove(name)
        self.ckpoint_filelist.remove(path)


class ModelCheckpoint(Callback):
    """Saves checkpoints PREFIX-EPOCH_STEP.ckpt; where the folder has some of this prefix already, it gets a number.

    Raises: ValueError for a prefix with a slash; TypeError for a config of another class.
    """

    def __init__(self, prefix: str = "CKP", directory: str | None = None, config: CheckpointConfig | None = None) -> None:
        if not isinstance(prefix, str) or "/" in prefix:
            raise ValueError(f"ModelCheckpoint(prefix={prefix!r}): a text without a slash; the folder is directory=")
        if config is not None and not isinstance(config, CheckpointConfig):
            raise TypeError(f"ModelCheckpoint(config=...): a CheckpointConfig, not {type(config).__name__}")
        self._directory = os.path.realpath(directory) if directory is not None else os.getcwd()
        Directory.given(Path(self._directory), make=True).close()
        self._config = config or CheckpointConfig()
        self._manager = CheckpointManager()
        self._prefix = _unused_prefix(self._directory, prefix)
        self._last_time = self._last_time_for_keep = time.time()
        self._last_triggered_step = 0
        self._latest = ""

    @property
    def latest_ckpt_file_name(self) -> str:
        """The file that was saved last, "" for none."""
        return self._latest

    def step_end(self, run_context: RunContext) -> None:
        self._save_if_due(run_context.original_args(), False)

    def end(self, run_context: RunContext) -> None:
        self._save_if_due(run_context.original_args(), True)

    def _save_if_due(self, told: Any, is_forced: bool) -> None:
        if told.cur_step_num == self._last_triggered_step or not (is_forced or self._is_due(told)):
            return
        self._last_time = time.time()
        self._make_room()
        self._last_triggered_step = told.cur_step_num
        name = f"{self._prefix}-{told.cur_epoch_num}_{step_in_epoch(told)}.ckpt"
        path = os.path.join(self._directory, name)
        network = self._config.saved_network or told.train_network
        save_checkpoint(network, path, self._config.integrated_save, self._config.async_save)
        self._last_time_for_keep, self._latest = time.time(), path

    def _is_due(self, told: Any) -> bool:
        if self._config.save_checkpoint_steps:
            return bool(told.cur_step_num >= self._last_triggered_step + self._config.save_checkpoint_steps)
        seconds = self._config.save_checkpoint_seconds
        return bool(seconds) and time.time() - self._last_time > seconds

    def _make_room(self) -> None:
        self._manager.update_ckpoint_filelist(self._directory, self._prefix)
        most, minutes = self._config.keep_checkpoint_max, self._config.keep_checkpoint_per_n_minutes
        if most and self._manager.ckpoint_num >= most:
            self._manager.remove_oldest_ckpoint_file()
        elif minutes and time.time() - self._last_time_for_keep < 60 * minutes:
            self._manager.keep_one_ckpoint_per_minutes(minutes, time.time())


def _unused_prefix(directory: str, prefix: str) -> str:
    """The prefix, with the next number where checkpoints of it are in the folder."""
    named = re.compile(re.escape(prefix) + r"(?:_(\d+))?-.*\.ckpt")
    found = [named.fullmatch(one.name) for one in Path(directory).iterdir()]
    numbers = [int(one[1] or 0) for one in found if one]
    return f"{prefix}_{max(numbers) + 1}" if numbers else prefix
