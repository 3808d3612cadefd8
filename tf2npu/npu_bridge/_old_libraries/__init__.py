"""Names that Python and its libraries dropped since 2019, back as they were, for scripts written for TF 1.15's time.

Only in processes that import npu_bridge. Each is logged once, when a script first uses it, with what to write today.
"""

from __future__ import annotations

from npu_bridge._old_libraries import (
    absl_flags,
    hdf5_datasets,
    libraries,
    numpy_names,
    pictures,
    ragged_arrays,
    standard_library,
    tables,
    text_tables,
    whole_floats,
    yaml_loading,
)
from npu_bridge._old_libraries.imports import AfterImport
from npu_bridge._tf1.journal import Journal

_active: Journal | None = None


def install() -> None:
    """Bring the names back; a second call does nothing."""
    global _active
    if _active is not None:
        return
    journal = Journal()
    standard_library.add(journal)
    numpy_names.add(journal)
    ragged_arrays.add(journal)
    text_tables.add(journal)
    absl_flags.add(journal)
    whole_floats.add(journal)
    libraries.find_old_paths(journal)
    changes = {"yaml": yaml_loading.add, "pandas": tables.add, "h5py": hdf5_datasets.add, **pictures.CHANGES, **libraries.CHANGES}
    AfterImport(changes).watch(journal)
    _active = journal


def uninstall() -> None:
    """Leave the process as it was."""
    global _active
    if _active is not None:
        _active.undo()
        _active = None
