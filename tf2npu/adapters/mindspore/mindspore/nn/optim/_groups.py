"""Groups of parameters with a rate and a decay of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from mindspore.common.parameter import Parameter
from mindspore.nn.optim import _rates

_KEYS = ("params", "lr", "weight_decay", "order_params", "grad_centralization")


class Member(NamedTuple):
    """A parameter with what its group has; rate: None for that of the optimizer."""

    parameter: Parameter
    rate: Any
    weight_decay: float
    is_centralized: bool


def members(groups: list[dict[str, Any]], weight_decay: float, checked: Callable[[Any], float], owner: str) -> list[Member]:
    """The parameters of all groups, in the order that `order_params` wishes.

    weight_decay: that of groups without one.  checked: of a decay.
    Raises: KeyError, ValueError, TypeError, RuntimeError for groups that r1.1 refuses.
    """
    found: list[Member] = []
    order = None
    for number, group in enumerate(groups):
        _check(group, number, owner)
        if "order_params" in group:
            order = list(group["order_params"])
            continue
        rate = _rates.built(_rates.read(group["lr"], owner), f"learning_rate_group_{number}") if "lr" in group else None
        decay = checked(group["weight_decay"]) if "weight_decay" in group else weight_decay
        is_centralized = bool(group.get("grad_centralization", False))
        found += [Member(one, rate, decay, is_centralized) for one in group["params"]]
    _check_once(found, owner)
    return found if order is None else _ordered(found, order, owner)


def _check(group: Any, number: int, owner: str) -> None:
    if not isinstance(group, dict):
        raise TypeError(f"{owner}: group {number} of the parameters is {group!r}: each group is a dictionary")
    unknown = [key for key in group if key not in _KEYS]
    if unknown:
        raise KeyError(f"{owner}: group {number} has the key {unknown[0]!r}: the keys are {', '.join(_KEYS)}")
    if "order_params" in group:
        if len(group) > 1:
            raise ValueError(f"{owner}: group {number} has order_params, and other keys beside it: it stands alone")
        if not isinstance(group["order_params"], Iterable):
            raise TypeError(f"{owner}: order_params of group {number} is no list of parameters")
        return
    group["params"] = list(group.get("params") or ())
    if not group["params"]:
        raise ValueError(f"{owner}: group {number} has no parameters under the key params")
    for one in group["params"]:
        if not isinstance(one, Parameter):
            raise TypeError(f"{owner}: group {number} has {one!r} among its parameters")


def _check_once(found: list[Member], owner: str) -> None:
    seen: set[str] = set()
    for one in found:
        if one.parameter.name in seen:
            raise RuntimeError(f"{owner}: the parameter {one.parameter.name} stands in the groups twice")
        seen.add(one.parameter.name)


def _ordered(found: list[Member], order: list[Parameter], owner: str) -> list[Member]:
    by_name = {one.parameter.name: one for one in found}
    names = [one.name for one in order]
    if sorted(names) != sorted(by_name):
        raise ValueError(
            f"{owner}: order_params has {len(names)} parameters, and the groups {len(by_name)}: they have to be the same"
        )
    return [by_name[name] for name in names]
