"""Valid files of every kind that others write, each in a folder: the files that a fuzzer damages are the result."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

from benchmarks.fuzzing.in_process import command

Files = list[Path]


def _put(path: Path, data: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def dump(folder: Path) -> Files:
    import numpy as np

    from npu_formats.vendor.dump_file import ND, NHWC, header_bytes, pieces

    for name, step in (("d", 0.0), ("r", 0.5)):
        arrays = [np.arange(24, dtype=np.float32).reshape(2, 3, 4) + step, np.zeros((1, 2, 2, 3), np.float16)]
        head = header_bytes("net/add", 1_700_000_000_000_000, [(arrays[0], ND)], [(arrays[1], NHWC)])
        data = head + b"".join(pieces(arrays))
        for operator in ("one", "two"):
            _put(folder / name / f"Add.{operator}.1.2.1700000000000000", data)
        _put(folder / name / "12345", data)
        _put(folder / name / "mapping.csv", "12345,Add.net_long.3.4.1700000000000001\n")
    return [folder / "d" / "Add.one.1.2.1700000000000000"]


def mapping(folder: Path) -> Files:
    dump(folder)
    return [folder / "d" / "mapping.csv"]


def npy(folder: Path) -> Files:
    import numpy as np

    for name, array in (
        ("a", np.arange(6, dtype=np.float32).reshape(2, 3)),
        ("b", np.asfortranarray(np.ones((3, 2), np.complex64))),
    ):
        np.save(_put(folder / f"{name}.0.1.npy", b""), array)
    return [folder / "a.0.1.npy"]


def _comparison(folder: Path, kind: Callable[..., list[Path]]) -> Files:
    from tests.comparison.hand_made import whole

    made = whole(folder / "s")
    made.write_graph_text()
    for sub in (made.reference, made.step):
        for path in sub.iterdir():
            if path.stat().st_size > 100_000:
                path.unlink()
    (folder / "dump").symlink_to(made.step)
    (folder / "reference").symlink_to(made.reference)
    (folder / "graph").symlink_to(made.graph)
    _put(
        made.reference.parent / "nodes.json", json.dumps({"nodes": {"x": ["Placeholder", []], "fc/MatMul": ["MatMul", ["x:0"]]}})
    )
    return kind(made)


def graph_json(folder: Path) -> Files:
    return _comparison(folder, lambda made: [made.graph])


def compared_dumps(folder: Path) -> Files:
    return _comparison(folder, lambda made: sorted(path for path in made.step.iterdir() if path.suffix != ".csv"))


def compared_npy(folder: Path) -> Files:
    return _comparison(folder, lambda made: sorted(made.reference.iterdir()))


def nodes(folder: Path) -> Files:
    return _comparison(folder, lambda made: [made.reference.parent / "nodes.json"])


def graph_text(folder: Path) -> Files:
    made = _comparison(folder, lambda made: [made.graph.with_suffix(".txt")])
    return [made[0].rename(folder / "g.txt")]


def _profile(folder: Path, pattern: str) -> Files:
    from tests.profiles import trees

    tree = trees.new_tree(folder, "PROF_1")
    out = tree / "mindstudio_profiler_output"
    moments = [(trees.EPOCH + n, n) for n in range(600)]
    head = "Device_id,Component,Timestamp(us),Total Allocated(KB)"
    trees.put(out / "memory_record_1.csv", head, [f"0,GE,{moment},{n}" for moment, n in moments])
    head = "Device_id,event,ddr(KB),hbm(KB),memory(KB),timestamp(us)"
    trees.put(out / "npu_mem_1.csv", head, [f"0,Device,0,{n},{n},{moment}" for moment, n in moments])
    return sorted(tree.rglob(pattern))


def op_summary(folder: Path) -> Files:
    return _profile(folder, "op_summary*")


def step_trace(folder: Path) -> Files:
    return _profile(folder, "step_trace*")


def memory(folder: Path) -> Files:
    return _profile(folder, "*mem*.csv")


def info(folder: Path) -> Files:
    return _profile(folder, "info.json.0")


def task_time(folder: Path) -> Files:
    from tests.profiles import trees

    lines = [trees.row(trees.TASK_TIME, kernel_name=f"k{n % 2}", kernel_type="AI_CORE", stream_id=1, task_id=n % 2, task_time=10,
                       task_start=20 * n) for n in range(6)]  # fmt: skip
    trees.put(folder / "PROF_1" / "task_time_1.csv", trees.TASK_TIME, lines)
    return [folder / "PROF_1" / "task_time_1.csv"]


def trace(folder: Path) -> Files:
    events = [
        {"name": f"op{n % 2}", "ph": "X", "ts": f"{10 * n}.125", "dur": 5.5, "pid": 1, "tid": 2,
         "args": {"Task Type": "AI_CORE", "Physic Stream Id": 3, "Task Id": n % 2, "Model Id": 1}}
        for n in range(6)
    ]  # fmt: skip
    return [_put(folder / "PROF_1" / "msprof_1.json", json.dumps(events))]


def prediction(folder: Path) -> Files:
    from npu_formats.documents.prediction import pieces
    from tests.prediction.samples import sample

    return [_put(folder / "p.json", "".join(pieces(sample())))]


_SOURCE = """import tensorflow as tf
x = tf.placeholder(tf.float32, [None, 4])
loss = tf.reduce_mean(tf.layers.dense(x, 1))
train = tf.train.AdamOptimizer().minimize(loss)
with tf.Session() as sess:
    sess.run(train, {x: [[1, 2, 3, 4]]})
"""


def report(folder: Path) -> Files:
    from tests.report.samples import sample
    from tf2npu.report.formats import as_json

    return [_put(folder / "report.json", "".join(as_json.pieces(sample(("sub/eval.py",)))))]


def run_record(folder: Path) -> Files:
    from tests.cli.test_damaged_files import run_json
    from tests.report.samples import sample
    from tf2npu.report.formats import as_json

    _put(folder / "report.json", "".join(as_json.pieces(sample(("sub/eval.py",)))))
    return [_put(folder / "run.json", run_json())]


def check_record(folder: Path) -> Files:
    from tests.accuracy_check.samples import MIX, agreeing, differing, document

    made = document([agreeing("A"), differing("B", MIX, "conversion")])
    return [_put(folder / "record.json", json.dumps(made))]


def _project(folder: Path, name: str, text: str | bytes) -> Files:
    _put(folder / "src" / "train.py", _SOURCE)
    return [_put(folder / "src" / name, text)]


def pyproject(folder: Path) -> Files:
    text = (
        '[project.scripts]\ntrain = "train:main"\n[tool.tf2npu]\nexclude = ["old/*"]\nignore = ["NPU101"]\ndistributed = "none"\n'
    )
    return _project(folder, "pyproject.toml", text)


def setup_cfg(folder: Path) -> Files:
    return _project(folder, "setup.cfg", "[options.entry_points]\nconsole_scripts =\n    train = train:main\n")


def gitignore(folder: Path) -> Files:
    return _project(folder, ".gitignore", "*.ckpt\n/out/\n!keep[a-z].py\nlogs/**/x?.txt\n")


def notebook(folder: Path) -> Files:
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": ["# Title\n"]},
        {"cell_type": "code", "execution_count": 1, "metadata": {}, "outputs": [], "source": _SOURCE.splitlines(keepends=True)},
        {
            "cell_type": "code",
            "execution_count": None,
            "metadata": {},
            "outputs": [],
            "source": "!pip install x\n%matplotlib inline",
        },
    ]
    return _project(
        folder, "train.ipynb", json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1)
    )


def launcher(folder: Path) -> Files:
    return _project(
        folder,
        "run.sh",
        "#!/bin/bash\nexport A=1\nfor i in 0 1; do\n  python train.py --x $i &\ndone\nmpirun -np 4 python train.py\n",
    )


def baseline(folder: Path) -> Files:
    _project(folder, "a.txt", "")
    entry = {"path": "train.py", "rule": "NPU101", "text": "x", "fingerprint": "0" * 32}
    return [_put(folder / "baseline.json", json.dumps({"tool": "tf2npu", "version": 1, "findings": [entry, entry]}))]


def decisions(folder: Path) -> Files:
    from tests.decisions.made import decided
    from tests.report.samples import result
    from tf2npu.report.model.build import build

    _project(folder, "a.txt", "")
    return [_put(folder / "decisions.toml", decided(build([result("train.py")]), {"NPU901": "accept", "NPU902": "suppress"}))]


def output(folder: Path) -> Files:
    """The files that a conversion keeps of OUT and of its results: the manifest, the record of the report, the history, the
    cache."""
    _project(folder, "a.txt", "")
    for place in ("XDG_STATE_HOME", "XDG_CACHE_HOME"):
        os.environ[place] = str(folder / place)
    assert not command([*f"convert {folder}/src {folder}/out --jobs 1".split()], (0, 1))
    return sorted(path for path in folder.glob("XDG_*/**/*") if path.is_file() and path.stat().st_size)


def undo(folder: Path) -> Files:
    _project(folder, "a.txt", "")
    for place in ("XDG_STATE_HOME", "XDG_CACHE_HOME"):
        os.environ[place] = str(folder / place)
    assert not command([*f"convert {folder}/src --in-place --report {folder}/report --jobs 1 --no-cache".split()], (0, 1))
    return sorted(path for path in folder.glob("XDG_STATE_HOME/**/*") if path.is_file() and path.stat().st_size)


def bank(folder: Path) -> Files:
    from npu_runtime.observers.tuning.bank.document import render
    from npu_runtime.observers.tuning.bank.operator_entry import value_of
    from tests.tuning.test_bank_files import entry

    return [
        _put(
            folder / "Ascend910A_operators.json",
            render("operators", {"soc": "Ascend910A"}, [value_of(entry(n)) for n in range(3)]),
        )
    ]


def sealed(data: bytes) -> bytes:
    """A bank with the checksum of what stands in it now."""
    from npu_runtime.observers.tuning.bank import document

    try:
        found = json.loads(data)
        found["checksum"] = document._checksum(found["kind"], found["subject"], found["entries"])
        return json.dumps(found).encode()
    except (ValueError, TypeError, KeyError, RecursionError, document.Damaged):
        return data


def tune_result(folder: Path) -> Files:
    from tests.tuning.test_result_files import LISTING

    return [_put(folder / "tune_result_pid1_20200808_180338123.json", LISTING)]


def rank_table(folder: Path) -> Files:
    devices = [{"device_id": str(n), "device_ip": f"192.168.1.{n + 1}", "rank_id": str(n)} for n in range(4)]
    servers = [{"server_id": "10.0.0.1", "device": devices[:2]}, {"server_id": "10.0.0.2", "device": devices[2:]}]
    table = {"version": "1.0", "status": "completed", "server_count": "2", "server_list": servers}
    return [_put(folder / "table.json", json.dumps(table))]


def older_rank_table(folder: Path) -> Files:
    devices = [{"device_id": str(n), "device_ip": f"192.168.1.{n + 1}"} for n in range(4)]
    instances = [{"pod_name": str(n), "server_id": "10.0.0.1", "devices": [one]} for n, one in enumerate(devices)]
    groups = [{"group_name": "g", "device_count": "4", "instance_count": "4", "instance_list": instances}]
    return [_put(folder / "table.json", json.dumps({"status": "completed", "group_count": "1", "group_list": groups}))]


def mix_list(folder: Path) -> Files:
    lists = {"black-list": {"to-add": ["MatMul"], "to-remove": ["Add"]}, "white-list": {"to-add": ["BiasAdd"]}}
    return [_put(folder / "ops_info.json", json.dumps(lists))]


def switches(folder: Path) -> Files:
    switch = {"Switch": {"GraphFusion": {"ALL": "on", "SoftmaxFusionPass": "off"}, "UBFusion": {"ALL": "off"}}}
    return [_put(folder / "fusion.cfg", json.dumps(switch))]


def types(folder: Path) -> Files:
    return [
        _put(
            folder / "types.cfg",
            "OpType::MatMul::InputDtype:float16,float16,OutputDtype:float32\na/b::InputDtype:float32,OutputDtype:float16\n",
        )
    ]


def profiling_options(folder: Path) -> Files:
    return [
        _put(folder / "options.json", '{"output": "/x", "training_trace": "on", "task_trace": "l0", "aic_metrics": "Memory"}')
    ]


def narrowing(folder: Path) -> Files:
    return [
        _put(
            folder / "tune.json",
            json.dumps({"tune_ops_name": ["a", "b"], "tune_ops_type": ["Conv2D"], "tune_optimization_level": "O1"}),
        )
    ]
