"""Top-level modules that are nobody's own file: those of Python, and of well-known packages."""

from __future__ import annotations

import csv
import sys
from functools import cache
from pathlib import Path

_OF_PYTHON2 = frozenset((
    "BaseHTTPServer", "ConfigParser", "Cookie", "HTMLParser", "Queue", "SimpleHTTPServer", "SocketServer",
    "StringIO", "Tkinter", "UserDict", "__builtin__", "__future__", "asynchat", "asyncore",
    "cPickle", "cStringIO", "commands", "cookielib", "copy_reg", "distutils", "dummy_thread",
    "exceptions", "httplib", "imp", "md5", "new", "sets", "sha",
    "smtpd", "thread", "tkFileDialog", "tkMessageBox", "urllib2", "urlparse", "xmlrpclib",
))  # fmt: skip
"""Modules of earlier releases of Python, of which other rules tell."""


def is_known_module(root: str) -> bool:
    """Whether a top-level module is Python's own or one of a known package."""
    return root in sys.stdlib_module_names or root in _OF_PYTHON2 or root.startswith("_") or root in _of_packages()


@cache
def _of_packages() -> frozenset[str]:
    """Names as Python imports them. One that is missing here and in a project's requirements is asked about."""
    with (Path(__file__).parent / "known_modules.csv").open(encoding="utf-8", newline="") as file:
        return frozenset(row["module"] for row in csv.DictReader(file))
