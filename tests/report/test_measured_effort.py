"""The programs that measure the report's estimates: what they count in trees of known content, and what they say is missing."""

from __future__ import annotations

from pathlib import Path

import pytest

WORK = "import tensorflow as tf\ny = tf.py_func(f, [x], tf.float32)\n"
SESSION = "import tensorflow as tf\ns = tf.Session()\n"


@pytest.fixture
def zoo(tmp_path: Path) -> Path:
    from benchmarks.decisions_per_place import SUBJECTS

    for number, folder in enumerate(folder for folders in SUBJECTS.values() for folder in folders):
        (tmp_path / "TensorFlow" / folder).mkdir(parents=True)
        for copy in range(number + 1):
            (tmp_path / "TensorFlow" / folder / f"m{copy}.py").write_text(WORK)
    return tmp_path


def test_a_decision_of_several_subjects_counts_once_in_all(zoo, capsys):
    from benchmarks.decisions_per_place import main

    assert main([str(zoo)]) == 1, "one decision for three places is above 30 for 100"
    rows = [line.split(" | ") for line in capsys.readouterr().out.splitlines()[2:]]
    assert [row[1:4] for row in rows] == [["3", "1", "3"], ["7", "1", "7"], ["11", "1", "11"], ["7", "1", "7"], ["28", "1", "28"]]
    assert rows[-1][4:] == ["3.6", "0 |"]


def test_a_checkout_without_a_folder_is_absent(zoo, capsys):
    from benchmarks.decisions_per_place import main

    (zoo / "TensorFlow/contrib/cv").rename(zoo / "elsewhere")
    assert main([str(zoo)]) == 77
    assert "TensorFlow/contrib/cv is not there" in capsys.readouterr().out


@pytest.mark.parametrize("words", [[], ["none.txt"]])
def test_without_pairs_it_is_said_what_to_bring(words, capsys):
    from benchmarks.effort_calibration import main

    assert main(words) == 77
    assert "NAME ORIGINAL MIGRATED" in capsys.readouterr().out


@pytest.mark.whole
def test_pairs_are_ranked_and_absent_ones_are_named(tmp_path, capsys):
    from benchmarks.effort_calibration import main

    for number in range(1, 5):
        for name, text in ((f"a{number}", WORK * number), (f"b{number}", WORK * number + "z = 1\n" * number)):
            (tmp_path / name).mkdir()
            (tmp_path / name / "train.py").write_text(text + SESSION)
    (tmp_path / "pairs.txt").write_text("".join(f"P{n} a{n} b{n}  # copies\n" for n in range(1, 5)))
    assert main([str(tmp_path / "pairs.txt")]) == 0
    told = capsys.readouterr().out
    assert [line.split(" | ")[4] for line in told.splitlines()[2:6]] == ["1", "2", "3", "4"]
    assert "Spearman with all lines over 4 pairs: 1.00" in told
    assert "lines about TensorFlow: all pairs have the same" in told
    (tmp_path / "pairs.txt").write_text("P1 a1 b1\nP2 a2 gone\n")
    assert main([str(tmp_path / "pairs.txt")]) == 77
    assert f"absent: P2, {tmp_path / 'gone'}" in capsys.readouterr().out
