"""The migrated script on the simulated device learns as the original does on TensorFlow's CPU.

Both start from the same variables and see the same data; dropout is off, because its random numbers are the device's own.
The tolerance is 1e-4, or three times the distance of TensorFlow from itself where that is more.
"""

from __future__ import annotations

import json
from itertools import accumulate

import pytest

from tests.e2e.programs import EVERY_PROGRAM, ProgramUnderTest, record_losses
from tests.e2e.record_spreads import FIXTURE

STATED_TOLERANCE = 1e-4


def tolerances(name: str) -> list[float]:
    """One a step; the spread of a step is the largest up to there, as differences only grow by training."""
    spreads = json.loads(FIXTURE.read_text())["programs"][name]["spread"]
    return [max(STATED_TOLERANCE, 3 * spread) for spread in accumulate(spreads, max)]


@pytest.mark.whole(
    but=(
        "keras_cnn",
        "mlp_feed_dict",
        "monitored_training",
    )
)
@pytest.mark.parametrize("program", EVERY_PROGRAM, ids=lambda program: program.name)
def test_first_losses_agree(program: ProgramUnderTest, converted, tmp_path, record_property):
    original = record_losses(program, "plain", "save", program.source, tmp_path)
    for losses in json.loads(FIXTURE.read_text())["programs"][program.name]["losses"].values():
        assert original == pytest.approx(losses, rel=max(tolerances(program.name)))  # spreads were recorded of these very scripts
    migrated = record_losses(program, "shim", "restore", converted(program), tmp_path)
    differences = [abs(ours - theirs) / abs(theirs) for ours, theirs in zip(migrated, original, strict=True)]
    allowed = tolerances(program.name)
    record_property("figure", f"parity {program.name:16} largest difference of {len(original)} losses "
                              f"{max(differences):.1e}, allowed {allowed[-1]:.1e}")  # fmt: skip
    late = [step for step, pair in enumerate(zip(differences, allowed, strict=True)) if not pair[0] <= pair[1]]
    assert not late, f"steps {late}: original {original}, migrated {migrated}"
