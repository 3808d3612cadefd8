"""Results and facts as bytes: MessagePack, which holds data and nothing that runs, read as the type that is asked for.

msgspec writes and reads it: dataclasses, enums, tuples and frozensets by their annotations, at the speed of pickle. A byte
before it tells how texts are written: names of files that are no UTF-8 hold lone surrogates, which MessagePack has no form for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

_T = TypeVar("_T")
_AS_IT_IS, _BYTE_BY_BYTE = b"\x00", b"\x01"
_DECODERS: dict[Any, msgspec.msgpack.Decoder[Any]] = {}


class NotData(Exception):
    """Bytes that are not what was asked for, or a value that cannot be written; the text says why."""


def encode(value: Any) -> bytes:
    """The bytes of a value.

    Raises: NotData for what MessagePack cannot hold, such as an integer of more than 64 bits.
    """
    try:
        try:
            return _AS_IT_IS + msgspec.msgpack.encode(value)
        except UnicodeEncodeError:
            plain = msgspec.to_builtins(value, builtin_types=(bytes,))
            return _BYTE_BY_BYTE + msgspec.msgpack.encode(_with_texts(plain, _characters_of_bytes))
    except (TypeError, ValueError, OverflowError, RecursionError, msgspec.MsgspecError) as error:
        raise NotData(f"{type(error).__name__}: {error}") from None


def decode(data: bytes, kind: type[_T]) -> _T:
    """The value of type `kind` that `encode` wrote.

    Raises: NotData.
    """
    try:
        if data[:1] == _AS_IT_IS:
            value: _T = _decoder(kind).decode(memoryview(data)[1:])
            return value
        if data[:1] == _BYTE_BY_BYTE:
            plain = msgspec.msgpack.decode(memoryview(data)[1:])
            return msgspec.convert(_with_texts(plain, _text_of_characters), kind, builtin_types=(bytes,))
    except (TypeError, ValueError, RecursionError, msgspec.MsgspecError) as error:
        raise NotData(f"{type(error).__name__}: {error}") from None
    raise NotData("it does not begin as data of tf2npu does")


def _decoder(kind: type[Any]) -> msgspec.msgpack.Decoder[Any]:
    """A decoder knows its type; making one looks at every annotation in it."""
    if kind not in _DECODERS:
        _DECODERS[kind] = msgspec.msgpack.Decoder(kind)
    return _DECODERS[kind]


def _with_texts(value: Any, change: Callable[[str], str]) -> Any:
    """The same lists and tables with each text changed."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {_with_texts(key, change): _with_texts(item, change) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_with_texts(item, change) for item in value)
    return value


def _characters_of_bytes(text: str) -> str:
    return text.encode("utf-8", "surrogatepass").decode("latin-1")


def _text_of_characters(text: str) -> str:
    return text.encode("latin-1").decode("utf-8", "surrogatepass")
