"""The record of MindSpore, whose programs are run as they are."""

from __future__ import annotations

from tf2npu.frameworks.base import Framework
from tf2npu.frameworks.mindspore.names import ROOT, canonical

NAME = "mindspore"

FRAMEWORK = Framework(
    name=NAME,
    title="MindSpore",
    roots=frozenset({ROOT}),
    bound_by=frozenset({ROOT}),
    mention=r"\bmindspore\b",
    rule_ids=("NPM",),
    canonical=canonical,
    running=frozenset({"mindspore.Model"}),
    training_methods=("mindspore.Model().train",),
)
