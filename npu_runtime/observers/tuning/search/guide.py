"""A small network that guides a tree search: which decision to try next, and how good a chain will be."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from npu_runtime.observers.tuning.search.schedule_space import Chain, ScheduleSpace

Floats = NDArray[np.float64]
_HIDDEN = 24
"""Units of the hidden layer: about as many as there are options in all, so that each can have a say of its own."""
_PASSES = 20
"""Steps of gradient descent after each round.  With more the first rounds, which know little, are learnt by heart."""
_RATE = 0.05
"""Step size of Adam.  A hundred chains are the whole of the data, so it is larger than usual."""
_DECAYS = (0.9, 0.999)
"""Decay of Adam's means of gradients and of their squares (Kingma and Ba, 2014)."""
_TINY = 1e-8
"""Added to what Adam divides by (Kingma and Ba, 2014)."""


class Guide:
    """One hidden layer; chain in, prior of the next decision's options and value out.  A value is 0 for bad, 1 for good."""

    def __init__(self, space: ScheduleSpace, draw: np.random.Generator) -> None:
        self._space, self._width = space, space.most_options
        n_inputs = (space.n_decisions + 1) * (self._width + 1)
        self._weights = [
            draw.normal(0.0, n_inputs**-0.5, (n_inputs, _HIDDEN)), np.zeros(_HIDDEN),
            np.zeros((_HIDDEN, self._width + 1)), np.zeros(self._width + 1),
        ]  # fmt: skip
        self._moments = [[np.zeros_like(weight) for weight in self._weights] for _ in _DECAYS]
        self._steps = 0

    def ask(self, chain: Chain) -> tuple[Floats, float]:
        """The prior of the options of the next decision, and the value of the chain."""
        first, first_bias, second, second_bias = self._weights
        rows = [at * (self._width + 1) + choice for at, choice in enumerate((*chain, self._width))]
        out = np.tanh(first[rows].sum(axis=0) + first_bias) @ second + second_bias
        weights = np.exp(out[: len(self._space.options(chain))])
        return weights / weights.sum(), float(1.0 / (1.0 + np.exp(-out[self._width])))

    def learn(self, chains: list[Chain], priors: list[Floats], values: list[float]) -> None:
        """Fits the network to the shares of visits that the options of chains got, and to the values that came of it."""
        inputs, wanted_values = self._inputs(chains), np.array(values)
        wanted = np.zeros((len(chains), self._width))
        for row, prior in enumerate(priors):
            wanted[row, : len(prior)] = prior
        mask = np.where(np.arange(self._width) < np.array([[len(prior)] for prior in priors]), 0.0, -np.inf)
        for _ in range(_PASSES):
            self._step(inputs, wanted, mask, wanted_values)

    def _inputs(self, chains: list[Chain]) -> Floats:
        """One-hot decisions of chains, and how many there are."""
        made = np.zeros((len(chains), self._space.n_decisions + 1, self._width + 1))
        for row, chain in enumerate(chains):
            made[row, np.arange(len(chain)), list(chain)] = 1.0
            made[row, len(chain), self._width] = 1.0
        return made.reshape(len(chains), -1)

    def _forward(self, inputs: Floats) -> tuple[Floats, Floats, Floats]:
        """Hidden units, logits and values."""
        first, first_bias, second, second_bias = self._weights
        hidden = np.tanh(inputs @ first + first_bias)
        out = hidden @ second + second_bias
        return hidden, out[:, : self._width], 1.0 / (1.0 + np.exp(-out[:, self._width]))

    def _step(self, inputs: Floats, wanted: Floats, mask: Floats, wanted_values: Floats) -> None:
        """One step down the gradient of the cross-entropies of priors and of values."""
        hidden, logits, values = self._forward(inputs)
        priors = np.exp(logits + mask)
        priors /= priors.sum(axis=1, keepdims=True)
        error = np.concatenate([priors - wanted, (values - wanted_values)[:, None]], axis=1) / len(inputs)
        back = error @ self._weights[2].T * (1.0 - hidden**2)
        self._descend([inputs.T @ back, back.sum(axis=0), hidden.T @ error, error.sum(axis=0)])

    def _descend(self, gradients: list[Floats]) -> None:
        """Adam."""
        self._steps += 1
        for at, gradient in enumerate(gradients):
            means = []
            for decay, moment, seen in zip(_DECAYS, self._moments, (gradient, gradient**2), strict=True):
                moment[at] = decay * moment[at] + (1.0 - decay) * seen
                means.append(moment[at] / (1.0 - decay**self._steps))
            self._weights[at] = self._weights[at] - _RATE * means[0] / (np.sqrt(means[1]) + _TINY)
