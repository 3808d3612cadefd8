"""Top-level modules that are nobody's own file: Python's, well-known packages', and those that a project says it needs."""

from __future__ import annotations

import csv
import re
import sys
from functools import cache
from pathlib import Path, PurePosixPath

from npu_formats.files.bounded_read import MOST_SETTINGS_BYTES

_OF_PYTHON2 = frozenset((
    "BaseHTTPServer", "ConfigParser", "Cookie", "HTMLParser", "Queue", "SimpleHTTPServer", "SocketServer",
    "StringIO", "Tkinter", "UserDict", "__builtin__", "__future__", "asynchat", "asyncore",
    "cPickle", "cStringIO", "commands", "cookielib", "copy_reg", "distutils", "dummy_thread",
    "exceptions", "httplib", "imp", "md5", "new", "sets", "sha",
    "smtpd", "thread", "tkFileDialog", "tkMessageBox", "urllib2", "urlparse", "xmlrpclib",
))  # fmt: skip
"""Modules of earlier releases of Python, of which other rules tell."""
_NAME = re.compile(r"(?i)^(?:.*requirements?.*\.(?:txt|in)|environment.*\.ya?ml|pipfile|conda.*\.ya?ml)$")
_OTHERS = frozenset(("setup.py", "setup.cfg", "pyproject.toml"))
_WORD = re.compile(r"[A-Za-z_][\w.-]*")


def is_known_module(root: str) -> bool:
    """Whether a top-level module is Python's own or one of a known package."""
    return root in sys.stdlib_module_names or root in _OF_PYTHON2 or root.startswith("_") or root in _of_packages()


@cache
def _of_packages() -> frozenset[str]:
    """Names as Python imports them. One that is missing here and in a project's requirements is asked about."""
    with (Path(__file__).parent / "known_modules.csv").open(encoding="utf-8", newline="") as file:
        return frozenset(row["module"] for row in csv.DictReader(file))


@cache
def _distributions() -> dict[str, str]:
    """Modules with the names by which pip installs them, as the files of each distribution show."""
    with (Path(__file__).parent / "installable_modules.csv").open(encoding="utf-8", newline="") as file:
        return {row["module"]: row["distribution"] for row in csv.DictReader(file)}


def distribution_of(root: str) -> str:
    """The name by which pip installs a top-level module; "" for one that is not known."""
    return _distributions().get(root, "")


def is_requirements(path: str) -> bool:
    """Whether a file that is no source says what a project needs."""
    return _NAME.match(PurePosixPath(path).name) is not None


def names_requirements(path: str) -> bool:
    """Whether a file may name distributions, be it among other things."""
    return is_requirements(path) or PurePosixPath(path).name in _OTHERS


def named_distributions(data: bytes) -> frozenset[str]:
    """The words of a file, in the form that names of distributions and modules share."""
    if len(data) > MOST_SETTINGS_BYTES:
        return frozenset()
    return frozenset(normalized(word) for word in _WORD.findall(data.decode("utf-8", "replace")))


def normalized(name: str) -> str:
    """A name of a module or a distribution as both are compared."""
    return re.sub(r"[-_.]+", "_", name).lower()
