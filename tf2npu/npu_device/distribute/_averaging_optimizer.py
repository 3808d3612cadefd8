"""Keras optimizers of both kinds that average their gradients over the workers.

Both kinds have a method that adds up gradients of several replicas, before gradients are clipped. A LossScaleOptimizer calls it
before it looks for infinities, and then tells the inner optimizer to skip it. So it is the place where all workers average, and
where they see the same infinities: averaged later, one worker would skip a step in which the others wait for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from types import MethodType
from typing import Any

_AGGREGATIONS = ("aggregate_gradients", "_aggregate_gradients")
"""The method that adds up gradients of replicas: of the optimizers since Keras 2.11, and of the legacy ones."""
_SKIPS = ("skip_gradients_aggregation", "experimental_aggregate_gradients")
"""The third parameter of apply_gradients, which turns that method off where it is True, or False; in the same order."""

Pairs = Iterable[tuple[Any, Any]]
Average = Callable[[Sequence[Any]], list[Any]]


@dataclass(frozen=True)
class _Averaged:
    """A method of an optimizer with the gradients averaged behind it.  A class, so that optimizers can still be pickled."""

    method: str
    average: Average

    def __call__(self, optimizer: Any, grads_and_vars: Pairs) -> list[tuple[Any, Any]]:
        return _averaged(getattr(type(optimizer), self.method)(optimizer, grads_and_vars), self.average)


@dataclass(frozen=True)
class _Applied:
    """apply_gradients of an optimizer, which averages where it is told to skip what would have done so."""

    average: Average

    def __call__(self, optimizer: Any, grads_and_vars: Pairs, *args: Any, **kwargs: Any) -> Any:
        if _skips(args, kwargs, optimizer) and not getattr(optimizer, "_is_wrapped_by_loss_scale_optimizer", False):
            grads_and_vars = _averaged(grads_and_vars, self.average)
        return type(optimizer).apply_gradients(optimizer, grads_and_vars, *args, **kwargs)


def average_in(optimizer: Any, average: Average) -> None:
    """Let a Keras optimizer average its gradients, in place; one in a LossScaleOptimizer is found there.

    Raises: TypeError for an optimizer of neither kind.
    """
    optimizer = getattr(optimizer, "inner_optimizer", optimizer)
    method = next((name for name in _AGGREGATIONS if hasattr(optimizer, name)), None)
    if method is None:
        raise TypeError(
            f"{type(optimizer).__name__} is no Keras optimizer whose gradients can be averaged: it has no {_AGGREGATIONS[0]}"
        )
    setattr(optimizer, method, MethodType(_Averaged(method, average), optimizer))
    optimizer.apply_gradients = MethodType(_Applied(average), optimizer)


def _averaged(pairs: Pairs, average: Average) -> list[tuple[Any, Any]]:
    gradients, variables = zip(*pairs, strict=True)
    return list(zip(average(gradients), variables, strict=True))


def _skips(args: Sequence[Any], kwargs: dict[str, Any], optimizer: Any) -> bool:
    """Whether a call of apply_gradients leaves out the adding up.  args: behind the gradients, a name first."""
    is_legacy = not hasattr(optimizer, _AGGREGATIONS[0])
    third = args[1] if len(args) > 1 else is_legacy
    skips = kwargs.get(_SKIPS[0], False if is_legacy else third)
    return bool(skips) or not kwargs.get(_SKIPS[1], third if is_legacy else True)
