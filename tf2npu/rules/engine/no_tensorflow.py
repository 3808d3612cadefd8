"""Files that have nothing to do with TensorFlow stay as they are, whatever rules know in them."""

from __future__ import annotations

from tf2npu.findings import Finding, Level
from tf2npu.frameworks.tensorflow1.project import NAME, tensorflow_in
from tf2npu.rules import hooks
from tf2npu.scanner.script import Script
from tf2npu.scanner.text.edits import Fix


@hooks.keeps_file
def what_a_person_is_told(script: Script, fixes: list[Fix]) -> list[Finding] | None:
    """The findings, without fixes, of a file of Keras or Horovod alone: half a conversion would be neither what it was nor what
    the NPU takes.
    """
    is_ours = script.path in script.project.files and script.is_looked_at_by(NAME)
    if not is_ours or script.path in tensorflow_in(script.project).of_tensorflow or not any(fix.changes for fix in fixes):
        return None
    return [finding for fix in fixes for finding in fix.findings if finding.level is not Level.FIXED]
