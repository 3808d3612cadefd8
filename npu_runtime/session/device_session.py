"""The device session of users, and the one list of the observers that its options and the environment may ask for."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from npu_formats.device.chip import Chip
from npu_runtime.config import RuntimeConfig
from npu_runtime.device.memory import ArenaPool
from npu_runtime.importers.tensorflow.devices import Devices
from npu_runtime.importers.tensorflow.graphdef import GraphImporter
from npu_runtime.importers.tensorflow.host import HostSide
from npu_runtime.observers.base import SessionObserver
from npu_runtime.observers.dump.exception_dump import exception_dump
from npu_runtime.observers.dump.session_dump import session_dump
from npu_runtime.observers.dump.tensor_recorder import TensorRecorder
from npu_runtime.observers.graph_files.session_graphs import graph_files
from npu_runtime.observers.nan_origins import nan_origins
from npu_runtime.observers.prediction.collector import collector
from npu_runtime.observers.profiler.profile_watcher import profile_watcher
from npu_runtime.observers.run_recorder import run_recorder
from npu_runtime.observers.smoke_test import smoke_test
from npu_runtime.observers.tuning.programs.session_tuner import tuner_for, tuning_lines
from npu_runtime.observers.tuning.programs.tuning_collector import tuning_collector
from npu_runtime.observers.tuning.search.parallel import tune_all
from npu_runtime.session.observed_session import ObservedSession
from npu_runtime.session.session_state import SessionState, run_log

__all__ = ["DeviceSession", "run_log"]

run_log().tuning = tuning_lines


def session_observers(
    config: RuntimeConfig, chip: Chip, recorder: TensorRecorder | None = None
) -> tuple[Sequence[SessionObserver], tuple[str, ...]]:  # fmt: skip
    """The observers of a session, in the order in which they are told, and lines for its run log.

    recorder: keeps the tensors of its steps, in place of the dump that the options ask for.
    """
    tuner, notes = tuner_for(config, chip, tune_all)
    found = (
        run_recorder(),  # its times hold those of all others
        tuner,
        collector(),
        tuning_collector(),
        smoke_test(),
        profile_watcher(config.parameters),
        dump := recorder or session_dump(config, chip),
        exception_dump(config.parameters),
        nan_origins(config),  # behind the dump, which has written the values of a NaN when that ends the step
        graph_files(dump is not None and recorder is None),  # beside a dump, so that each of its files has its graph
    )
    return tuple(observer for observer in found if observer is not None), notes


class DeviceSession(ObservedSession):
    """Runs one user session on the device, with the observers that its options and the environment ask for.

    tf_graph: the user's tf.Graph, followed as it grows.  session_config: its ConfigProto, for the host side.  place: "file:line"
    that made it, for the run log.  recorder: see `session_observers`.  arenas: memory that sessions share that take turns.
    """

    def __init__(
        self, tf_graph: Any, session_config: Any, config: RuntimeConfig, recorder: TensorRecorder | None = None, place: str = "",
        arenas: ArenaPool | None = None,
    ) -> None:  # fmt: skip
        importer = GraphImporter(tf_graph, Devices(session_config))
        host = HostSide(tf_graph, importer.definition, session_config)
        super().__init__(
            importer, host, SessionState.opened(config, partial(session_observers, recorder=recorder), place, arenas)
        )
