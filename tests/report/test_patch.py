"""The text of "Copy as patch", given to git: the original becomes the output, byte for byte."""

from __future__ import annotations

import subprocess

import pytest

from tests.report import samples
from tests.report.browser import playwright_chromium
from tf2npu.engine.convert_file import convert_source
from tf2npu.report import writer
from tf2npu.report.formats.render_context import page_name
from tf2npu.report.model.build import build

KEEP = "Object.defineProperty(navigator, 'clipboard', {value: {writeText: async (text) => { window.copied = text; }}});"
WORK = "with tf.Session() as s:\n    s.run(tf.nn.dropout(x, 0.5))\n"
FAR = "import tensorflow as tf\n" + "x = 1\n" * 40 + WORK + "y = 2\n" * 40
NEAR = "s = tf.Session()\n" * 3
CODES = {
    "one session": "import tensorflow as tf\nwith tf.Session() as s:\n    s.run(x)\n",
    "changes far from each other": FAR,
    "changes at both ends": f"import tensorflow as tf\n{NEAR}" + "z = 3\n" * 30 + NEAR,
    "CRLF": FAR.replace("\n", "\r\n"),
    "characters that are shown as code points": FAR.replace("x = 1\n" * 2, f"x = '{samples.BIDI}\u200b'\n", 1),
    "quotes and tags": FAR.replace("x = 1\n", "x = '<b>&amp;</b>' + \"`\"\n", 8),
}


@pytest.mark.whole(but=("one session", "quotes and tags"))
@pytest.mark.parametrize("name", CODES)
def test_git_makes_the_output_of_the_original(tmp_path, name):
    result = convert_source(CODES[name], "train.py")
    assert result.before != result.after
    writer.write(build([result]), tmp_path / "report", ["html"])
    with playwright_chromium() as browser:
        page = browser.new_page()
        page.add_init_script(KEEP)
        page.goto((tmp_path / "report" / page_name("train.py")).as_uri())
        page.click("[data-patch]")
        patch = page.evaluate("window.copied")
    (tmp_path / "train.py").write_bytes(result.before)
    done = subprocess.run(["git", "apply", "-"], cwd=tmp_path, input=patch.encode(), capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode() + patch
    assert (tmp_path / "train.py").read_bytes() == result.after
