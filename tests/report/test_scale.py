"""A report of 3,000 files keeps the bounds of one of 19,000 in memory, size and elements.

Times depend on the machine: `make report-scale`, which acceptance runs, holds those of 19,000 files.
"""

import pytest

from benchmarks import report_scale


@pytest.mark.whole
def test_pages_stay_small():
    found = report_scale.figures(3_000, 6_600, repeats=1)
    assert len(found) >= 15
    missed = [str(figure) for figure in found if figure.unit not in ("s", "ms") and not figure.is_met]
    assert not missed, "\n".join(missed)
