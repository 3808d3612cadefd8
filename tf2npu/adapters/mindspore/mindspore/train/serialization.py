"""Checkpoints in MindSpore's own file format.  Source: train/serialization.py of r1.1, read."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from google.protobuf.message import DecodeError
from mindspore.common.dtype import dtype_of
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell
from mindspore.train.checkpoint_pb2 import Checkpoint

from npu_formats.files.bounded_read import read_at_most
from npu_formats.files.directory import Directory
from npu_formats.files.whole_file import put_pieces

__all__ = [
    "build_searched_strategy", "export", "load_checkpoint", "load_distributed_checkpoint", "load_param_into_net",
    "merge_sliced_parameter", "parse_print", "save_checkpoint",
]  # fmt: skip

REFUSED = ("build_searched_strategy", "export", "load_distributed_checkpoint", "merge_sliced_parameter", "parse_print")
"""Names that are there to say why they are refused."""
MOST_BYTES = (1 << 31) - 1
"""The largest message that protobuf reads."""
SLICE_BYTES = 512 << 20
"""The most bytes of an entry; a larger parameter has several entries.  Source: SLICE_SIZE of r1.1."""
_TYPES = {
    "Int8": np.int8, "UInt8": np.uint8, "Uint8": np.uint8, "Int16": np.int16, "UInt16": np.uint16, "Uint16": np.uint16,
    "Int32": np.int32, "UInt32": np.uint32, "Uint32": np.uint32, "Int64": np.int64, "UInt64": np.uint64, "Uint64": np.uint64,
    "Float16": np.float16, "Float32": np.float32, "Float64": np.float64, "Bool": np.bool_,
}  # fmt: skip
MOST_AXES = 32
"""The most axes of an array of numpy."""
_OWN_FILE = 0o400
"""The mode of a checkpoint.  Source: r1.1, which makes it read-only for its owner."""


def save_checkpoint(save_obj: Any, ckpt_file_name: str, integrated_save: bool = True, async_save: bool = False) -> None:
    """Writes the parameters of a cell, or of a list of {"name": ..., "data": ...}, into a file, whole or not at all.

    integrated_save: for parameters that are split over devices, which none is.  async_save: accepted; it is written at once.
    Raises: TypeError for anything else; OSError.
    """
    if not isinstance(save_obj, (Cell, list)):
        raise TypeError(f"save_checkpoint takes a Cell or a list, not {type(save_obj).__name__}")
    for name, value in (("integrated_save", integrated_save), ("async_save", async_save)):
        if not isinstance(value, bool):
            raise TypeError(f"save_checkpoint({name}={value!r}): True or False")
    path = Path(ckpt_file_name)
    with Directory.followed(path.parent) as place:
        put_pieces(place.fileno(), path.name, _entries(save_obj), _OWN_FILE)


def _entries(save_obj: Any) -> Iterator[bytes]:
    if isinstance(save_obj, Cell):
        pairs = list(save_obj.parameters_dict().items())
    else:
        pairs = [(one["name"], one["data"]) for one in save_obj]
    for name, tensor in pairs:
        value = np.asarray(tensor.asnumpy())
        flat = value.reshape(-1)
        n_parts = max(1, -(-flat.nbytes // SLICE_BYTES))
        for part in np.array_split(flat, n_parts):
            message = Checkpoint()
            entry = message.value.add(tag=name)
            entry.tensor.dims.extend(value.shape or (0,))
            entry.tensor.tensor_type = repr(dtype_of(value.dtype))
            entry.tensor.tensor_content = part.tobytes()
            yield message.SerializeToString()


def load_checkpoint(
    ckpt_file_name: str, net: Cell | None = None, strict_load: bool = False, filter_prefix: Any = None
) -> dict[str, Parameter]:  # fmt: skip
    """The parameters of a file by name, which a network gets where it is given one.

    filter_prefix: prefixes of names that are left out.  Raises: ValueError for a file that is none.
    """
    prefixes = _prefixes(filter_prefix)
    content = _content(ckpt_file_name)
    message = Checkpoint()
    try:
        message.ParseFromString(content)
    except (DecodeError, UnicodeDecodeError):
        _refuse(ckpt_file_name, "it is cut off, or no checkpoint of MindSpore")
    parts: dict[str, list[Any]] = {}
    for entry in message.value:
        if not isinstance(entry.tag, str):  # protobuf gives the bytes of a text that is none
            _refuse(ckpt_file_name, f"the name {entry.tag!r} is no text")
        if not any(_has_prefix(entry.tag, prefix) for prefix in prefixes):
            parts.setdefault(entry.tag, []).append(entry.tensor)
    if not parts:
        left = "all of its parameters are left out by filter_prefix" if message.value else "it holds no parameter"
        _refuse(ckpt_file_name, left)
    found = {name: _parameter(ckpt_file_name, name, tensors) for name, tensors in parts.items()}
    if net is not None:
        load_param_into_net(net, found, strict_load)
    return found


def _refuse(file: str, reason: str) -> NoReturn:
    raise ValueError(f"the checkpoint {file!r}: {reason}: save it again with save_checkpoint, or take another file") from None


def _content(file: Any) -> bytes:
    if not isinstance(file, str):
        raise ValueError(f"load_checkpoint({file!r}): the name of a file, a text")
    if not file.endswith(".ckpt"):
        raise ValueError(f"load_checkpoint({file!r}): the name of a checkpoint ends with .ckpt")
    try:
        content = read_at_most(Path(file), MOST_BYTES)
    except OSError as error:
        raise ValueError(f"the checkpoint {file!r} cannot be read: {error.strerror}: look at its name and folder") from None
    if not content:
        _refuse(file, "it is empty")
    return content


def _prefixes(given: Any) -> tuple[str, ...]:
    prefixes = () if given is None else (given,) if isinstance(given, str) else given
    if not isinstance(prefixes, (list, tuple)) or not all(isinstance(one, str) for one in prefixes):
        raise TypeError(f"filter_prefix={given!r}: a text or a list of texts")
    if given is not None and not prefixes:
        raise ValueError("filter_prefix is empty: leave it out to load all parameters")
    return tuple(prefixes)


def _has_prefix(name: str, prefix: str) -> bool:
    """Whether a path of attributes begins with another: "moments" with "moments.conv.weight", not with "moments2"."""
    return name == prefix or name.startswith(prefix if prefix.endswith(".") else f"{prefix}.")


def _parameter(file: str, name: str, tensors: list[Any]) -> Parameter:
    """The parameter of an entry, or of several.  Raises: ValueError where type, extents and bytes do not fit."""
    first = tensors[0]
    kind = _TYPES.get(first.tensor_type)
    if kind is None:
        _refuse(file, f"{name!r} has the type {first.tensor_type!r}, which is none of r1.1")
    shape = () if list(first.dims) == [0] else tuple(first.dims)
    n_bytes = sum(len(one.tensor_content) for one in tensors)
    n_elements = int(np.prod([int(extent) for extent in shape], dtype=object)) if shape else 1
    if min(shape, default=1) < 0 or len(shape) > MOST_AXES or n_elements * np.dtype(kind).itemsize != n_bytes:
        _refuse(file, f"{name!r} has the shape {shape} of {first.tensor_type}, and {n_bytes} bytes")
    value = np.frombuffer(b"".join(one.tensor_content for one in tensors), kind).reshape(shape)
    return Parameter(Tensor(value), name=name)


def load_param_into_net(net: Cell, parameter_dict: dict[str, Parameter], strict_load: bool = False) -> list[str]:
    """Gives parameters of a network their values by name, and returns the names that got none.

    strict_load: whether names have to be equal; else a prefix that all of the dict's names have beyond them may be missing.
    Raises: TypeError for other arguments; RuntimeError for another type or shape.
    """
    if not isinstance(net, Cell):
        raise TypeError(f"load_param_into_net takes a Cell, not {type(net).__name__}: of a Model take its network")
    if not isinstance(parameter_dict, dict):
        raise TypeError(f"load_param_into_net takes the dict of load_checkpoint, not {type(parameter_dict).__name__}")
    if not isinstance(strict_load, bool):
        raise TypeError(f"load_param_into_net(strict_load={strict_load!r}): True or False")
    missing = []
    for one in net.get_parameters():
        if one.name in parameter_dict:
            _update(one, parameter_dict[one.name])
        else:
            missing.append(one)
    if missing and not strict_load:
        missing = _loaded_with_prefix(missing, parameter_dict)
    if missing:
        some = ", ".join([one.name for one in missing[:5]] + ["..."] * (len(missing) > 5))
        print(f"mindspore: {len(missing)} parameters of the network are not in the checkpoint: {some}", file=sys.stderr)
    return [one.name for one in missing]


def _loaded_with_prefix(missing: list[Parameter], given: dict[str, Parameter]) -> list[Parameter]:
    """Loads names that the dict has with a prefix, and returns the parameters that are still missing."""
    wanted = missing[0].name
    longer = next((name for name in given if name.endswith(wanted)), None)
    if longer is None:
        return missing
    prefix = longer[: len(longer) - len(wanted)]
    for one in missing:
        if prefix + one.name in given:
            _update(one, given[prefix + one.name])
    return [one for one in missing if prefix + one.name not in given]


def _update(parameter: Parameter, new: Any) -> None:
    """Raises: TypeError for what is no parameter; RuntimeError for another type or shape."""
    if not isinstance(new, Parameter):
        raise TypeError(f"parameter_dict[{parameter.name!r}] is {type(new).__name__}, not a Parameter")
    if parameter.dtype is not new.dtype:
        raise RuntimeError(f"{parameter.name} is {parameter.dtype} in the network, and {new.dtype} in the checkpoint")
    value, shape = new.asnumpy(), parameter.shape
    if value.shape != shape:
        if value.shape[: len(shape)] != shape or set(value.shape[len(shape) :]) != {1}:
            raise RuntimeError(
                f"{parameter.name} has the shape {shape} in the network, and {value.shape} in the checkpoint: it is of another "
                "network, or of one with other arguments"
            )
        value = value.reshape(shape)  # extents of 1 behind those of the parameter are no difference in r1.1 either
    parameter.set_data(Tensor(value))


def export(net: Cell, *inputs: Any, file_name: str, file_format: str = "AIR", **kwargs: Any) -> NoReturn:
    """Refuses: AIR, MINDIR and ONNX files are not written here.  Raises: RuntimeError."""
    raise RuntimeError(
        f"export to {file_format} is not simulated: save_checkpoint writes the parameters, and MindSpore's own export reads them "
        "on a machine that has it"
    )


def _split(name: str) -> NoReturn:
    raise RuntimeError(f"{name} is for parameters that are split over devices, which is not simulated: use DATA_PARALLEL")


def build_searched_strategy(strategy_filename: str) -> NoReturn:
    """Refuses: no operator is split here.  Raises: RuntimeError."""
    _split("build_searched_strategy")


def merge_sliced_parameter(sliced_parameters: Any, strategy: Any = None) -> NoReturn:
    """Refuses: no parameter is split here.  Raises: RuntimeError."""
    _split("merge_sliced_parameter")


def load_distributed_checkpoint(network: Cell, checkpoint_filenames: Any, predict_strategy: Any = None) -> NoReturn:
    """Refuses: no parameter is split here.  Raises: RuntimeError."""
    _split("load_distributed_checkpoint")


def parse_print(print_file_name: str) -> NoReturn:
    """Refuses: ops.Print writes to the screen here, not into a file.  Raises: RuntimeError."""
    raise RuntimeError(f"parse_print({print_file_name!r}): ops.Print writes to stdout here, so there is no file to read")
