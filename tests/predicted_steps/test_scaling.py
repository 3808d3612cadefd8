"""Scaling of steps over devices, against the formula of the issue's figures worked out here, and against the vendor's words."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from tests.predicted_steps import scripts

SCHEMA = json.loads((Path(__file__).parents[2] / "npu_formats/documents/prediction.schema.json").read_text(encoding="utf-8"))
COUNTS = [8, 16, 512]
PARAMETERS = 64 * 96 + 96 + 96 * 16 + 16
"""Of the network of tests/predicted_steps/scripts.py."""

LAYERS = """
x = tf.placeholder(tf.float32, [None, 1024])
net = x
for number in range(N_LAYERS):
    net = tf.layers.dense(net, 1024, tf.nn.relu, use_bias=False)
loss = tf.reduce_mean(tf.square(net))
optimizer = tf.train.MomentumOptimizer(0.1, 0.9)
SPLIT
train = (NPUDistributedOptimizer(optimizer) if IS_DISTRIBUTED else optimizer).minimize(loss)
with tf.Session(config=device_config(hcom_parallel=PARALLEL)) as session:
    session.run(tf.global_variables_initializer())
    for step in range(20):
        session.run(train, {x: np.ones([BATCH, 1024], np.float32)})
"""


def _layers(*, split: str = "", distributed: bool = False, parallel: bool = False, batch: int = 4096, n: int = 8) -> str:
    """Layers of 4 MB each."""
    text = LAYERS.replace("SPLIT", split).replace("IS_DISTRIBUTED", str(distributed))
    return text.replace("PARALLEL", str(parallel)).replace("BATCH", str(batch)).replace("N_LAYERS", str(n))


RANK_0_OF_2 = {"RANK_SIZE": "2", "RANK_ID": "0", "HCCL_CONNECT_TIMEOUT": "5", "TF2NPU_COLLECTIVES": "00|unused"}
"""Only shapes are computed, so nobody has to answer."""


def _reduce_us(n_bytes: float, n: int, hccs: float = 30e3, roce: float = 12.5e3) -> float:
    """0.35 ms, and a ring in each server of 8, then one across the servers for each of the 8 places."""
    inside, servers = min(n, 8), max(1, n // 8)
    return 350 + 2 * (inside - 1) / inside * n_bytes / hccs + 2 * (servers - 1) / servers * n_bytes / inside / roce


def test_a_script_without_collectives_is_shown_as_if_data_parallel(predict):
    found = predict(scripts.FEED, shapes_only=True, devices=COUNTS).document
    jsonschema.validate(found, SCHEMA)
    assert found["scaling_is_projected"] and found["batch"] == 32
    for row, number in zip(found["scaling"], COUNTS, strict=True):
        us = _reduce_us(4 * PARAMETERS, number)
        assert (row["devices"], row["servers"], row["batch"], row["calls"]) == (number, number // 8, 32 * number, 1)
        assert row["communication_ms"] == pytest.approx(us / 1000, rel=1e-6)
        assert row["exposed_ms"] == pytest.approx(us / 1000, rel=1e-6), "behind the backward pass nothing hides it"
        alone = row["step_ms"] - us / 1000
        assert row["efficiency"] == pytest.approx(alone / row["step_ms"], rel=1e-6)
        assert row["examples_per_s"] == pytest.approx(32 * number / row["step_ms"] * 1000)
        assert row["limit"] == "calls", "31 KB take 2 us, and the call 350"


def test_nothing_is_said_of_scaling_unless_asked(predict):
    found = predict(scripts.FEED, shapes_only=True).document
    assert found["scaling"] == [] and not found["scaling_is_projected"]


@pytest.mark.whole(beyond=2)
@pytest.mark.parametrize(
    ("soc", "n_layers", "batch", "number", "limit"),
    [
        ("Ascend910A", 8, 4096, 8, "hccs"), ("Ascend910B2", 64, 4096, 512, "roce"), ("Ascend910A", 8, 200_000, 8, "compute"),
        ("Ascend910A", 8, 16, 1, "compute"),
    ],
)  # fmt: skip
def test_what_limits(predict, soc: str, n_layers: int, batch: int, number: int, limit: str):
    """32 MB take 1.9 ms over one HCCS link, 256 MB 2.4 ms over the seven of a mesh and 2.6 ms over RoCE; computing hides it."""
    found = predict(_layers(batch=batch, n=n_layers), soc=soc, shapes_only=True, devices=[number]).document
    (row,) = found["scaling"]
    assert row["limit"] == limit
    assert (row["efficiency"] >= 0.95) == (limit == "compute")


def test_the_scripts_own_calls_are_counted_and_joined_by_its_split(predict):
    """Eight gradients of 4 MB: three in the first part, five in the second."""
    split = "from hccl.split.api import set_split_strategy_by_idx; set_split_strategy_by_idx([2, 7])"
    body = _layers(split=split, distributed=True)
    found = predict(body, environment=RANK_0_OF_2, shapes_only=True, devices=COUNTS).document
    assert not found["scaling_is_projected"]
    tasks = [task for task in found["tasks"] if task["engine"] == "HCCL"]
    assert [task["op_type"] for task in tasks] == ["HcomAllReduce"] * 2
    for task, count in zip(sorted(tasks, key=lambda task: task["start_us"]), (3, 5), strict=True):
        assert task["shapes"]["inputs"] == [[1024, 1024]] * count
        assert task["duration_us"] == pytest.approx(_reduce_us(count * 4 * 1024**2, 8))
        assert len(task["members"]) == count
    row = found["scaling"][-1]
    wanted = sum(_reduce_us(count * 4 * 1024**2, 512) for count in (3, 5))
    assert (row["calls"], row["communication_ms"]) == (2, pytest.approx(wanted / 1000))


def test_hcom_parallel_begins_a_call_with_its_last_gradient(predict):
    """The vendor: by default reductions and the passes follow each other; with hcom_parallel the first part hides behind them."""
    split = "from hccl.split.api import set_split_strategy_by_idx; set_split_strategy_by_idx([2, 7])"
    found = {}
    for parallel in (False, True):
        body = _layers(split=split, distributed=True, parallel=parallel)
        found[parallel] = predict(body, environment=RANK_0_OF_2, shapes_only=True, devices=[8]).document
    for parallel, document in found.items():
        first, second = sorted((t for t in document["tasks"] if t["engine"] == "HCCL"), key=lambda task: task["start_us"])
        end = {member: task["start_us"] + task["duration_us"] for task in document["tasks"] for member in task["members"]}
        gradients = {
            layer: end[f"gradients/dense{layer}/MatMul_grad/MatMul_1"] for layer in ("", *(f"_{n}" for n in range(1, 8)))
        }
        ready = max(gradients[f"_{number}"] for number in (5, 6, 7))
        last = max(gradients.values())
        assert first["start_us"] == pytest.approx(ready if parallel else last)
        assert second["start_us"] == pytest.approx(max(last, first["start_us"] + first["duration_us"]))
        assert (first["stream"] == 0) == (not parallel)
        updates = [t for t in document["tasks"] if "ApplyMomentum" in t["op_type"]]
        assert min(t["start_us"] for t in updates) >= first["start_us"] + first["duration_us"] - 1e-6
    assert found[True]["step_ms"] < found[False]["step_ms"]
    assert any(f"takes {found[True]['step_ms']:.3f} ms instead of" in note for note in found[False]["notes"])
    assert not any("hcom_parallel" in note for note in found[True]["notes"])
    row = found[True]["scaling"][0]
    assert row["exposed_ms"] < row["communication_ms"]
