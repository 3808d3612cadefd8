"""Session options of the device as scripts write them: which exist, what they take, and what is wrong with a set of them.

Pure: neither TensorFlow nor the shim is imported, so that `tf2npu doctor` can check a script without running it.
"""

from __future__ import annotations

import csv
import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from npu_formats.environment import TF2NPU_OPTIONS
from npu_formats.near_names import near_names

FIELD_NAMES = {"b": "bool", "i": "int", "s": "text, through tf.compat.as_bytes"}
LAUNCHERS = (
    "device_defaults",
    "dump_graph",
    "fusion",
    "host_fallback",
    "overflow",
    "soc",
    "track_nan",
    "tuning_seconds",
    "verify",
)
"""Options of the simulated device alone, which only `tf2npu run --option` gives."""
_TRUTH = {"true": True, "1": True, "false": False, "0": False}
_OF_THE_ESTIMATOR = {"job", "task_index", "min_group_size"}
# What NPURunConfig writes of deprecated options when nobody asked for them.
_ESTIMATORS_OWN = {"enable_data_pre_proc": True, "dynamic_graph_execute_mode": "dynamic_execute", "dynamic_input": False}


@dataclass(frozen=True)
class Option:
    """One row of session_options.csv.

    field: b, i or s.  allowed: bool; words a|b; int a|b or low..high; file, folder (to exist); json; like PATTERN; empty for
    any.  status: current, experimental, deprecated, older, internal, or unknown to the device.  instead: the right form.
    excludes, needs: other options.  on_host: "stops" when a wrong value, or one without what it needs, ends the process there.
    here: what we do with it.
    """

    option: str
    field: str
    allowed: str
    status: str
    instead: str
    excludes: str
    needs: str
    on_host: str
    here: str


@dataclass(frozen=True)
class Problem:
    """option, what is wrong and the right form; stops: an Ascend host ends the process."""

    option: str
    text: str
    stops: bool = False


Given = Mapping[str, tuple[str, Any]]
"""Option -> (field it was written into, value)."""


@cache
def table() -> Mapping[str, Option]:
    """All options by name."""
    with (Path(__file__).parent / "session_options.csv").open(encoding="utf-8", newline="") as file:
        return {row["option"]: Option(**row) for row in csv.DictReader(file)}


def problems(given: Given) -> Iterator[Problem]:
    """The problems of a set of options, option by option, in the order of their names."""
    is_estimators = set(given) >= _OF_THE_ESTIMATOR
    for name in sorted(given):
        field, value = given[name]
        option = table().get(name)
        if option is None or option.status == "unknown":
            yield Problem(name, _unknown(name, option))
        elif field != option.field:
            wanted = f"it belongs into .{option.field} ({FIELD_NAMES[option.field]})"
            yield Problem(name, f"session option {name!r} is written into .{field}; {wanted}", name == "jit_compile")
        elif is_estimators and _ESTIMATORS_OWN.get(name) == value:
            continue
        else:
            yield from _of_value(option, value)
            yield from _of_others(option, value, given)


def why_unknown(name: str) -> str | None:
    """The message for an unknown name of an option that is given to the launcher; None for one that exists."""
    option = table().get(name)
    is_known = name in LAUNCHERS or (option is not None and option.status != "unknown")
    return None if is_known else _unknown(name, option, LAUNCHERS)


def of_text(name: str, text: str) -> Any:
    """The value that a text given to the launcher means, in the type of the option's field.

    Options of the simulated device alone stay text.  Raises: ValueError, which says what the option takes.
    """
    option = table().get(name)
    if option is None or name in LAUNCHERS:
        return text
    value = _of_field(option, text)
    problem = why_not(option, value)
    if problem:
        raise ValueError(problem)
    return value


def _of_field(option: Option, text: str) -> Any:
    if option.field == "i":
        if not re.fullmatch(r"-?\d+", text):
            raise ValueError("use a whole number")
        return int(text)
    if option.field == "b":
        if text.lower() not in _TRUTH:
            raise ValueError("use true or false")
        return _TRUTH[text.lower()]
    return text


def _unknown(name: str, option: Option | None, others: tuple[str, ...] = ()) -> str:
    if option is not None and option.instead:
        return f"there is no session option {name!r}; did you mean {option.instead!r}?"
    known = [*others, *(n for n, o in table().items() if o.status != "unknown")]
    similar = near_names(name, known, 1)
    return f"there is no session option {name!r}" + (f"; did you mean {similar[0]!r}?" if similar else "")


def _of_value(option: Option, value: Any) -> Iterator[Problem]:
    problem = why_not(option, value)
    stops = option.on_host == "stops"
    if problem:
        yield Problem(option.option, f"session option {option.option!r} is {value!r}: {problem}", stops)
    if option.status in ("deprecated", "older") and _is_on(value):
        instead = f"; instead: {option.instead}" if option.instead else ""
        age = "deprecated" if option.status == "deprecated" else "of an older release"
        yield Problem(option.option, f"session option {option.option!r} is {age}{instead}")


def _of_others(option: Option, value: Any, given: Given) -> Iterator[Problem]:
    if not _is_on(value):
        return
    other = option.excludes
    if other and other in given and _is_on(given[other][1]):
        yield Problem(option.option, f"session options {option.option!r} and {other!r} exclude each other; leave one out")
    if option.needs and not _has(option.needs, given):
        yield Problem(option.option, f"session option {option.option!r} needs {option.needs}", option.on_host == "stops")


def _has(needs: str, given: Given) -> bool:
    """Whether "a", "a and b" or "a or b" are given."""
    if " or " in needs:
        return any(name in given for name in needs.split(" or "))
    return all(name in given and given[name][1] not in ("", False) for name in needs.split(" and "))


def _is_on(value: Any) -> bool:
    """Whether an option asks for something; one iteration per loop does not."""
    return value not in (False, 0, "", None) and not (value == 1 and isinstance(value, int) and not isinstance(value, bool))


def why_not(option: Option, value: Any) -> str:
    """The reason that an option does not take a value of the right field; empty when it does."""
    kind, _, rest = option.allowed.partition(" ")
    if value in ("", None):
        return ""
    if kind == "words" and value not in rest.split("|"):
        return f"use one of {', '.join(rest.split('|'))}"
    if kind == "int" and not _is_in(rest, value):
        low, dots, high = rest.partition("..")
        return (f"use {low} or more" if not high else f"use {low} to {high}") if dots else f"use {' or '.join(rest.split('|'))}"
    if kind == "file" and not os.path.isfile(value):
        return "there is no such file"
    if kind == "folder" and not os.path.isdir(value):
        return "there is no such folder; it has to exist"
    if kind == "json" and not _is_json_object(value):
        return "this is no JSON object"
    if kind == "like" and not re.fullmatch(rest, value):
        return f"it has to look like {rest}"
    return ""


def _is_in(text: str, value: int) -> bool:
    low, dots, high = text.partition("..")
    if not dots:
        return str(value) in text.split("|")
    return value >= int(low) and (not high or value <= int(high))


def _is_json_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def launcher_options(environment: Mapping[str, str]) -> dict[str, Any]:
    """The options of the device in the environment, as `tf2npu run` and its users leave them there.

    Raises: ValueError with a sentence for the user.
    """
    text = environment.get(TF2NPU_OPTIONS) or "{}"
    if not _is_json_object(text):
        raise ValueError(f'{TF2NPU_OPTIONS} is no JSON object such as {{"soc": "Ascend910B2"}}: set it right, or unset it')
    options: dict[str, Any] = json.loads(text)
    return options


def without_effect(given: Given) -> dict[str, str]:
    """Options that ask for what is not done here, with what happens instead."""
    found = {}
    for name, (field, value) in sorted(given.items()):
        option = table().get(name)
        if option is None or option.field != field or option.here.startswith("honoured") or not _is_on(value):
            continue
        if not (set(given) >= _OF_THE_ESTIMATOR and option.here == "recorded"):
            found[name] = option.here
    return found
