"""Requirements of the target: settings, newer syntax, newer names, and old libraries in the files that take part."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from tf2npu.config import Config, ConfigError, Target, load_config
from tf2npu.engine.convert_file import ProjectFacts, convert_file, convert_source, gather_facts
from tf2npu.findings import Finding, Level, Status

TF = "import tensorflow as tf\n"


def load(folder: Path, text: str) -> Config:
    (folder / "pyproject.toml").write_text(f"[tool.tf2npu]\n{text}\n", encoding="utf-8")
    return load_config(folder)


def findings_of(code: str, rule: str, python: str = "3.7") -> list[Finding]:
    found = convert_source(TF + code, "m.py", Config(target=Target(python))).findings
    return [f for f in found if f.rule == rule]


def convert_project(files: dict[str, str]) -> dict[str, list[Finding]]:
    data = {path: text.encode() for path, text in files.items()}
    project = ProjectFacts.merge(gather_facts(path, text) for path, text in data.items())
    return {path: convert_file(path, text, Config(), project).findings for path, text in data.items()}


def test_every_setting_is_read(tmp_path: Path) -> None:
    text = (
        'exclude = ["third_party", "*_pb2.py"]\nrespect-gitignore = false\nentry-points = ["eval.py", "acme.cli:main"]\n'
        'severity = {NPU912 = "info", NPU9 = "unsupported"}\ntarget = {python = "3.6", adapter = "2021"}'
    )
    config = load(tmp_path, text)
    assert config.exclude == ("third_party", "*_pb2.py") and not config.respect_gitignore
    assert config.target == Target("3.6", "1.15", "2021") and config.target.python_version == (3, 6)
    assert config.severity == (("NPU9", "unsupported"), ("NPU912", "info"))
    assert pickle.loads(pickle.dumps(config)) == config and hash(config) == hash(pickle.loads(pickle.dumps(config)))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('target = "2021"', "target must be a table with python, tensorflow, adapter"),
        ('target = {adapter = "2019"}', "target.adapter must be one of current, 2021"),
        ('target = {tensorflow = "2.6"}', "target.tensorflow must be one of 1.15"),
        ('target = {python = "2.7"}', 'target.python must be a string such as "3.7"'),
        ("target = {python = 3.7}", 'target.python must be a string such as "3.7"'),
        ('target = {chip = "910"}', "unknown key 'chip' in target; known are python, tensorflow, adapter"),
        ('severity = "info"', "severity must be a table"),
        ('severity = {NPU912 = "off"}', "severity.NPU912 must be one of unsupported, manual, info"),
        ('severity = {X = "info"}', "'X' is neither a rule id"),
        ('severity = {NPU912 = ["info"]}', "severity.NPU912 must be one of"),
        ("exclude = [1]", "exclude must be a list of glob patterns"),
        ('exclude = [""]', "exclude holds an empty pattern"),
        ("respect-gitignore = 1", "respect-gitignore must be a boolean"),
        ('entry-points = ["a b"]', "'a b' is neither a file (train.py) nor a console entry"),
        ("entry-points = {a = 1}", "entry-points must be a list"),
    ],
)
def test_a_wrong_value_names_file_key_and_what_is_allowed(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, text)
    assert words in str(caught.value) and str(tmp_path / "pyproject.toml") in str(caught.value)


@pytest.mark.parametrize(
    ("entry", "path", "expected"),
    [
        ("train.py", "train.py", True),
        ("./sub/train.py", "sub/train.py", True),
        ("sub\\train.py", "sub/train.py", True),
        ("train.py", "sub/train.py", False),
        ("acme.cli:main", "src/acme/cli.py", True),
        ("acme.cli", "acme/cli.py", True),
        ("acme", "acme/__main__.py", True),
        ("acme.cli:main", "acme/other.py", False),
    ],
)
def test_an_entry_is_a_file_or_a_console_entry(entry: str, path: str, expected: bool) -> None:
    config = Config(entry_points=(entry,))
    assert config.is_named_entry(path) is expected and config.names_entries


def test_the_longest_prefix_decides_the_level() -> None:
    config = Config(severity=(("NPU9", "unsupported"), ("NPU912", "info")))
    assert config.level_of("NPU912", "manual") == "info"
    assert config.level_of("NPU911", "manual") == "unsupported"
    assert config.level_of("NPU101", "manual") == "manual"
    assert config.level_of("NPU912", "fixed") == "fixed"


def test_severity_reaches_the_findings() -> None:
    result = convert_source(TF + "y = tf.py_func(f, [x], tf.float32)\n", "m.py", Config(severity=(("NPU912", "info"),)))
    assert [f.level for f in result.findings if f.rule == "NPU912"] == [Level.INFO]


@pytest.mark.parametrize(
    ("code", "since"),
    [
        ("if (n := f()):\n    pass", "3.8"),
        ("def f(a, /, b):\n    pass", "3.8"),
        ("f = lambda a, /: a", "3.8"),
        ("print(f'{x=}')", "3.8"),
        ("print(f'{x = !r}')", "3.8"),
        ("with (open(a) as f, open(b) as g):\n    pass", "3.9"),
        ("def f(x: list[int]):\n    pass", "3.9"),
        ("x: dict[str, int] = {}", "3.9"),
        ("def f(x: int | None) -> str | None:\n    pass", "3.10"),
        ("match x:\n    case 1:\n        pass", "3.10"),
        ("try:\n    pass\nexcept* ValueError:\n    pass", "3.11"),
        ("def f[T](x: T):\n    pass", "3.12"),
        ("class C[T]:\n    pass", "3.12"),
        ("type X = int", "3.12"),
    ],
)
def test_newer_syntax_is_reported_for_older_targets_only(code: str, since: str) -> None:
    major, minor = since.split(".")
    before = f"{major}.{int(minor) - 1}"
    assert {f"came with Python {since}," in f.message for f in findings_of(code, "NPU950", before)} == {True}
    assert findings_of(code, "NPU950", since) == []


@pytest.mark.parametrize(
    "code",
    [
        "with (open(a)):\n    pass",
        "with (a if b else c):\n    pass",
        "def f(a, *, b):\n    pass",
        "print(f'{x}', '{x=}', 'a / b')",
        "x = a | b",
        "match = re.match(p, s)",
        "type = 3",
        "def f(x: 'int | None'):\n    pass",
        "y = x[T]",
    ],
)
def test_old_syntax_is_not_taken_for_newer(code: str) -> None:
    assert findings_of(code, "NPU950") == []


def test_old_libraries_are_found_in_files_that_take_part_only() -> None:
    old = "import numpy as np\nx = np.zeros(3, dtype=np.int)\n"
    found = convert_project(
        {
            "train.py": "import tensorflow as tf\nfrom lib import data\n",
            "lib/__init__.py": "",
            "lib/data.py": f"from lib import deeper\n{old}",
            "lib/deeper.py": old,
            "tools/plot.py": old,
        }
    )
    assert [f.rule for f in found["lib/data.py"]] == ["NPU960"]
    assert [f.rule for f in found["lib/deeper.py"]] == ["NPU960"]
    assert found["tools/plot.py"] == []


def test_a_file_with_old_names_only_stays_as_it_is() -> None:
    source = b"import numpy as np\r\nx = np.int\r\n"
    project = ProjectFacts.merge([gather_facts("t.py", b"import tensorflow\nimport d\n"), gather_facts("d.py", source)])
    result = convert_file("d.py", source, Config(), project)
    assert result.status is Status.UNCHANGED and result.after == source and len(result.findings) == 1


@pytest.mark.parametrize(
    "code",
    [
        "import numpy as np\nx = np.int32(3)",
        "from my import numpy as np\nx = np.int(3)",
        "import collections\nx = collections.OrderedDict()",
        "import sys\nimport numpy as np\nif sys.version_info[0] < 3:\n    t = np.unicode",
        "class time(object):\n    clock = 3\nt = time.clock",
        "from scipy import ndimage\nx = ndimage.zoom(a, 2)",
        "import yaml\nc = yaml.load(f, yaml.SafeLoader)",
        "from six.moves import zip_longest\n",
    ],
)
def test_what_is_still_there_is_not_reported(code: str) -> None:
    assert [f for f in convert_source(TF + code + "\n", "m.py").findings if f.rule.startswith("NPU96")] == []
