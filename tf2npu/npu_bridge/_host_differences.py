"""Calls that work here and fail on an Ascend host: warned about once, refused under ``tf2npu run --strict``.

All of them are rows of _host_differences.csv, from which the tests and the documentation are made.
"""

from __future__ import annotations

import builtins
import csv
import os
from functools import cache
from pathlib import Path

from npu_bridge._log import once

from npu_formats.environment import TF2NPU_STRICT
from npu_formats.user_frames import calling_line


@cache
def rows() -> dict[str, dict[str, str]]:
    """The table by id: call, error and message of a host, and an example."""
    with (Path(__file__).parent / "_host_differences.csv").open(encoding="utf-8", newline="") as file:
        return {row["id"]: row for row in csv.DictReader(file)}


def accept(row_id: str, call: str = "") -> None:
    """Let a call pass with a warning that names the user's line and the host's error; in strict mode raise that error."""
    row = rows()[row_id]
    message = row["message"]
    if os.environ.get(TF2NPU_STRICT) == "1":
        raise _error(row["error"], message)
    line = calling_line()
    at = f" ({line})" if line else ""
    what = f"{call} {row['call'].partition(' ')[2]}" if call else row["call"]
    once(f"{what} works here{at}; on a host it raises {row['error']}: {message}", key=row_id + call)


def accept_value(text: str) -> None:
    """The same for an option's value that ends the process on a host."""
    if os.environ.get(TF2NPU_STRICT) == "1":
        raise _error(rows()["option_value"]["error"], text)
    once(f"{text}; on a host the process stops")


def accept_endless(why: str, here: str) -> None:
    """The same for a training that waits on a host for ever; why: the cause and the way out.  here: what happens instead."""
    row = rows()["endless_training"]
    if os.environ.get(TF2NPU_STRICT) == "1":
        raise _error(row["error"], f"{row['message']}: {why}")
    line = calling_line()
    at = f" ({line})" if line else ""
    once(f"on a host {row['message']}{at}: {why}{here}", key=row["id"])


def _error(name: str, message: str) -> Exception:
    if hasattr(builtins, name):
        return getattr(builtins, name)(message)
    from tensorflow.python.framework import errors_impl

    return getattr(errors_impl, name)(None, None, message)


def watch_collectives() -> None:
    """Let hccl's calls ahead of the first session be told too."""
    from hccl import _groups

    _groups.on_early_call = _early_call


def _early_call(call: str) -> None:
    accept("group_before_device" if call.endswith("_group") else "rank_before_device", call=call)
