"""A script whose session the converter closes prints what it printed, and leaves no session open, also after an exception."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tf2npu.engine.convert_file import convert_source

LOOP = """
    x = tf.placeholder(tf.float32, [2])
    w = tf.get_variable('w', [2], initializer=tf.ones_initializer())
    loss = tf.reduce_sum(x * w)
    train = tf.train.GradientDescentOptimizer(0.5).minimize(loss)
    sess = tf.Session()
    sess.run(tf.global_variables_initializer())
    for step in range(2):
        print(step, sess.run([train, loss], {x: [1.0, 2.0]})[1])
    %s
"""
MAIN = "import tensorflow as tf\ndef main():" + LOOP + "if __name__ == '__main__':\n    main()\n"
MODULE = "import tensorflow as tf\nif True:" + LOOP


@pytest.mark.whole(but=("print*text0",))
@pytest.mark.parametrize("text", [MAIN, MODULE])
@pytest.mark.parametrize("end", ["print('done')", "raise ValueError('the end')", "import sys; sys.exit(3)"])
def test_it_prints_the_same_and_its_session_is_closed(tmp_path, text: str, end: str) -> None:
    after = convert_source(text % end, "train.py").after.decode()
    assert "atexit.register(sess.close)" in after
    line = next(line for line in after.splitlines() if "atexit.register" in line)
    without = after.replace(f"{line}\n", "")
    done = {}
    for name, script in (("with", after), ("without", without)):
        path = tmp_path / "train.py"
        path.write_text(script)
        done[name] = subprocess.run([sys.executable, path], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done["with"].stdout == done["without"].stdout and done["with"].stdout.startswith("0 3.0\n1 0.5\n")
    assert done["with"].returncode == done["without"].returncode
    assert text is MAIN or "still open at the end" in done["without"].stderr  # main lets go of its session itself
    assert "still open at the end" not in done["with"].stderr
    assert ("ValueError: the end" in done["with"].stderr) is ("raise" in end)
