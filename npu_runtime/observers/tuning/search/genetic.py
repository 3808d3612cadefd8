"""Genetic search over the tilings of a product: rounds of crossing, mutating and costing."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pygad
from numpy.typing import NDArray

from npu_formats.device.chip import Chip
from npu_runtime.cost.core_task import CoreWork, core_cost, core_tiling
from npu_runtime.cost.tiling import Tiling
from npu_runtime.errors import InvalidArgument
from npu_runtime.observers.tuning.search.found import Found, IsOutOfTime, never, seed_of
from npu_runtime.observers.tuning.search.measured import Measured
from npu_runtime.observers.tuning.search.tiling_space import TilingGenes, TilingSpace

MOST_EVALUATIONS = 300
"""Tilings that are costed at most, the default among them.  With as many, 199 of 200 products come within 2 % of the fastest of
all their tilings: measured on the works of tests/tuning/search."""
POPULATION = 24
"""Tilings of a round."""
MOST_ROUNDS = 60
"""Rounds at most.  The evaluations are used up before, unless a product has few tilings."""
STEP_SHARE = 0.7
"""Share of mutations that move a gene to a neighbour; the others draw it anew.  Costs change little between neighbours but at
the number of rounds of the cores, where they jump."""
MUTATED_GENES = 1.5
"""Genes of a child that change, on average.  With fewer a round repeats what was costed, with more it forgets it."""
_WORST = -sys.float_info.max
"""Fitness of what is not costed any more.  A finite number, since the library orders and subtracts fitnesses."""
_Genomes = NDArray[np.int64]


def tune_product(
    work: CoreWork, chip: Chip, *, evaluations: int = MOST_EVALUATIONS, is_out_of_time: IsOutOfTime = never
) -> Found:  # fmt: skip
    """The fastest tiling that a genetic search finds for the product of a work.

    What is out of time keeps the best so far.  The same work and chip give the same result: the seed is made of them.
    Raises: InvalidArgument for work without a product.
    """
    default = core_tiling(work, chip)
    if work.product is None or default is None:
        raise InvalidArgument("the genetic search tunes products: take tune_vector for work without one")
    costs = Measured(lambda tiling: core_cost(work, chip, tiling).us, default, evaluations, is_out_of_time)
    _evolve(TilingGenes(TilingSpace(work.product, chip)), costs, seed_of(work, chip))
    return costs.found()


def _evolve(genes: TilingGenes, costs: Measured[Tiling], seed: int) -> None:
    """Runs the rounds until nothing more may be costed."""

    def fitness(ga: Any, genome: _Genomes, index: int) -> float:
        us = costs.us_of(genes.tiling(tuple(int(gene) for gene in genome)))
        return _WORST if us is None else -us

    def end_of_round(ga: Any) -> str | None:
        costs.end_round()
        return "stop" if costs.is_over else None

    first = np.array(list(_first_genomes(genes, costs.best, np.random.default_rng(seed))), dtype=np.int64)
    pygad.GA(
        num_generations=MOST_ROUNDS, num_parents_mating=POPULATION // 2, fitness_func=fitness, initial_population=first,
        gene_type=int, gene_space=[range(len(axis)) for axis in genes.axes], parent_selection_type="tournament", keep_elitism=2,
        crossover_type="uniform", mutation_type=_mutated, on_generation=end_of_round, random_seed=seed, suppress_warnings=True,
        logger=logging.getLogger(__name__),
    ).run()  # fmt: skip


def _mutated(offspring: _Genomes, ga: Any) -> _Genomes:
    """Children with some genes changed, most of them by a step."""
    draw = ga.numpy_random_generator
    sizes = np.array([len(space) for space in ga.gene_space])
    changed = draw.random_sample(offspring.shape) < MUTATED_GENES / max(1, np.count_nonzero(sizes > 1))
    near = np.clip(offspring + draw.choice((-2, -1, 1, 2), size=offspring.shape), 0, sizes - 1)
    anew = (draw.random_sample(offspring.shape) * sizes).astype(np.int64)
    moved = np.where(draw.random_sample(offspring.shape) < STEP_SHARE, near, anew)
    return np.where(changed, moved, offspring)


def _first_genomes(genes: TilingGenes, default: Tiling, draw: np.random.Generator) -> Iterator[tuple[int, ...]]:
    """The default, the default with the least depth, whose first tile is there soonest, and draws."""
    yield genes.genome(default)
    yield genes.genome(replace(default, base_k=genes.axes[2][0]))
    for _ in range(POPULATION - 2):
        yield tuple(int(draw.integers(len(axis))) for axis in genes.axes)
