"""`--decisions FILE`: what was decided is carried out, work falls by exactly those places, and what fits no more is told."""

import json

import pytest

from tests.cli.test_convert import report_of, tree
from tests.decisions.made import decided_of

SOURCE = (
    "import tensorflow as tf\n"
    "e = tf.estimator.Estimator(**a)\n"
    "y = tf.math.accumulate_n([a, b])\n"
    "z = tf.py_func(f,\n"
    "    [y],  # the input\n"
    "    tf.float32)\n"
    "run(z)\n"
)
FILES = ("train.py", "sub/eval.py", "sub/deep/eval.py")


@pytest.fixture
def source(tmp_path):
    for name in FILES:
        (tmp_path / "s" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "s" / name).write_text(SOURCE)
    return tmp_path / "s"


@pytest.fixture
def decide(tool, source, tmp_path):
    """Convert once, decide on rules, and convert again with the file."""

    def run(choices, *words, **told):
        tool("convert", source, tmp_path / "o")
        (tmp_path / "d.toml").write_text(decided_of(tmp_path / "o" / "tf2npu-report", choices, **told))
        return tool("convert", source, tmp_path / "o", "--decisions", tmp_path / "d.toml", *words)

    return run


def work(folder):
    return sorted(
        (file["path"], f["rule"])
        for file in report_of(folder / "tf2npu-report")["files"]
        for f in file["findings"]
        if f["level"] in ("manual", "unsupported")
    )


@pytest.mark.parametrize("choice", ["accept", "suppress"])
def test_work_falls_by_exactly_the_places_of_a_decision(decide, tool, source, tmp_path, choice):
    tool("convert", source, tmp_path / "before")
    assert decide({"NPU912": choice}).code == 1
    left = [one for one in work(tmp_path / "before") if one[1] != "NPU912"]
    assert len(work(tmp_path / "before")) == len(left) + len(FILES)
    assert work(tmp_path / "o") == left


def test_with_everything_decided_nothing_is_left(decide, tmp_path):
    done = decide({"NPU201": "suppress", "NPU970": "suppress", "NPU912": "accept"})
    assert done.code == 0
    assert "9 places decided: 9 by Ann" in done.out
    text = (tmp_path / "o" / "train.py").read_text()
    assert "Estimator(**a)  # tf2npu: ignore[NPU201] Ann: measured\n" in text
    assert "    [y],  # the input\n" in text
    found = [f for file in report_of(tmp_path / "o" / "tf2npu-report")["files"] for f in file["findings"]]
    answers = [f["answer"] for f in found if "answer" in f]
    assert {(a["who"], a["note"], a["level"]) for a in answers} == {("Ann", "measured", "manual")}
    assert len(answers) == 9


def test_what_a_comment_switched_off_stays_so_without_the_file(decide, tool, tmp_path):
    decide({"NPU201": "suppress", "NPU970": "suppress", "NPU912": "suppress"})
    assert tool("convert", tmp_path / "o", tmp_path / "o2").code == 0
    for name in FILES:
        assert (tmp_path / "o2" / name).read_bytes() == (tmp_path / "o" / name).read_bytes()


def test_a_second_conversion_gives_the_same_bytes(decide, tool, source, tmp_path):
    choices = {"NPU201": "suppress", "NPU970": "accept", "NPU912": "accept"}
    decide(choices)
    first, report = tree(tmp_path / "o"), (tmp_path / "o" / "tf2npu-report" / "report.json").read_bytes()
    for words in ((), ("--no-cache", "--jobs", "2")):
        tool("convert", source, tmp_path / "o", "--decisions", tmp_path / "d.toml", *words)
        assert tree(tmp_path / "o") == first
        assert (tmp_path / "o" / "tf2npu-report" / "report.json").read_bytes() == report


def test_the_code_that_a_rule_shows_is_written(tool, tmp_path):
    (tmp_path / "s").mkdir()
    text = "import tensorflow as tf\n\ntf.app.flags.DEFINE_float('batch_size', 20, 'rows')  # of a step\n"
    for name in ("a.py", "b.py"):
        (tmp_path / "s" / name).write_text(text)
    assert tool("convert", tmp_path / "s", tmp_path / "o").code == 1
    before = (tmp_path / "o" / "a.py").read_text()
    (tmp_path / "d.toml").write_text(decided_of(tmp_path / "o" / "tf2npu-report", {"NPU969": "edit"}))
    assert tool("convert", tmp_path / "s", tmp_path / "o", "--decisions", tmp_path / "d.toml").code == 0
    for name in ("a.py", "b.py"):
        assert (tmp_path / "o" / name).read_text() == before.replace("DEFINE_float", "DEFINE_integer")
    assert tool("convert", tmp_path / "o", tmp_path / "o2").code == 0


def test_a_scan_and_a_diff_know_of_it(decide, tool, source, tmp_path):
    decide({"NPU201": "suppress", "NPU970": "accept", "NPU912": "accept"})
    words = ("--decisions", tmp_path / "d.toml")
    assert tool("scan", source, "--report", tmp_path / "rep", *words).code == 0
    assert (
        "+e = tf.estimator.Estimator(**a)  # tf2npu: ignore[NPU201] Ann: measured"
        in tool("convert", source, "--diff", *words).out
    )


def test_stdin_knows_of_it(tool, tmp_path, source):
    tool("convert", "-", "--report", tmp_path / "rep", stdin=SOURCE.encode())
    (tmp_path / "d.toml").write_text(decided_of(tmp_path / "rep", {"NPU912": "suppress"}))
    done = tool("convert", "-", "--decisions", tmp_path / "d.toml", stdin=SOURCE.encode())
    assert "# tf2npu: ignore[NPU912] Ann: measured" in done.out


def test_in_place_what_is_done_is_told_as_gone(tool, source, tmp_path):
    tool("scan", source, "--report", tmp_path / "rep")
    (tmp_path / "d.toml").write_text(
        decided_of(tmp_path / "rep", {"NPU912": "suppress", "NPU201": "suppress", "NPU970": "accept"})
    )
    words = ("convert", source, "--in-place", "--decisions", tmp_path / "d.toml", "--report", tmp_path / "rep2")
    assert tool(*words).code == 0
    first = tree(source)
    assert tool(*words).code == 0
    assert tree(source) == first


def stale(folder):
    return [
        (file["path"], f["level"], f["message"])
        for file in report_of(folder)["files"]
        for f in file["findings"]
        if f["rule"] == "NPU011"
    ]


def test_what_was_decided_of_other_code_is_told_and_not_guessed(decide, tool, source, tmp_path):
    decide({"NPU912": "suppress"})
    (source / "train.py").write_text(SOURCE.replace("tf.py_func(f", "tf.py_func(g"))
    (source / "sub" / "eval.py").unlink()
    done = tool("convert", source, tmp_path / "o", "--decisions", tmp_path / "d.toml")
    assert done.code == 1
    assert ("train.py", "NPU912") in work(tmp_path / "o")
    assert "# tf2npu: ignore" not in (tmp_path / "o" / "train.py").read_text()
    told = stale(tmp_path / "o" / "tf2npu-report")
    assert [(path, level) for path, level, _ in told] == [("d.toml", "info"), ("train.py", "info")]
    assert "sub/eval.py is gone" in told[0][2]
    assert "fits 1 finding no more: the code has changed" in told[1][2]
    assert "(suppress, Ann)" in told[1][2]


def test_a_place_that_is_new_is_not_decided(decide, tool, source, tmp_path):
    decide({"NPU912": "accept"})
    (source / "new.py").write_text(SOURCE)
    tool("convert", source, tmp_path / "o", "--decisions", tmp_path / "d.toml")
    assert [one for one in work(tmp_path / "o") if one[1] == "NPU912"] == [("new.py", "NPU912")]


def test_a_file_that_failed_can_be_accepted(tool, tmp_path):
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "old.py").write_text("import tensorflow\nprint 'x'\n")
    assert tool("convert", tmp_path / "s", tmp_path / "o").code == 3
    (tmp_path / "d.toml").write_text(decided_of(tmp_path / "o" / "tf2npu-report", {"NPU900": "accept"}))
    assert tool("convert", tmp_path / "s", tmp_path / "o", "--decisions", tmp_path / "d.toml").code == 0


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "no decisions of tf2npu"),
        ('tool = "tf2npu', "no TOML"),
        ('tool = "tf2npu"\nschema_version = "9.0"\ndecisions = []\n', "schema version 9.0"),
    ],
)
def test_a_file_that_is_none_is_refused_and_nothing_is_written(tool, source, tmp_path, text, told):
    (tmp_path / "d.toml").write_text(text)
    done = tool("convert", source, tmp_path / "o", "--decisions", tmp_path / "d.toml")
    assert done.code == 2
    assert told in done.err
    assert done.err.count("\n") == 1
    assert not (tmp_path / "o").exists()


def test_a_file_that_is_missing_or_no_file_is_refused(tool, source, tmp_path):
    for place in (tmp_path / "none.toml", tmp_path):
        done = tool("convert", source, tmp_path / "o", "--decisions", place)
        assert done.code == 2
        assert done.err.count("\n") == 1
    assert not (tmp_path / "o").exists()


def test_names_of_files_that_toml_cannot_hold_are_found_again(tool, tmp_path):
    (tmp_path / "s").mkdir()
    names = ["new\nline.py", 'quote".py', "bidi\u202e.py", "undecodable\udcff.py"]
    for name in names:
        (tmp_path / "s" / name).write_text(SOURCE)
    tool("convert", tmp_path / "s", tmp_path / "o")
    choices = {"NPU201": "suppress", "NPU970": "suppress", "NPU912": "suppress"}
    (tmp_path / "d.toml").write_text(decided_of(tmp_path / "o" / "tf2npu-report", choices))
    assert tool("convert", tmp_path / "s", tmp_path / "o", "--decisions", tmp_path / "d.toml").code == 0


def test_the_report_that_is_rendered_again_says_who_decided(decide, tool, tmp_path):
    decide({"NPU912": "accept"}, who="<b>Ann</b>", note="</script>")
    folder = tmp_path / "o" / "tf2npu-report"
    page = (folder / "decisions.html").read_text()
    assert "&lt;b&gt;Ann&lt;/b&gt;" in page and "<b>Ann" not in page
    tool("report", folder / "report.json", "--format", "html,json", "--report", tmp_path / "again")
    for name in ("decisions.html", "report.json"):
        assert (tmp_path / "again" / name).read_bytes() == (folder / name).read_bytes()
    assert json.loads((folder / "report.json").read_text())["summary"]["findings"]["manual"] == 6
