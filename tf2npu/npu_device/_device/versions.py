"""The version of TensorFlow that the shim is made for."""

from __future__ import annotations

NEEDED = "2.15"
"""The one release whose private modules, through which functions run on the device, are those that this package knows."""


def installed() -> str:
    """TensorFlow's version, also where the process has given `tf.__version__` another meaning."""
    from tensorflow.python.framework import versions

    return str(versions.VERSION)


def is_right() -> bool:
    """Whether it is a version that the device can run."""
    return installed().startswith(f"{NEEDED}.")


def check() -> None:
    """Raises: RuntimeError of one line for another version."""
    if not is_right():
        raise RuntimeError(
            f"npu_device needs TensorFlow {NEEDED}, this is {installed()}: pip install 'tensorflow-cpu=={NEEDED}.1'"
        )
