"""Random numbers of the devices: the host's generator draws them, so that a seed gives what it gives on the CPU."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch

from .._device.numbering import device_count, index_of


def manual_seed(seed: int) -> None:
    """Seed the current device."""
    torch.default_generator.manual_seed(int(seed))


def manual_seed_all(seed: int) -> None:
    """Seed all devices: they and the host have one generator."""
    manual_seed(seed)


def seed() -> None:
    """Seed the current device by chance."""
    torch.default_generator.seed()


seed_all = seed


def initial_seed() -> int:
    """The seed of the current device."""
    return torch.default_generator.initial_seed()


def get_rng_state(device: Any = "npu") -> torch.Tensor:
    """The state of a device's generator, a ByteTensor of the host."""
    index_of(device)
    return torch.default_generator.get_state()


def set_rng_state(new_state: torch.Tensor, device: Any = "npu") -> None:
    """Set the state of a device's generator."""
    index_of(device)
    torch.default_generator.set_state(new_state)


def get_rng_state_all() -> list[torch.Tensor]:
    """The states of all devices."""
    return [get_rng_state(index) for index in range(device_count())]


def set_rng_state_all(new_states: Iterable[torch.Tensor]) -> None:
    """Set the states of all devices."""
    for index, state in enumerate(new_states):
        set_rng_state(state, index)


default_generators = tuple(torch.default_generator for _ in range(device_count()))
"""The generator of each device: the host's."""
