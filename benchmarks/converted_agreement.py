"""Converts published TensorFlow 1 trainings and compares them on the simulated device with the originals on TensorFlow 1.15.

    python -m benchmarks.converted_agreement --bert DIR --alexnet DIR [--tf115 PYTHON] [--only squad,alexnet] [--keep FOLDER]

DIR: a checkout, or its git directory, of https://github.com/google-research/bert and of
https://github.com/kratzert/finetune_alexnet_with_tensorflow. BERT's pretraining, classifier and SQuAD are converted as they are.
The AlexNet is of TensorFlow 1.2 and does not run on 1.15: in a copy, ahead of the conversion, names of tf.contrib.data become
tf.data's, np.load may read objects, and its settings get local paths and a small batch. Data are made up. Ten losses must agree
as in benchmarks/migrated_agreement.py. Exit code: 0 when all agree; 1 otherwise; 77 when something is absent.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.acceptance.checkouts import REPOSITORIES, Absent, Brought, Repository, bring
from benchmarks.migrated import tf115
from benchmarks.migrated.agreement import HEADER, Trial, agree, line

ABSENT = 77
_BERT = ("--bert_config_file=bert_config.json", "--output_dir=output", "--max_seq_length=32")
_VOCABULARY = ("--vocab_file=vocab.txt", "--do_train=True", "--train_batch_size=4", "--num_train_epochs=1")
TRAININGS = {
    "pretraining": ("bert", "run_pretraining.py", (
        *_BERT, "--input_file=pretraining.tfrecord", "--do_train=True", "--train_batch_size=8", "--max_predictions_per_seq=4",
        "--num_train_steps=10", "--num_warmup_steps=2")),
    "classifier": ("bert", "run_classifier.py", (*_BERT, *_VOCABULARY, "--task_name=MRPC", "--data_dir=MRPC")),
    "squad": ("bert", "run_squad.py", (
        *_BERT, *_VOCABULARY, "--train_file=squad.json", "--doc_stride=8", "--max_query_length=8")),
    "alexnet": ("alexnet", "finetune.py", ()),
}  # fmt: skip
# What a person would set before a run; the last four bring a script of TensorFlow 1.2 to 1.15.
ALEXNET_SETTINGS = {
    "finetune.py": {
        "'/path/to/train.txt'": "'train.txt'", "'/path/to/val.txt'": "'val.txt'", "batch_size = 128": "batch_size = 4",
        "num_epochs = 10": "num_epochs = 1", f'"/{"tmp"}/finetune_alexnet/tensorboard"': '"tensorboard"',
        f'"/{"tmp"}/finetune_alexnet/checkpoints"': '"checkpoints"',
        "from tensorflow.contrib.data import Iterator": "Iterator = tf.data.Iterator",
    },
    "datagenerator.py": {
        "from tensorflow.contrib.data import Dataset": "Dataset = tf.data.Dataset",
        "num_threads=8": "num_parallel_calls=8", ",\n                      output_buffer_size=100*batch_size": "",
    },
    "alexnet.py": {"encoding='bytes'": "encoding='bytes', allow_pickle=True"},
}  # fmt: skip


def main(argv: list[str] | None = None) -> int:
    """Run the trainings and print the table."""
    options = _options(argv)
    chosen = {name: TRAININGS[name] for name in TRAININGS if not options.only or name in options.only}
    with tempfile.TemporaryDirectory(prefix="agreement-") as temporary:
        out = options.keep or Path(temporary)
        try:
            python = tf115.bring(options.tf115, out)
            brought = {
                name: bring(_repository(name), getattr(options, name), out) for name in {row[0] for row in chosen.values()}
            }
        except Absent as error:
            print(error)
            return ABSENT
        for corpus in sorted(brought):
            print(f"{corpus} at {brought[corpus].version}")
            prepare(brought[corpus], out)
        print(f"\n{HEADER}", flush=True)
        problems = [compare(name, chosen[name], out, python, options.time_out) for name in chosen]
    good = sum(not problem for problem in problems)
    print(f"\n{good} of {len(problems)} agree with the original on TensorFlow 1.15")
    return 0 if good == len(problems) else 1


def _options(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bert", type=Path, default=Path("bert"))
    parser.add_argument("--alexnet", type=Path, default=Path("finetune_alexnet_with_tensorflow"))
    parser.add_argument("--tf115", type=Path, metavar="PYTHON", help="interpreter of an environment with TensorFlow 1.15")
    parser.add_argument("--only", type=lambda text: text.split(","), help="names out of " + ", ".join(TRAININGS))
    parser.add_argument("--keep", type=Path, help="folder for scripts, data and logs; a temporary one when not given")
    parser.add_argument("--time-out", type=float, default=900.0, help="seconds a run")
    return parser.parse_args(argv)


def _repository(name: str) -> Repository:
    return next(repository for repository in REPOSITORIES if repository.option == name)


def prepare(corpus: Brought, out: Path) -> None:
    """Copy the Python files of a corpus to out/original/NAME, convert them to out/migrated/NAME, and put data into both."""
    name = corpus.name
    original, migrated = out / "original" / name, out / "migrated" / name
    original.mkdir(parents=True)
    for path in sorted(corpus.folder.glob("*.py")):
        text = path.read_text(encoding="utf-8")
        for old, new in (ALEXNET_SETTINGS.get(path.name, {}) if name == "alexnet" else {}).items():
            text = text.replace(old, new)
        (original / path.name).write_text(text, encoding="utf-8")
    launcher = Path(sys.executable).parent / "tf2npu"
    done = subprocess.run([launcher, "convert", original, migrated, "--format", "json"], capture_output=True, text=True)
    if done.returncode not in (0, 1):  # 1: something is left to do
        raise SystemExit(f"tf2npu convert ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    for folder in (original, migrated):
        make = [sys.executable, "-c", f"from benchmarks.migrated.corpora import make_{name}; make_{name}({str(folder)!r})"]
        subprocess.run(make, check=True, capture_output=True, cwd=Path(__file__).parents[1])


def compare(name: str, row: tuple[str, str, tuple[str, ...]], out: Path, python: Path, limit: float) -> str:
    """Compare one training and print its line. Returns: what is wrong, or ""."""
    corpus, script, arguments = row
    trial = Trial(name, out / "original" / corpus, out / "migrated" / corpus, script, arguments, needs_stand_in=False)
    agreement = agree(trial, python, out / "runs" / name, limit)
    print(line(agreement), flush=True)
    return agreement.problem


if __name__ == "__main__":
    sys.exit(main())
