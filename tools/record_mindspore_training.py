"""Records what real MindSpore gives for the cases of the leg mindspore. It is run by hand, with a Python that has MindSpore 2.10:

    PYTHON tools/record_mindspore_training.py [CASE ...]

It writes training.npz, operators.npz, layers.npz, checkpoint.npz and lenet_small.ckpt below tests/fixtures/mindspore. With names
of cases of training it writes nothing and prints what they give.
"""

from __future__ import annotations

import sys
import types
from functools import partial
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

import mindspore.nn as nn  # noqa: E402
import numpy as np  # noqa: E402
from mindspore import Parameter, Tensor, context  # noqa: E402
from mindspore.ops import operations as P  # noqa: E402

from tests.legs.mindspore import checkpoints, layer_cases, operator_cases  # noqa: E402
from tests.legs.mindspore import networks as N  # noqa: E402
from tests.legs.mindspore.recordings import FIXTURES, write  # noqa: E402
from tests.legs.mindspore.training_cases import CASES, MODES, Gradients, parameters  # noqa: E402


class CheckedGradients(nn.TrainOneStepWithLossScaleCell):
    """The step with a loss scale on a CPU, which has no float status: it looks for infinities in the gradients, as on a GPU."""

    def __init__(self, network, optimizer, scale_sense):
        super().__init__(network, optimizer, scale_sense)
        self.finite, self.all = P.IsFinite(), P.ReduceAll()
        self.logical_and, self.negated = P.LogicalAnd(), P.LogicalNot()

    def get_overflow_status(self, status, compute_output):
        """Whether an element of the gradients is infinite or not a number."""
        finite = True
        for gradient in compute_output:
            finite = self.logical_and(finite, self.all(self.finite(gradient)))
        return self.negated(finite)


RATE, DECAY, BETAS, EPS = 0.02, 0.01, (0.9, 0.999), 1e-6
"""Settings of the case `lamb`; the last two are the defaults."""


def after_lamb(weight: Parameter, gradient: np.ndarray, moments: list[np.ndarray], step: int) -> np.ndarray:
    """A weight after a step of Lamb by the formula of r1.1, which clips the trust ratio at ten; it updates the moments."""
    value = weight.asnumpy().astype(np.float64)
    for order, beta in enumerate(BETAS):
        moments[order] = beta * moments[order] + (1 - beta) * gradient ** (order + 1)
    mean, square = (moment / (1 - beta**step) for moment, beta in zip(moments, BETAS, strict=True))
    ratio = 1.0
    if value.any() and gradient.any():
        ratio = np.linalg.norm(value) / np.linalg.norm(mean / np.sqrt(square + EPS) + DECAY * value)
    update = mean / (np.sqrt(square) + EPS)
    if "gamma" not in weight.name and "beta" not in weight.name:
        update = update + DECAY * value
    return value - min(ratio, 10.0) * RATE * update


def lamb() -> dict[str, np.ndarray]:
    """The case `lamb`. MindSpore 2.10 has no kernel of Lamb for the CPU: its gradients are real, the formula is numpy's."""
    network = N.set_weights(N.Perceptron())
    with_loss = nn.WithLossCell(network, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean"))
    gradients, weights = Gradients(with_loss, get_by_list=True), network.trainable_params()
    moments = [[np.zeros(weight.shape), np.zeros(weight.shape)] for weight in weights]
    losses = []
    for step, (data, label) in enumerate(N.rows(), 1):
        inputs = Tensor(data), Tensor(label)
        losses.append(with_loss(*inputs).asnumpy())
        for weight, gradient, moment in zip(weights, gradients(*inputs), moments, strict=True):
            value = after_lamb(weight, gradient.asnumpy().astype(np.float64), moment, step)
            weight.set_data(Tensor(value.astype(np.float32)))
    return {"losses": np.array(losses), **parameters(network)}


def recorded(name: str, mode: str) -> dict[str, np.ndarray]:
    """The arrays that a case gives in a mode; its parameters are of single precision already."""
    context.set_context(mode=getattr(context, mode), device_target="CPU")
    return {key: np.asarray(value) for key, value in RECORDED.get(name, CASES[name])().items()}


RECORDED = {"lamb": lamb}
"""Cases that are recorded in another way than they are tested."""


def case_of_all_modes(name: str) -> dict[str, np.ndarray]:
    """The arrays of a case, which are the same in all of its modes; a case that is not the same has to be looked at."""
    first, *others = (recorded(name, mode) for mode in MODES[name])
    for other in others:
        assert first.keys() == other.keys(), name
        for key, value in first.items():
            same = np.array_equal if value.dtype.kind in "Ub" else partial(np.allclose, rtol=1e-5, atol=1e-6)
            assert same(value, other[key]), f"{name}: {key} differs between modes"
    return first


def computed(module: types.ModuleType) -> dict[str, dict[str, np.ndarray]]:
    """The results of a table's cases; one that 2.10 cannot compute on a CPU is named and left out."""
    context.set_context(mode=context.GRAPH_MODE, device_target="CPU")
    cases = {}
    for name in module.CASES:
        try:
            cases[name] = module.computed(name)
        except Exception as error:
            print(f"left out {name}: {type(error).__name__}: {str(error).strip().splitlines()[:4]}", file=sys.stderr)
    return cases


def main(names: list[str]) -> None:
    """Records all cases, or prints some."""
    nn.TrainOneStepWithLossScaleCell = CheckedGradients
    cases = {}
    for name in names or CASES:
        cases[name] = case_of_all_modes(name)
        print(name, *np.ravel(cases[name]["losses"])[[0, -1]] if "losses" in cases[name] else ())
        if names:
            print(*cases[name].items(), sep="\n")
    if not names:
        FIXTURES.mkdir(exist_ok=True)
        write(FIXTURES / "training.npz", cases)
        write(FIXTURES / "operators.npz", computed(operator_cases))
        write(FIXTURES / "layers.npz", computed(layer_cases))
        write(FIXTURES / "checkpoint.npz", {"lenet": {"logits": checkpoints.write(str(FIXTURES / "lenet_small.ckpt"))}})


if __name__ == "__main__":
    main(sys.argv[1:])
