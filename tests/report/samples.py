"""Reports to render: made by hand, and by hypothesis out of the most hostile text it finds."""

from __future__ import annotations

from hypothesis import strategies as st

from tf2npu.findings import ApiUse, Edit, FileResult, Finding, Level, Span, Status, Verdict
from tf2npu.report.model.build import build
from tf2npu.report.model.report import ApiRow, Change, Distribution, FileReport, Lines, Report

SESSION = "session_config"  # the part of NPU101 about calls
BIDI = "\u202egnp.\u202c"
HOSTILE_NAMES = (
    "<script>document.title='owned'</script>.py",
    "\"'><img src=x onerror=document.title='owned'>.py",
    "javascript:document.title='owned'",
    "a&lt;b{{ 7*7 }}{% raw %}.py",
    f"evil{BIDI}.py",
    "new\nline\x1b[31m.py",
    "undecodable\udcff.py",
    "../../escape.py",
)
NAMES_BELOW_SRC = tuple(name for name in HOSTILE_NAMES if ".." not in name)  # what a report.json may hold
SOURCE = (
    '"""Train.</script><script>document.title=\'owned\'</script>"""\n'
    "import os\n"
    "import tensorflow as tf\n"
    "\n" + "".join(f"x{n} = {n}  # an ordinary line\n" for n in range(30)) + "with tf.Session() as sess:\n"
    "    sess.run(tf.py_func(f, [], tf.float32))\n"
    f"    password = 'user{BIDI}'\n"
)


def result(path: str = "train.py", text: str = SOURCE) -> FileResult:
    """A converted file with an inserted import, an edit inside a line, and findings that need a person."""
    session = text.index("tf.Session()")
    place = text.index("import tensorflow")
    edits = [
        Edit(place, place, "from npu_bridge.npu_init import npu_config_proto\n", "NPU701"),
        Edit(session + 11, session + 11, "config=npu_config_proto()", "NPU101"),
    ]
    after = text[:place] + edits[0].new + text[place : session + 11] + edits[1].new + text[session + 11 :]
    findings = [
        _finding(text, "import tensorflow", "NPU701", Level.FIXED, "npu_bridge is imported first"),
        _finding(
            text, "tf.Session()", "NPU101", Level.FIXED, "the session gets npu_config_proto", "tensorflow.Session", part=SESSION
        ),
        _finding(text, "tf.py_func", "NPU901", Level.UNSUPPORTED, "py_func runs on the host", "tensorflow.py_func"),
        _finding(text, "password", "NPU902", Level.MANUAL, f"look at {BIDI} <b>this</b>", "tensorflow.x", "write(this)"),
        _finding(text, "import os", "NPU903", Level.INFO, "good to know"),
    ]
    apis = [
        ApiUse("tensorflow.Session", Verdict.CONVERTED, 1, 35, "NPU101"),
        ApiUse("tensorflow.float32", Verdict.RUNS, 2, 36),
        ApiUse("tensorflow.x", Verdict.UNKNOWN, 1, 37, note=f"no {BIDI} <b>such</b> name"),
    ]
    return FileResult(path, Status.CONVERTED, findings, edits, text.encode("utf-8"), after.encode("utf-8"), apis)


def sample(names: tuple[str, ...] = HOSTILE_NAMES) -> Report:
    """A report with every status and level, and a file under each hostile name."""
    failed = Finding("NPU900", Level.SKIPPED, Span(1, 7, 1, 8), "does not parse: print statement")
    results = [
        result(),
        *(result(name) for name in names),
        FileResult("broken.py", Status.FAILED, [failed], [], b"print 'x'\n", b"print 'x'\n"),
        FileResult("data.bin", Status.COPIED),
        FileResult("plain.py", Status.UNCHANGED),
        FileResult("edited.py", Status.CONFLICT, [Finding("NPU004", Level.MANUAL, Span(1, 1, 1, 1), "changed by hand")]),
    ]
    found = [Distribution("horovod", ("train.py:4", "a.py:1"))]
    return build(results, distributions=found, left_out=["venv/ (virtual environment)"])


def _finding(
    text: str, what: str, rule: str, level: Level, message: str, api: str = "", after: str = "", part: str = ""
) -> Finding:
    lines, start = Lines(text), text.index(what)
    span = Span(*lines.position(start), *lines.position(start + len(what)))
    return Finding(rule, level, span, message, api, what, after, part=part, replaces=bool(after))


# Any character at all, lone surrogates and controls included, with the ones that break renderers more often than by chance.
texts = st.text(st.one_of(st.characters(), st.sampled_from("<>&\"'`{}\\/\r\n\t\x00\x1b\u202e\u2028\ud800\ufeff")), max_size=30)
counts = st.integers(1, 60)
paths = texts.map(lambda text: text.replace("\0", "").lstrip("/") or "file").filter(lambda path: ".." not in path.split("/"))
spans = st.tuples(st.tuples(counts, counts), st.tuples(counts, counts)).map(lambda ends: Span(*min(ends), *max(ends)))
findings = st.builds(
    Finding, texts, st.sampled_from(Level), spans, texts, texts, texts, texts, texts, st.none() | st.integers(0, 5), texts
)
sources = st.text(st.sampled_from("ab #'\"\\(\n\r\x0c\t\u2028é\u202e"), max_size=80)


@st.composite
def changed_texts(draw) -> tuple[str, list[Change]]:
    """A text and changes to it that do not overlap."""
    text = draw(sources)
    borders = sorted(draw(st.lists(st.integers(0, len(text)), max_size=8)))
    lines, changes, last = Lines(text), [], -1
    for start, end in zip(borders[::2], borders[1::2], strict=False):
        if start > last:
            changes.append(Change("NPU1", Span(*lines.position(start), *lines.position(end)), draw(sources)))
            last = end
    return text, changes


@st.composite
def file_reports(draw) -> FileReport:
    text, changes = draw(changed_texts())
    source = draw(st.none() | st.just(text))
    return FileReport(
        draw(paths), draw(st.sampled_from(Status)), draw(st.lists(findings, max_size=4)),
        changes if source is not None else [], source, draw(st.lists(counts, max_size=3)),
    )  # fmt: skip


api_rows = st.builds(
    ApiRow, texts, st.sampled_from(Verdict), counts, counts, st.lists(texts, max_size=3).map(tuple), texts, texts
)
kinds = st.sampled_from(["horovod", "tf", "parameter-server"])
reports = st.builds(
    Report,
    st.lists(file_reports(), max_size=4),
    st.sampled_from(["convert", "scan"]),
    st.sampled_from(["none", "horovod", "tf"]),
    st.lists(st.builds(Distribution, kinds, st.lists(texts, max_size=3).map(tuple)), max_size=3).map(tuple),
    st.lists(texts, max_size=3).map(tuple),
    texts,
    apis=st.lists(api_rows, max_size=3).map(tuple),
)
