"""Names of the parameters that an optimizer trains, as the modules of the script have them."""

from __future__ import annotations

import gc
from collections.abc import Iterable
from typing import Any

import torch


class Names:
    """Names by parameter, found when an optimizer is seen for the first time."""

    def __init__(self) -> None:
        self._names: dict[int, str] = {}
        self._modules: dict[int, list[torch.nn.Module]] = {}
        self._kept: list[Any] = []

    def see(self, optimizer: Any) -> None:
        """Look for the modules of an optimizer's parameters."""
        if id(optimizer) in self._modules:
            return
        self._kept.append(optimizer)  # so that its number stays its own
        parameters = {
            id(parameter): f"param_groups[{group}].params[{place}]"
            for group, found in enumerate(optimizer.param_groups)
            for place, parameter in enumerate(found["params"])
        }
        used = []
        for module in _outermost():
            of_module = {id(value): f"{type(module).__name__}.{name}" for name, value in module.named_parameters()}
            if new := parameters.keys() & of_module.keys() - self._names.keys():
                self._names.update({number: of_module[number] for number in new})
            if parameters.keys() & of_module.keys():
                used.append(module)
        self._modules[id(optimizer)] = used
        self._names = {**parameters, **self._names}

    def of(self, parameter: torch.Tensor) -> str:
        """The name of a parameter; its place in the optimizer where no module has it."""
        return self._names.get(id(parameter), "added later")

    def modules_of(self, optimizer: Any) -> list[torch.nn.Module]:
        """The outermost modules that have a parameter of an optimizer."""
        return self._modules.get(id(optimizer), [])


def _outermost() -> list[torch.nn.Module]:
    """The modules of the process that are in no other, those with the most parameters first, then by their classes' names."""
    known = [value for value in gc.get_objects() if issubclass(type(value), torch.nn.Module)]
    inner = {id(child) for module in known for child in vars(module).get("_modules", {}).values()}
    found = [module for module in known if id(module) not in inner and "_parameters" in vars(module)]
    return sorted(found, key=lambda module: (-sum(1 for _ in module.parameters()), type(module).__name__))


def modules_in_eval(modules: Iterable[torch.nn.Module]) -> list[str]:
    """Names of the modules that are in eval()."""
    return [
        f"{type(module).__name__}.{name}" if name else type(module).__name__
        for module in modules
        for name, part in module.named_modules()
        if not part.training
    ]
