"""Documents of real scripts, and how these end."""

import json

import jsonschema
import pytest

from npu_formats.documents import prediction
from tests.how_many import some
from tests.predicted_steps import scripts

SCHEMA = json.loads(prediction.SCHEMA_FILE.read_text())
SUNK = scripts.ESTIMATOR.replace("LOOP", "10")
ENDING = {
    "session": scripts.FEED, "monitored": scripts.MONITORED, "estimator": scripts.ESTIMATOR.replace("LOOP", "1"),
    "sunk estimator": SUNK, "keras": scripts.KERAS, "thread": scripts.THREAD,
}  # fmt: skip


@pytest.mark.parametrize("name", some(ENDING, 3))
def test_a_script_ends_as_it_would_by_itself(predict, name):
    done, found, _ = predict(ENDING[name], shapes_only=True)
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr[-3000:]
    assert "finally" in done.stdout and "trained to the end" not in done.stdout
    jsonschema.validate(found, SCHEMA)
    assert sum(found["shares"].values()) == pytest.approx(1.0)
    assert found["batch"] == 32 and found["step_ms"] > 0


@pytest.mark.whole(but=("1",))
@pytest.mark.parametrize("steps", [1, 5])
def test_as_many_steps_run_as_are_asked_for(predict, steps):
    done, found, _ = predict(scripts.FEED, steps=steps)
    assert done.stdout.count("step") == steps - 1  # the last one is not printed any more
    assert found["step_ms"] == predict(scripts.FEED, steps=6 - steps).document["step_ms"]


@pytest.mark.whole(beyond=1)
@pytest.mark.parametrize("body", [scripts.FEED, scripts.DATASET, SUNK], ids=["feed", "tf.data", "estimator"])
def test_shapes_alone_give_the_same_document(predict, body):
    computed, shapes = predict(body).document, predict(body, shapes_only=True).document
    assert computed is not None
    assert _without_places(computed) == _without_places(shapes)


def _without_places(found):
    """The scripts are the same text in two folders."""
    text = json.dumps(found, sort_keys=True)
    for source in {t["source"].rsplit("/", 1)[0] for t in found["tasks"] if t["source"]}:
        text = text.replace(source, "")
    return json.loads(text)


def test_two_runs_give_the_same_bytes(predict):
    first, second = (predict(scripts.FEED, again=n) for n in (0, 1))
    assert _without_places(first.document) == _without_places(second.document)


@pytest.mark.whole(beyond=2)
@pytest.mark.parametrize("value", ["{", "[]", '{"steps": 3}', '"x"'])
def test_a_request_that_is_none_is_an_error_that_says_what_to_do(predict, value):
    done, found, _ = predict(scripts.FEED, environment={"TF2NPU_PREDICT": value})
    assert found is None and done.returncode != 0
    assert "TF2NPU_PREDICT is no request of tf2npu predict" in done.stderr and "unset it" in done.stderr


def test_a_sunk_loop_is_issued_once_and_copies_nothing(predict):
    sunk, issued = predict(SUNK, shapes_only=True).document, predict(ENDING["estimator"], shapes_only=True).document
    asked = predict(ENDING["estimator"], shapes_only=True, iterations_per_loop=10).document
    assert sunk["step_ms"] < issued["step_ms"] and asked["step_ms"] == pytest.approx(sunk["step_ms"], rel=0.02)
    others = [other for other in sunk["alternatives"] if other["soc"] != sunk["soc"]]
    assert others and all(other["is_sunk"] for other in others)


@pytest.mark.whole
def test_two_chips_and_a_precision(predict):
    found = predict(scripts.FEED, soc="Ascend910A,Ascend910B1", precision="force_fp16", shapes_only=True).document
    jsonschema.validate(found, SCHEMA)
    assert [chip["soc"] for chip in found["chips"]] == ["Ascend910A", "Ascend910B1"]
    assert {chip["precision"] for chip in found["chips"]} == {"force_fp16"}
    assert found["step_ms"] == found["chips"][0]["step_ms"] != found["chips"][1]["step_ms"]


@pytest.mark.whole
def test_rank_0_alone_writes_and_all_stop(predict):
    ranks = {"RANK_SIZE": "2", "HCCL_CONNECT_TIMEOUT": "5"}
    first = predict(scripts.FEED, environment={**ranks, "RANK_ID": "0"}, shapes_only=True)
    second = predict(scripts.FEED, environment={**ranks, "RANK_ID": "1"}, shapes_only=True)
    assert first.done.returncode == second.done.returncode == 0, second.done.stderr[-2000:]
    assert first.document["batch"] == 64 and second.document is None
    assert {other["batch"] for other in first.document["alternatives"]} == {64}
    assert "finally" in second.done.stdout and "trained to the end" not in second.done.stdout


def test_tasks_name_the_line_that_made_them(predict):
    _, found, script = predict(scripts.FEED)
    lines = script.read_text().splitlines()
    text = {t["name"]: lines[int(t["source"].rsplit(":", 1)[1]) - 1] for t in found["tasks"] if t["source"]}
    assert all(t["source"].startswith(str(script)) for t in found["tasks"] if t["source"])
    forward = [line for name, line in text.items() if name.startswith("dense/MatMul")]
    gradient = [line for name, line in text.items() if name.startswith("gradients/dense/MatMul")]
    optimizer = [line for name, line in text.items() if name.startswith("Adam/")]
    assert forward and gradient and optimizer
    assert all("# forward" in line for line in forward + gradient) and all("# optimizer" in line for line in optimizer)


def test_memory_is_what_the_run_took(predict):
    done, found, _ = predict(scripts.MEMORY)
    taken = int(done.stdout.rsplit("bytes", 1)[1])
    assert found["memory_peak_bytes"] == pytest.approx(taken, rel=0.05)
    assert 0 < max(value for _, value in found["memory"]) <= found["memory_peak_bytes"]


def test_the_largest_batch_fits_and_one_more_does_not(predict):
    def found(batch):
        return predict(scripts.WIDE.replace("batches(32)", f"batches({batch})"), shapes_only=True).document

    largest = found(32)["largest_batch"]
    fits, one_more = found(largest), found(largest + 1)
    assert largest > 1000 and fits["largest_batch"] == one_more["largest_batch"] == largest
    assert fits["memory_peak_bytes"] <= fits["hbm_bytes"] < one_more["memory_peak_bytes"]


@pytest.mark.whole
def test_further_batches(predict):
    found = predict(scripts.FEED, batch=[48, 64], shapes_only=True).document
    rows = {row["batch"]: row["step_ms"] for row in found["alternatives"] if row["batch"] != 32}
    assert set(rows) == {48, 64}
    asked = predict(scripts.FEED.replace("batches(32)", "batches(64)"), shapes_only=True).document
    assert rows[64] == pytest.approx(asked["step_ms"])


def test_a_fixed_batch_is_said(predict):
    found = predict(scripts.FIXED, batch=[64], shapes_only=True).document
    assert {row["batch"] for row in found["alternatives"]} == {32} and found["largest_batch"] is None
    assert any(note.startswith("There is no prediction for a batch of 64") for note in found["notes"])


def test_a_loop_is_predicted_in_the_memory_that_the_script_takes(predict):
    plain = predict(scripts.RECURRENT, environment={"TF2NPU_PREDICT": ""}).done
    done, found, _ = predict(scripts.RECURRENT)
    assert plain.returncode == 0 and found is not None, done.stderr[-3000:]
    taken, usual = (int(one.stdout.rsplit("kilobytes", 1)[1]) for one in (done, plain))
    assert taken < 2 * usual
    assert found["batch"] == 1 and found["largest_batch"] > 10_000


@pytest.mark.whole(beyond=1)
@pytest.mark.parametrize("n_steps", [3, 6, 20])
def test_batches_that_change_are_predicted_and_their_shapes_said(predict, n_steps):
    done, found, _ = predict(scripts.CHANGING.replace("STEPS", str(n_steps)))
    assert done.returncode == 0 and found is not None, done.stderr[-3000:]
    assert ("trained to the end" in done.stdout) == (n_steps < 12)
    last = 32 + (3 if n_steps < 12 else 12) - 1
    (note,) = [note for note in found["notes"] if note.startswith("The shapes of what is fed change")]
    assert found["batch"] == last and f"a step of [{last},64], which 1 of " in note and "[32,64], [33,64]" in note


def test_a_last_batch_of_another_size_does_not_end_the_wait(predict):
    body = scripts.CHANGING.replace("32 + step", "32 - 8 * (step % 2)").replace("STEPS", "20")
    done, found, _ = predict(body)
    assert done.returncode == 0 and "trained to the end" not in done.stdout
    assert found["batch"] == 32 and any("which 3 of 5 steps had; others had [24,64]." in note for note in found["notes"])


def test_few_steps_are_no_prediction(predict):
    assert predict(scripts.CHANGING.replace("STEPS", "2")).document is None
