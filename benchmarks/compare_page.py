"""The page of a comparison of 100,000 rows in Chromium: how long it takes to open and to filter.

    python -m benchmarks.compare_page [--rows 100000]

Asked for: it opens in two seconds, and a filter takes 200 ms.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from tests.comparison.hand_made import whole
from tests.report.browser import Browser
from tf2npu.comparison import comparison, page
from tf2npu.comparison.texts import texts
from tf2npu.comparison.verdicts import Thresholds

_TIMED = "(() => {{ const start = performance.now(); {}; document.body.offsetHeight; return performance.now() - start; }})()"
ACTIONS = {
    "search": "const e = document.getElementById('search'); e.value = 'layer9 matmul'; e.dispatchEvent(new Event('input'))",
    "search of all": "const f = document.getElementById('search'); f.value = ''; f.dispatchEvent(new Event('input'))",
    "invalid data": "document.getElementById('invalid').click()",
    "slider": "const s = document.getElementById('slider-2'); s.value = 500; s.dispatchEvent(new Event('input'))",
    "only what differs": "document.getElementById('only').click()",
    "sort by a figure": "document.querySelectorAll('#rows thead button')[6].click()",
    "sort by a name": "document.querySelectorAll('#rows thead button')[1].click()",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        made = whole(Path(name) / "sample")
        found = comparison.compare(made.step, made.reference, graph=made.graph, step=None, thresholds=Thresholds())
        rows = [replace(found.rows[n % len(found.rows)], index=n) for n in range(given.rows)]
        rows = [replace(row, device=f"scope{row.index % 97}/layer{row.index}/{row.device}") for row in rows]
        path = Path(name) / "compare.html"
        path.write_text(page.page(replace(found, rows=rows), texts("en")), encoding="utf-8")
        browser = Browser(Path(name) / "profile")
        start = time.perf_counter()
        browser.open(path.as_uri())
        shown = browser.ask("document.getElementById('said').textContent")
        print(f"{given.rows} rows, {path.stat().st_size >> 20} MB: open in {time.perf_counter() - start:.2f} s ({shown})")
        for action, script in ACTIONS.items():
            print(f"    {action}: {browser.ask(_TIMED.format(script)):.0f} ms")
        browser.close()


if __name__ == "__main__":
    main()
