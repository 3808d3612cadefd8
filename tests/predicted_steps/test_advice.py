"""Advice is followed: the script is written again as it says, and its step is predicted once more."""

import pytest

from tests.predicted_steps.advised import ADVISED
from tf2npu.prediction.texts import advice_kinds


def test_each_kind_of_advice_is_followed_here():
    assert set(ADVISED) == set(advice_kinds())


@pytest.mark.whole(beyond=1)
@pytest.mark.parametrize("kind", ADVISED)
def test_what_is_advised_saves_at_least_half_of_what_is_said(predict, kind):
    case = ADVISED[kind]
    _, before, script = predict(case.before, precision=case.precision, shapes_only=True)
    lines = script.read_text().splitlines()
    given = [advice for advice in before["advice"] if advice["kind"] == kind and case.marked in _line(advice, lines)]
    assert len(given) == 1, before["advice"]
    mode = given[0]["details"]["precision_mode"] if case.takes_mode else case.precision
    after = predict(case.after, precision=mode, shapes_only=True).document
    saved = before["step_ms"] - after["step_ms"] / case.more
    assert after["batch"] == case.more * before["batch"]
    assert saved >= given[0]["saves_ms"] / 2 > 0
    assert given[0]["operators"] or not case.marked


def _line(advice, lines):
    return lines[int(advice["source"].rsplit(":", 1)[1]) - 1] if advice["source"] else ""
