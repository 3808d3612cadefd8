"""GradOperation, HyperMap and MultitypeFuncGraph."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from mindspore._device.checked_steps import note_loss
from mindspore._device.control_flow import rewritten
from mindspore._device.operation import raw
from mindspore._device.program import run_traced
from mindspore._device.settings import is_graph_mode
from mindspore._device.structure import flat
from mindspore._device.trace import current_trace, tracing
from mindspore.common.tensor import Tensor
from npu_bridge.npu_init import tf


class GradOperation:
    """A function of a function that gives its gradient.

    get_all: with respect to all arguments, else to the first.  get_by_list: with respect to the parameters that are handed over.
    sens_param: the last argument of a call is the gradient of the output, else ones.  Source: mindspore.cn, r1.1.
    """

    def __init__(self, get_all: bool = False, get_by_list: bool = False, sens_param: bool = False) -> None:
        for name, value in (("get_all", get_all), ("get_by_list", get_by_list), ("sens_param", sens_param)):
            if not isinstance(value, bool):
                raise TypeError(f"GradOperation({name}={value!r}): True or False")
        self.get_all, self.get_by_list, self.sens_param = get_all, get_by_list, sens_param

    def __call__(self, fn: Callable[..., Any], weights: Any = None) -> Callable[..., Any]:
        if self.get_by_list and weights is None:
            raise TypeError("GradOperation(get_by_list=True) needs the parameters as well: grad(network, weights)")
        return lambda *given: self._gradient(fn, weights, given)

    def _gradient(self, fn: Callable[..., Any], weights: Any, given: tuple[Any, ...]) -> Any:
        if not tracing():
            return self._gradient_of_call(fn, weights, given)
        inputs, sens = (given[:-1], flat(raw(given[-1]))) if self.sens_param else (given, None)
        of_inputs = self.get_all or not self.get_by_list
        inputs, outputs = _outputs(fn, inputs, of_inputs)
        note_loss(raw(outputs))
        wanted = [one.raw() for one in inputs if isinstance(one, Tensor)] if of_inputs else []
        wanted = wanted if self.get_all else wanted[:1]
        n_inputs = len(wanted)
        reads = [current_trace().reads_of(one) for one in weights] if self.get_by_list else []
        wanted += [node for nodes in reads for node in nodes]
        found = _gradients([node for node in flat(raw(outputs)) if isinstance(node, tf.Tensor)], wanted, sens)
        return self._shaped(tuple(found[:n_inputs]), tuple(_added(found[n_inputs:], reads)))

    def _gradient_of_call(self, fn: Callable[..., Any], weights: Any, given: tuple[Any, ...]) -> Any:
        """The gradient outside of a graph.  A network that Python called with the same arguments has written its parameters."""
        inputs = given[:-1] if self.sens_param else given
        has_run = not is_graph_mode() and hasattr(fn, "has_run_with") and fn.has_run_with(inputs)
        key = ("gradient", self.get_all, self.get_by_list, self.sens_param, fn, weights and tuple(weights), _phase(fn), has_run)

        def traced(*tensors: Any) -> Any:
            with current_trace().replaying() if has_run else contextlib.nullcontext():
                return self._gradient(fn, weights, tensors)

        return run_traced(key, traced, given)

    def _shaped(self, of_inputs: tuple[Any, ...], of_weights: tuple[Any, ...]) -> Any:
        if self.get_by_list:
            return (of_inputs, of_weights) if self.get_all else of_weights
        return of_inputs if self.get_all else of_inputs[0] if of_inputs else ()


def _phase(fn: Any) -> Any:
    return fn.phase_key() if hasattr(fn, "phase_key") else ()


def _outputs(fn: Callable[..., Any], inputs: tuple[Any, ...], of_inputs: bool) -> tuple[tuple[Any, ...], Any]:
    """The arguments and what the function gives for them.

    A network that was computed already for the same arguments is not computed again for gradients of its parameters. For those of
    arguments it is, from copies of them, as a gradient is of arguments alone; what it writes it has written.
    """
    trace = current_trace()
    if not of_inputs:
        known = fn.traced_before(inputs) if hasattr(fn, "traced_before") else None
        return inputs, known[0] if known is not None else rewritten(fn)(*inputs)
    is_known = hasattr(fn, "traced_before") and fn.traced_before(inputs) is not None
    copies = tuple(Tensor(trace.copy_of(one.raw())) if isinstance(one, Tensor) else one for one in inputs)
    if not is_known:
        return copies, rewritten(fn)(*copies)
    with trace.replaying():
        return copies, rewritten(fn)(*copies)


def _gradients(outputs: list[Any], wanted: list[Any], sens: list[Any] | None) -> list[Tensor]:
    if sens is not None:
        sens = [tf.cast(tf.broadcast_to(given, out.shape), out.dtype) for given, out in zip(sens, outputs, strict=False)]
    trace = current_trace()
    with tf.control_dependencies(trace.cleared):
        found = tf.gradients(outputs, wanted, sens)
    dense = [tf.zeros_like(node) if one is None else tf.convert_to_tensor(one) for one, node in zip(found, wanted, strict=False)]
    trace.computed += dense
    return list(map(Tensor, dense))


def _added(found: list[Tensor], reads: list[list[Any]]) -> Iterator[Tensor]:
    """The gradient of each parameter, which is the sum of those of the values that were read of it."""
    rest = iter(found)
    for nodes in reads:
        parts = [next(rest) for _ in nodes]
        yield parts[0] if len(parts) == 1 else Tensor(tf.add_n([part.raw() for part in parts]))


class MultitypeFuncGraph:
    """One name for several functions, which the types of the arguments tell apart."""

    def __init__(self, name: str, read_value: bool = False) -> None:
        self.name = name
        self.entries: list[tuple[tuple[str, ...], Callable[..., Any]]] = []

    def register(self, *type_names: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """The function that is decorated is for arguments of these types: "Tensor", "Number", "Bool", "Tuple" and the like."""

        def note(fn: Callable[..., Any]) -> Callable[..., Any]:
            self.entries.append((tuple(map(str, type_names)), fn))
            return fn

        return note

    def __call__(self, *given: Any) -> Any:
        for names, fn in self.entries:
            if len(names) == len(given) and all(map(_is_of, names, given)):
                return rewritten(fn)(*given)
        raise TypeError(f"{self.name} has no function for {', '.join(type(one).__name__ for one in given)}")


_KINDS: dict[str, Callable[[Any], bool]] = {
    "Tensor": lambda x: isinstance(x, Tensor),
    "Bool": lambda x: isinstance(x, bool),
    "Number": lambda x: isinstance(x, (int, float)),
    "Tuple": lambda x: isinstance(x, tuple),
    "List": lambda x: isinstance(x, list),
    "Function": callable,
    "Cell": lambda x: hasattr(x, "construct"),
    "String": lambda x: isinstance(x, str),
    "None": lambda x: x is None,
}


def _is_of(name: str, given: Any) -> bool:
    test = _KINDS.get(name)
    if test is None:  # "mstype.float32" and others
        test = _KINDS["Number"] if any(kind in name.lower() for kind in ("int", "float")) else lambda _: True
    return test(given)


class HyperMap:
    """Applies a function to the leaves of equal tuples."""

    def __init__(self, ops: Callable[..., Any] | None = None, reverse: bool = False) -> None:
        self.ops = ops

    def __call__(self, *given: Any) -> Any:
        function, trees = (given[0], given[1:]) if self.ops is None else (self.ops, given)
        return _mapped(function, trees)


def _mapped(function: Callable[..., Any], trees: tuple[Any, ...]) -> Any:
    if any(isinstance(tree, (tuple, list)) for tree in trees):
        lengths = {len(tree) for tree in trees if isinstance(tree, (tuple, list))}
        if len(lengths) > 1:
            raise ValueError(f"HyperMap takes tuples of one length, and got lengths {sorted(lengths)}")
        return tuple(_mapped(function, parts) for parts in zip(*trees, strict=False))
    return rewritten(function)(*trees)


Map = HyperMap


def core(fn: Any = None, **flags: Any) -> Any:
    """The function as it is, as flags for the graph compiler say nothing here; a cell notes them: fp16 and fp32 are its type."""

    def flagged(function: Any) -> Any:
        return function.add_flags(**flags) if hasattr(function, "add_flags") else function

    return flagged if fn is None else flagged(fn)


add_flags = core
