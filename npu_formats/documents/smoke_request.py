"""The request of a smoke run: a script that trains for some steps on made-up data, and what it shows of itself."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from npu_formats.environment import TF2NPU_SMOKE

ATTEMPT = "{attempt}/"
"""Beginning of a path below the folder of an attempt, as processes tell it each other: every attempt has its own."""
PROJECT = f"{ATTEMPT}project/"
"""The same of one in the project's copy."""

OF_IMAGES = "*images"
"""The name of the lesson on all images, in place of a path."""


@dataclass(frozen=True)
class SmokeRequest:
    """steps: that train, after which the script is ended.  out: the file for what the run shows while it goes on.

    root: the throw-away folder of the project's copy.  elsewhere: a folder in place of all that lies outside of it and is
    missing or written.  told_from: folder in `root` from which the record of the run names files, "" for
    all of it.  asked: paths that earlier attempts looked for, with how they did, which are made before this one starts.
    lessons: of earlier attempts on the form of texts, by path.
    """

    steps: int
    out: str
    root: str
    elsewhere: str
    told_from: str = ""
    asked: tuple[tuple[str, str], ...] = ()
    lessons: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def as_json(self) -> str:
        """The value of TF2NPU_SMOKE."""
        return json.dumps(asdict(self), sort_keys=True)


def read_request(environment: Mapping[str, str]) -> SmokeRequest | None:
    """The request, None where there is none.  Raises: ValueError for a text that is none."""
    text = environment.get(TF2NPU_SMOKE)
    if not text:
        return None
    try:
        given: dict[str, Any] = json.loads(text)
        known = {field.name for field in fields(SmokeRequest)}
        values = {name: value for name, value in given.items() if name in known}
        values["asked"] = tuple((str(path), str(how)) for path, how in given.get("asked", ()))
        return SmokeRequest(**values)
    except (ValueError, TypeError, AttributeError) as error:
        raise ValueError(f"{TF2NPU_SMOKE} is no request of tf2npu run --smoke ({error}): unset it") from None
