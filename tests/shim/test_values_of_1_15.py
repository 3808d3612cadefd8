"""Calls of the most used functions give what TensorFlow 1.15 gave, on the simulated device, or are listed with a reason."""

from __future__ import annotations

import importlib.util
import inspect
import operator
import re
import unittest
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import pytest

from tests.shim.recorded_calls import CALLS, difference, evaluation, listed_differences, recorded
from tf2npu.api_support.table import signatures, table

MOST_USED = (CALLS / "most_used.txt").read_text(encoding="utf-8").split()
OF_PARAMETERS = "parameters of tf."
WITH_PROBABILITY = "distributions"
PARTS = sorted(path.stem for path in CALLS.glob("*.txt") if path.stem not in ("most_used", WITH_PROBABILITY))
DISTRIBUTIONS = "tensorflow.contrib.distributions."


@cache
def calls() -> Any:
    return evaluation()


@pytest.fixture
def probability():
    """Needs the optional package, which the extra `test` brings."""
    if importlib.util.find_spec("tensorflow_probability") is None:
        raise unittest.SkipTest("needs tensorflow-probability")


@pytest.mark.whole(but=("process", "losses", "layers", "arithmetic", "networks", "training", "reductions"))
@pytest.mark.parametrize("part", PARTS)
def test_calls_give_what_tensorflow_1_15_gave(part, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # some calls write events into the current folder
    check(part)


@pytest.mark.whole
def test_distributions_say_what_those_of_tensorflow_1_15_said(probability):
    check(WITH_PROBABILITY)


def check(part: str) -> None:
    """Compare each call of a part with its recording, and what differs with what is listed."""
    from npu_bridge.npu_init import npu_config_proto

    wanted, listed = recorded(), listed_differences()
    ours = [call for where, call in calls().lines() if where == part]
    found = {call: difference(wanted[call], calls().evaluate(call, npu_config_proto())) for call in ours}
    different = {call: kind for call, kind in found.items() if kind}
    assert different == {call: kind for call, (kind, _) in listed.items() if call in found}


def test_what_is_listed_is_recorded_and_has_a_reason():
    assert {one for one in listed_differences() if not one.startswith(OF_PARAMETERS)} <= set(recorded())
    assert sorted(recorded()) == sorted({call for _, call in calls().lines()})
    assert all(len(reason) > 20 for _, reason in listed_differences().values())


def test_a_difference_is_seen():
    """Each part of a result counts: type, known shape, shape, numbers, structure, variables, the class of an error."""
    result = calls().evaluate("tf.layers.dense(t(f(2,3)), 2, kernel_initializer=tf.ones_initializer())")
    tensor = result["values"][0]
    assert difference(result, result) is None and tensor[:4] == ["tensor", "float32", [2, 2], [2, 2]]
    for place, other, kind in (
        (1, "float64", "another type"), (2, None, "another static shape"), (3, [4], "another value"),
        (4, [tensor[4][0] + 1e-3, *tensor[4][1:]], "another value"), (0, "array", "another type"),
    ):  # fmt: skip
        changed = [*tensor[:place], other, *tensor[place + 1 :]]
        assert difference(result, {**result, "values": [changed]}) == kind
    assert difference(result, {**result, "variables": []}) == "another structure"
    error = calls().evaluate("tf.layers.dense(t(f(3)), -1)")
    assert difference(result, error) == "refused here" and difference(error, result) == "1.15 refuses it"
    assert difference(error, {**error, "error": "KeyError"}) == "another error"


_OPAQUE = re.compile(r"(self, )?/?(, )?\*args, \*\*kwargs")
_ADDRESS = re.compile(r" at 0x[0-9a-f]+|tensorflow(_core)?\.python\.[\w.]*\.|keras\.src\.[\w.]*\.")


def split(signature: str) -> list[str]:
    """The parameters of a signature's text."""
    parts, depth, is_text = [""], 0, False
    for sign in signature[1:-1]:
        is_text ^= sign == "'"
        depth += 0 if is_text else (sign in "([{<") - (sign in ")]}>")
        parts = [*parts, ""] if sign == "," and not depth and not is_text else [*parts[:-1], parts[-1] + sign]
    return [part.strip() for part in parts if part.strip() not in ("self", "/", "")]


def declared(value: Callable[..., Any]) -> list[str]:
    """As `split`, of what a process with npu_bridge has."""
    found = [p for p in inspect.signature(value).parameters.values() if p.kind is not p.VAR_KEYWORD]
    return ["*" * (p.kind is p.VAR_POSITIONAL) + p.name + ("" if p.default is p.empty else f"={p.default!r}") for p in found]


@cache
def rows() -> dict[str, str]:
    """The row of the table of signatures for each spelling of a name."""
    return {name: api.name for api in table() for name in (api.name, *api.aliases)}


def test_parameters_and_defaults_begin_with_those_of_1_15():
    different = declared_otherwise(MOST_USED)
    listed = {one.removeprefix(OF_PARAMETERS) for one in listed_differences() if one.startswith(OF_PARAMETERS)}
    assert {name: found for name, found in different.items() if name not in listed} == {}
    assert set(different) == listed


# Names of tf.contrib.distributions that nobody carries on; asking for one says what to do.
GONE = {
    "ConditionalDistribution", "ConditionalTransformedDistribution", "VectorDiffeomixture", "VectorSinhArcsinhDiag",
    "assign_log_moving_mean_exp", "assign_moving_mean_variance", "bijectors.ConditionalBijector",
    "estimator_head_distribution_regression", "moving_mean_variance", "quadrature_scheme_softmaxnormal_gauss_hermite",
    "quadrature_scheme_softmaxnormal_quantiles",
}  # fmt: skip
# tensorflow_probability has defaults of its own that mean the same: an object for "not given", another spelling of a function.
OTHER_DEFAULTS = {"Kumaraswamy", "bijectors.Bijector", "bijectors.Inline"}


def test_distributions_take_what_those_of_1_15_took(probability):
    import tensorflow.contrib.distributions

    names = {
        name.removeprefix(DISTRIBUTIONS) for name in rows() if re.fullmatch(DISTRIBUTIONS + r"(bijectors\.)?[A-Za-z_]\w*", name)
    }
    names -= {name for name in names if name.isupper() or name in ("bijectors", "python")}
    found = {name for name in names if _is_there(tensorflow.contrib.distributions, name)}
    assert names - found == GONE and len(found) > 100
    different = declared_otherwise([f"contrib.distributions.{name}" for name in found])
    assert {name.removeprefix("contrib.distributions.") for name in different} == OTHER_DEFAULTS, different


def _is_there(module: Any, name: str) -> bool:
    try:
        operator.attrgetter(name)(module)
    except AttributeError:
        return False
    return True


def declared_otherwise(names: Iterable[str]) -> dict[str, tuple[list[str], list[str]]]:
    """Parameters of 1.15 and here, of the names of TensorFlow where these do not begin with those."""
    import tensorflow as tf

    different = {}
    for name in names:
        wanted = signatures().get(rows()[f"tensorflow.{name}"], "()")
        value = operator.attrgetter(name)(tf)
        if _OPAQUE.fullmatch(wanted.strip("()")) or hasattr(value, "DESCRIPTOR"):
            continue
        before = [_ADDRESS.sub("", one) for one in split(wanted) if not one.startswith("**")]
        ours = [_ADDRESS.sub("", one) for one in declared(value)]
        if ours[: len(before)] != before and not _are_equal(ours, before):
            different[name] = (before, ours)
    return different


def _are_equal(ours: list[str], wanted: list[str]) -> bool:
    """Whether parameters differ in the spelling of a number alone, as 0 and 0.0."""
    pairs = [(a.partition("="), b.partition("=")) for a, b in zip(ours, wanted, strict=False)]
    return len(ours) >= len(wanted) and all(
        a == b or (a[0] == b[0] and a[2].removesuffix(".0") == b[2].removesuffix(".0")) for a, b in pairs
    )


def test_the_most_used_names_are_called_or_have_no_values():
    """Names that make a process, a server or a message alone are not called; all others are."""
    called = {name.rstrip(".") for call in recorded() for name in re.findall(r"\btf\.([A-Za-z_][\w.]*)", call)}
    heads = {".".join(name.split(".")[:n]) for name in called for n in range(1, name.count(".") + 2)}
    assert set(MOST_USED) - heads == {
        "GradientTape", "InteractiveSession", "ReaderBase", "Tensor", "disable_eager_execution", "disable_v2_behavior",
        "enable_eager_execution", "enable_resource_variables", "enable_v2_behavior", "reset_default_graph",
    }  # fmt: skip
