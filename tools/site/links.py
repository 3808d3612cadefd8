"""Links of a page that lead out of docs/, as links of the site, where what they lead to stands below project/."""

from __future__ import annotations

import posixpath
import re

DOCS = "docs/"
PROJECT = "project/"
"""Folder of the site for files of the project that are not in docs/, such as CONTRIBUTING.md and the JSON schemas."""
_LINK = re.compile(r"(\]\()([^)\s#]+)((?:#[^)\s]*)?\))")
_CODE = re.compile(r"(```.*?^ *```|`[^`\n]+`)", re.DOTALL | re.MULTILINE)
_OTHER_PLACE = re.compile(r"[a-z]+:|/|#", re.IGNORECASE)


def on_the_site(path: str) -> str:
    """The path on the site of a file of the project; both paths are relative, with / between folders."""
    return path[len(DOCS) :] if path.startswith(DOCS) else PROJECT + path


def rewritten(text: str, page: str) -> str:
    """The Markdown of a page (a path of the project), with links that hold on the site. What is in code stays."""
    parts = _CODE.split(text)
    parts[::2] = [_LINK.sub(lambda link: link[1] + _target(link[2], page) + link[3], part) for part in parts[::2]]
    return "".join(parts)


def targets(text: str, page: str) -> set[str]:
    """Paths of the project that a page links to."""
    found = {link[2] for part in _CODE.split(text)[::2] for link in _LINK.finditer(part)}
    return {_path(target, page) for target in found if not _OTHER_PLACE.match(target)}


def files_outside(text: str, page: str) -> set[str]:
    """Those of them that are not in docs/."""
    return {path for path in targets(text, page) if not path.startswith(DOCS)}


def _target(target: str, page: str) -> str:
    if _OTHER_PLACE.match(target):
        return target
    return posixpath.relpath(on_the_site(_path(target, page)), posixpath.dirname(on_the_site(page)) or ".")


def _path(target: str, page: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(page), target))
