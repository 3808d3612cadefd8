"""Work that is left only where an option is set which is off by default: a remark that names the condition."""

from __future__ import annotations

import pytest

from tf2npu.config import Config
from tf2npu.engine.convert_file import convert_file
from tf2npu.findings import Level
from tf2npu.scanner.facts import gather_facts
from tf2npu.scanner.project_facts import ProjectFacts

TF = "import tensorflow as tf\n"
DEBUG = "tf.flags.DEFINE_bool('debug', False, 'wrap')\nFLAGS = tf.flags.FLAGS\n"
PARSER = "import argparse\np = argparse.ArgumentParser()\n"
PARSED = f"{PARSER}p.add_argument('--workers', type=int, default=0)\nargs = p.parse_args()\n"
SERVER = "s = tf.train.Server(c, 'worker', 0)"


def levels(files: dict[str, str]) -> set[Level]:
    """The levels of what is said of the server of a cluster, in `train.py` of a project; its message names the condition."""
    project = ProjectFacts.merge([gather_facts(path, text.encode()) for path, text in files.items()])
    result = convert_file("train.py", files["train.py"].encode(), Config(), project)
    found = [finding for finding in result.findings if finding.rule == "NPU956"]
    assert found and all(("Only if " in f.message) == (f.level is Level.INFO) for f in found), found
    return {finding.level for finding in found}


OFF = [
    f"{TF}{DEBUG}if FLAGS.debug:\n    {SERVER}\n",
    f"{TF}{DEBUG}if not FLAGS.debug:\n    pass\nelse:\n    {SERVER}\n",
    f"{TF}{DEBUG}if FLAGS.debug and other():\n    {SERVER}\n",
    f"{TF}{PARSED}if args.workers > 1:\n    {SERVER}\n",
    f"{TF}{PARSED}many = args.workers > 1\nif many:\n    {SERVER}\n",
    f"{TF}{PARSED}def main():\n    if args.workers == 0:\n        return train()\n    {SERVER}\nmain()\n",
    f"{TF}{PARSED}def cluster():\n    {SERVER}\nif args.workers:\n    cluster()\n",
    f"{TF}{PARSER}p.add_argument('--ps', action='store_true')\nargs = p.parse_args()\nif args.ps:\n    {SERVER}\n",
    f"{TF}HOSTS = ''\nif HOSTS:\n    {SERVER}\n",
    f"{TF}if config['cluster']['workers'] == 2:\n    {SERVER}\n",
]


@pytest.mark.parametrize("source", OFF)
def test_what_an_option_switches_off_is_told_with_its_condition(source: str) -> None:
    assert levels({"train.py": source, "settings.yaml": "cluster:\n  workers: 0  # none\n"}) == {Level.INFO}


ON = [
    f"{TF}{SERVER}\n",
    f"{TF}{DEBUG}if not FLAGS.debug:\n    {SERVER}\n",
    f"{TF}{DEBUG}if FLAGS.debug or other():\n    {SERVER}\n",
    f"{TF}{DEBUG}FLAGS.debug = True\nif FLAGS.debug:\n    {SERVER}\n",
    f"{TF}{DEBUG}if FLAGS.other:\n    {SERVER}\n",
    f"{TF}tf.flags.DEFINE_bool('is_train', False, '')\nif tf.flags.FLAGS.is_train:\n    {SERVER}\n",
    f"{TF}tf.flags.DEFINE_string('model', 'a', '')\nif tf.flags.FLAGS.model == 'b':\n    {SERVER}\n",
    f"{TF}{PARSED}def cluster():\n    {SERVER}\nif args.workers:\n    cluster()\ncluster()\n",
    f"{TF}{PARSED}def main():\n    if args.workers == 0:\n        print('one')\n    {SERVER}\nmain()\n",
    f"{TF}{PARSER}p.add_argument('workers', type=int)\nargs = p.parse_args()\nif args.workers:\n    {SERVER}\n",
    f"{TF}{PARSER}p.add_argument('--workers', default=read())\nargs = p.parse_args()\nif args.workers:\n    {SERVER}\n",
]


@pytest.mark.parametrize("source", ON)
def test_what_may_run_stays_as_it_was(source: str) -> None:
    assert levels({"train.py": source}) == {Level.UNSUPPORTED}


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("run.sh", "python train.py --debug\n"), ("run.sh", "python train.py \\\n  --debug=True\n"),
        ("run.sh", "python train.py --debug $DEBUG\n"), ("conf/a.yaml", "train:\n  debug: true\n"),
        ("a.json", '{"train": {"debug": true}}'), ("other.py", "import argparse\np.add_argument('--debug', default=True)\n"),
        ("other.py", "from train import FLAGS\nFLAGS.debug = ask()\n"),
        ("other.py", "import train\ntrain.p.set_defaults(debug=1)\n"),
    ],
)  # fmt: skip
def test_an_option_that_another_file_sets_may_be_on(path: str, text: str) -> None:
    source = f"{TF}{DEBUG}if FLAGS.debug:\n    {SERVER}\n"
    assert levels({"train.py": source, path: text}) == {Level.UNSUPPORTED}


@pytest.mark.parametrize(
    "text", ["python train.py --nodebug\n", "python train.py --debug=False\n", "# python train.py --debug\n"]
)
def test_a_launcher_that_leaves_it_off_changes_nothing(text: str) -> None:
    source = f"{TF}{DEBUG}if FLAGS.debug:\n    {SERVER}\n"
    assert levels({"train.py": source, "run.sh": text}) == {Level.INFO}


def test_a_function_that_another_file_may_call_is_not_looked_through() -> None:
    source = f"{TF}{PARSED}def cluster():\n    {SERVER}\nif args.workers:\n    cluster()\n"
    assert levels({"train.py": source, "other.py": "import train\ntrain.cluster()\n"}) == {Level.UNSUPPORTED}


def test_files_that_cannot_be_read_say_nothing() -> None:
    source = f"{TF}{DEBUG}if FLAGS.debug:\n    {SERVER}\n"
    broken = {
        "a.json": "{",
        "b.yaml": "\0: [",
        "c.json": "[" * 5000,
        "d.sh": "\udcff".encode("utf-8", "surrogatepass").decode("latin-1"),
    }
    assert levels({"train.py": source, **broken}) == {Level.INFO}
