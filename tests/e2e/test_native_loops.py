"""A training run is the same to the last bit with loops that numba compiles, and without."""

from __future__ import annotations

import pytest

from tests.e2e.programs import N_STEPS, PROGRAMS, ProgramUnderTest, record

pytest.importorskip("numba")


@pytest.mark.parametrize("program", PROGRAMS[:2], ids=lambda program: program.name)
def test_losses_do_not_depend_on_compiled_loops(program: ProgramUnderTest, converted, tmp_path):
    losses = []
    for mode, native in (("save", "off"), ("restore", "at_once")):
        environment = {"TF2NPU_NATIVE": native}
        losses.append(record(program, "shim", mode, converted(program), tmp_path, environment)["losses"][:N_STEPS])
    assert len(losses[0]) == N_STEPS
    assert losses[0] == losses[1]
