"""Put a report into a folder: whole files only, and nothing of somebody else's overwritten."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path, PurePosixPath

from tf2npu.report import as_json, as_text
from tf2npu.report.localized import localized, localized_lines
from tf2npu.report.model import Report
from tf2npu.report.whole_file import put_whole

FORMATS = ("html", "json", "sarif", "text", "github", "gitlab", "junit")
MARKER = ".tf2npu-report"  # lists the files of the report, so that the next one can clear them away


_PACKAGE = Path(__file__).parent.parent


class ForeignFile(Exception):
    """A file that this report would overwrite was not written by tf2npu; the text names it."""


Text = Iterable[str]
"""A text piece by piece."""


def _text(report: Report) -> Text:
    return (f"{line.text}\n" for line in localized_lines(as_text.full(report), report.language))


def _sarif(report: Report) -> Text:
    from tf2npu.report import as_sarif  # brings the rules with it

    return as_sarif.pieces(report)


def _annotations(kind: str) -> Callable[[Report], Text]:
    def render(report: Report) -> Text:
        from tf2npu.report import as_annotations

        made = {"github": as_annotations.github, "gitlab": as_annotations.gitlab, "junit": as_annotations.junit}[kind]
        return [made(report)]

    return render


# Formats that are one text, and the file it goes to; GitHub reads its own from the output of the command.
_ONE_TEXT: dict[str, tuple[str, Callable[[Report], Text]]] = {
    "json": ("report.json", as_json.pieces),
    "sarif": ("report.sarif", _sarif),
    "text": ("report.txt", _text),
    "github": ("", _annotations("github")),
    "gitlab": ("gl-code-quality-report.json", _annotations("gitlab")),
    "junit": ("junit.xml", _annotations("junit")),
}


def text_of(report: Report, chosen: str) -> str:
    """The report in a format that is one text; report.json is English whatever the language, and can be shown in any."""
    return "".join(_pieces(report, chosen))


def _pieces(report: Report, chosen: str) -> Text:
    return _ONE_TEXT[chosen][1](report if chosen == "json" else localized(report, report.language))


def has_files(formats: list[str]) -> bool:
    """Whether any of the formats is written into the folder."""
    return any(_first_file(chosen) for chosen in formats)


def _first_file(chosen: str) -> str:
    return "index.html" if chosen == "html" else _ONE_TEXT[chosen][0]


def _put(report: Report, chosen: str, folder: Path, jobs: int) -> Iterator[tuple[str, bool]]:
    """Write the files of a format: (name, whether it held something else before)."""
    if chosen == "html":
        from tf2npu.report import page_files  # Jinja and Pygments cost a tenth of a second to import

        yield from page_files.put(localized(report, report.language), folder, jobs)
    elif name := _first_file(chosen):
        yield name, put_whole(folder / name, _pieces(report, chosen))


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


def write(report: Report, folder: Path, formats: list[str], *, keep: bool = False, jobs: int = 1) -> None:
    """Write the report in each format and remove what an earlier one left there; with `keep` only its stale pages.

    jobs: processes that render pages.

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
        for name, was_other in _put(report, chosen, folder, jobs):
            written.add(name)
            is_new = was_other or is_new
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
    for piece in as_json.pieces(report):
        digest.update(piece.encode())
    return digest.hexdigest()


def _mark(folder: Path, names: set[str], digest: str) -> None:
    content = {"tool": "tf2npu", "digest": digest, "files": sorted(names)}
    put_whole(folder / MARKER, [json.dumps(content, indent=1), "\n"])


def _earlier(folder: Path) -> tuple[set[str], str]:
    """Names of the files of the report that stands there, and its digest."""
    try:
        content = json.loads((folder / MARKER).read_text(encoding="utf-8"))
        names, digest = content["files"], str(content.get("digest", ""))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return set(), ""
    harmless = {str(name) for name in names if ".." not in PurePosixPath(str(name)).parts and not str(name).startswith("/")}
    return harmless, digest
