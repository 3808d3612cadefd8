"""Programs for MindSpore are not converted: they run as they are."""

from __future__ import annotations

from tf2npu.frameworks.mindspore.names import ROOT
from tf2npu.frameworks.other_frameworks import line_of_import
from tf2npu.rules.base import Example, rule
from tf2npu.scanner.sites import Site


@rule(
    id="NPM001",
    title="Runs as it is",
    on="module",
    why="A file without findings would look as if it had been moved to the NPU.",
    source="docs/mindspore.md",
    examples=(
        Example.same("from mindspore import nn\n", level="info", note="a program for MindSpore"),
        Example.same("import math\n# import mindspore\n", note="a comment"),
        Example.same("from .mindspore import nn\n", note="the project's own module"),
    ),
)
def runs_as_it_is(site: Site) -> None:
    """Says of a program for MindSpore that it is copied, and how it is run here."""
    facts = site.script.project.files.get(site.script.path)
    if facts is None or not any(level == 0 and module.partition(".")[0] == ROOT for level, module in facts.imports):
        return
    text = site.script.text
    start = sum(map(len, text.splitlines(keepends=True)[: line_of_import(ROOT, text) - 1]))
    site.fix.site = (start, start)
    site.info(
        "The file uses MindSpore, which runs on NPUs by itself, and was copied as it is. Without an NPU, "
        "`tf2npu run --frontend mindspore` runs code for r1.0 or r1.1."
    )
