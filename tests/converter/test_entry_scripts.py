"""Entry scripts of a project, as the report has them, and the files that each needs."""

import json
from pathlib import Path

from tf2npu.config import Config
from tf2npu.engine.convert_file import ProjectFacts, gather_facts
from tf2npu.project.conversion import convert_project
from tf2npu.project.request import Request
from tf2npu.scanner.entry_scripts import as_named, entry_scripts, imports_among_reaching

FILES = {
    "train.py": "import net\nif __name__ == '__main__':\n    net.train()\n",
    "net.py": "import tensorflow as tf\nimport plain\ndef train():\n    tf.train.AdamOptimizer().minimize(1)\n",
    "plain.py": "x = 1\n",
    "loose.py": "import tensorflow as tf\nwith tf.Session() as s:\n    s.run(1)\n",
    "other.py": "if __name__ == '__main__':\n    print(1)\n",
    "test_net.py": "import net\nif __name__ == '__main__':\n    net.train()\n",
    "pack/__main__.py": "import tensorflow as tf\ntf.constant(1)\n",
    "pack/cli.py": "import tensorflow as tf\ndef main():\n    tf.constant(1)\n",
    "setup.py": "from setuptools import setup\nsetup(entry_points={'console_scripts': ['go = pack.cli:main']})\n",
}


def project() -> ProjectFacts:
    return ProjectFacts.merge([gather_facts(path, text.encode()) for path, text in FILES.items()])


def test_what_says_that_a_script_is_run():
    found = {entry.path: (entry.starts, entry.trains) for entry in entry_scripts(project())}
    assert found == {
        "loose.py": ("loading", False), "pack/__main__.py": ("package", False), "pack/cli.py": ("command", False),
        "test_net.py": ("test", True), "train.py": ("guard", True),
    }  # fmt: skip


def test_where_the_settings_name_what_is_run_nothing_else_is():
    named = as_named(Config(main="loose.py"), entry_scripts(project()))
    assert [(entry.path, entry.starts) for entry in named] == [("loose.py", "named")]


def test_imports_lead_only_to_files_that_reach_tensorflow():
    assert imports_among_reaching(project()) == {"train.py": ("net.py",), "test_net.py": ("net.py",)}


def test_a_conversion_tells_them_also_when_all_comes_from_the_cache(tmp_path: Path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    source = tmp_path / "src"
    for name, text in {**FILES, "n.ipynb": _notebook()}.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(text)
    first, second = (convert_project(Request(source, Config(), None, 1, "link", False)) for _ in range(2))
    assert (first.entries, first.imports) == (second.entries, second.imports)
    assert [entry.path for entry in first.entries] == sorted(
        ["loose.py", "pack/__main__.py", "pack/cli.py", "test_net.py", "train.py"]
    )
    lines = {result.path: result.lines for result in second.results}
    assert (lines["net.py"], lines["plain.py"], lines["n.ipynb"]) == (4, 0, 2)


def _notebook() -> str:
    cell = {
        "cell_type": "code",
        "metadata": {},
        "outputs": [],
        "execution_count": None,
        "source": ["import tensorflow as tf\n", "x = 1"],
    }
    return json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 4})
