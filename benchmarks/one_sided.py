"""Settings of the environment that hold back the arithmetic of one side of a comparison and not the other's."""

from __future__ import annotations

from collections.abc import MutableMapping

SETTINGS = {
    "OPENBLAS_CORETYPE": "numpy's BLAS",
    "OPENBLAS_L2_SIZE": "numpy's BLAS",
    "ONEDNN_MAX_CPU_ISA": "TensorFlow's oneDNN",
    "DNNL_MAX_CPU_ISA": "TensorFlow's oneDNN",
}
"""By which each library is told to use other kernels than it takes for this processor itself. Source: the libraries' manuals."""


def without_one_sided(environment: MutableMapping[str, str], is_kept: bool) -> str:
    """Take these settings out of an environment whose processes begin later, so that either library chooses for itself.

    is_kept: leave them.  Returns: a sentence that names those which were there, or "".
    """
    found = [name for name in SETTINGS if name in environment]
    shown = ", ".join(f"{name}={environment[name]} ({SETTINGS[name]})" for name in found)
    if not found:
        return ""
    if is_kept:
        return f"{shown}: as set in the environment"
    for name in found:
        del environment[name]
    return f"{shown}: set in the environment and left out, as it would hold back one side only"
