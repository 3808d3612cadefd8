"""Text of the package's page on an index, made of README.md, whose relative links lead nowhere there."""

import re
import sys
from pathlib import Path

from setuptools import setup

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HERE = Path(__file__).parent
LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)\s]+)\)")
"""The target of a Markdown link that is relative to the file."""


def readme_with_absolute_links() -> str:
    """README.md, with links into the repository that pyproject.toml names."""
    project = tomllib.loads((HERE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    files = f"{project['urls']['Repository']}/blob/main"
    return LINK.sub(rf"]({files}/\1)", (HERE / "README.md").read_text(encoding="utf-8"))


setup(long_description=readme_with_absolute_links(), long_description_content_type="text/markdown")
