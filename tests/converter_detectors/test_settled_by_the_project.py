"""Findings that the rest of a project settles: one decision told once, one tower, settings that the guide deletes."""

from __future__ import annotations

import pytest

from tf2npu.config import Config
from tf2npu.engine.convert_file import convert_file
from tf2npu.findings import Level
from tf2npu.scanner.facts import gather_facts
from tf2npu.scanner.project_facts import ProjectFacts

TF = "import tensorflow as tf\n"
HVD = f"{TF}import horovod.tensorflow as hvd\n"
MAIN = "if __name__ == '__main__':\n    hvd.init()\n    train()\n"


def levels(files: dict[str, str], rule: str) -> dict[str, list[str]]:
    """The levels of what a rule says, by file."""
    project = ProjectFacts.merge([gather_facts(path, text.encode()) for path, text in files.items()])
    results = {path: convert_file(path, text.encode(), Config(), project) for path, text in files.items()}
    said = {path: [f.level.value for f in result.findings if f.rule == rule] for path, result in results.items()}
    return {path: found for path, found in said.items() if found}


def test_horovod_is_one_decision_in_a_project() -> None:
    files = {
        "model.py": f"{HVD}def f(x):\n    return hvd.allreduce(x)\n",
        "test_model.py": f"{HVD}import model\nhvd.init()\n",
        "train.py": f"{HVD}import model\ndef train():\n    pass\n{MAIN}",
    }
    assert levels(files, "NPU401") == {"model.py": ["info"], "test_model.py": ["info"], "train.py": ["manual"]}


@pytest.mark.parametrize("files", [{"model.py": HVD}, {"train.py": f"{HVD}{MAIN}"}, {"a.py": HVD, "b.py": HVD}])
def test_horovod_is_told_where_no_script_of_the_project_starts_it(files: dict[str, str]) -> None:
    assert all(found == ["manual"] for found in levels(files, "NPU401").values()) and levels(files, "NPU401")


TOWERS = "def build(args):\n    for i in range(args.num_gpus):\n        with tf.device('/gpu:%d' % i):\n            loss = f()\n"
OPTION = "import argparse\np = argparse.ArgumentParser()\np.add_argument('--num_gpus', type=int, default={})\n"


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({"train.py": OPTION.format(1)}, "There is one tower"),
        ({"train.py": OPTION.format(2)}, "The towers of one model share the NPU"),
        ({}, "The towers of one model share the NPU"),
        ({"train.py": OPTION.format(1), "run.sh": "python train.py --num_gpus 4\n"}, "The towers of one model share the NPU"),
    ],
)
def test_towers_are_told_and_one_by_default_is_none(files: dict[str, str], told: str) -> None:
    sources = {"model.py": TF + TOWERS, **files}
    project = ProjectFacts.merge([gather_facts(path, text.encode()) for path, text in sources.items()])
    result = convert_file("model.py", sources["model.py"].encode(), Config(), project)
    of_device = {f.level.value: f.message for f in result.findings if f.rule == "NPU701"}
    assert sorted(of_device) == ["fixed", "info"] and of_device["info"].startswith(told)


@pytest.mark.parametrize(
    ("more", "level"),
    [("", Level.INFO), ("print(c.model_dir)\n", Level.INFO), ("print(c.train_distribute)\n", Level.MANUAL)],
)
def test_what_the_guide_deletes_is_work_where_it_is_read(more: str, level: Level) -> None:
    source = f"{TF}c = tf.estimator.RunConfig(train_distribute=s)\n{more}e = tf.estimator.Estimator(fn, config=c)\n"
    project = ProjectFacts.merge([gather_facts("m.py", source.encode())])
    found = convert_file("m.py", source.encode(), Config(), project).findings
    assert [f.level for f in found if f.rule == "NPU202" and "was removed" in f.message] == [level]
