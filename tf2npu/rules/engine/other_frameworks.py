"""Files that are written for another framework: they are copied, and one remark says so."""

from __future__ import annotations

from tf2npu.api_support.uses import ApiUses
from tf2npu.config import AUTO
from tf2npu.findings import Edit, Finding, Level, Span
from tf2npu.frameworks.base import Framework
from tf2npu.frameworks.other_frameworks import (
    BUILT_ON_TENSORFLOW,
    NEEDS_MORE,
    OTHER_FRAMEWORKS,
    builds_on_tensorflow,
    line_of_import,
    other_framework_of,
)
from tf2npu.frameworks.registry import known
from tf2npu.frameworks.tensorflow1.scripts import NAME, uses_tensorflow
from tf2npu.rules import hooks
from tf2npu.scanner.facts import gather_facts
from tf2npu.scanner.imports import plan_import
from tf2npu.scanner.notebooks.cells import Notebook
from tf2npu.scanner.notebooks.path import is_notebook
from tf2npu.scanner.project_facts import ProjectFacts
from tf2npu.scanner.script import Script
from tf2npu.scanner.text.edits import Fix
from tf2npu.scanner.text.source import SourceError, decode

_RULE = "NPU905"


@hooks.copied_file
def said_of_copied_file(path: str, data: bytes, project: ProjectFacts) -> list[Finding]:
    """The findings of a script or notebook that is not parsed, when it imports another framework."""
    if not any(module.encode() in data for module in (*OTHER_FRAMEWORKS, *BUILT_ON_TENSORFLOW)):
        return []
    try:
        if not is_notebook(path):
            return _said(other_framework_of(project.files[path].imports), decode(data).text) if path in project.files else []
        notebook = Notebook(data)
    except (SourceError, RecursionError, MemoryError):  # told elsewhere
        return []
    imports = gather_facts("", notebook.code.encode()).imports
    return [notebook.relocate(finding) for finding in _said(other_framework_of(imports), notebook.code)]


@hooks.after_rules
def import_beside_package(script: Script, uses: ApiUses, fixes: list[Fix]) -> list[Fix]:
    """The import that puts later sessions on the NPU, in a file that uses TensorFlow through another package alone."""
    facts = script.project.files.get(script.path)
    module = builds_on_tensorflow(facts.imports) if facts is not None else ""
    framework = next(f for f in known() if f.name == NAME)
    adapter = framework.adapter
    is_asked = script.config.is_enabled(_RULE) and script.config.converts(framework.family) and not uses_tensorflow(script)
    if not module or module in NEEDS_MORE or adapter is None or not is_asked:
        return []
    changes = plan_import(script, framework, [], True, len(script.text))
    if not changes:
        return []
    start, end = changes[0].start, changes[0].end
    message = (
        f"This file uses TensorFlow through {BUILT_ON_TENSORFLOW[module]} alone, whose code is not converted. "
        "`import npu_bridge.npu_init` was written above it: every later session of the process is on the NPU."
    )
    return [Fix(_RULE, changes, [Finding(_RULE, Level.FIXED, script.span(start, end), message)], site=(start, end))]


@hooks.after_edits
def said_of_parsed_file(script: Script, edits: list[Edit]) -> list[Fix]:
    """The same of a file that is parsed, because a script for TensorFlow imports it or it mentions a word of TensorFlow's; and
    what is left out because the settings name one framework.
    """
    facts = script.project.files.get(script.path)
    if facts is None or not script.config.is_enabled(_RULE):
        return []
    left_out = _left_out(script)
    others = [] if edits or left_out or uses_tensorflow(script) else _said(other_framework_of(facts.imports), script.text)
    return [Fix(_RULE, findings=[finding]) for finding in [*left_out, *others]]


def _left_out(script: Script) -> list[Finding]:
    """The findings of a file that has to do with a framework which `--framework` leaves out."""
    reached = [f for f in known() if f.rule_ids and script.project.is_reaching(script.path, f.name)]
    titles = {f.family: f.title for f in reversed(reached) if not script.config.converts(f.family)}
    asked = script.config.framework
    return [*_of_functions_alone(script, reached), *(
        Finding(
            _RULE, Level.INFO, Span(1, 1, 1, 1),
            f"What this file does with {title} stays as it is, as --framework {asked} asks. Without that option it is converted.",
        )
        for title in titles.values()
    )]  # fmt: skip


def _of_functions_alone(script: Script, reached: list[Framework]) -> list[Finding]:
    """The remarks on a script of one framework that imports another in its functions."""
    if script.config.framework != AUTO:
        return []
    facts = script.project.files[script.path]
    own = {f.family: f for f in reached if script.path in script.project.without[f.name] and f.is_bound_by(facts.imports)}
    return [
        Finding(
            _RULE, Level.INFO, Span(1, 1, 1, 1),
            f"This file loads another framework and imports {f.title} in its functions only: that part stays as it is. "
            f"`--framework {f.family}` converts it.",
        )
        for f in own.values()
    ]  # fmt: skip


def _said(module: str, text: str) -> list[Finding]:
    if not module:
        return []
    line = line_of_import(module, text)
    if module in BUILT_ON_TENSORFLOW:
        message = (
            f"This file uses TensorFlow through {BUILT_ON_TENSORFLOW[module]} alone, whose code is not converted: in the script "
            "that is run, write `import npu_bridge.npu_init` above everything else, so that its sessions are on the NPU."
        )
        if module == "sugartensor":
            message = (
                "This file uses TensorFlow through SugarTensor alone, whose last version fails on TensorFlow 1.15 where it "
                "writes summaries: it asks for gen_logging_ops._scalar_summary. Write the network with TensorFlow itself."
            )
        return [Finding(_RULE, Level.MANUAL, Span(line, 1, line, 1), message)]
    message = (
        f"This file is written for {OTHER_FRAMEWORKS[module]} and uses neither TensorFlow nor PyTorch: it is copied as it is. "
        "tf2npu converts these two only."
    )
    return [Finding(_RULE, Level.INFO, Span(line, 1, line, 1), message)]
