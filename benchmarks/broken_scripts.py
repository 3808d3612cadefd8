"""Scripts of the model zoo that are broken as published: under `tf2npu run` each ends soon, and its exception says why.

    python -m benchmarks.broken_scripts --model-zoo DIR [--limit SECONDS]

DIR: a checkout of the vendor's ModelZoo-TensorFlow or its bare git directory.  Exit codes: 0 none hangs, none crashes the
interpreter, each ends with one of the exceptions named here; 1 otherwise; 77 without the model zoo.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from benchmarks.migrated import zoo
from benchmarks.migrated.outcome import TIMED_OUT, run
from benchmarks.migrated.rows import _COLA, _pretraining
from benchmarks.migrated_scripts import ABSENT, stand_ins


@dataclass(frozen=True)
class Broken:
    """folder, script: as in the model zoo.  errors: how genuine TensorFlow 1.15 ends it.  data: what is made for it."""

    folder: str
    script: str
    errors: tuple[str, ...]
    arguments: tuple[str, ...] = ()
    data: str = ""


_NLP = "built-in/nlp"
_PRETRAIN = _pretraining("--output_dir=output")
_FOLDER = tuple(word.replace("pretraining.tfrecord", "records") for word in _PRETRAIN)
_ALBERT = tuple(word.replace("bert_config_file", "albert_config_file") for word in _PRETRAIN)
SCRIPTS = (
    Broken("contrib/cv/MAML_ID0755_for_TensorFlow", "main.py", ("UnboundLocalError", "ValueError"), ("--datasource=sinusoid",)),
    Broken("contrib/cv/META-SGD_ID1236_for_TensorFlow", "main_npu.py", ("UnboundLocalError", "ValueError"),
           ("--datasource=sinusoid",)),
    Broken(f"{_NLP}/Albert_ID0632_for_TensorFlow", "albert/run_pretraining.py", ("TypeError",), _ALBERT, "_bert"),
    Broken(f"{_NLP}/Albert_ZH_for_TensorFlow", "run_pretraining_google.py", ("TypeError",), _ALBERT, "_bert"),
    Broken(f"{_NLP}/BertGoogle_Series_for_TensorFlow", "run_classifier.py", ("NameError",), _COLA, "_mrpc"),
    Broken(f"{_NLP}/BertGoogle_Series_for_TensorFlow", "run_pretraining.py", ("TypeError",), _FOLDER, "_bert"),
    Broken(f"{_NLP}/Bertsquad_ID0495_for_TensorFlow", "run_classifier.py", ("NameError",), _COLA, "_mrpc"),
    Broken(f"{_NLP}/BertBase_Google_ID0631_for_TensorFlow", "run_classifier.py", ("AttributeError",), _COLA, "_mrpc"),
    Broken(f"{_NLP}/CLUE_BERT_ID1646_for_TensorFlow", "run_pretraining.py", ("AttributeError",), _PRETRAIN, "_bert"),
    Broken(f"{_NLP}/BertCOLA_ID1629_for_TensorFlow", "run_pretraining.py", ("TypeError",), _FOLDER, "_bert"),
    Broken("built-in/recommendation/DIEN_ID0109_for_TensorFlow", "script/train.py", ("TypeError",), ("train", "DNN"),
           "_empty_reviews"),
)  # fmt: skip


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.broken_scripts", description=__doc__.splitlines()[0])
    parser.add_argument("--model-zoo", type=Path)
    parser.add_argument("--limit", type=float, default=60.0, metavar="SECONDS")
    options = parser.parse_args(argv)
    if options.model_zoo is None or zoo.find(options.model_zoo) is None:
        print(f"--model-zoo {options.model_zoo}: no checkout and no git directory of ModelZoo-TensorFlow")
        return ABSENT
    print(f"model zoo at commit {zoo.commit(options.model_zoo)}")
    with tempfile.TemporaryDirectory(prefix="broken-") as scratch:
        good = [_ends_well(broken, options, Path(scratch) / str(number)) for number, broken in enumerate(SCRIPTS)]
    print(f"{sum(good)} of {len(good)} end as they do on TensorFlow 1.15")
    return 0 if all(good) else 1


def _ends_well(broken: Broken, options: argparse.Namespace, out: Path) -> bool:
    """Run one script and print how it ended; whether that is one of its errors, in time."""
    out.mkdir()
    folder = zoo.extract(options.model_zoo, broken.folder, out)
    script = folder / broken.script
    if broken.data:
        make = [sys.executable, "-c", _PREPARE, broken.data, str(script.parent)]
        subprocess.run(make, check=True, capture_output=True, cwd=Path(__file__).parent.parent)
    outcome = run("run", script, broken.arguments, script.parent, [stand_ins(out), folder], out / "log", options.limit)
    error = last_error((out / "log").read_text(errors="replace"))
    name = error.partition(":")[0].rpartition(".")[2]
    is_good = outcome.code == 1 and name in broken.errors
    state = "hangs" if outcome.code == TIMED_OUT else f"exit {outcome.code}"
    mark = "ok " if is_good else "NOT"
    print(f"{mark} {broken.folder}/{broken.script}: {state} in {outcome.seconds:.0f} s, {error[:150]}", flush=True)
    return is_good


# In a process of its own, because the makers use TensorFlow.
_PREPARE = """
import pickle
import sys
from pathlib import Path
from benchmarks.migrated import rows
folder = Path(sys.argv[2])
if sys.argv[1] == "_empty_reviews":
    for name in ("local_train_splitByUser", "local_test_splitByUser", "item-info", "reviews-info", "switch_config.txt"):
        (folder / name).touch()
    for name in ("uid_voc.pkl", "mid_voc.pkl", "cat_voc.pkl"):
        (folder / name).write_bytes(pickle.dumps({"default_mid": 0}))
    raise SystemExit
getattr(rows, sys.argv[1])(folder)
(folder / "records").mkdir(exist_ok=True)  # where a script takes a folder
(folder / "records" / "train.tfrecord").write_bytes((folder / "pretraining.tfrecord").read_bytes())
"""


def last_error(log: str) -> str:
    """The last line that begins with the name of an exception, "" when there is none."""
    named = [line for line in log.splitlines() if line[:1].isalpha() and line.partition(":")[0].endswith(("Error", "Exception"))]
    return named[-1] if named else ""


if __name__ == "__main__":
    sys.exit(main())
