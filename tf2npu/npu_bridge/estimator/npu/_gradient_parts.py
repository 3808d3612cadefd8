"""The division of gradients and their weights among ranks, for weight-update sharding."""

from __future__ import annotations

from typing import Any


class GradDivisionItem:
    """A gradient with its variable, its size in bytes and the rank that applies it."""

    def __init__(self, grad: Any, var: Any) -> None:
        self.grad, self.var = grad, var
        self.size = _size_bytes(var)
        self.root_rank_id = -1


def _size_bytes(var: Any) -> int:
    count = 1
    for dimension in var.shape.as_list():
        count *= dimension
    return count * var.dtype.base_dtype.size


_items: list[GradDivisionItem] = []


def fair_division(inputs: list[GradDivisionItem], number: int) -> list[list[GradDivisionItem]]:
    """Cut the items, in their order, into ``number`` neighbouring parts of about equal bytes, none of them empty.

    Raises: ValueError when there are fewer items than parts.
    """
    if number > len(inputs) or number < 1:
        raise ValueError(f"cannot divide {len(inputs)} gradients among {number} ranks")
    parts: list[list[GradDivisionItem]] = []
    start, left = 0, sum(item.size for item in inputs)
    for still in range(number, 0, -1):
        end, taken = start, 0
        while end < len(inputs) - (still - 1) and (end == start or taken + inputs[end].size / 2 <= left / still or still == 1):
            taken += inputs[end].size
            end += 1
        parts.append(inputs[start:end])
        start, left = end, left - taken
    return parts


def add_grads_and_vars(grads_and_vars: list[tuple[Any, Any]], rank_size: int) -> None:
    """Give every gradient that is not None to one of ``rank_size`` ranks."""
    _items.clear()
    _items.extend(GradDivisionItem(grad, var) for grad, var in grads_and_vars if grad is not None)
    for rank, part in enumerate(fair_division(_items, rank_size)):
        for item in part:
            item.root_rank_id = rank


def get_gid_by_grad(grad: Any) -> int:
    """The rank that applies ``grad``, -1 when none does."""
    return next((item.root_rank_id for item in _items if item.grad is grad), -1)


def get_gid_by_weight(weight: Any) -> int:
    """The rank that updates ``weight``, -1 when none does."""
    return next((item.root_rank_id for item in _items if item.var is weight), -1)


def get_all_grad_item() -> list[GradDivisionItem]:
    """All items of the last ``add_grads_and_vars``."""
    return _items
