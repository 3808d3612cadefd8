"""The `compare` command: finds the steps, compares them, writes the table and the page, says where the difference begins."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from npu_formats.escape import visible
from npu_formats.files.directory import Directory
from npu_formats.files.draft import put_whole
from tf2npu.comparison.tensors.libraries import EXIT_UNREADABLE, require_numpy
from tf2npu.refused_request import RefusedRequest
from tf2npu.report.formats.as_text import Line, show

if TYPE_CHECKING:
    from tf2npu.comparison.comparison import Comparison


@dataclass(frozen=True)
class Wanted:
    """graph: the user's.  header: `full` or `2020`.  thresholds: NAME=VALUE texts.  output: `text` or `json` on stdout."""

    graph: Path | None
    out: Path
    header: str
    step: int | None
    thresholds: Sequence[str]
    output: str
    language: str


def compare(dump: Path, reference: Path, wanted: Wanted) -> int:
    """`tf2npu compare`; returns the exit code."""
    require_numpy("compare")
    from tf2npu.comparison import comparison
    from tf2npu.comparison.step_folders import NoStep
    from tf2npu.comparison.unreadable import Unreadable
    from tf2npu.comparison.verdicts import Thresholds

    thresholds = Thresholds(_thresholds(wanted.thresholds))
    _check_given(dump, reference, wanted.graph)
    try:
        found = comparison.compare(dump, reference, graph=wanted.graph, step=wanted.step, thresholds=thresholds)
    except (comparison.NoGraph, comparison.NothingCompared, NoStep) as error:
        raise RefusedRequest(str(error)) from None
    except Unreadable as error:
        click.echo(f"tf2npu compare: {visible(str(error))}", err=True)
        return EXIT_UNREADABLE
    _show(found, _write(found, wanted), wanted)
    return comparison.exit_code(found)


def _check_given(dump: Path, reference: Path, graph: Path | None) -> None:
    for path in (dump, reference):
        if not path.is_dir():
            raise RefusedRequest(f"{path}: {'this is no folder' if path.exists() else 'there is no such folder'}")
    if graph is not None and not graph.is_file():
        raise RefusedRequest(f"--graph {graph}: there is no such file")


def _thresholds(pairs: Sequence[str]) -> dict[str, float]:
    from tf2npu.comparison.verdicts import COSINE, NAMES

    found = {}
    for pair in pairs:
        name, _, text = pair.partition("=")
        if name not in NAMES:
            raise RefusedRequest(f"--threshold {pair}: there is no {name!r}; it is one of {', '.join(NAMES)}")
        try:
            found[name] = float(text)
        except ValueError:
            found[name] = math.nan
        if not math.isfinite(found[name]):
            raise RefusedRequest(f"--threshold {pair}: {text!r} is no number; write {name}=0.01")
        if found[name] < 0 and name != COSINE:
            raise RefusedRequest(f"--threshold {pair}: {name} is never below 0; write {name}=0.01")
    return found


def _write(found: Comparison, wanted: Wanted) -> list[Path]:
    """Put table and page into the folder of --out.  Returns: their paths."""
    from dataclasses import replace

    from tf2npu.comparison import page
    from tf2npu.comparison.result_table import csv_lines
    from tf2npu.comparison.texts import texts

    name = f"result_{datetime.now():%Y%m%d%H%M%S}.csv"
    page_name = name.replace(".csv", ".html")
    columns = replace(found.columns, kind=wanted.header)
    try:
        with Directory.given(wanted.out, make=True) as folder:
            put_whole(folder, name, csv_lines(found.rows, columns))
            put_whole(folder, page_name, [page.page(found, texts(wanted.language))])
    except OSError as error:
        raise RefusedRequest(f"--out {wanted.out}: cannot be written: {error.strerror or error}") from None
    return [wanted.out / name, wanted.out / page_name]


def _show(found: Comparison, written: list[Path], wanted: Wanted) -> None:
    from tf2npu.comparison import as_json, as_text

    if wanted.output == "json":
        document = {**as_json.document(found), "files": [str(path) for path in written]}
        click.echo(json.dumps(document, indent=1))
        for error in found.unreadable:
            click.echo(f"tf2npu compare: {visible(str(error))}", err=True)
        return
    show([*as_text.lines(found), Line(""), *(Line(visible(str(path))) for path in written)], sys.stdout)
