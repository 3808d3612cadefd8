"""Put a report into a folder: whole files only, and nothing of somebody else's overwritten."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath

from tf2npu.report import as_json, as_text
from tf2npu.report.localized import localized, localized_lines
from tf2npu.report.model import Report

FORMATS = ("html", "json", "sarif", "text", "github", "gitlab", "junit")
MARKER = ".tf2npu-report"  # lists the files of the report, so that the next one can clear them away


_PACKAGE = Path(__file__).parent.parent


class ForeignFile(Exception):
    """A file that this report would overwrite was not written by tf2npu; the text names it."""


def _text(report: Report) -> str:
    return "".join(f"{line.text}\n" for line in localized_lines(as_text.full(report), report.language))


def _page_files(report: Report) -> Iterator[tuple[str, str]]:
    from tf2npu.report import as_html  # Jinja and Pygments cost a tenth of a second to import

    return as_html.render(report)


def _sarif(report: Report) -> str:
    from tf2npu.report import as_sarif  # brings the rules with it

    return as_sarif.render(report)


def _annotations(kind: str) -> Callable[[Report], str]:
    def render(report: Report) -> str:
        from tf2npu.report import as_annotations

        return {"github": as_annotations.github, "gitlab": as_annotations.gitlab, "junit": as_annotations.junit}[kind](report)

    return render


# Formats that are one text, and the file it goes to; GitHub reads its own from the output of the command.
_ONE_TEXT: dict[str, tuple[str, Callable[[Report], str]]] = {
    "json": ("report.json", as_json.render),
    "sarif": ("report.sarif", _sarif),
    "text": ("report.txt", _text),
    "github": ("", _annotations("github")),
    "gitlab": ("gl-code-quality-report.json", _annotations("gitlab")),
    "junit": ("junit.xml", _annotations("junit")),
}


def text_of(report: Report, chosen: str) -> str:
    """The report in a format that is one text; report.json is English whatever the language, and can be shown in any."""
    return _ONE_TEXT[chosen][1](report if chosen == "json" else localized(report, report.language))


def has_files(formats: list[str]) -> bool:
    """Whether any of the formats is written into the folder."""
    return any(_first_file(chosen) for chosen in formats)


def _first_file(chosen: str) -> str:
    return "index.html" if chosen == "html" else _ONE_TEXT[chosen][0]


def _files(report: Report, chosen: str) -> Iterator[tuple[str, str]]:
    if chosen == "html":
        yield from _page_files(localized(report, report.language))
    elif name := _first_file(chosen):
        yield name, text_of(report, chosen)


def check(folder: Path, formats: list[str], *, force: bool = False) -> None:
    """Refuse a folder where the report would overwrite files of somebody else.

    Raises: ForeignFile.
    """
    if folder.exists() and not folder.is_dir():
        raise ForeignFile(f"{folder}: exists and is no folder")
    if force or (folder / MARKER).exists():
        return
    for name in filter(None, map(_first_file, formats)):
        if os.path.lexists(folder / name):
            raise ForeignFile(f"{folder / name}: exists and is no report of tf2npu; give another --report folder")


def write(report: Report, folder: Path, formats: list[str], *, keep: bool = False) -> None:
    """Write the report in each format and remove what an earlier one left there; with `keep` only its stale pages.

    A report that is there already, and whole, is left as it is: rendering costs more than finding out.
    """
    earlier, its_digest = _earlier(folder)
    digest = _digest(report, formats)
    if digest == its_digest and all((folder / name).is_file() for name in earlier):
        return
    folder.mkdir(parents=True, exist_ok=True)
    _mark(folder, earlier, "")  # from here on the folder is ours, also after a kill
    written: set[str] = set()
    is_new = False
    for chosen in formats:
        for name, text in _files(report, chosen):
            written.add(name)
            is_new = _replace(folder / name, text) or is_new
    kept = {name for name in earlier if keep and not ("html" in formats and name.startswith("files/"))}
    for name in sorted(earlier - written - kept):
        (folder / name).unlink(missing_ok=True)
    kept_digest = "" if is_new else its_digest  # the same pages again: what stands beside them still belongs to them
    _mark(folder, written | kept, kept_digest if kept else digest)


def _digest(report: Report, formats: list[str]) -> str:
    """Stands for everything that the files of a report depend on: its data, the formats, and the code that renders."""
    digest = hashlib.sha256(repr((sorted(formats), report.prefix, report.language)).encode("utf-8", "surrogatepass"))
    for part in ("report", "rules"):
        for path in sorted((_PACKAGE / part).rglob("*")):
            if path.is_file() and path.suffix != ".pyc":
                digest.update(path.read_bytes())
    digest.update(as_json.render(report).encode())
    return digest.hexdigest()


def _mark(folder: Path, names: set[str], digest: str) -> None:
    content = {"tool": "tf2npu", "digest": digest, "files": sorted(names)}
    _replace(folder / MARKER, json.dumps(content, indent=1) + "\n")


def _earlier(folder: Path) -> tuple[set[str], str]:
    """Names of the files of the report that stands there, and its digest."""
    try:
        content = json.loads((folder / MARKER).read_text(encoding="utf-8"))
        names, digest = content["files"], str(content.get("digest", ""))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return set(), ""
    harmless = {str(name) for name in names if ".." not in PurePosixPath(str(name)).parts and not str(name).startswith("/")}
    return harmless, digest


def _replace(path: Path, text: str) -> bool:
    """Write the file whole; True when it held something else before."""
    path.parent.mkdir(parents=True, exist_ok=True)
    content = text.encode("utf-8", "backslashreplace")
    is_new = not path.is_file() or path.read_bytes() != content
    draft = path.with_name(f"{path.name}.tf2npu-draft")
    draft.write_bytes(content)
    os.replace(draft, path)
    return is_new
