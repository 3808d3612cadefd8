"""Private attributes of Keras objects that TF 1.15 had under other names and old scripts read."""

from __future__ import annotations

from importlib import import_module

from npu_bridge._tf1.journal import Journal

# class of Keras : name in TF 1.15 : name in 2.15
RENAMED = (("keras.src.engine.base_layer", "Layer", "_layers", "_self_tracked_trackables"),)
# module : class in TF 1.15 : class in 2.15
RENAMED_CLASSES = (("keras.src.engine.functional", "Network", "Functional"),)


def add(journal: Journal) -> None:
    """Offer each attribute under its old name as well."""
    for module, class_name, old, new in RENAMED:
        owner = getattr(import_module(module), class_name)
        if old not in vars(owner):
            setattr(owner, old, _alias(new))
            journal.on_undo(lambda owner=owner, old=old: delattr(owner, old))
    for module, old, new in RENAMED_CLASSES:
        names = vars(import_module(module))
        journal.set(names, old, names[new])


def _alias(name: str) -> property:
    return property(lambda self: getattr(self, name), lambda self, value: setattr(self, name, value))
