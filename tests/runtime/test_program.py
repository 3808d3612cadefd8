"""Claims of the documentation of a program on its fields."""

from __future__ import annotations

import dataclasses
import re

import pytest

from npu_runtime.executor.program import HostStep, Program, Task


@pytest.mark.parametrize("kind", [Program, Task])
def test_every_field_is_documented_and_every_documented_name_is_a_field(kind: type) -> None:
    text = kind.__doc__ or ""
    fields = {field.name for field in dataclasses.fields(kind)}
    named = {name for names in re.findall(r"(?:^|[.]\s+)((?:\w+(?:, | / ))*\w+): ", text) for name in re.split(r", | / ", names)}
    assert named <= fields | {"outs", "ins/outs"}
    plain = {"steps", "node", "op", "function", "ins", "outs", "unit", "flops"}
    assert fields - plain <= set(re.findall(r"\w+", text))


def test_a_host_step_has_the_fields_that_it_shares_with_a_task() -> None:
    shared = {"derefs", "controls", "frees", "writes", "waits", "ins", "outs"}
    assert shared <= {f.name for f in dataclasses.fields(HostStep)} & {f.name for f in dataclasses.fields(Task)}
