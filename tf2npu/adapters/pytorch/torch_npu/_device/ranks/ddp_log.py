"""The log of DistributedDataParallel, for `_get_ddp_logging_data`."""

from __future__ import annotations

from collections.abc import Sequence


class LoggedData:
    """strs_map: texts by name.  ints_map: numbers by name."""

    def __init__(self) -> None:
        self.strs_map: dict[str, str] = {}
        self.ints_map: dict[str, int] = {}


class DdpLog:
    """In the place of torch.distributed.Logger, whose methods it has; times are not measured."""

    def __init__(self) -> None:
        self._data = LoggedData()

    def set_construction_data_and_log(
        self, module_name: str, device_ids: Sequence[int], output_device: int, broadcast_buffers: bool, has_sync_bn: bool,
        static_graph: bool,
    ) -> None:  # fmt: skip
        """Keep what the model was made with."""
        self._data.strs_map.update(module_name=module_name, device_ids=", ".join(map(str, device_ids)), backend_name="hccl")
        self._data.ints_map.update(
            output_device=output_device, broadcast_buffers=int(broadcast_buffers), has_sync_bn=int(has_sync_bn),
            static_graph=int(static_graph),
        )  # fmt: skip

    def set_runtime_stats_and_log(self) -> None:
        """Nothing is measured."""

    def set_error_and_log(self, error: str) -> None:
        """Keep an error that DistributedDataParallel is about to raise."""
        self._data.ints_map["has_error"] = 1
        self._data.strs_map["error"] = error

    def _get_ddp_logging_data(self) -> LoggedData:
        return self._data

    def _set_comm_hook_name(self, comm_hook: str) -> None:
        self._data.strs_map["comm_hook"] = comm_hook

    def _set_uneven_input_join(self) -> None:
        self._data.ints_map["join_uneven_inputs"] = 1

    def _set_static_graph(self) -> None:
        self._data.ints_map["static_graph"] = 1
