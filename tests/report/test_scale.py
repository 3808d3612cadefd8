"""A report of 3,000 files keeps the bounds of one of 19,000 at half the speed (`python -m benchmarks.report_scale` has those)."""

import pytest

from benchmarks import report_scale

pytestmark = pytest.mark.one_python


def test_pages_stay_small_and_open_and_filter_at_once():
    found = report_scale.figures(3_000, 6_600, repeats=3, share=0.5)
    assert len(found) >= 15
    missed = [str(figure) for figure in found if not figure.is_met]
    assert not missed, "\n".join(missed)
