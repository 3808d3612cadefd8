"""Makes ``import tensorflow as tf`` mean TensorFlow 1 in this process, and takes it back on request.

Every public submodule's dictionary is changed in place to that of its compat.v1 twin, so that the spelling and the order of
imports do not matter. ``tf.__version__`` becomes 1.15.0 as well: scripts branch on it.
"""

from __future__ import annotations

from npu_bridge._tf1 import quiet
from npu_bridge._tf1.journal import Journal

VERSION = "1.15.0"
_active: Journal | None = None


def is_installed() -> bool:
    """Whether ``tensorflow`` has TF1 meaning now."""
    return _active is not None


def install() -> None:
    """Give ``tensorflow`` TF1 meaning; a second call does nothing."""
    global _active
    if _active is not None:
        return
    quiet.before_tensorflow()
    import tensorflow
    from npu_bridge._tf1 import (
        behavior,
        contrib,
        finder,
        image_functions,
        keras_leftovers,
        keras_private,
        keras_spellings,
        library_view,
        older_meanings,
        operation_class,
        parallel_calls,
        private_aliases,
        standalone_keras,
        tensor_class,
        twins,
        variable_class,
    )

    journal = Journal()
    quiet.apply(journal)
    view = library_view.make_view()
    private_aliases.add(journal)
    keras_spellings.unify(journal)
    keras_private.add(journal)
    keras_leftovers.add(journal)
    tensor_class.unify(journal)
    variable_class.complete(journal)
    operation_class.complete(journal)
    older_meanings.restore(journal)
    parallel_calls.widen(journal)
    image_functions.restore(journal)
    twins.swap(journal)
    standalone_keras.serve(journal)
    for name in ("__version__", "VERSION"):
        journal.set(vars(tensorflow), name, VERSION)
    library_view.apply(journal, view)
    contrib.offer(journal)
    finder.add(journal)
    behavior.use_v1(journal)
    _active = journal


def uninstall() -> None:
    """Give ``tensorflow`` its own meaning back, as if npu_bridge had never been imported."""
    global _active
    if _active is not None:
        _active.undo()
        _active = None


__all__ = ["VERSION", "install", "is_installed", "uninstall"]
