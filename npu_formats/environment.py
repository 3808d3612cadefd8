"""The environment variables of tf2npu: what each holds, who writes it, and who reads it.

A process is told by them what another one asks of it. All of them are handed on to ranks and to other hosts.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import NamedTuple

PREFIX = "TF2NPU_"
"""Prefix of each of them."""

TF2NPU_ALL_SESSIONS = "TF2NPU_ALL_SESSIONS"
TF2NPU_CHECK = "TF2NPU_CHECK"
TF2NPU_COLLECTIVES = "TF2NPU_COLLECTIVES"
TF2NPU_COLLECTIVE_ENGINE = "TF2NPU_COLLECTIVE_ENGINE"
TF2NPU_CONVERTED = "TF2NPU_CONVERTED"
TF2NPU_COORDINATOR = "TF2NPU_COORDINATOR"
TF2NPU_FRONTEND = "TF2NPU_FRONTEND"
TF2NPU_JOB_KEY = "TF2NPU_JOB_KEY"
TF2NPU_LANG = "TF2NPU_LANG"
TF2NPU_LOG = "TF2NPU_LOG"
TF2NPU_NATIVE = "TF2NPU_NATIVE"
TF2NPU_OPTIONS = "TF2NPU_OPTIONS"
TF2NPU_PREDICT = "TF2NPU_PREDICT"
TF2NPU_RECORD = "TF2NPU_RECORD"
TF2NPU_REFERENCE = "TF2NPU_REFERENCE"
TF2NPU_SERVER = "TF2NPU_SERVER"
TF2NPU_SMOKE = "TF2NPU_SMOKE"
TF2NPU_STRICT = "TF2NPU_STRICT"
TF2NPU_TUNE = "TF2NPU_TUNE"


_ADAPTER = "adapter"
"""Key of what check and dump reference ask of a process: the adapter whose scripts have the steps that they look at."""

MINDSPORE = "mindspore"
"""The name that stands for an adapter where a program is one for MindSpore, which runs as it is."""


def watched_adapter(environment: Mapping[str, str]) -> str:
    """The adapter of the script at whose steps check or dump reference look in a process; "" in all others."""
    asked = environment.get(TF2NPU_CHECK) or environment.get(TF2NPU_REFERENCE)
    return str(json.loads(asked).get(_ADAPTER, "")) if asked else ""


class Variable(NamedTuple):
    """type: of what the text holds.  writer, reader: a command, a package, or "the user"."""

    name: str
    type: str
    holds: str
    writer: str
    reader: str


_JSON = "JSON object"
VARIABLES = (
    Variable(TF2NPU_ALL_SESSIONS, "1", "sessions without the NPU entry run on the device, too", "tf2npu run", "npu_bridge"),
    Variable(
        TF2NPU_CHECK, _JSON, "role (original, again, migrated, device), adapter, folder, steps and more",
        "tf2npu check", "the shims, tf2npu run",
    ),
    Variable(
        TF2NPU_COLLECTIVES, "KEY|FOLDER", "the key of this run's coordinator in hexadecimal, and the folder where it listens",
        "tf2npu run", "npu_runtime",
    ),
    Variable(
        TF2NPU_COLLECTIVE_ENGINE, "embedded or mpi", "what moves the tensors: the coordinator's memory on one machine, or MPI",
        "the user or tf2npu run", "npu_runtime",
    ),
    Variable(
        TF2NPU_CONVERTED, _JSON, "copy, a folder that was converted for this run; root, that of the user's which it was made of",
        "tf2npu predict, tf2npu tune", "npu_formats",
    ),
    Variable(
        TF2NPU_COORDINATOR, "ADDRESS:PORT", "where the coordinator listens when ranks are on several machines",
        "tf2npu run", "npu_runtime",
    ),
    Variable(TF2NPU_FRONTEND, "mindspore", "the program is one for MindSpore, which runs as it is", "tf2npu run", "tf2npu"),
    Variable(TF2NPU_JOB_KEY, "text", "the key that the ranks of several machines share", "the user", "tf2npu run"),
    Variable(TF2NPU_LANG, "en or zh", "the language of everything that has a --lang, and of the help", "the user", "tf2npu"),
    Variable(
        TF2NPU_LOG, "full or debug", "a line on every program behind the run's totals; the options of every session, too",
        "the user", "npu_bridge",
    ),
    Variable(
        TF2NPU_NATIVE, "off or at_once", "numba, where it is installed, compiles no loops, or each before its first use; "
        "else beside the first steps", "the user", "npu_runtime",
    ),
    Variable(
        TF2NPU_OPTIONS, _JSON, "options that the launcher was given, which win over the script's", "tf2npu run", "npu_runtime",
    ),
    Variable(
        TF2NPU_PREDICT, _JSON, "the fields of npu_formats.documents PredictionRequest", "tf2npu predict", "npu_runtime",
    ),
    Variable(TF2NPU_RECORD, "1", "the run is recorded for a report, by all ranks", "tf2npu run", "npu_runtime"),
    Variable(
        TF2NPU_REFERENCE, _JSON, "adapter; out, a folder; scratch, one in it for the process; steps, [first, last] pairs or null",
        "tf2npu dump reference", "npu_bridge, npu_device, tf2npu run",
    ),
    Variable(TF2NPU_SERVER, "address", "of this rank's machine, as the rank table has it", "tf2npu run", "npu_runtime"),
    Variable(
        TF2NPU_SMOKE, _JSON, "the fields of npu_formats.documents SmokeRequest", "tf2npu run --smoke", "npu_bridge, npu_runtime",
    ),
    Variable(TF2NPU_STRICT, "1", "what a real host refuses is refused here, too", "tf2npu run", "the shims"),
    Variable(TF2NPU_TUNE, _JSON, "out, the file for the document; steps, of a training program", "tf2npu tune", "npu_runtime"),
)  # fmt: skip
