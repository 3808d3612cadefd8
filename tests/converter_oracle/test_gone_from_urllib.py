"""Functions that Python 2 had in urllib itself, as Python 3 has them: tutorials load their data with urllib.urlretrieve."""

from __future__ import annotations

import sys
import urllib.error
import urllib.parse
import urllib.request

import pytest

from tests.converter_detectors.test_target import convert_project
from tf2npu import convert_source

# The functions and classes of the library reference of Python 2.7, section urllib.
OF_PYTHON_2 = [
    "urlopen",
    "urlretrieve",
    "urlcleanup",
    "quote",
    "quote_plus",
    "unquote",
    "unquote_plus",
    "urlencode",
    "pathname2url",
    "url2pathname",
    "getproxies",
    "URLopener",
    "FancyURLopener",
    "ContentTooShortError",
]


def told(source: str) -> list[str]:
    found = convert_source(source, "a.py").findings
    return [f.message for f in found if f.rule == "NPU962"]


@pytest.mark.parametrize("name", OF_PYTHON_2)
@pytest.mark.parametrize("lines", ["import urllib\nurllib.{0}", "from urllib import {0}", "import urllib as u\nu.{0}('a')"])
def test_what_python_3_has_elsewhere_is_told_with_its_place(name, lines):
    (message,) = told(f"import tensorflow as tf\n{lines.format(name)}\n")
    instead = message.partition("Write ")[2].removesuffix(" in its place.")
    assert not hasattr(urllib, name) and message.startswith(f"urllib.{name} is gone")
    if sys.version_info < (3, 14):  # where URLopener and FancyURLopener went too
        assert instead.endswith(f".{name}") and hasattr(sys.modules[instead.rpartition(".")[0]], name)


@pytest.mark.parametrize(
    "source",
    [
        "import urllib.request\nurllib.request.urlretrieve('a')",
        "from urllib.parse import quote\nquote('a')",
        "from six.moves import urllib\nurllib.parse.urlencode({})",
        "from six.moves.urllib.request import urlretrieve\nurlretrieve('a')",
        "import sys\nif sys.version_info[0] >= 3:\n    from urllib.request import urlopen\nelse:\n    from urllib import urlopen",
        "try:\n    from urllib import urlencode\nexcept ImportError:\n    from urllib.parse import urlencode",
        "class urllib:\n    quote = str\nurllib.quote('a')",
    ],
)
def test_what_python_3_runs_is_left_alone(source):
    assert told(f"import tensorflow as tf\n{source}\n") == []


def test_a_file_without_tensorflow_is_looked_at_where_training_imports_it():
    files = {
        "train.py": "import tensorflow as tf\nimport download\n",
        "download.py": "import urllib\n\ndef fetch(url):\n    return urllib.urlretrieve(url)\n",
        "alone.py": "import urllib\nurllib.urlretrieve('a')\n",
    }
    found = convert_project(files)
    assert {name: [f.rule for f in findings] for name, findings in found.items() if findings} == {"download.py": ["NPU962"]}
