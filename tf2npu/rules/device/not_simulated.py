"""APIs of TensorFlow 1.15 that an Ascend host has and a simulated run has not."""

from __future__ import annotations

from functools import lru_cache

from tf2npu.api_support.table import not_simulated, not_simulated_part, shown
from tf2npu.frameworks.tensorflow1.scripts import uses_tensorflow
from tf2npu.rules.base import Example, rule
from tf2npu.rules.facts.files.file_uses import uses
from tf2npu.scanner.sites import Site

_PROBABILITY = "tensorflow-probability"
"""The package that brings most of tf.contrib.distributions, as the table names it (npu_bridge/_tf1/contrib_instead.py)."""


@rule(
    id="NPU968",
    title="Not in a simulated run",
    once=True,
    on="module",
    matches=tuple(not_simulated()),
    why="A simulated run is one of TensorFlow 2.15, which dropped some APIs of 1.15: it ends where the script comes to one.",
    done_when="`tf2npu run` passes this line.",
    source="the names of TensorFlow 1.15 and of its own modules, looked up with npu_bridge (tools/build_not_simulated.py)",
    examples=(
        Example.same(
            "cell = tf.contrib.rnn.GridLSTMCell(64)",
            level="manual",
            write="cell = mine.GridLSTMCell(64)  # a copy of its code, only needed where the script is to run without an NPU",
        ),
        Example.same("from tensorflow.contrib.factorization import KMeans", level="manual"),
        Example.same("e = tf.estimator.BoostedTreesClassifier(columns, 1, config=npu_run_config_init())", level="manual"),
        Example.same("from tensorflow.python.distribute import all_reduce", level="manual"),
        Example.same("policy = tf.contrib.distributions.MultivariateNormalDiag(mean, deviation)", level="manual"),
        Example.same("cell = tf.contrib.rnn.LSTMCell(64)", note="still there"),
        Example.same(
            "try:\n    from tensorflow.contrib import ffmpeg\nexcept ImportError:\n    ffmpeg = None",
            note="has another way",
        ),
    ),
)
def not_in_a_simulated_run(site: Site) -> None:
    """Says of each such API that a simulated run ends there."""
    if not uses_tensorflow(site.script) or not _is_mentioned(site.script.tree.tokens):
        return
    for name in uses(site, not_simulated_part):
        instead = not_simulated()[name] or "a copy of its code in the project"
        if _PROBABILITY in instead:
            site.manual(
                f"A simulated run ends here without one more package: {shown(name)} comes with tensorflow-probability. "
                'To run without an NPU, write `pip install "tf2npu[probability]"`. An NPU host with TensorFlow 1.15 has it.'
            )
            continue
        site.manual(
            f"A simulated run ends here: the TensorFlow 2.15 of `tf2npu run` has no {shown(name)}. An NPU host with "
            f"TensorFlow 1.15 has it. To run without an NPU, use {instead}."
        )


@lru_cache(maxsize=2)
def _last_words(*, own_modules: bool) -> frozenset[str]:
    """The last words of the APIs' names outside of tf.contrib: a file with none of them, and without "contrib", uses no such API.

    own_modules: with what is below `tensorflow.python`, which most files do not name.
    """
    names = (name for name in not_simulated() if not name.startswith("tensorflow.contrib."))
    return frozenset(name.rpartition(".")[2] for name in names if own_modules or not name.startswith("tensorflow.python."))


def _is_mentioned(words: frozenset[str]) -> bool:
    return "contrib" in words or not _last_words(own_modules="python" in words).isdisjoint(words)
