"""tf_slim's own tests on the simulated device: what passes on TensorFlow's CPU kernels must pass there too.

    python -m benchmarks.slim_tests [--python PYTHON] [--modules nets,losses] [--time-out SECONDS] [--as-set]

Without --python, an environment of its own is made in a temporary folder, with this project and the released wheel. Every test
module runs twice under `tf2npu run -m pytest`, each time in a process of its own: with its sessions on TensorFlow, then with
--all-sessions. Exit code: 0 when no test is lost; else 1.

Settings of the environment that choose other kernels for one side's library are left out and named; --as-set keeps them.
nets/resnet_v2_test compares two ways through a net within 1e-4, which OpenBLAS's AVX2 kernels miss in one element of 576: the
order in which they sum depends on a row's place in the matrix, which is not so with its AVX-512 kernels.
"""

from __future__ import annotations

import sys

from benchmarks.package_tests import Suite, run_suite

SUITE = Suite("tf_slim", (("tf_slim==1.1.0", "pytest>=7,<9", "nose==1.3.7"),))

if __name__ == "__main__":
    sys.exit(run_suite(SUITE, None, __doc__.splitlines()[0]))
