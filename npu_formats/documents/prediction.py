"""The document of a prediction or of a profile: one step on one or several chips, task by task.

prediction.schema.json beside this file says the same to other programs. What is not known is null or empty. Times are
microseconds (`_us`) or milliseconds (`_ms`) of the chip, sizes bytes, shares 0 to 1. Keys of later versions are passed over.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct, field

VERSION = "1.0"
SCHEMA_FILE = Path(__file__).parent / "prediction.schema.json"
SHARES = ("cube", "vector", "memory", "ai_cpu", "launch", "host", "waiting")
"""Parts of the time of a step, in the order in which they are shown."""
_VERSION = re.compile(r"[0-9]{1,9}\.[0-9]{1,9}\Z")
_MOST_OF_A_REASON = 160
"""Characters of a reason that are shown: it may hold the wrong value, of any length."""

Count = Annotated[int, Meta(ge=0, le=2**53)]
"""A whole number that readers of JSON hold exactly."""
Amount = Annotated[float, Meta(ge=0, le=1e18)]
"""A finite amount. 1e18: more than any bytes or operations of one step, and its products are finite too."""
Moment = Annotated[float, Meta(ge=-1e19, le=1e19)]
"""Microseconds since the step began, finite."""
Lane = Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]
"""The number of a stream, a 32-bit one in every file that has it."""
Share = Annotated[float, Meta(ge=0, le=1)]
Detail = str | int | float | bool | list[str | int | float]
"""A detail of an advice: a word, a number, or a list of these."""


class NotAPrediction(Exception):
    """A file is no prediction that this version can read; the text says why."""


class Chip(Struct):
    """A chip.  peak_tflops: of its cube units, in the precision of the step."""

    n_cores: Count | None = None
    peak_tflops: Amount | None = None
    hbm_bytes: Count | None = None
    hbm_gb_per_s: Amount | None = None
    clock_mhz: Amount | None = None


class Shares(Struct):
    """Parts of the step's time, which sum to 1.

    cube, vector: such a unit is what the running task waits for.  memory: transfers are.  ai_cpu: the task runs there.
    launch: starts of tasks, None where a profile has no times of cores.  host: nothing runs before the first task, or a copy to
    the host.  waiting: nothing runs between tasks, or ranks talk to each other.
    """

    cube: Share | None = None
    vector: Share | None = None
    memory: Share | None = None
    ai_cpu: Share | None = None
    launch: Share | None = None
    host: Share | None = None
    waiting: Share | None = None


class Shapes(Struct):
    """Extents of each tensor; -1 where one is not known."""

    inputs: list[list[int]] = []
    outputs: list[list[int]] = []


class Words(Struct):
    """A word for each tensor: its format, or its element type."""

    inputs: list[str] = []
    outputs: list[str] = []


class Task(Struct):
    """One task of the step.

    engine: cube, vector, AI CPU, HCCL, copy or runtime.  stream: its lane.  start_us: since the step began.  bound: the pipe
    that is busy longest, or "start".  source: "file:line" of the script.  cycles: busy ones by pipe, summed over blocks.
    members: names of the nodes of the user's graph that it does.  runs: how often in a row, in turns of a long loop that are not
    told one by one; times and amounts are those of all.
    """

    name: str
    op_type: str = ""
    engine: str = ""
    stream: Lane = 0
    start_us: Moment = 0.0
    duration_us: Amount = 0.0
    bound: str = ""
    source: str = ""
    shapes: Shapes = field(default_factory=Shapes)
    formats: Words = field(default_factory=Words)
    dtypes: Words = field(default_factory=Words)
    flops: Amount | None = None
    hbm_bytes: Amount | None = None
    n_blocks: Count | None = None
    cycles: dict[str, Amount] = {}
    total_cycles: Amount | None = None
    l2_hit_rate: Share | None = None
    members: list[str] = []
    runs: Count = 1

    @property
    def end_us(self) -> float:
        return self.start_us + self.duration_us


class Advice(Struct):
    """Something that would make the step faster.

    kind: a key of advice.json.  operators: names, the costliest first.  source: "file:line".  saves_ms: of one step.
    """

    kind: str
    operators: list[str] = []
    source: str = ""
    saves_ms: Amount | None = None
    details: dict[str, Detail] = {}


class Alternative(Struct):
    """The same training elsewhere or otherwise.  is_sunk: the loop over steps runs on the device.  bounds_ms: in the place of
    step_ms, as a step has them.
    """

    soc: str
    precision: str = ""
    is_sunk: bool = False
    batch: Count | None = None
    step_ms: Amount | None = None
    examples_per_s: Amount | None = None
    bounds_ms: tuple[Amount, Amount] | None = None
    memory_peak_bytes: Amount | None = None


class Scaling(Struct):
    """The step on so many devices, each with as many examples as the one that was run.

    efficiency: the time of a step that waits for no other device, over that of this one.  communication_ms: of all collectives.
    exposed_ms: of these, what the step is longer for.  calls: collectives of a step.  limit: "compute", "calls" for the start of
    each, "hccs" for the links within a server, or "roce" for those between servers.
    """

    devices: Count
    servers: Count | None = None
    step_ms: Amount | None = None
    batch: Count | None = None
    examples_per_s: Amount | None = None
    efficiency: Share | None = None
    communication_ms: Amount | None = None
    exposed_ms: Amount | None = None
    calls: Count | None = None
    limit: str = ""


class ChipStep(Struct, kw_only=True):
    """One step on one chip.  memory: [microsecond since the step began, bytes in use from then on], by time.

    scaling_is_projected: whether the script has no collectives, so that its gradients are taken to be reduced over all devices.
    bounds_ms: of a step whose operators are called one by one there is no step_ms: its time if they were fused as a graph, and
    with each a task of its own. The tasks are those of the second.
    """

    soc: str | None = None
    chip: Chip = field(default_factory=Chip)
    precision: str | None = None
    batch: Count | None = None
    step_ms: Amount | None = None
    step_ms_range: tuple[Amount, Amount] | None = None
    bounds_ms: tuple[Amount, Amount] | None = None
    examples_per_s: Amount | None = None
    shares: Shares = field(default_factory=Shares)
    flops: Amount | None = None
    tflops: Amount | None = None
    utilisation: Amount | None = None
    memory_peak_bytes: Amount | None = None
    hbm_bytes: Count | None = None
    memory: list[tuple[Moment, Amount]] = []
    tasks: list[Task] = []
    advice: list[Advice] = []
    alternatives: list[Alternative] = []
    largest_batch: Count | None = None
    scaling: list[Scaling] = []
    scaling_is_projected: bool = False
    notes: list[str] = []


class Document(ChipStep, kw_only=True):
    """origin: predicted by the model of the chip, or measured and read from a profile.  subject: the script, or the folder.

    chips: of several chips all, the first of which is repeated here; of one empty.
    """

    version: str = VERSION
    origin: Literal["prediction", "profile"] = "prediction"
    subject: str = ""
    chips: list[ChipStep] = []

    @property
    def steps(self) -> list[ChipStep]:
        """One step for each chip."""
        return list(self.chips) or [self]


def of_steps(steps: list[ChipStep], origin: Literal["prediction", "profile"], subject: str) -> Document:
    """The document of one step or several.  Raises: ValueError where there is none."""
    if not steps:
        raise ValueError("a document has at least one step")
    first = {name: getattr(steps[0], name) for name in ChipStep.__struct_fields__}
    return Document(origin=origin, subject=subject, chips=steps if len(steps) > 1 else [], **first)


def load(data: bytes) -> Document:
    """The document in a JSON text.

    Raises: NotAPrediction for what is none, is of another major version, or holds a value that none can hold.
    """
    try:
        version = msgspec.json.decode(data, type=_Version).version
        _check_version(version)
        return msgspec.json.decode(data, type=Document)
    except msgspec.ValidationError as error:
        reason, at, where = str(error).rpartition(" - at ")
        raise NotAPrediction(f"it is no prediction: {reason[:_MOST_OF_A_REASON]}{at}{where[:_MOST_OF_A_REASON]}") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise NotAPrediction(f"it is no JSON: {str(error)[:_MOST_OF_A_REASON]}") from None
    except RecursionError:
        raise NotAPrediction("it is no prediction: it is nested too deeply") from None


class _Version(Struct):
    version: str


def _check_version(version: str) -> None:
    if not _VERSION.match(version):
        raise NotAPrediction("it is no prediction: `$.version` is not a version such as 1.0")
    if version.split(".")[0] != VERSION.split(".")[0]:
        raise NotAPrediction(f"it has version {version}, this tf2npu reads {VERSION}")


def pieces(document: Document) -> Iterator[str]:
    """The JSON text of a document piece by piece: ASCII, a task a line, the same for the same document."""
    yield "{"
    names = ("version", "origin", "subject", *ChipStep.__struct_fields__)
    yield from _fields(document, names, " ")
    yield ',\n "chips": ['
    for number, step in enumerate(document.chips):
        yield f"{',' if number else ''}\n  {{"
        yield from _fields(step, ChipStep.__struct_fields__, "   ")
        yield "\n  }"
    yield "]\n}\n"


def _fields(step: ChipStep, names: tuple[str, ...], margin: str) -> Iterator[str]:
    for number, name in enumerate(names):
        value = msgspec.to_builtins(getattr(step, name))
        yield f"{',' if number else ''}\n{margin}{json.dumps(name)}: "
        if name in ("tasks", "advice", "alternatives", "scaling") and value:
            yield "[\n" + ",\n".join(f"{margin} {_as_json(item)}" for item in value) + f"\n{margin}]"
        else:
            yield _as_json(value)


def _as_json(value: Any) -> str:
    """Names of a profile that others wrote may hold half of a surrogate pair, which readers of JSON refuse: U+FFFD is there."""
    text = json.dumps(value, allow_nan=False)
    return json.dumps(_with_whole_pairs(value), allow_nan=False) if "\\ud" in text else text


def _with_whole_pairs(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_with_whole_pairs(item) for item in value]
    return (
        {_with_whole_pairs(name): _with_whole_pairs(item) for name, item in value.items()} if isinstance(value, dict) else value
    )


def schema() -> dict[str, Any]:
    """The JSON schema of what `pieces` writes, which has every key that `load` can do without."""
    made: dict[str, Any] = msgspec.json.schema(Document)
    for part in made["$defs"].values():
        part["description"] = inspect.cleandoc(part["description"])
    made["$defs"]["Document"]["required"] = list(Document.__struct_fields__)
    title = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "tf2npu prediction"}
    return {**title, **made}
