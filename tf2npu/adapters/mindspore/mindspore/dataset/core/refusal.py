"""Names of mindspore.dataset that are there to be imported and refused when they are used."""

from __future__ import annotations


def refused_class(module: str, name: str, instead: str) -> type:
    """A class of this name whose construction is refused.  instead: what a program can use here."""

    def refuse(self, *_, **__):
        raise AttributeError(f"{module}.{name} does not run on the simulated device: {instead}")

    return type(name, (), {"__init__": refuse, "__module__": module, "__doc__": f"Refused: {instead}.", "refused": instead})


def refused_method(name: str, instead: str):
    """A method of datasets of this name that is refused."""

    def refuse(self, *_, **__):
        raise AttributeError(f"Dataset.{name} does not run on the simulated device: {instead}")

    refuse.__name__, refuse.__doc__ = name, f"Refused: {instead}."
    refuse.refused = instead
    return refuse
