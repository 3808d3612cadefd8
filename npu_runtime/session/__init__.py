"""Device sessions: what a user's session runs, the programs and variables that it keeps, and its observers."""

from npu_runtime.session.device_session import DeviceSession, run_log
from npu_runtime.session.plan import Request

__all__ = ["DeviceSession", "Request", "run_log"]
