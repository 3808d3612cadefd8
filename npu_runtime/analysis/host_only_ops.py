"""Ops that run on the host on a real NPU system too; this list is part of the documentation."""

from __future__ import annotations

import re

NATURE = {
    r".*(String|Regex|Base64|Json|Csv|CSV).*|AsString|Substr|StaticRegex.*": "text is host data",
    r".*Dataset.*|.*Iterator.*|.*Experimental.*Dataset.*": "the input pipeline (tf.data) runs on the host",
    r".*(Queue|Barrier|StagingArea|Stage|Unstage).*": "queues live on the host",
    r".*(ReadFile|WriteFile|MatchingFiles|Reader|Sharded(Filename|Filespec)).*": "files are read on the host",
    r"(?!CTC).*(Decode|Encode|ParseExample|ParseSingle|ParseTensor|SerializeTensor).*": "records are decoded on the host",
    r"ExtractJpegShape": "records are decoded on the host",
    r".*Summary.*": "summaries are written by the host",
    r".*(PyFunc|EagerPyFunc).*": "Python functions run on the host",
    r"(Save|SaveV2|SaveSlices|Restore|RestoreV2|RestoreSlice|MergeV2Checkpoints)": "checkpoints are files of the host",
    r".*(HashTable|LookupTable|InitializeTable).*": "lookup tables live on the host",
    r"_HostResource": "iterators, tables and other resources of eager code live on the host",
    r"(Print|PrintV2|Timestamp|LogMessage)": "messages are printed by the host",
}  # fmt: skip
TEXT = "strings are host data"
WISH = "the script keeps it on the host"
"""Beginning of the reasons that stand in the script: the scopes of npu_scope."""
_COMPILED = [(re.compile(pattern), reason) for pattern, reason in NATURE.items()]


def nature_of(op: str) -> str | None:
    """The reason why an op belongs to the host, None when it could run on a device."""
    return next((reason for pattern, reason in _COMPILED if pattern.fullmatch(op)), None)


def is_by_nature(reason: str) -> bool:
    """Whether a reason for the host, its own or inherited from a neighbour, is one of this list or the script's wish."""
    return any(nature in reason for nature in [*NATURE.values(), TEXT, WISH])
