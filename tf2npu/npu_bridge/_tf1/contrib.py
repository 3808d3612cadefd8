"""``tf.contrib``: the modules of ``npu_bridge._contrib`` and of ``tf_slim`` under their TF 1.15 names, private paths too.

Each module of ours lists in ``__all__`` what it offers, taken from TensorFlow where that carries it on and written anew where
nobody does. A name that is in none of them gives an error that says what to use.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from npu_bridge._contrib._old_paths import PRIVATE_MODULES
from npu_bridge._tf1.contrib_instead import instead_of
from npu_bridge._tf1.journal import Journal

ROOT = "tensorflow.contrib"
OURS = "npu_bridge._contrib"
# contrib module -> the modules of tf_slim whose public names it offers, later ones win; those of ours win over all.
_SLIM_LAYERS = ("tf_slim.layers.utils", "tf_slim.layers.sparse_ops", "tf_slim.layers")
CARRIED_ON = {
    "layers": _SLIM_LAYERS,
    "losses": ("tf_slim.losses",),
    "metrics": ("tf_slim.metrics",),
    "slim": (f"{OURS}.framework", f"{OURS}.layers", "tf_slim.ops.framework_ops", *_SLIM_LAYERS, "tf_slim"),
    "training": ("tf_slim.training.training", "tf_slim.training.evaluation"),
}
# Old paths below contrib -> the module that is there now, or a package below which the same names are; longest first.
MOVED = (
    ("image.python.ops.distort_image_ops", f"{OURS}._distort_image"),
    ("learn.python.learn.datasets.mnist", f"{OURS}._mnist"),
    ("learn.datasets.mnist", f"{OURS}._mnist"),
    ("learn.python.learn.datasets.base", f"{OURS}._learn_datasets"),
    ("learn.datasets.base", f"{OURS}._learn_datasets"),
    ("learn.python.learn.preprocessing.categorical_vocabulary", f"{OURS}._vocabulary"),
    ("learn.python.learn.preprocessing.text", f"{OURS}._vocabulary"),
    ("learn.python.learn.preprocessing", f"{OURS}._vocabulary"),
    ("learn.preprocessing", f"{OURS}._vocabulary"),
    ("learn.python.learn.basic_session_run_hooks", "tensorflow.python.training.basic_session_run_hooks"),
    ("learn.python.learn.monitored_session", "tensorflow.python.training.monitored_session"),
    ("learn.python.learn.session_run_hook", "tensorflow.python.training.session_run_hook"),
    ("learn.python.learn.summary_writer_cache", "tensorflow.python.summary.writer.writer_cache"),
    ("learn.python.learn.estimators.model_fn", f"{OURS}.learn"),
    ("layers.python.layers", "tf_slim.layers"),
    ("framework.python.ops.audio_ops", "tensorflow.python.ops.gen_audio_ops"),
    ("framework.python.ops", "tf_slim.ops"),
    ("slim.python.slim.training", "tf_slim.training"),
    ("slim.python.slim", "tf_slim"),
    ("slim.nets", "tf_slim.nets"),
    ("signal", "tensorflow.signal"),
    ("summary.summary", f"{OURS}.summary"),
    ("all_reduce.python.all_reduce", f"{OURS}.all_reduce"),
    ("recurrent.python.ops.functional_rnn", f"{OURS}.recurrent"),
    ("recurrent.python.recurrent_api", f"{OURS}.recurrent"),
    ("eager.python.tfe", f"{OURS}.eager"),
    ("compiler.xla", f"{OURS}._xla"),
    ("compiler.jit", "tensorflow.python.compiler.xla.jit"),
    ("tfprof.model_analyzer", f"{OURS}._model_analysis"),
    ("tfprof.tfprof_logger", "tensorflow.python.profiler.tfprof_logger"),
    ("keras.python.keras", "tensorflow.python.keras"),
    ("keras", "tensorflow.keras"),
    ("training.python.training.training", "tf_slim.training.training"),
    ("training.python.training.evaluation", "tf_slim.training.evaluation"),
    ("tpu.python.tpu.tpu_estimator", "tensorflow_estimator.python.estimator.tpu.tpu_estimator"),
    ("tpu.python.tpu.tpu_config", "tensorflow_estimator.python.estimator.tpu.tpu_config"),
    ("tpu.python.tpu.tpu_context", "tensorflow_estimator.python.estimator.tpu.tpu_context"),
    ("tpu.python.tpu.util", "tensorflow_estimator.python.estimator.tpu.util"),
    ("tpu.python.tpu", "tensorflow.python.tpu"),
    ("tpu.python.ops", "tensorflow.python.tpu.ops"),
    ("opt.python.training.sign_decay", f"{OURS}._sign_decay"),
    ("rnn.python.ops.core_rnn_cell", f"{OURS}._rnn_linear"),
    ("rnn.python.ops.rnn_cell", f"{OURS}._rnn_linear"),
    ("rnn.python.ops.rnn_cell_impl", "tensorflow.python.ops.rnn_cell_impl"),
    ("seq2seq.python.ops.decoder", f"{OURS}._seq2seq_decoders"),
    ("tensorboard.plugins.projector", "tensorboard.plugins.projector"),
    ("offline_train.python", "npu_bridge.estimator"),  # what npu_bridge was called in its first release
    ("hccl.python.ops", "npu_bridge.hccl"),
    ("distributions.python.ops.bijectors", f"{OURS}._bijectors"),
    ("distributions.bijectors", f"{OURS}._bijectors"),
)
PROBABILITY = "tensorflow_probability"
"""The optional package that carries on most of ``tf.contrib.distributions``."""
OF_PROBABILITY = frozenset({
    "Autoregressive", "BatchReshape", "Binomial", "Cauchy", "Chi2", "Chi2WithAbsDf", "Deterministic",
    "ExpRelaxedOneHotCategorical", "Geometric", "HalfNormal", "Independent", "InverseGamma",
    "InverseGammaWithSoftplusConcentrationRate", "Kumaraswamy", "Logistic", "Mixture", "MixtureSameFamily",
    "MultivariateNormalDiag", "MultivariateNormalDiagPlusLowRank", "MultivariateNormalDiagWithSoftplusScale",
    "MultivariateNormalFullCovariance", "MultivariateNormalTriL", "NegativeBinomial", "OneHotCategorical", "Poisson",
    "PoissonLogNormalQuadratureCompound", "QuantizedDistribution", "RelaxedBernoulli", "RelaxedOneHotCategorical",
    "SeedStream", "SinhArcsinh", "TransformedDistribution", "VectorDeterministic", "VectorExponentialDiag",
    "VectorLaplaceDiag", "WishartCholesky", "WishartFull", "auto_correlation", "bijectors",
    "normal_conjugates_known_scale_posterior", "normal_conjugates_known_scale_predictive",
    "quadrature_scheme_lognormal_gauss_hermite", "quadrature_scheme_lognormal_quantiles",
})  # fmt: skip
"""Names of ``tf.contrib.distributions`` that come with it."""


class ContribModule(ModuleType):
    """A module that loads its parts when they are asked for and says, for a name it lacks, what to use."""

    def __init__(self, path: str) -> None:
        super().__init__(f"{ROOT}.{path}".rstrip("."))
        self.__path__: list[str] = []
        self.__package__ = self.__name__

    def __setattr__(self, name: str, value: object) -> None:
        """A function stays where a module below has its name, as ``arg_scope`` of TF 1.15's framework does."""
        if not (isinstance(value, ModuleType) and callable(vars(self).get(name))):
            super().__setattr__(name, value)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        path = f"{self.__name__[len(ROOT) + 1 :]}.{name}".lstrip(".")
        if is_module(path):
            return import_module(f"{ROOT}.{path}")
        if path.startswith("distributions.") and name in OF_PROBABILITY and _module_there(PROBABILITY):
            return getattr(import_module(f"{OURS}._probability_distributions"), name)
        raise AttributeError(explain(path))


def explain(path: str) -> str:
    """Say that ``tf.contrib.<path>`` is not there, and what is."""
    instead = instead_of(path)
    hint = f"use {instead}" if instead else "TensorFlow 2 dropped it; bring its code into your project"
    return f"tf.contrib.{path} is not available under npu_bridge on TensorFlow 2.15: {hint}"


def _module_there(name: str) -> bool:
    try:
        return sys.modules.get(name) is not None or find_spec(name) is not None
    except ImportError:
        return False


def _moved_to(path: str) -> str | None:
    """The module that is now what ``contrib.<path>`` was."""
    for old, new in MOVED:
        if path == old or path.startswith(old + "."):
            name = new + path[len(old) :]
            return name if _module_there(name) else None
    return None


def _is_of_probability(path: str) -> bool:
    """Whether a path is that of a module of distributions, or of bijectors, that comes with tensorflow_probability."""
    top, _, last = path.rpartition(".")
    return path == "distributions.bijectors" or (top.startswith("distributions.python.ops") and last.islower())


def is_module(path: str) -> bool:
    """Whether ``tensorflow.contrib.<path>`` can be imported."""
    if path in PRIVATE_MODULES or any(old.startswith(path + ".") for old, _ in MOVED):
        return True
    if _is_of_probability(path):
        return _module_there(PROBABILITY)
    return path in CARRIED_ON or _moved_to(path) is not None or (not path.startswith("_") and _module_there(f"{OURS}.{path}"))


def offered(module: ModuleType) -> dict[str, Any]:
    """The names that a module offers, with their values: its ``__all__``, or else its public names."""
    names = getattr(module, "__all__", None) or [name for name in vars(module) if not name.startswith("_")]
    return {name: getattr(module, name) for name in names}


def build(path: str) -> ModuleType | None:
    """Make ``tensorflow.contrib.<path>``; None when it is not one of those that are offered.

    A private path gets the names of the public contrib module above it as well, because that is what old code takes from there.
    """
    if path and not is_module(path):
        return None
    moved = _moved_to(path)
    has_more_below = any(old.startswith(path + ".") for old, _ in MOVED)
    if moved and not has_more_below and not hasattr(import_module(moved), "__path__"):
        return import_module(moved)
    module = ContribModule(path)
    top = path.partition(".")[0]
    for name in dict.fromkeys((*CARRIED_ON.get(top, ()), f"{OURS}.{top}", f"{OURS}.{path}", moved)):
        if path and name and _module_there(name):
            for known_as, value in offered(import_module(name)).items():
                setattr(module, known_as, value)
    return module


def offer(journal: Journal) -> None:
    """Bind ``tf.contrib``; its parts are loaded when somebody asks for them."""
    contrib = build("")
    journal.set(sys.modules, ROOT, contrib)
    journal.set(vars(sys.modules["tensorflow"]), "contrib", contrib)
