"""The description of the job in the environment."""

from __future__ import annotations

import os

from npu_bridge import _environment
from npu_bridge._host_differences import accept


class JobConfig:
    """Hyperparameters of a job."""

    def __init__(self, learning_rate: float | None = None, batch_size: int | None = None) -> None:
        self._learning_rate, self._batch_size = learning_rate, batch_size


class DeviceInfo:
    """One device of the job."""

    def __init__(self, index: str = "0", server_id: str = "123456", dev_index: int = 1) -> None:
        self._index, self._server_id, self._dev_index = index, server_id, dev_index

    def is_master_node(self) -> bool:
        """Whether this is device 0."""
        return self._index == "0"


class JobInfo:
    """The job: one attribute ``_<name>`` for each field."""

    def __init__(
        self,
        job_id: str | int = 0,
        job_config: JobConfig | None = None,
        heartbeat_time: int = -1,
        region_id: str | None = None,
        ak: str | None = None,
        sk: str | None = None,
        endpoint_url: str | None = None,
        device_info: DeviceInfo | None = None,
        rank_table_file: str | None = None,
        restart_flag: int = 0,
        local_app_dir: str | None = None,
        local_data_dir: str | None = None,
        local_checkpoint_dir: str | None = None,
        local_log_dir: str | None = None,
        local_result_dir: str | None = None,
        local_boot_file: str | None = None,
        rank_size: int | str = 1,
    ) -> None:
        for name, value in dict(locals()).items():
            if name != "self":
                setattr(self, f"_{name}", value)


class NPUBasics:
    """The one description of the job in this process."""

    _instance: NPUBasics | None = None

    def __new__(cls, file_name: str | None) -> NPUBasics:
        if cls._instance is None:
            cls._instance = super().__new__(cls)
        return cls._instance

    def __init__(self, file_name: str | None) -> None:
        self._file_name = file_name
        self._jobinfo = read_job()

    @property
    def jobinfo(self) -> JobInfo:
        """The job as the environment describes it."""
        return self._jobinfo

    def size(self) -> int:
        """The number of ranks of the job."""
        return int(self._jobinfo._rank_size)


def read_job() -> JobInfo:
    """The job from the environment.  Raises: ValueError without JOB_ID."""
    if "JOB_ID" not in os.environ:
        raise ValueError("JOB_ID is not in the environment; export it, any text will do")
    if "JOB_ID" in _environment.was_set:
        accept("job_id")
    return JobInfo(
        job_id=os.environ["JOB_ID"],
        job_config=JobConfig(),
        rank_size=os.environ.get("RANK_SIZE") or os.environ.get("CM_WORKER_SIZE") or "1",
        rank_table_file=os.environ.get("RANK_TABLE_FILE"),
        local_checkpoint_dir=os.environ.get("LOCAL_CHECKPOINT_DIR"),
        device_info=DeviceInfo(index=os.environ.get("DEVICE_INDEX", "0")),
    )
