"""Classes of protobuf messages out of tables of their fields: files that others read, without a compiler of .proto files.

A field is "number name type"; behind the type `*` says that it is repeated, `{}` that it is a map from texts, `|` that it is one
of the alternatives of which a message has at most one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_FIELD = descriptor_pb2.FieldDescriptorProto
_SCALARS = {
    "string": _FIELD.TYPE_STRING, "bytes": _FIELD.TYPE_BYTES, "uint64": _FIELD.TYPE_UINT64, "uint32": _FIELD.TYPE_UINT32,
    "int64": _FIELD.TYPE_INT64, "int32": _FIELD.TYPE_INT32, "bool": _FIELD.TYPE_BOOL, "float": _FIELD.TYPE_FLOAT,
}  # fmt: skip


def message_classes(
    package: str, messages: Mapping[str, str], enumerations: Mapping[str, Mapping[str, int]] | None = None
) -> dict[str, Any]:
    """The class of each message of a package, in the syntax proto3.

    messages: fields by name of message, with a comma between.  enumerations: numbers by name of value, by name of type.
    """
    file = descriptor_pb2.FileDescriptorProto(name=f"tf2npu/{package}.proto", package=package, syntax="proto3")
    for name, values in (enumerations or {}).items():
        described = file.enum_type.add(name=name)
        for value, number in values.items():
            described.value.add(name=value, number=number)
    for name, fields in messages.items():
        message = file.message_type.add(name=name)
        for text in fields.split(", "):
            _add_field(package, message, text, enumerations or {})
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{package}.{name}")) for name in messages}


def _add_field(package: str, message: Any, text: str, enumerations: Mapping[str, Any]) -> None:
    number, name, kind = text.split()
    type_name = kind.rstrip("*{}|")
    if kind.endswith("{}"):
        entry = _entry(package, message, name, type_name)
        added = message.field.add(name=name, number=int(number), type=_FIELD.TYPE_MESSAGE, label=_FIELD.LABEL_REPEATED)
        added.type_name = f".{package}.{message.name}.{entry}"
        return
    added = message.field.add(name=name, number=int(number))
    added.label = _FIELD.LABEL_REPEATED if kind.endswith("*") else _FIELD.LABEL_OPTIONAL
    _set_type(package, added, type_name, enumerations)
    if kind.endswith("|"):
        if not message.oneof_decl:
            message.oneof_decl.add(name="value")
        added.oneof_index = 0


def _entry(package: str, message: Any, field: str, type_name: str) -> str:
    """The type of a map's entries, which protobuf wants inside of the message."""
    name = "".join(part.capitalize() for part in field.split("_")) + "Entry"
    entry = message.nested_type.add(name=name)
    entry.options.map_entry = True
    entry.field.add(name="key", number=1, type=_FIELD.TYPE_STRING, label=_FIELD.LABEL_OPTIONAL)
    _set_type(package, entry.field.add(name="value", number=2, label=_FIELD.LABEL_OPTIONAL), type_name, {})
    return name


def _set_type(package: str, field: Any, name: str, enumerations: Mapping[str, Any]) -> None:
    if name in _SCALARS:
        field.type = _SCALARS[name]
        return
    field.type = _FIELD.TYPE_ENUM if name in enumerations else _FIELD.TYPE_MESSAGE
    field.type_name = f".{package}.{name}"
