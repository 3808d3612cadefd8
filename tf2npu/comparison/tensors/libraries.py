"""Common parts of the commands that read tensors: the check for their libraries, and the exit code of an unreadable file."""

from __future__ import annotations

from tf2npu.refused_request import RefusedRequest

EXIT_UNREADABLE = 3
"""Exit code where files could not be read; 0 and 1 say whether all that could be read agrees."""


def require_numpy(command: str) -> None:
    """Refuse where what reads dump files is not installed."""
    try:
        import npu_formats.vendor.dump_file  # noqa: F401
    except ImportError as error:
        raise RefusedRequest(
            f"{command} needs {error.name}, which is not installed for this Python: `pip install numpy ml_dtypes protobuf`"
        ) from None
