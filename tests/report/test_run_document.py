"""Keys that a run adds to report.json: each is in the schema and in the types, and any other is refused before it is written."""

import json

import jsonschema
import msgspec
import pytest

from npu_runtime.trace.run_log import ProgramRecord, RunLog
from tests.report.test_json import RUN
from tf2npu.report.errors import NotAReport
from tf2npu.report.formats import as_json
from tf2npu.report.model import document as report_document
from tf2npu.report.runs import document, record

SCHEMA = json.loads(as_json.SCHEMA_FILE.read_text(encoding="utf-8"))
OF_RUN = {"$defs": SCHEMA["$defs"], "$ref": "#/$defs/run"}


def ran() -> dict:
    """The document of a log in which every list holds something."""
    log = RunLog()
    session = log.open_session()
    session.precision = "allow_mix_precision"
    program = ProgramRecord(("loss:0",), ("a",), {"b": "text is host data"}, 3.0, 1.0, n_runs=2, n_compilations=3)
    program.device_types["float16"] = 1
    session.programs.append(program)
    log.tuning = lambda: ["tuning: GA: 3 operators"]
    empty = {"options_without_effect": [], "sessions_left_open": [], "sessions_on_tensorflow": []}
    return {"script": "train.py", "exit_code": 0, **log.document(), **empty}


def test_a_run_log_fits_the_schema():
    jsonschema.validate(ran(), OF_RUN)
    assert document.checked(ran()) == ran()
    assert ran()["precision"] == ["precision: allow_mix_precision: 1 node in float16"]


def test_the_types_have_the_keys_of_the_schema():
    """Each object that report.json can hold, from the run down."""
    pairs = [(report_document.Run, SCHEMA["$defs"]["run"])]
    for kind, described in pairs:
        fields = {field.name: field.type for field in msgspec.structs.fields(kind)}
        assert set(fields) == set(described["properties"]), kind
        for name, inner in fields.items():
            schema = described["properties"][name]
            for found in _structs(inner):
                schema = schema.get("items", schema)
                schema = SCHEMA["$defs"][schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
                pairs.append((found, schema))
    assert len(pairs) >= 5


def _structs(kind) -> list:
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return [kind]
    return [found for inner in getattr(kind, "__args__", ()) for found in _structs(inner)]


def test_the_record_has_the_keys_of_its_schema():
    """run.json, from the evidence down; its run is that of the report."""
    schema = json.loads(record.SCHEMA_FILE.read_text(encoding="utf-8"))
    top = {field.name for field in msgspec.structs.fields(record.RecordDocument)}
    assert top == set(schema["properties"]) == set(schema["required"])
    evidence = schema["properties"]["evidence"]
    for field in msgspec.structs.fields(record.Evidence):
        described = evidence["properties"].pop(field.name)
        for kind in _structs(field.type):
            assert {inner.name for inner in msgspec.structs.fields(kind)} == set(described["items"]["properties"]), kind
    assert not evidence["properties"]


@pytest.mark.parametrize(
    ("run", "named"),
    [
        ({**RUN, "unheard_of": 1}, "$.run.unheard_of"),
        ({**RUN, "sessions": [{"name": "s", "runs": [], "x": 1}]}, "$.run.sessions[0].x"),
        ({**RUN, "steps": -1}, "steps"),
    ],
)
def test_what_the_schema_does_not_know_is_refused(run, named):
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(run, OF_RUN)
    with pytest.raises(NotAReport) as refused:
        document.checked(run)
    assert named in str(refused.value)
