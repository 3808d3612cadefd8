"""The protobuf messages of a checkpoint, built here.

A checkpoint is a list of values: each a name (1) and a tensor (2), which has extents (1), the name of a type (2) and bytes (3).
Source: files of MindSpore, and train/serialization.py of r1.1.
"""

from __future__ import annotations

from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_FIELD = descriptor_pb2.FieldDescriptorProto
_PACKAGE = "mindspore.checkpoint"


def _field(message: Any, name: str, number: int, kind: int, is_list: bool = False, of: str = "") -> None:
    label = _FIELD.LABEL_REPEATED if is_list else _FIELD.LABEL_OPTIONAL
    message.field.add(name=name, number=number, type=kind, label=label, type_name=f".{_PACKAGE}.{of}" if of else None)


def _file() -> Any:
    file = descriptor_pb2.FileDescriptorProto(name="checkpoint.proto", package=_PACKAGE, syntax="proto2")
    tensor = file.message_type.add(name="TensorProto")
    _field(tensor, "dims", 1, _FIELD.TYPE_INT64, is_list=True)
    _field(tensor, "tensor_type", 2, _FIELD.TYPE_STRING)
    _field(tensor, "tensor_content", 3, _FIELD.TYPE_BYTES)
    whole = file.message_type.add(name="Checkpoint")
    value = whole.nested_type.add(name="Value")
    _field(value, "tag", 1, _FIELD.TYPE_STRING)
    _field(value, "tensor", 2, _FIELD.TYPE_MESSAGE, of="TensorProto")
    _field(whole, "value", 1, _FIELD.TYPE_MESSAGE, is_list=True, of="Checkpoint.Value")
    return file


_pool = descriptor_pool.DescriptorPool()
_pool.Add(_file())
Checkpoint = message_factory.GetMessageClass(_pool.FindMessageTypeByName(f"{_PACKAGE}.Checkpoint"))
