"""Monte-Carlo tree search over chains of decisions, with a network as prior and value."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from npu_runtime.cost.vector_schedule import VectorSchedule
from npu_runtime.observers.tuning.search.guide import Guide
from npu_runtime.observers.tuning.search.measured import Measured
from npu_runtime.observers.tuning.search.schedule_space import Chain, ScheduleSpace

Floats = NDArray[np.float64]
ROUND = 12
"""Chains that are tried between two lessons of the network."""
MOST_TRIES_EACH = 4
"""Tries for each evaluation that is allowed, at most.  A chain that was tried before takes a try and no evaluation."""
_EXPLORATION = 2.0
"""Weight of the prior against the value of what was tried, when a decision is chosen.  Values are 0 to 1, and so is the prior.
Of 0.5, 1, 2 and 4 the one that came nearest to the optimum on 40 drawn works and 40 landscapes without slopes."""
_BEST_SHARE = 0.5
"""Share of the best time behind an option in its value; the rest is the mean, which is surer.  1 was no better."""
_VALUE_SHARE = 0.5
"""Share of the network in the value of a chain that ends in a measured one.  Source: AlphaGo's mixing parameter (Silver and
others, 2016)."""


@dataclass
class _Node:
    """A chain in the tree that is not whole.  prior: of the options of its next decision.

    visits, total, best: by option, how often it was taken, and the sum and the least of the log times that came of it.
    is_open: by option, whether there is something left to try behind it.
    """

    prior: Floats
    visits: Floats = field(init=False)
    total: Floats = field(init=False)
    best: Floats = field(init=False)
    is_open: NDArray[np.bool_] = field(init=False)

    def __post_init__(self) -> None:
        self.visits, self.total = np.zeros_like(self.prior), np.zeros_like(self.prior)
        self.best, self.is_open = np.full_like(self.prior, math.inf), np.ones(len(self.prior), dtype=np.bool_)


class TreeSearch:
    """A search of a space; `costs` says what a schedule takes and when to stop."""

    def __init__(self, space: ScheduleSpace, costs: Measured[VectorSchedule], seed: int) -> None:
        self._space, self._costs, self._draw = space, costs, np.random.default_rng(seed)
        self._guide = Guide(space, self._draw)
        self._nodes: dict[Chain, _Node] = {}
        self._least, self._most = math.inf, -math.inf

    def run(self, most_tries: int) -> None:
        """Tries chains until nothing more may be costed, all were tried, or there were so many tries."""
        for tried in range(1, most_tries + 1):
            self._try()
            is_over = self._costs.is_over or not self._nodes[()].is_open.any()
            if tried % ROUND == 0 or is_over:
                self._costs.end_round()
            if is_over:
                return
            if tried % ROUND == 0:
                self._teach()

    def _try(self) -> None:
        """Goes down the tree, adds a node, completes its chain by the prior, costs that, and notes what came of it."""
        chain: Chain = ()
        while chain in self._nodes:
            chain = (*chain, self._choose(self._nodes[chain]))
        n_known, said = len(chain), None
        while len(chain) < self._space.n_decisions:
            prior, value = self._guide.ask(chain)
            if len(chain) == n_known:
                self._nodes[chain], said = _Node(prior), self._log_of(value)
            chain = (*chain, min(int(np.searchsorted(np.cumsum(prior), self._draw.random())), len(prior) - 1))
        us = self._costs.us_of(self._space.schedule(chain))
        if us is not None:
            self._note(chain, min(n_known, self._space.n_decisions - 1), math.log(us), said)

    def _choose(self, node: _Node) -> int:
        """The open option with the best sum of value and prior, as AlphaZero weighs them (Silver and others, 2017)."""
        tried = node.visits > 0
        values = np.full(len(node.visits), self._value(node.total.sum() / max(1.0, node.visits.sum())) if tried.any() else 0.5)
        logs = _BEST_SHARE * node.best[tried] + (1.0 - _BEST_SHARE) * node.total[tried] / node.visits[tried]
        values[tried] = [self._value(log) for log in logs]
        bonus = _EXPLORATION * node.prior * math.sqrt(node.visits.sum() + 1.0) / (1.0 + node.visits)
        return int(np.argmax(np.where(node.is_open, values + bonus, -math.inf)))

    def _note(self, chain: Chain, last: int, log: float, said: float | None) -> None:
        """Adds a measured chain to the nodes it goes through, of which the last has that many decisions."""
        self._least, self._most = min(self._least, log), max(self._most, log)
        mixed = log if said is None else _VALUE_SHARE * said + (1.0 - _VALUE_SHARE) * log
        for length in range(last, -1, -1):
            node, option = self._nodes[chain[:length]], chain[length]
            node.visits[option] += 1.0
            node.total[option] += mixed
            node.best[option] = min(node.best[option], log)
            behind = self._nodes.get(chain[: length + 1])
            if length + 1 == self._space.n_decisions or (behind is not None and not behind.is_open.any()):
                node.is_open[option] = False

    def _value(self, log: float) -> float:
        """A log time on the scale of what was measured: 1 for the best, 0 for the worst."""
        return (self._most - log) / (self._most - self._least) if self._most > self._least else 0.5

    def _log_of(self, value: float) -> float | None:
        """The log time that a value stands for; None while nothing tells the scale."""
        return self._most - value * (self._most - self._least) if self._most > self._least else None

    def _teach(self) -> None:
        """Lets the network learn the visits and mean values of all nodes."""
        chains = [chain for chain, node in self._nodes.items() if node.visits.sum() > 0]
        shares = [self._nodes[chain].visits / self._nodes[chain].visits.sum() for chain in chains]
        values = [self._value(self._nodes[chain].total.sum() / self._nodes[chain].visits.sum()) for chain in chains]
        self._guide.learn(chains, shares, [min(1.0, max(0.0, value)) for value in values])
