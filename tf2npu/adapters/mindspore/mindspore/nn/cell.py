"""Cells: what a network is made of."""

from __future__ import annotations

import operator
import re
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from mindspore._device.control_flow import rewritten
from mindspore._device.operation import apply
from mindspore._device.precision import cell_type, within
from mindspore._device.program import run_traced
from mindspore._device.settings import is_graph_mode
from mindspore._device.structure import flat
from mindspore._device.trace import current_trace, tracing
from mindspore.common.dtype import Type, float16, float32, np_type
from mindspore.common.parameter import UNNAMED, Parameter, ParameterTuple
from mindspore.common.tensor import Tensor
from npu_bridge.npu_init import tf

_OWN = ("_cells", "_params")
_NOT_IN_SCOPES = re.compile(r"[^A-Za-z0-9_.\\/>-]")
"""Characters that names of TensorFlow's scopes cannot have."""


class Cell:
    """A part of a network: `construct` computes it.

    auto_prefix: whether parameters of cells that become attributes of this one get the attribute's name as a prefix.
    """

    is_one_graph = False
    """Whether the cell is one graph in PYNATIVE_MODE, too, as optimizers are."""
    draws_anew = False
    """Whether two calls with equal arguments differ, as those of Dropout do."""

    def __init__(self, auto_prefix: bool = True, flags: Any = None) -> None:
        own = {"_cells": OrderedDict(), "_params": OrderedDict(), "_auto_prefix": auto_prefix, "training": False, "_type": None}
        self.__dict__.update(own)
        self.__dict__["_flags"] = dict(flags or {})

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, (Parameter, Cell)) and "_cells" not in self.__dict__:
            kind = type(self).__name__
            raise AttributeError(
                f"{kind}.{name} is set before super().__init__(): call super().__init__() first in {kind}.__init__"
            )
        if tracing() and isinstance(self.__dict__.get(name), Parameter):
            self._write(self.__dict__[name], value)
            return
        self._forget(name)
        if isinstance(value, Parameter):
            self.insert_param_to_cell(name, value)
        elif isinstance(value, ParameterTuple):
            for one in value:
                self.insert_param_to_cell(one.name, one)
        elif isinstance(value, Cell):
            self._insert(name, value)
        object.__setattr__(self, name, value)

    def _forget(self, name: str) -> None:
        for own in _OWN:
            self.__dict__.get(own, {}).pop(name, None)

    def __delattr__(self, name: str) -> None:
        self._forget(name)
        object.__delattr__(self, name)

    @staticmethod
    def _write(parameter: Parameter, value: Any) -> None:
        from mindspore.ops.operations import Assign

        Assign()(parameter, value)

    def _insert(self, name: str, cell: Cell) -> None:
        self._cells[name] = cell
        if self._auto_prefix:
            cell.update_parameters_name(f"{name}.")

    def insert_param_to_cell(self, param_name: str, param: Parameter, check_name: bool = True) -> None:
        """Makes a parameter one of the cell."""
        if not param_name:
            raise KeyError("insert_param_to_cell needs a name")
        if param.name == UNNAMED:
            param.name = param_name
        self._params[param_name] = param

    def insert_child_to_cell(self, child_name: str, child: Cell) -> None:
        """Makes a cell one of the cell's."""
        if not child_name:
            raise KeyError("insert_child_to_cell needs a name")
        self._cells[child_name] = child
        object.__setattr__(self, child_name, child)

    def construct(self, *inputs: Any, **kwargs: Any) -> Any:
        """The computation of the cell: every class writes its own."""
        raise RuntimeError(f"{type(self).__name__} has no construct")

    def __call__(self, *inputs: Any, **kwargs: Any) -> Any:
        if "_cells" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__} is called, and its __init__ never called super().__init__()")
        if tracing():
            return self._traced(inputs, kwargs)
        inputs = tuple(Tensor(one) if isinstance(one, np.ndarray) else one for one in inputs)
        if is_graph_mode() or self.is_one_graph:
            self.check_names()
            key = ("cell", self, self.phase_key(), cell_type(), repr(sorted(kwargs.items())))
            return run_traced(key, lambda *given: self(*given, **kwargs), inputs)
        outputs = self._constructed(inputs, kwargs)
        self.__dict__["_ran_with"] = inputs
        return outputs

    def has_run_with(self, inputs: tuple[Any, ...]) -> bool:
        """Whether the last call in PYNATIVE_MODE had these arguments, so that its gradient has to write nothing again."""
        before = self.__dict__.get("_ran_with")
        return before is not None and len(before) == len(inputs) and all(map(operator.is_, before, inputs))

    def _traced(self, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The cell in a graph: equal calls of a cell that draws nothing are one."""
        trace, key = current_trace(), self._call_key(inputs, id)
        known = trace.results.get(key)
        if known is not None and not known[2] and not kwargs:
            return known[0]
        before = trace.n_draws
        with tf.name_scope(self._scope()):
            outputs = self._constructed(inputs, kwargs)
        trace.n_draws += self.draws_anew
        trace.results[key] = outputs, inputs, trace.n_draws > before
        trace.results["origins", self._call_key(inputs, trace.origin)] = trace.results[key]
        return outputs

    def traced_before(self, inputs: tuple[Any, ...]) -> Any:
        """(outputs, ...) of the last call in this graph with these arguments or copies of them, None where there was none."""
        trace = current_trace()
        return trace.results.get(("origins", self._call_key(inputs, trace.origin)))

    def _call_key(self, inputs: tuple[Any, ...], identity: Callable[[Any], int]) -> Any:
        nodes = [one.node if isinstance(one, Tensor) else None for one in flat(inputs)]
        parts = [id(one) if node is None else identity(node) for one, node in zip(flat(inputs), nodes, strict=False)]
        return self, tuple(parts)

    def _scope(self) -> str:
        """The scope of the cell's nodes, as MindSpore names it: Default/ATTRIBUTE-Class/..."""
        name = self.__dict__.get("_name", "")
        own = _NOT_IN_SCOPES.sub("_", f"{name}-{self.cls_name}" if name else self.cls_name)
        return own if tf.get_default_graph().get_name_scope() else f"Default/{own}"

    def _constructed(self, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        for name, cell in self._cells.items():
            cell.__dict__.setdefault("_name", name)
        with within(self._type):
            if self._type is not None:
                inputs = tuple(cast(one, self._type) for one in inputs)
            return rewritten(self.construct)(*inputs, **kwargs)

    def check_names(self) -> None:
        """Raises: ValueError where two parameters have one name."""
        names: dict[str, Parameter] = {}
        for one in self.get_parameters():
            if names.setdefault(one.name, one) is not one:
                raise ValueError(f"two parameters of {self.cls_name} have the name {one.name!r}: name one of them otherwise")

    @property
    def cls_name(self) -> str:
        """The name of the class."""
        return type(self).__name__

    @property
    def param_prefix(self) -> str:
        """The prefix of the names of the cell's parameters."""
        return self.__dict__.get("_prefix", "")

    def phase_key(self) -> tuple[Any, ...]:
        """The settings of all cells below on which the graph depends."""
        return tuple((cell.training, cell._type) for _, cell in self.cells_and_names())

    def cells_and_names(self, cells: set[Cell] | None = None, name_prefix: str = "") -> Iterator[tuple[str, Cell]]:
        """(path, cell) of this cell and of all below, each once."""
        seen = cells if cells is not None else set()
        if self in seen:
            return
        seen.add(self)
        yield name_prefix, self
        for name, cell in self._cells.items():
            if cell is not None:
                yield from cell.cells_and_names(seen, f"{name_prefix}.{name}" if name_prefix else name)

    def cells(self) -> Any:
        """The cells right below."""
        return self.name_cells().values()

    def name_cells(self) -> OrderedDict[str, Cell]:
        """The cells right below, by attribute, each once."""
        found: OrderedDict[str, Cell] = OrderedDict()
        for name, cell in self._cells.items():
            if cell is not None and cell not in found.values():
                found[name] = cell
        return found

    def parameters_and_names(self, name_prefix: str = "", expand: bool = True) -> Iterator[tuple[str, Parameter]]:
        """(path, parameter) of this cell, and with `expand` of all below, each once."""
        cells = self.cells_and_names(name_prefix=name_prefix) if expand else [(name_prefix, self)]
        seen: set[Parameter] = set()
        for prefix, cell in cells:
            for name, parameter in cell._params.items():
                if parameter not in seen:
                    seen.add(parameter)
                    yield (f"{prefix}.{name}" if prefix else name), parameter

    def get_parameters(self, expand: bool = True) -> Iterable[Parameter]:
        """The parameters, those of this cell first, then cell by cell as they were assigned."""
        return (one for _, one in self.parameters_and_names(expand=expand))

    def trainable_params(self, recurse: bool = True) -> list[Parameter]:
        """The parameters with requires_grad."""
        return [one for one in self.get_parameters(expand=recurse) if one.requires_grad]

    def untrainable_params(self, recurse: bool = True) -> list[Parameter]:
        """The parameters without requires_grad."""
        return [one for one in self.get_parameters(expand=recurse) if not one.requires_grad]

    def parameters_dict(self, recurse: bool = True) -> OrderedDict[str, Parameter]:
        """The parameters by name."""
        return OrderedDict((one.name, one) for one in self.get_parameters(expand=recurse))

    def update_parameters_name(self, prefix: str = "", recurse: bool = True) -> None:
        """Gives each parameter its path with a prefix as its name."""
        for path, parameter in list(self.parameters_and_names(expand=recurse)):
            parameter.name = prefix + path
        for _, cell in self.cells_and_names():
            cell.__dict__["_prefix"] = prefix + cell.__dict__.get("_prefix", "")

    def parameters_broadcast_dict(self, recurse: bool = True) -> OrderedDict[str, Parameter] | None:
        """The parameters that ranks make equal before they begin."""
        return OrderedDict((one.name, one) for one in self.get_parameters(expand=recurse) if not one.layerwise_parallel) or None

    def set_train(self, mode: bool = True) -> Cell:
        """Lets this cell and all below train, or not."""
        for _, cell in self.cells_and_names():
            cell.__dict__["training"] = bool(mode)
        return self

    def set_broadcast_flag(self, mode: bool = True) -> Cell:
        """Gives all ranks the parameters that rank 0 has now."""
        from mindspore.train.parameter_broadcast import broadcast_parameters

        if mode:
            broadcast_parameters(self)
        return self

    def set_grad(self, requires_grad: bool = True) -> Cell:
        """Accepts what tells PYNATIVE_MODE that a gradient follows: here the gradient's own call tells it."""
        return self

    def set_auto_parallel(self) -> Cell:
        """Accepts a wish to split operators over devices, of which there is one."""
        return self

    def to_float(self, dst_type: Type) -> Cell:
        """Lets this cell and all below cast their inputs and parameters.  Raises: ValueError for another type than these two."""
        if dst_type not in (float16, float32):
            raise ValueError(f"to_float({dst_type}): mindspore.float16 or mindspore.float32")
        for _, cell in self.cells_and_names():
            cell.__dict__["_type"] = dst_type
        return self

    def add_flags(self, **flags: Any) -> Cell:
        """Notes flags; fp16 and fp32 say what to_float says, for this cell alone."""
        self._flags.update(flags)
        for flag, kind in (("fp16", float16), ("fp32", float32)):
            if flag in flags:
                self.__dict__["_type"] = kind if flags[flag] else None if self._type is kind else self._type
        return self

    def add_flags_recursive(self, **flags: Any) -> Cell:
        """Notes flags of this cell and of all below."""
        for _, cell in self.cells_and_names():
            cell.add_flags(**flags)
        return self

    def get_flags(self) -> dict[str, Any]:
        """The flags."""
        return self._flags

    def cast_param(self, param: Parameter) -> Any:
        """A parameter in the type of the cell."""
        return Tensor(param.raw()) if tracing() else param

    def load_parameter_slice(self, params: Any) -> None:
        """Accepts what slices parameters over devices, of which there is one."""

    def set_param_ps(self, recurse: bool = True, init_in_server: bool = False) -> None:
        """Accepts a wish to keep parameters on a server, of which there is none."""

    def init_parameters_data(self, auto_parallel_mode: bool = False) -> dict[Parameter, Parameter]:
        """The parameters with what stands in the place of each: itself, as it has its values already."""
        return {one: one for one in self.get_parameters()}

    def extend_repr(self) -> str:
        """The words that a cell adds to its repr."""
        return ""

    def __repr__(self) -> str:
        lines = [f"({name}): {cell!r}".replace("\n", "\n  ") for name, cell in self._cells.items()]
        own = self.extend_repr()
        if not lines:
            return f"{self.cls_name}<{own}>"
        return "\n  ".join([f"{self.cls_name}<{own}", *lines]) + "\n  >"


GraphKernel = Cell


def cast(value: Any, kind: Type) -> Any:
    """Floating tensors in a type, also in tuples; all else as it is."""
    if isinstance(value, (tuple, list)):
        return tuple(cast(one, kind) for one in value)
    if not isinstance(value, Tensor) or not value.dtype.is_floating or value.dtype is kind:
        return value
    return apply(("cast", kind), lambda node: tf.cast(node, np_type(kind)), value)
