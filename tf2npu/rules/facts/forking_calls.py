"""Calls that start processes by fork, the default on Linux up to Python 3.13."""

from __future__ import annotations

import re

from tf2npu.rules.facts.constant_values import text_of
from tf2npu.scanner.sites import Call

WITH_FORK = (
    *(f"{module}.{name}" for module in ("multiprocessing", "multiprocess") for name in ("Pool", "Process", "Manager")),
    "multiprocessing.pool.Pool", "multiprocessing.process.Process", "multiprocessing.context.Process",
    "concurrent.futures.ProcessPoolExecutor", "concurrent.futures.process.ProcessPoolExecutor",
)  # fmt: skip
"""Calls that start processes by the default method, which is fork on Linux up to Python 3.13."""
JOBLIB = ("joblib.Parallel", "joblib.parallel_backend", "sklearn.externals.joblib.Parallel")
"""Calls that fork where they ask for the backend multiprocessing. Their default, loky, starts new programs."""
OTHER_METHOD = re.compile(r"set_start_method\(\s*['\"](?:forkserver|spawn)|mp_context\s*=")


def is_forking_backend(call: Call) -> bool:
    """Whether a call of joblib asks for the backend that forks."""
    backend = call.value("backend", 1 if call.name.endswith("Parallel") else 0)
    return backend is not None and text_of(backend, call.scope) == "multiprocessing"
