"""`--python2`: what the result prints is what Python 2 printed (recorded by hand); what is not safe is refused and said."""

import importlib
import importlib.util
import subprocess
import sys
import warnings

import pytest

from tests.cli.test_convert import file_in, report_of
from tf2npu.python2 import conversion, fixers

pytestmark = pytest.mark.each_python

# Source for Python 2, and what Python 2.7 prints for it.
PROGRAMS = {
    "print": ("print 'a', 1,\nprint 'b'\nprint\nprint('c')\nprint 'x%d' % 3", "a 1 b\n\nc\nx3\n"),
    "print to a file": ("import sys\nprint >>sys.stdout, 'out'", "out\n"),
    "except and raise": ("try:\n    raise ValueError, 'no'\nexcept ValueError, e:\n    print e", "no\n"),
    "numbers": ("print 0777, 10L, 1 <> 2", "511 10 True\n"),
    "backquotes": ("print `'x'`, `1`", "'x' 1\n"),
    "dictionaries": (
        "d = {'k': 1}\nif d.has_key('k'):\n    for k, v in d.iteritems(): print k, v\nks = d.keys()\nks.sort()\nprint ks",
        "k 1\n['k']\n",
    ),
    "lists from functions": ("print map(str, range(3)) + filter(None, [0, 1]), len(zip('ab', 'cd'))", "['0', '1', '2', 1] 2\n"),
    "names alone": ("print(sum(xrange(3)))\nprint(reduce(max, {1: 2}.keys()), isinstance('', basestring))", "3\n(1, True)\n"),
    "xrange and reduce": ("print reduce(lambda a, b: a + b, xrange(4))", "6\n"),
    "tuple parameters": ("def f(a, (b, c)):\n    return a + b + c\nprint f(1, (2, 3)), (lambda (x, y): x * y)((3, 4))", "6 12\n"),
    "text types": ("print isinstance(u'a', basestring), unicode('b'), ur'\\d'", "True b \\d\n"),
    "moved modules": ("import cPickle, StringIO, urllib2\nprint cPickle.loads(cPickle.dumps([1]))", "[1]\n"),
    "iterators": (
        "class C:\n    def __iter__(self): return self\n    def next(self): return 7\n"
        "print iter(C()).next()\nprint sorted({2: 1}.keys())",
        "7\n[2]\n",
    ),
    "metaclass and truth": (
        "class M(type):\n    x = 5\n"
        "class C(object):\n    __metaclass__ = M\n    def __nonzero__(self): return False\nprint C.x, bool(C())",
        "5 False\n",
    ),
    "tabs and form feed": ("if 1:\n\tprint 'tab'\n\x0c\nprint 'after'", "tab\nafter\n"),
}  # fmt: skip


# Blocks that are told by both tabs and blanks, of which Python 2 counts a tab to the next multiple of eight columns.
TABBED = {
    "tabs among blanks": (
        "if 1:\n    if 1:\n\tprint 'x'\n\tif 0:\n\t    pass\n\telse:\n            print 'y'\n"
        "    s = 'a' + '\t' + (\n\t'b')\n    print s",
        "x\ny\na\tb\n",
    ),
    "a tab and eight blanks": ("if 1:\n\tprint 'x'\n        print 'y'", "x\ny\n"),
    "tabs behind a print statement": ("print 'x'\nif 1:\n    if 1:\n\tprint 'y'\n    print 'z'", "x\ny\nz\n"),
    "tabs in what Python 3 reads otherwise": ('if 1:\n    if 1:\n\tprint("""a\n\tb""")\n    print(\'c\')', "a\n\tb\nc\n"),
}


@pytest.mark.parametrize("ends", ["\n", "\r\n"], ids=["lf", "crlf"])
@pytest.mark.parametrize("name", [*PROGRAMS, *TABBED])
def test_programs_print_what_they_did(name, ends):
    source, printed = {**PROGRAMS, **TABBED}[name]
    data = source.replace("\n", ends).encode()
    result = conversion.modernize("m.py", data)
    assert result.refusal == ""
    assert not result.data.endswith(b"\n")
    if ends.encode() in data:
        assert set(result.data.replace(ends.encode(), b"")) & {10, 13} == set()
    done = subprocess.run([sys.executable, "-c", result.data.decode()], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == (printed, "")


@pytest.mark.parametrize(
    "source, why",
    [
        ("print 'x'\nexec 'y = 1'\n", "exec"),
        ("\x00", "not read as Python 2 either"),
        ("print 'x'\ndef f(:\n", "not read as Python 2 either"),
        ("print 'x'\nasync = 2\n", "Python 3 still says"),
        ("print 'x'\r\nprint 'y'\n", "different ways"),
        ("print 'x'\rprint 'y'\n", "different ways"),
    ],
)
def test_what_is_not_safe_is_refused(source, why):
    result = conversion.modernize("m.py", source.encode())
    assert why in result.refusal
    assert result.data == source.encode()


TWO_WAYS = [
    "try:\n    xrange\nexcept NameError:\n    xrange = range\nprint(xrange(3))\n",
    "from six.moves import xrange\nprint(xrange(3))\n",
    "from compat import *\nprint(unicode('a'))\n",
    "import sys\nif sys.version_info[0] < 3:\n    text = unicode\nelse:\n    text = str\n",
    "text = unicode if six.PY2 else str\n",
    "def f(long, reduce=1):\n    return long + reduce\n",
    "x.xrange(3)\nf(unicode=True)\n",
]


@pytest.mark.parametrize("source", ["print('x')\n", "x = print >> 1\n", "", "# -*- coding: nonsense -*-\nprint 1\n", *TWO_WAYS])
def test_what_python_3_reads_or_nobody_is_left_alone(source):
    assert conversion.modernize("m.py", source.encode()) is None


def test_the_same_fixers_of_lib2to3_give_the_same():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if importlib.util.find_spec("lib2to3") is None:
            return  # Python 3.13 has it no more; the other interpreters show it
        refactor = importlib.import_module("lib2to3.refactor")
    tool = refactor.RefactoringTool([f"lib2to3.fixes.fix_{name}" for name in fixers.FIXERS])
    for source, _ in PROGRAMS.values():
        assert conversion.modernize("m.py", source.encode()).after + "\n" == str(tool.refactor_string(source + "\n", "m"))


SCRIPT = (
    "# -*- coding: latin-1 -*-\n"
    "import tensorflow as tf  # \xe9\n"
    "n = rows() / 2; w = 7 / 2\n"
    "m = n / 2.0\n"
    "with tf.Session() as sess:\n"
    "    print sess.run(tf.constant(n))\n"
)


@pytest.fixture
def project(tmp_path):
    root = tmp_path / "src"
    root.mkdir()
    (root / "train.py").write_bytes(SCRIPT.encode("latin-1"))
    (root / "plain.py").write_text("print 'no TensorFlow here'\n")
    (root / "broken.py").write_text("import tensorflow\nexec 'x'\n")
    (root / "modern.py").write_text("print('as it is')\n")
    return root


def test_convert(tool, project, tmp_path):
    done = tool("convert", project, tmp_path / "out", "--python2")
    assert done.code == 3
    converted = (tmp_path / "out" / "train.py").read_bytes().decode("latin-1")
    assert "print(sess.run(" in converted
    assert "config=npu_config_proto()" in converted
    assert "n = rows() / 2; w = 7 // 2\n" in converted
    assert "\xe9" in converted
    compile(converted, "train.py", "exec")
    assert (tmp_path / "out" / "plain.py").read_text() == "print('no TensorFlow here')\n"
    assert (tmp_path / "out" / "modern.py").read_bytes() == (project / "modern.py").read_bytes()
    assert (tmp_path / "out" / "broken.py").read_bytes() == (project / "broken.py").read_bytes()
    document = report_of(tmp_path / "out" / "tf2npu-report")
    found = {(f["rule"], f["level"], f["line"]) for f in file_in(document, "train.py")["findings"]}
    assert {("NPU010", "fixed", 6), ("NPU010", "manual", 3), ("NPU101", "fixed", 5)} <= found
    assert "(lines: 3)" in done.out
    said = [f for f in file_in(document, "broken.py")["findings"] if f["rule"] == "NPU010"]
    assert "--python2 cannot do this file" in said[0]["message"]


@pytest.mark.parametrize(
    ("importer", "text", "level"),
    [
        ("", 'x = {"a": 1\n     "b": 2}\n', "info"),
        ("import other\n", 'x = {"a": 1\n     "b": 2}\n', "manual"),
        ("", 'print "x"\nx = {"a": 1\n     "b": 2}\n', "manual"),
        ("", "exec 'x'\n", "manual"),
    ],
)
def test_a_file_that_no_python_reads_is_work_only_where_something_imports_it(tool, tmp_path, importer, text, level):
    root = tmp_path / "src"
    root.mkdir()
    (root / "train.py").write_text(f"import tensorflow as tf\n{importer}")
    (root / "other.py").write_text(text)
    done = tool("convert", root, tmp_path / "out", "--python2")
    (said,) = file_in(report_of(tmp_path / "out" / "tf2npu-report"), "other.py")["findings"]
    assert (said["rule"], said["level"]) == ("NPU010", level)
    assert done.code == (0 if level == "info" else 1)
    assert ("Neither Python 2 nor Python 3 reads this file" in said["message"]) == (level == "info")


def test_a_second_run_changes_nothing(tool, project, tmp_path):
    (project / "broken.py").unlink()
    tool("convert", project, tmp_path / "out", "--python2")
    tool("convert", tmp_path / "out", tmp_path / "again", "--python2")
    for name in ("train.py", "plain.py", "modern.py"):
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "again" / name).read_bytes()


def test_without_the_option_it_is_reported_only(tool, project, tmp_path):
    tool("convert", project, tmp_path / "out", "--python2")
    done = tool("convert", project, tmp_path / "two")
    assert "train.py:6:" in done.out
    assert "print statement" in done.out
    assert (tmp_path / "two" / "train.py").read_bytes() == (project / "train.py").read_bytes()


def test_stdin(tool):
    done = tool("convert", "-", "--python2", stdin=b"print 1\n")
    assert (done.code, done.out) == (0, "print(1)\n")


def test_the_way_out_is_named_where_there_is_one(tool, tmp_path):
    root = tmp_path / "src"
    root.mkdir()
    (root / "m.py").write_text("import tensorflow\npairs.sort(key=lambda (k, v): v)\n")
    done = tool("convert", root, tmp_path / "out")
    assert "Python 3 cannot read the code (tuple parameter). Rewrite the code for Python 3, or convert with --python2" in done.out
    (root / "m.py").write_text("import tensorflow\nexec 'x'\n")
    done = tool("convert", root, tmp_path / "again", "--python2")
    assert "Rewrite the code for Python 3" in done.out and "or convert with" not in done.out
