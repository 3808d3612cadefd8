"""Converts the tutorials of TensorFlow-Examples for TensorFlow 1 and trains every one on the simulated device.

    python -m benchmarks.examples_v1 --examples DIR [--only word2vec,gan] [--steps 30] [--keep FOLDER]

DIR: a checkout of https://github.com/aymericdamien/TensorFlow-Examples or its git directory.  The data are small files in
MNIST's format and a made-up text; paths to them and numbers of steps are set in a copy before it is converted, nothing else.
Scripts that enable eager execution are no subject of a conversion and are left out by that call.
Exit code: 0 when every graph-mode script ends with 0; 1 otherwise; 77 without the checkout or matplotlib, which they draw with.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import numpy as np

from benchmarks.acceptance.checkouts import Absent, Repository, bring
from benchmarks.migrated.pictures import make_mnist, strokes

REPOSITORY = Repository("TF-Examples v1", "examples", "https://github.com/aymericdamien/TensorFlow-Examples", "tensorflow_v1")
ABSENT = 77
_STEPS = re.compile(r"^(num_steps|training_steps|max_steps|display_step|eval_step|display_epoch) *= *(\d+)", re.MULTILINE)
_EPOCHS = re.compile(r"^(training_epochs) *= *(\d+)", re.MULTILINE)
_SHARED = f"/{'tmp'}/"  # where the scripts put what they read and write
_PLACES = {f"{_SHARED}data/": "data", "MNIST_data/": "data", _SHARED: "made", "/path/to/dataset/": "pictures"}
_PATHS = re.compile("|".join(_PLACES))
WORDS = "five of going hardware american britain one two three four the and to in a is for was with as by that it from on"


def main(argv: list[str] | None = None) -> int:
    """Run the scripts and print a line for each."""
    options = _options(argv)
    if importlib.util.find_spec("matplotlib") is None:
        print("the scripts draw: `pip install matplotlib` beside tf2npu first")
        return ABSENT
    with tempfile.TemporaryDirectory(prefix="examples-") as temporary:
        out = options.keep or Path(temporary)
        try:
            brought = bring(REPOSITORY, options.examples, out / "checkout")
        except Absent as error:
            print(error)
            return ABSENT
        scripts = prepare(brought.folder, out, options.steps)
        chosen = [s for s in scripts if not options.only or any(name in s.stem for name in options.only)]
        print(f"TensorFlow-Examples at {brought.version}: {len(scripts)} graph-mode scripts\n")
        print("| script | exit | last line |\n|---|---|---|")
        convert(out / "src", out / "migrated")
        good = [run(out / "migrated" / script, out, options.time_out) for script in chosen]
    print(f"\n{sum(good)} of {len(good)} end with 0")
    return 0 if all(good) else 1


def _options(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--examples", type=Path, required=True)
    parser.add_argument("--only", type=lambda text: text.split(","), help="parts of the names of the scripts to run")
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--keep", type=Path, help="folder for scripts, data and logs; a temporary one when not given")
    parser.add_argument("--time-out", type=float, default=600.0, help="seconds a script")
    return parser.parse_args(argv)


def prepare(checkout: Path, out: Path, steps: int) -> list[Path]:
    """Copy the graph-mode scripts to out/src with paths and steps set, and make the data. Returns: paths below out/src."""
    make_data(out)
    found = []
    for path in sorted(checkout.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if "enable_eager_execution" in text or "import tensorflow" not in text:
            continue
        place = Path(path.parent.name, path.name)
        target = out / "src" / place
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(with_settings(text, out, steps), encoding="utf-8")
        found.append(place)
    return found


def with_settings(text: str, out: Path, steps: int) -> str:
    """The script with local paths, few steps, matrices of hundreds of rows, and nobody to press a button."""
    text = text.replace("plt.waitforbuttonpress()", "pass").replace("10000, 10000", "300, 300")  # to the tenth power
    text = _PATHS.sub(lambda found: f"{out}/{_PLACES[found[0]]}/", text)
    text = _STEPS.sub(lambda found: f"{found[1]} = {min(int(found[2]), steps)}", text)
    return _EPOCHS.sub(lambda found: f"{found[1]} = {min(int(found[2]), 2)}", text)


def make_data(out: Path) -> None:
    """Digits in MNIST's files, the same as JPEG files in folders by class, and a text to learn word vectors from."""
    make_mnist(out / "data", 6000, 1000)
    (out / "made").mkdir(parents=True, exist_ok=True)
    _make_pictures(out / "pictures")
    words = WORDS.split()
    text = " ".join(words[i] for i in np.random.default_rng(5).zipf(1.3, 60000) % len(words))
    with zipfile.ZipFile(out / "text8.zip", "w") as packed:
        packed.writestr("text8", text)


def _make_pictures(folder: Path) -> None:
    import tensorflow as tf

    labels = np.arange(200) % 2  # the script has two classes
    for number, image in enumerate(strokes(labels, 28, 6)):
        path = folder / str(labels[number]) / f"{number}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(tf.io.encode_jpeg(np.repeat(image[..., None], 3, axis=2)).numpy())


def convert(source: Path, target: Path) -> None:
    """Convert all scripts; that something is left to do is no failure."""
    launcher = Path(sys.executable).parent / "tf2npu"
    done = subprocess.run([launcher, "convert", source, target, "--format", "json"], capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise SystemExit(f"tf2npu convert ended with {done.returncode}:\n{done.stdout}{done.stderr}")


def run(script: Path, out: Path, limit: float) -> bool:
    """Run one migrated script on the device, its output in a log beside the others."""
    command = [Path(sys.executable).parent / "tf2npu", "run", script]
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "MPLBACKEND": "Agg"}
    try:
        done = subprocess.run(command, cwd=out, env=environment, capture_output=True, text=True, timeout=limit)
        code, said = done.returncode, done.stdout + done.stderr
    except subprocess.TimeoutExpired as stopped:
        code, said = -1, f"not done after {limit:g} s\n{stopped.stdout or b''!r}"
    (out / f"{script.stem}.log").write_text(said)
    told = [line for line in said.splitlines() if line.strip() and not line.startswith("npu_")] or [""]
    print(f"| {script.parent.name}/{script.name} | {code} | {told[-1].strip()[:90].replace('|', '/')} |", flush=True)
    return code == 0


if __name__ == "__main__":
    sys.exit(main())
