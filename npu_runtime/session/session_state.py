"""The state of a device session: what all its graphs share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from threading import RLock
from typing import Any

from npu_formats.device.chip import Chip
from npu_runtime.analysis.fusion_switches import GROUP_UPDATES, with_fusion_switches
from npu_runtime.analysis.precision_policy import PrecisionPolicy, load_policy
from npu_runtime.config import ORIGIN, RuntimeConfig, chip_of
from npu_runtime.device import float_status
from npu_runtime.device.engines import stream_limits
from npu_runtime.device.memory import ArenaPool
from npu_runtime.device.variable import Container, Variable, reshaped
from npu_runtime.executor.active_steps import ActiveSteps
from npu_runtime.graph.ops import Key
from npu_runtime.observers.base import Observers, SessionObserver
from npu_runtime.trace.run_log import RunLog, SessionRecord

MakeObservers = Callable[[RuntimeConfig, Chip], tuple[Sequence[SessionObserver], tuple[str, ...]]]
"""make(config, chip): the observers of a session, in order, and lines on them for its run log."""

_RUN_LOG = RunLog()
_RUN_LOG.overflows, _RUN_LOG.reshaped = float_status.overflows, reshaped


def run_log() -> RunLog:
    """The log of what ran where, for every device session of this process."""
    return _RUN_LOG


def for_observers(config: RuntimeConfig, observers: Observers) -> RuntimeConfig:
    """The settings without a pass that the chip has nothing like, where somebody looks at the operators."""
    return config if observers.is_empty else replace(config, switched_off=config.switched_off | {GROUP_UPDATES})


@dataclass(eq=False)
class SessionState:
    """Options, variables, memory, observers and the record of one session; a session of TensorFlow 1 has one graph, one of eager
    code a graph for each function.

    variables: by the key of their nodes.  in_flight: steps that run now.  lock: held while a graph is compiled.
    """

    config: RuntimeConfig
    chip: Chip
    policy: PrecisionPolicy
    stream_limits: Mapping[str, int]
    observers: Observers
    record: SessionRecord
    variables: dict[Key, Variable] = field(default_factory=dict)
    container: Container = field(default_factory=Container)
    in_flight: ActiveSteps = field(default_factory=ActiveSteps)
    arenas: ArenaPool = field(default_factory=ArenaPool)
    lock: Any = field(default_factory=RLock)

    @classmethod
    def opened(
        cls, config: RuntimeConfig, make_observers: MakeObservers, place: str = "", arenas: ArenaPool | None = None
    ) -> SessionState:  # fmt: skip
        """The state of a new session, with a record in the run log.  place: "file:line" that made the session.  arenas: its
        memory; None for arenas of its own.
        """
        config, fusion_notes = with_fusion_switches(config)
        chip = chip_of(config.soc)
        policy = load_policy(config, chip)
        limits, notes = stream_limits(str(config.parameters.get("stream_max_parallel_num") or ""))
        found, notes_of_observers = make_observers(config, chip)
        observers = Observers(found)
        made = cls(for_observers(config, observers), chip, policy, limits, observers, _RUN_LOG.open_session(place))
        made.arenas = arenas or made.arenas
        made.record.precision = "" if policy.is_origin else policy.mode
        made.record.notes = policy.notes + notes + notes_of_observers + fusion_notes
        made._describe_chip()
        return made

    def _describe_chip(self) -> None:
        chip = self.chip
        _RUN_LOG.device, _RUN_LOG.chip_saturates = f"simulated {chip.name}", chip.saturates
        _RUN_LOG.memory_bytes = chip.hbm_bytes
        _RUN_LOG.default_precision = "" if chip.training_precision == ORIGIN else chip.training_precision

    def close(self) -> None:
        """Give back all device memory."""
        self.observers.close()
        self.variables.clear()
        self.arenas = ArenaPool()
