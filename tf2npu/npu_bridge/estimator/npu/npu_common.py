"""What the job's environment says."""

from __future__ import annotations

import os
from typing import Any


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


_JOB_FIELDS = (
    "job_id", "job_config", "job_config_file", "server_info", "server_id", "local_app_dir", "local_code_dir",
    "local_data_dir", "local_checkpoint_dir", "local_output_dir", "local_boot_file", "rank_table_file", "rank_size",
    "rank_id", "device_info", "model_dir", "ini_file",
)  # fmt: skip


class JobInfo:
    """The job: one attribute ``_<name>`` for each field."""

    def __init__(self, **fields: Any) -> None:
        unknown = sorted(set(fields) - set(_JOB_FIELDS))
        if unknown:
            raise TypeError(f"JobInfo has no field {', '.join(unknown)}")
        for name in _JOB_FIELDS:
            setattr(self, f"_{name}", fields.get(name))


class NPUBasics:
    """The one description of the job in this process."""

    _instance: NPUBasics | None = None

    def __new__(cls, file_name: str | None = None) -> NPUBasics:
        if cls._instance is None:
            cls._instance = super().__new__(cls)
        return cls._instance

    def __init__(self, file_name: str | None = None) -> None:
        self._file_name = file_name
        self.jobinfo = read_job(file_name)

    def size(self) -> int:
        """How many ranks the job has."""
        return int(self.jobinfo._rank_size)


def read_job(file_name: str | None = None) -> JobInfo:
    """The job from the environment.  Raises: ValueError without JOB_ID."""
    if "JOB_ID" not in os.environ:
        raise ValueError("JOB_ID is not in the environment; export it, any text will do")
    return JobInfo(
        job_id=os.environ["JOB_ID"],
        job_config=JobConfig(),
        rank_size=os.environ.get("RANK_SIZE") or os.environ.get("CM_WORKER_SIZE") or "1",
        rank_id=os.environ.get("RANK_ID", "0"),
        rank_table_file=os.environ.get("RANK_TABLE_FILE"),
        local_checkpoint_dir=os.environ.get("LOCAL_CHECKPOINT_DIR"),
        device_info=DeviceInfo(index=os.environ.get("DEVICE_INDEX", "0")),
        ini_file=file_name,
    )
