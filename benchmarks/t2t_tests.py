"""The layer tests of tensor2tensor 1.15.7 on the simulated device: what passes on TensorFlow's CPU kernels must pass there too.

    python -m benchmarks.t2t_tests [--python PYTHON] [--modules attention,glow] [--time-out SECONDS] [--as-set]

Without --python, an environment of its own is made in a temporary folder, with this project, the released wheel and what its
modules import, in versions that fit TensorFlow 2.15. Every test module runs twice under `tf2npu run -m pytest`, in a process of
its own: with its sessions on TensorFlow, then with --all-sessions. Exit code: 0 when no test is lost; else 1.
"""

from __future__ import annotations

import sys

from benchmarks.package_tests import Suite, run_suite

NEEDED = (
    "tensorflow-probability==0.23.0", "mesh-tensorflow==0.1.21", "gin-config", "sympy", "Pillow", "future", "bz2file", "tqdm",
    "six", "mock", "cloudpickle==1.6.0", "dill", "promise", "attrs", "requests", "numpy<2", "pytest>=7,<9", "setuptools<70",
    "wheel", "protobuf==3.20.3", "opencv-python-headless==4.8.1.78",
)  # fmt: skip
# Their own requirements name versions of other times.
ALONE = (
    "--no-deps", "tensor2tensor==1.15.7", "kfac==0.2.4", "dopamine-rl==4.1.2", "tensorflow-gan==2.1.0", "tensorflow-hub==0.15.0",
    "tensorflow-datasets==3.2.1", "tensorflow-metadata==1.14.0",
)  # fmt: skip
OLD_GYM = ("--no-deps", "--no-build-isolation", "gym==0.17.3")
SUITE = Suite("tensor2tensor", (NEEDED, ALONE, OLD_GYM), below="layers")

if __name__ == "__main__":
    sys.exit(run_suite(SUITE, None, __doc__.splitlines()[0]))
