"""The porting guide's own example, ResNet-50 of official/r1/resnet, converted and held against what the guide does by hand.

    python -m benchmarks.guide_resnet --models DIR

DIR is a checkout or a (bare) git directory of the models repository. Exit codes: 0 everything is as in the guide, 1 something
is not, 77 without DIR.
"""

from __future__ import annotations

import argparse
import ast
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from benchmarks.acceptance.checkouts import REPOSITORIES, Absent, bring
from tf2npu.config import Config
from tf2npu.engine.convert_file import ProjectFacts, convert_file, gather_facts
from tf2npu.findings import FileResult

ABSENT = 77
RESNET = "official/r1/resnet"
LOOP, IMAGENET = f"{RESNET}/resnet_run_loop.py", f"{RESNET}/imagenet_main.py"
MODEL, CIFAR = f"{RESNET}/resnet_model.py", f"{RESNET}/cifar10_main.py"
START, STOP = "init_resource()\n  try:", "  finally:\n    shutdown_resource(npu_sess, npu_shutdown)\n    close_session(npu_sess)"
SHARD = "  else:\n    dataset = dataset.shard(get_rank_size(), get_rank_id())\n"


@dataclass(frozen=True)
class Wanted:
    """A change of the guide: text that a converted file holds, or a finding at a line of the original that holds `at`."""

    what: str
    path: str
    text: str = ""
    rule: str = ""
    at: str = ""


ALWAYS = (
    Wanted("NPURunConfig", LOOP, "run_config = NPURunConfig(\n"),
    Wanted("NPUEstimator", LOOP, "classifier = NPUEstimator(\n"),
    Wanted("train_distribute goes", LOOP, rule="NPU202", at="run_config = tf.estimator.RunConfig("),
    Wanted("labels as float32, suggested", LOOP, rule="NPU508", at="accuracy = tf.compat.v1.metrics.accuracy("),
    Wanted("argmax pooling, suggested", MODEL, rule="NPU509", at="inputs = tf.compat.v1.layers.max_pooling2d("),
    Wanted("loss scale 512, suggested", LOOP, rule="NPU510", at="optimizer.compute_gradients(loss * loss_scale)"),
)
DISTRIBUTED = (
    Wanted("ImageNet sharded by rank", IMAGENET, SHARD, "NPU603", "dataset = dataset.shard("),
    Wanted("CIFAR sharded by rank", CIFAR, SHARD, "NPU603", "dataset = dataset.shard("),
    Wanted("optimizer", LOOP, "npu_distributed_optimizer_wrapper(tf.compat.v1.train.MomentumOptimizer(", "NPU412",
           "tf.compat.v1.train.MomentumOptimizer("),
    Wanted("first values broadcast", LOOP, "hooks=npu_hooks_append(hooks_list=list(train_hooks or ()))"),
    Wanted("start, ImageNet", IMAGENET, START, "NPU419", "if __name__ == '__main__':"),
    Wanted("end, ImageNet", IMAGENET, STOP),
    Wanted("start, CIFAR", CIFAR, START, "NPU419", "if __name__ == '__main__':"),
    Wanted("end, CIFAR", CIFAR, STOP),
    Wanted("accuracy over all ranks", LOOP, "  accuracy = (npu_allreduce(accuracy[0]), accuracy[1])\n", "NPU420",
           "accuracy = tf.compat.v1.metrics.accuracy("),
    Wanted("top 5 over all ranks", LOOP, "accuracy_top_5 = (npu_allreduce(accuracy_top_5[0]), accuracy_top_5[1])\n"),
)  # fmt: skip


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.guide_resnet", description=__doc__.splitlines()[0])
    parser.add_argument("--models", type=Path, metavar="DIR")
    given = parser.parse_args(arguments).models
    repository = next(r for r in REPOSITORIES if r.option == "models")
    if given is None:
        print(f"absent: models: give --models DIR; the public repository is {repository.where}")
        return ABSENT
    scratch = Path(tempfile.mkdtemp(prefix="tf2npu-resnet-"))
    try:
        brought = bring(repository, given, scratch)
        print(f"{repository.where} at {brought.version}")
        n_wrong = sum(_check(brought.folder, scratch, mode) for mode in ("none", "tf"))
    except Absent as missing:
        print(f"absent: {missing}")
        return ABSENT
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return int(n_wrong > 0)


def _check(folder: Path, scratch: Path, mode: str) -> int:
    """Convert for one mode and print a line for each thing wanted.  Returns: how many are not there."""
    results = _convert(folder, mode)
    wanted = ALWAYS if mode == "none" else ALWAYS + DISTRIBUTED
    lines = [(f"{w.what} ({w.path})", _is_there(w, results[w.path])) for w in wanted]
    lines.append(("every output compiles", all(_compiles(r.after) for r in results.values())))
    lines.append(("a second conversion changes nothing", _is_stable(results, mode)))
    out = scratch / f"out-{mode}"
    for path, result in results.items():
        (out / path).parent.mkdir(parents=True, exist_ok=True)
        (out / path).write_bytes(result.after)
    lines += [(f"{path} can be imported", _imports(out, path)) for path in (LOOP, IMAGENET, MODEL, CIFAR)]
    print(f"--distributed {mode}:")
    for what, holds in lines:
        print(f"  {'ok   ' if holds else 'WRONG'} {what}")
    return sum(not holds for _, holds in lines)


def _convert(folder: Path, mode: str) -> dict[str, FileResult]:
    names = sorted(p.relative_to(folder).as_posix() for p in (folder / "official").rglob("*.py") if p.is_file())
    wanted = ("official/__init__.py", "official/r1/", "official/utils/")
    sources = {name: (folder / name).read_bytes() for name in names if name.startswith(wanted)}
    return _results(sources, mode)


def _results(sources: dict[str, bytes], mode: str) -> dict[str, FileResult]:
    project = ProjectFacts.merge(gather_facts(path, data) for path, data in sources.items())
    return {path: convert_file(path, data, Config(distributed=mode), project) for path, data in sources.items()}


def _is_there(wanted: Wanted, result: FileResult) -> bool:
    if wanted.text not in result.after.decode().replace("\r\n", "\n"):
        return False
    lines = [number for number, line in enumerate(result.before.decode().splitlines(), 1) if wanted.at and wanted.at in line]
    found = {f.span.line for f in result.findings if f.rule == wanted.rule}
    return not wanted.rule or any(line in found for line in lines)


def _compiles(data: bytes) -> bool:
    try:
        ast.parse(data)
    except SyntaxError:
        return False
    return True


def _is_stable(results: dict[str, FileResult], mode: str) -> bool:
    again = _results({path: result.after for path, result in results.items()}, mode)
    return all(again[path].after == result.after for path, result in results.items())


def _imports(out: Path, path: str) -> bool:
    """Whether a converted module can be imported beside the bundled npu_bridge."""
    module = path.removesuffix(".py").replace("/", ".")
    env = {**os.environ, "PYTHONPATH": str(out), "TF_CPP_MIN_LOG_LEVEL": "3"}
    done = subprocess.run([sys.executable, "-c", f"import {module}"], env=env, capture_output=True, text=True)
    if done.returncode:
        print(done.stderr.strip().splitlines()[-1])
    return done.returncode == 0


if __name__ == "__main__":
    sys.exit(main())
