"""The request for tuning, read from a session's options and the environment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from npu_runtime.config import TUNING_SECONDS, RuntimeConfig
from npu_runtime.errors import FailedPrecondition
from npu_runtime.observers.tuning.bank.operator_bank import BANK_VARIABLE, bank_folder
from npu_runtime.observers.tuning.programs.narrowing import ALL, Narrowing, read_narrowing
from npu_runtime.observers.tuning.search.parallel import GA, RL

MODE, AOE_MODE, WORK_PATH, AOE_CONFIG = "auto_tune_mode", "aoe_mode", "work_path", "aoe_config_file"
DEBUG_LEVEL = "op_debug_level"
"""Names of the session's options."""
AOE_VARIABLE, REPEAT_VARIABLE, ENABLE_VARIABLE = "AOE_MODE", "REPEAT_TUNE", "ENABLE_TUNE_BANK"
WORKERS_VARIABLE, WORK_VARIABLE = "TE_PARALLEL_COMPILER", "ASCEND_WORK_PATH"
"""Names of variables of the vendor's tools."""
OPERATORS = "2"
"""The value of aoe_mode that tunes operators; 1 tunes sub-graphs and 4 the gradients' split, neither of which is done here."""
BOTH = "RL,GA"
"""Genetic search for products and reinforcement learning for the rest."""
DEFAULT_WORKERS = 8
"""Operators that are compiled side by side.  Source: the vendor's default of TE_PARALLEL_COMPILER."""
_DEBUGGED = (1, 2)
"""Levels of op_debug_level that make operators to be debugged, which are slower than those of training.  Source: the vendor's
documents of the option; what is found for such operators would say nothing of others, so nothing is searched."""


@dataclass(frozen=True)
class TuningRequest:
    """mode: GA, RL or BOTH.  folder: of the bank.  results: folder of result files of auto_tune_mode, None where only aoe_mode
    asks.  aoe_results: the same of aoe_mode.  searches: whether anything is searched, or only the bank is read.  repeats: whether
    what a bank has is tuned again.  reads_bank: whether banks are read.  workers: searches side by side.  seconds: of a program.
    narrowing: which operators.
    """

    mode: str
    folder: Path
    results: Path | None = None
    aoe_results: Path | None = None
    searches: bool = True
    repeats: bool = False
    reads_bank: bool = True
    workers: int = 1
    seconds: float = TUNING_SECONDS
    narrowing: Narrowing = ALL


def requested(
    config: RuntimeConfig, soc: str, environment: Mapping[str, str] = os.environ
) -> tuple[TuningRequest | None, tuple[str, ...]]:  # fmt: skip
    """The request for the tuning of a session, None for none, and lines for the run log.

    A session is not tuned where there is no place for what tuning finds; its script goes on.
    """
    parameters = config.parameters
    mode = _mode(_text(parameters.get(MODE)))
    aoe, where = _text(parameters.get(AOE_MODE)), AOE_MODE
    if not aoe:
        aoe, where = environment.get(AOE_VARIABLE, "").strip(), AOE_VARIABLE
    other = f"tuning: {where}={aoe!r:.20} tunes nothing here; of its values {OPERATORS} does, which tunes operators"
    notes = () if aoe in ("", OPERATORS) else (other,)
    if not mode and aoe != OPERATORS:
        return None, notes
    try:
        folder = _absolute(bank_folder(soc, environment))
        aoe_results = _work_folder(parameters, environment) if aoe == OPERATORS else None
    except FailedPrecondition as problem:
        return None, (*notes, f"tuning: nothing is tuned: {problem.message}")
    narrowing, more = _narrowing(_text(parameters.get(AOE_CONFIG)))
    searches, also = _searches(parameters.get(DEBUG_LEVEL))
    workers, and_workers = _workers(environment)
    repeats, reads_bank = _is(environment, REPEAT_VARIABLE, "true"), not _is(environment, ENABLE_VARIABLE, "false")
    request = TuningRequest(
        BOTH if aoe == OPERATORS else mode, folder, folder if mode else None, aoe_results, searches, repeats, reads_bank, workers,
        config.tuning_seconds, narrowing,
    )  # fmt: skip
    return request, (*notes, *more, *also, *and_workers)


def _mode(text: str) -> str:
    """GA, RL or BOTH; "" for nothing. The shim warns of other words."""
    words = {word.strip() for word in text.split(",")}
    return BOTH if {GA, RL} <= words else next((word for word in (GA, RL) if word in words), "")


def _narrowing(text: str) -> tuple[Narrowing, tuple[str, ...]]:
    if not text:
        return ALL, ()
    try:
        return read_narrowing(Path(text)), ()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        return Narrowing(), (f"tuning: {AOE_CONFIG}={text}: {reason}; all operators are tuned",)


def _searches(level: Any) -> tuple[bool, tuple[str, ...]]:
    if not _text(level).isdecimal() or int(_text(level)) not in _DEBUGGED:
        return True, ()
    line = f"tuning: {DEBUG_LEVEL}={_text(level)} makes operators to be debugged, so nothing is searched: leave it out to tune"
    return False, (line,)


def _workers(environment: Mapping[str, str]) -> tuple[int, tuple[str, ...]]:
    """TE_PARALLEL_COMPILER, and no more than this process has cores."""
    text = environment.get(WORKERS_VARIABLE, "").strip()
    cores = len(os.sched_getaffinity(0))
    if text and not (text.isdecimal() and int(text) > 0):
        line = f"tuning: {WORKERS_VARIABLE}={text!r:.20} is no number of operators: {DEFAULT_WORKERS} are tuned side by side"
        return min(DEFAULT_WORKERS, cores), (line,)
    return min(int(text or DEFAULT_WORKERS), cores), ()


def _work_folder(parameters: Mapping[str, Any], environment: Mapping[str, str]) -> Path:
    """The folder for results of aoe_mode.  Source: the vendor's documents; without any, the folder that the script runs in."""
    return _absolute(Path(_text(parameters.get(WORK_PATH)) or environment.get(WORK_VARIABLE) or "."))


def _absolute(path: Path) -> Path:
    """Raises: FailedPrecondition for a relative path in a folder that is gone."""
    try:
        return path.absolute()
    except OSError as error:
        raise FailedPrecondition(
            f"the current folder is gone ({error.strerror}): name whole paths in {BANK_VARIABLE} and {WORK_PATH}"
        ) from None


def _is(environment: Mapping[str, str], name: str, word: str) -> bool:
    return environment.get(name, "").strip().lower() == word


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else "" if value is None else str(value).strip()
