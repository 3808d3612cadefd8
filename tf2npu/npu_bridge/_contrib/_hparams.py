"""Hyperparameters with types, as ``tf.contrib.training.HParams`` had them.

Source: tensorflow/contrib/training/python/training/hparam.py of TF 1.15; errors are its errors.
"""

from __future__ import annotations

import json
import numbers
import re
from collections.abc import Callable, Mapping
from typing import Any

_ASSIGNMENT = re.compile(
    r"(?P<name>[a-zA-Z][\w.]*)(?P<index>\[\s*(?P<position>\d+)\s*\])?\s*=\s*((?P<value>[^,\[]*)|\[(?P<values>[^\]]*)\])($|,\s*)"
)


def _cast(name: str, kind: type, value: Any) -> Any:
    """The value as a parameter of that type. Raises: ValueError when that would lose something."""

    def refuse() -> None:
        raise ValueError(f"Could not cast hparam '{name}' of type '{kind}' from value {value!r}")

    if issubclass(kind, type(None)):
        return value
    if kind in (str, bytes):
        return str(value) if isinstance(value, str) else value if isinstance(value, kind) else refuse()
    wrong_bool = isinstance(value, bool) != issubclass(kind, bool)
    wrong_integral = issubclass(kind, numbers.Integral) and not isinstance(value, numbers.Integral)
    if not isinstance(value, numbers.Number) or wrong_bool or wrong_integral:
        refuse()
    return kind(value)


def _parser(kind: type) -> Callable[[str], Any]:
    def parse_bool(text: str) -> bool:
        if text in ("true", "True"):
            return True
        if text in ("false", "False"):
            return False
        try:
            return bool(int(text))
        except ValueError:
            raise ValueError(text) from None

    return parse_bool if kind is bool else kind


def parse_values(values: str, type_map: Mapping[str, type], ignore_unknown: bool = False) -> dict[str, Any]:
    """Read ``name=value`` pairs: "a=1,b=[1,2],c[3]=4" gives {"a": 1, "b": [1, 2], "c": {3: 4}}.

    Raises: ValueError when the text cannot be read, a name has no type, or is assigned twice.
    """
    results: dict[str, Any] = {}
    position = 0
    while position < len(values):
        match = _ASSIGNMENT.match(values, position)
        if not match:
            raise ValueError(f"Malformed hyperparameter value: {values[position:]}")
        position = match.end()
        name = match["name"]
        if name not in type_map:
            if ignore_unknown:
                continue
            raise ValueError(f"Unknown hyperparameter type for {name}")
        _assign(results, name, match, type_map[name], values)
    return results


def _assign(results: dict[str, Any], name: str, match: re.Match[str], kind: type, values: str) -> None:
    def read(text: str) -> Any:
        try:
            return _parser(kind)(text)
        except ValueError:
            raise ValueError(
                f"Could not parse hparam '{name}' of type '{kind.__name__}' with value '{text}' in {values}"
            ) from None

    is_indexed = match["index"] is not None
    if name in results and not (is_indexed and isinstance(results[name], dict)):
        raise ValueError(f"Multiple assignments to variable '{name}' in {values}")
    if match["values"] is not None:
        if is_indexed:
            raise ValueError(f"Assignment of a list to a list index of {name} in {values}")
        results[name] = [read(text) for text in re.split(r"\s*,\s*", match["values"].strip()) if text]
        return
    value = read(match["value"].strip())
    if not is_indexed:
        results[name] = value
        return
    index = int(match["position"])
    if index in results.setdefault(name, {}):
        raise ValueError(f"Multiple assignments to variable '{name}[{index}]' in {values}")
    results[name][index] = value


class HParams:
    """Named values whose types are fixed by their first value; attributes are the values.

    Raises: ValueError for a name that is taken, an empty list, or a value of another type.
    """

    _HAS_DYNAMIC_ATTRIBUTES = True

    def __init__(self, hparam_def: Any = None, model_structure: Any = None, **kwargs: Any) -> None:
        if hparam_def is not None:
            raise ValueError("hparam_def: the protocol buffer HParamDef went with tf.contrib; give the values by name")
        self._hparam_types: dict[str, tuple[type, bool]] = {}
        self._model_structure = model_structure
        for name, value in kwargs.items():
            self.add_hparam(name, value)

    def add_hparam(self, name: str, value: Any) -> None:
        """A new parameter; a list makes it one of several values."""
        if getattr(self, name, None) is not None:
            raise ValueError(f"Hyperparameter name is reserved: {name}")
        is_list = isinstance(value, list | tuple)
        if is_list and not value:
            raise ValueError(f"Multi-valued hyperparameters cannot be empty: {name}")
        self._hparam_types[name] = (type(value[0] if is_list else value), is_list)
        setattr(self, name, value)

    def set_hparam(self, name: str, value: Any) -> None:
        """Change a parameter. Raises: KeyError when it does not exist."""
        kind, is_list = self._hparam_types[name]
        if isinstance(value, list):
            if not is_list:
                raise ValueError(f"Must not pass a list for single-valued parameter: {name}")
            setattr(self, name, [_cast(name, kind, item) for item in value])
            return
        if is_list:
            raise ValueError(f"Must pass a list for multi-valued parameter: {name}.")
        setattr(self, name, _cast(name, kind, value))

    def del_hparam(self, name: str) -> None:
        """Remove a parameter if it is there."""
        if hasattr(self, name):
            delattr(self, name)
            del self._hparam_types[name]

    def parse(self, values: str) -> HParams:
        """Change parameters by a text such as "a=1,b=[2,3]"; gives itself."""
        kinds = {name: kind for name, (kind, _) in self._hparam_types.items()}
        return self.override_from_dict(parse_values(values, kinds))

    def override_from_dict(self, values_dict: Mapping[str, Any]) -> HParams:
        """Change parameters; gives itself. Raises: KeyError for a name that does not exist."""
        for name, value in values_dict.items():
            if isinstance(value, dict):
                current = list(getattr(self, name))
                for index, item in value.items():
                    current[index] = item
                value = current
            self.set_hparam(name, value)
        return self

    set_from_map = override_from_dict

    def set_model_structure(self, model_structure: Any) -> None:
        """Remember an object that describes the model."""
        self._model_structure = model_structure

    def get_model_structure(self) -> Any:
        """The object given to ``set_model_structure``."""
        return self._model_structure

    def to_json(self, indent: Any = None, separators: Any = None, sort_keys: bool = False) -> str:
        """All parameters as a JSON object; functions are left out."""
        plain = {name: value for name, value in self.values().items() if not callable(value)}
        return json.dumps(plain, indent=indent, separators=separators, sort_keys=sort_keys)

    def parse_json(self, values_json: str) -> HParams:
        """Change parameters by a JSON object; gives itself."""
        return self.override_from_dict(json.loads(values_json))

    def values(self) -> dict[str, Any]:
        """All parameters by name."""
        return {name: getattr(self, name) for name in self._hparam_types}

    def get(self, key: str, default: Any = None) -> Any:
        """A parameter, or ``default`` when it does not exist. Raises: ValueError when the default has another type."""
        if key not in self._hparam_types:
            return default
        if default is not None:
            self._check_default(key, default)
        return getattr(self, key)

    def _check_default(self, key: str, default: Any) -> None:
        kind, is_list = self._hparam_types[key]
        shown = f"list<{kind}>" if is_list else str(kind)
        problem = f"Hparam '{key}' of type '{shown}' is incompatible with default={default}"
        if is_list != isinstance(default, list):
            raise ValueError(problem)
        try:
            _cast(key, kind, default[0] if is_list and default else default)
        except ValueError as error:
            raise ValueError(f"{problem}. {error}") from None

    def __contains__(self, key: object) -> bool:
        return key in self._hparam_types

    def __str__(self) -> str:
        return ",".join(f"{name}={value}" for name, value in self.values().items())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({sorted(self.values().items())!r})"
