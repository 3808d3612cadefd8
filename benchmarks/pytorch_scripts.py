"""Public scripts for CUDA, by `tf2npu run` and on plain PyTorch's CPU: every loss that they print is compared.

    python -m benchmarks.pytorch_scripts [CHECKOUT=DIR ...] [--converted] [--only NAME ...] [--logs DIR]

CHECKOUT is one of the repositories in CHECKOUTS; nothing in it is changed, and nothing is downloaded. A script runs in a copy of
its folder, at one thread, with pictures and texts drawn from a seed. It is ended behind the last line that is wanted. With
--converted it is what `tf2npu convert` makes of the folder, run with --strict, so that no name of CUDA is switched. Printed
digits must be the same. Exit codes: 0 all agree, 1 one does not, 77 a checkout is not there.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import click
import numpy as np

ABSENT = 77
PLANTED = Path(__file__).with_name("pytorch_planted")
ROOT = Path(__file__).parents[1]
MOST_SECONDS = 400
MOST_SECONDS_OF_END = 60
"""Seconds between the interrupt behind the last line and the kill."""
CHECKOUTS = {
    "examples-2020": "https://github.com/pytorch/examples at dc1afe6a, of 30 September 2020",
    "examples": "https://github.com/pytorch/examples at 77f55b91, of 25 August 2025",
    "minGPT": "https://github.com/karpathy/minGPT at 37baab71, of 8 January 2023",
    "nanoGPT": "https://github.com/karpathy/nanoGPT at 3adf61e1, of 12 November 2025",
    "pytorch-tutorial": "https://github.com/yunjey/pytorch-tutorial at 0500d3df, of 6 July 2020",
    "PyTorch-GAN": "https://github.com/eriklindernoren/PyTorch-GAN at 36d3c77e, of 6 January 2021",
    "ng-video-lecture": "https://github.com/karpathy/ng-video-lecture at 52201428, of 7 February 2023",
    "pygcn": "https://github.com/tkipf/pygcn at 1600b5b7, of 25 February 2019",
}
_NUMBER = r"(-?\d+\.\d+(?:e[-+]?\d+)?|nan|inf)"
_LOSS = re.compile(rf"(?i)(?:loss\w*|ppl|psnr|div|elbo)\W*(?:{_NUMBER})")
"""A loss as scripts print it; of a line all are taken."""
_OPERATORS = re.compile(r"torch_npu: (\d+) operators")
"""The run log at the end of a run says how many operators the device ran."""


class Script(NamedTuple):
    """A script, and how it is run.

    folder: below the checkout; it is copied.  file: in it.  lines: with losses, behind which it is ended.  words: on both sides.
    of_cuda: words that ask for CUDA.  of_cpu: words that the CPU needs instead.  plant: makes its data in the copy.
    images: of the training set.  below: where in the folder it is started.
    """

    checkout: str
    folder: str
    file: str
    lines: int
    words: tuple[str, ...] = ()
    of_cuda: tuple[str, ...] = ()
    of_cpu: tuple[str, ...] = ()
    plant: Callable[[Path], None] | None = None
    images: int = 1000
    below: str = ""


class Run(NamedTuple):
    """code: exit code, 0 for one that was ended behind its lines.  losses: as they were printed.  seconds: of the wall."""

    code: int
    losses: list[str]
    seconds: float
    log: str

    @property
    def operators(self) -> int:
        """The number of operators that the device ran, of a run that came to its end or was interrupted."""
        return sum(map(int, _OPERATORS.findall(self.log)))


def _text(count: int) -> str:
    """Words drawn from a seed, ten on a line."""
    drawn = np.random.default_rng(3)
    words = ["".join(map(chr, drawn.integers(97, 123, length))) for length in drawn.integers(2, 9, 200)]
    chosen = drawn.choice(words, count)
    return "\n".join(" ".join(chosen[at : at + 10]) for at in range(0, count, 10)) + "\n"


def _plant_corpus(folder: Path) -> None:
    target = folder / "planted"
    target.mkdir()
    for name, count in (("train", 16_000), ("valid", 2_000), ("test", 2_000)):
        (target / f"{name}.txt").write_text(_text(count), encoding="utf-8")


def _plant_pictures(folder: Path) -> None:
    from PIL import Image

    drawn = np.random.default_rng(4)
    for part, count in (("train", 20), ("test", 4)):
        target = folder / "dataset" / "BSDS300" / "images" / part
        target.mkdir(parents=True)
        for number in range(count):
            coarse = drawn.integers(0, 256, (16, 16, 3)).astype(np.uint8)
            Image.fromarray(coarse.repeat(17, axis=0).repeat(17, axis=1)).save(target / f"{number}.png")


def _plant_characters(folder: Path) -> None:
    codes = np.frombuffer(_text(20_000).encode(), np.uint8).astype(np.uint16) % 64
    target = folder / "data" / "planted"
    target.mkdir(parents=True)
    for name, part in (("train", codes[:90_000]), ("val", codes[-9_000:])):
        part.tofile(target / f"{name}.bin")


def _plant_papers(folder: Path) -> None:
    """Papers of seven classes, a word or none in each of forty places, and which of them cites which."""
    drawn = np.random.default_rng(5)
    target = folder / "data" / "cora"
    target.mkdir(parents=True, exist_ok=True)
    rows = [[str(paper), *map(str, drawn.integers(0, 2, 40)), f"class{paper % 7}"] for paper in range(1600)]
    (target / "cora.content").write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    cited = drawn.integers(0, 1600, (4000, 2))
    (target / "cora.cites").write_text("".join(f"{one}\t{other}\n" for one, other in cited), encoding="utf-8")


_WORDS = ("--data", "planted", "--epochs", "1", "--log-interval", "1", "--emsize", "64", "--nhid", "64")
_GPT = (
    "--dataset=planted", "--n_layer=2", "--n_head=2", "--n_embd=64", "--block_size=64", "--batch_size=8", "--eval_iters=2",
    "--gradient_accumulation_steps=1", "--compile=False", "--max_iters=20", "--dtype=float32", "--warmup_iters=5",
)  # fmt: skip
_ADDER = ("--trainer.max_iters=21", "--trainer.num_workers=0", "--model.model_type=gpt-nano", "--data.ndigit=1")
_GAN = ("--n_epochs", "1", "--batch_size", "16")

SCRIPTS = {
    "word_language_model, LSTM": Script(
        "examples-2020", "word_language_model", "main.py", 27, _WORDS, ("--cuda",), plant=_plant_corpus
    ),
    "word_language_model, GRU": Script(
        "examples-2020", "word_language_model", "main.py", 27, (*_WORDS, "--model", "GRU"), ("--cuda",), plant=_plant_corpus
    ),
    "word_language_model, Transformer": Script(
        "examples-2020",
        "word_language_model",
        "main.py",
        27,
        (*_WORDS, "--model", "Transformer", "--lr", "1"),
        ("--cuda",),
        plant=_plant_corpus,
    ),
    "vae": Script("examples-2020", "vae", "main.py", 21, ("--epochs", "1", "--log-interval", "1"), images=2560),
    "dcgan": Script(
        "examples-2020",
        "dcgan",
        "main.py",
        20,
        ("--dataset", "fake", "--batchSize", "4", "--niter", "1", "--ngf", "16", "--ndf", "16", "--workers", "0"),
        ("--cuda",),
        images=80,
    ),
    "super_resolution": Script(
        "examples-2020",
        "super_resolution",
        "main.py",
        22,
        ("--upscale_factor", "2", "--batchSize", "1", "--testBatchSize", "2", "--nEpochs", "1", "--threads", "0"),
        ("--cuda",),
        plant=_plant_pictures,
    ),
    "word_language_model of 2025": Script(
        "examples", "word_language_model", "main.py", 27, _WORDS, ("--accel",), plant=_plant_corpus
    ),
    "minGPT adder": Script("minGPT", ".", "projects/adder/adder.py", 3, _ADDER),
    "nanoGPT": Script("nanoGPT", ".", "train.py", 21, _GPT, of_cpu=("--device=cpu",), plant=_plant_characters),
    "feedforward network": Script(
        "pytorch-tutorial", "tutorials/01-basics/feedforward_neural_network", "main.py", 5, images=10_000
    ),
    "convolutional network": Script(
        "pytorch-tutorial", "tutorials/02-intermediate/convolutional_neural_network", "main.py", 2, images=10_000
    ),
    "recurrent network": Script(
        "pytorch-tutorial", "tutorials/02-intermediate/recurrent_neural_network", "main.py", 2, images=10_000
    ),
    "bidirectional network": Script(
        "pytorch-tutorial", "tutorials/02-intermediate/bidirectional_recurrent_neural_network", "main.py", 2, images=10_000
    ),
    "generative adversarial network": Script(
        "pytorch-tutorial", "tutorials/03-advanced/generative_adversarial_network", "main.py", 2, images=20_000
    ),
    "variational autoencoder": Script(
        "pytorch-tutorial", "tutorials/03-advanced/variational_autoencoder", "main.py", 20, images=2560
    ),
    "gan": Script("PyTorch-GAN", "implementations/gan", "gan.py", 20, _GAN),
    "dcgan of 2021": Script("PyTorch-GAN", "implementations/dcgan", "dcgan.py", 20, _GAN),
    "wgan_gp": Script("PyTorch-GAN", "implementations/wgan_gp", "wgan_gp.py", 20, _GAN, images=2000),
    "bigram": Script("ng-video-lecture", ".", "bigram.py", 3),
    "graph convolutions": Script("pygcn", ".", "train.py", 20, ("--epochs", "20"), plant=_plant_papers, below="pygcn"),
    **{
        name: Script("PyTorch-GAN", f"implementations/{name}", f"{name}.py", 20, _GAN, images=2000)
        for name in ("cgan", "acgan", "lsgan", "sgan", "infogan", "ebgan", "wgan", "wgan_div", "relativistic_gan")
    },
}


def _copied(script: Script, checkout: Path, scratch: Path) -> Path:
    target = scratch / "script"
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(checkout / script.folder, target, ignore=shutil.ignore_patterns(".git"))
    if script.plant is not None:
        script.plant(target)
    return target


def _environment(script: Script, folder: Path) -> dict[str, str]:
    """The variables of both sides.  TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD: scripts of before PyTorch 2.6 load whole models."""
    given = {name: value for name, value in os.environ.items() if not name.startswith(("TF2NPU_", "TORCH_"))}
    return given | {
        "CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0", "PYTHONUNBUFFERED": "1",
        "PYTHONPATH": os.pathsep.join(map(str, (PLANTED, ROOT, folder))), "TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD": "1",
        "TF2NPU_PLANTED_IMAGES": str(script.images),
    }  # fmt: skip


def _converted(folder: Path) -> Path:
    """The folder that the converter makes, beside the original; scripts are run even where something is left for a person."""
    out = folder.with_name("converted")
    shutil.rmtree(out, ignore_errors=True)
    command = [sys.executable, "-m", "tf2npu", "convert", str(folder), str(out), "-q", "--no-cache", "--jobs", "1"]
    done = subprocess.run(command, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{folder}: the conversion ended with {done.returncode}: {done.stderr[-500:]}")
    return out


def run(script: Script, checkout: Path, scratch: Path, side: str) -> Run:
    """Run a script on one side: cpu, npu for the script as it is, or converted."""
    folder = _copied(script, checkout, scratch)
    if side == "converted":
        folder = _converted(folder)
    start = {"cpu": [], "npu": ["-m", "tf2npu", "run"], "converted": ["-m", "tf2npu", "run", "--strict"]}[side]
    words = [*script.words, *(script.of_cpu if side == "cpu" else script.of_cuda)]
    begun, losses, lines, n_found = time.monotonic(), [], [], 0
    with subprocess.Popen(
        [sys.executable, *start, script.file, *words], cwd=folder / script.below, env=_environment(script, folder), text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    ) as process:  # fmt: skip
        for line in process.stdout or ():
            lines.append(line)
            found = _LOSS.findall(line) if n_found < script.lines else []
            losses += found
            n_found += bool(found)
            if found and n_found == script.lines:
                _end(process, side)
            elif time.monotonic() - begun > MOST_SECONDS:
                process.kill()
    code = 0 if n_found == script.lines else process.returncode or 1
    return Run(code, losses, time.monotonic() - begun, "".join(lines))


def _end(process: subprocess.Popen[str], side: str) -> None:
    """End a script: on a device by an interrupt, so that its run log is written."""
    if side == "cpu":
        process.kill()
        return
    process.send_signal(signal.SIGINT)
    killer = threading.Timer(MOST_SECONDS_OF_END, process.kill)
    killer.daemon = True
    killer.start()


def compared(name: str, script: Script, checkout: Path, scratch: Path, device: str, logs: Path | None) -> bool:
    """Run a script on both sides and print a row.  Returns: whether all digits agree."""
    sides = {side: run(script, checkout, scratch, side) for side in ("cpu", device)}
    for side, made in sides.items():
        if logs is not None:
            (logs / f"{name.replace(' ', '_').replace(',', '')}.{side}.log").write_text(made.log, encoding="utf-8")
    cpu, npu = sides["cpu"], sides[device]
    same = sum(one == other for one, other in zip(cpu.losses, npu.losses, strict=False))
    is_right = bool(npu.losses) and npu.code == 0 and cpu.losses == npu.losses and npu.operators > 0
    verdict = "equal" if is_right else f"NOT EQUAL (exit codes {cpu.code}, {npu.code})" if npu.operators else "NOT ON THE DEVICE"
    cells = [name, script.checkout, f"{same} of {len(cpu.losses)}", str(npu.operators), verdict]
    print("|", " | ".join([*cells, f"{cpu.seconds:.0f} s", f"{npu.seconds:.0f} s"]), "|", flush=True)
    return is_right


@click.command(help=(__doc__ or "").partition("\n")[0])
@click.argument("checkouts", nargs=-1, metavar="[CHECKOUT=DIR]...")
@click.option("--converted", is_flag=True, help="Run what the converter makes of the scripts.")
@click.option("--only", multiple=True, metavar="NAME", help="Run scripts whose name has this in it.")
@click.option("--logs", type=click.Path(file_okay=False, path_type=Path), help="Keep what the scripts print.")
def main(checkouts: tuple[str, ...], *, converted: bool, only: tuple[str, ...], logs: Path | None) -> None:
    """Run the scripts of the checkouts that are given."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it, and so would the scripts
    given = {name: Path(folder) for name, _, folder in (word.partition("=") for word in checkouts)}
    missing = [name for name in CHECKOUTS if not given.get(name, Path("/nonexistent")).is_dir()]
    for name in missing:
        print(f"{name} is not there; give {name}=DIR, a checkout of {CHECKOUTS[name]}", file=sys.stderr)
    if logs is not None:
        logs.mkdir(parents=True, exist_ok=True)
    print("| script | checkout | losses alike | operators | verdict | CPU | NPU |\n|---|---|---|---|---|---|---|", flush=True)
    chosen = {name: script for name, script in SCRIPTS.items() if not only or any(part in name for part in only)}
    with tempfile.TemporaryDirectory(prefix="tf2npu-pytorch-") as scratch:
        right = [
            compared(name, script, given[script.checkout], Path(scratch), "converted" if converted else "npu", logs)
            for name, script in chosen.items()
            if script.checkout not in missing
        ]
    print(f"{sum(right)} of {len(right)} scripts print the same losses")
    sys.exit(1 if not all(right) else ABSENT if missing else 0)


if __name__ == "__main__":
    main()
