"""Metrics of a network's predictions."""

from __future__ import annotations

from typing import Any

from mindspore.nn.metrics.accuracy import Accuracy
from mindspore.nn.metrics.error import MAE, MSE
from mindspore.nn.metrics.fbeta import F1, Fbeta
from mindspore.nn.metrics.loss import Loss
from mindspore.nn.metrics.metric import Metric
from mindspore.nn.metrics.precision import Precision
from mindspore.nn.metrics.recall import Recall
from mindspore.nn.metrics.topk import Top1CategoricalAccuracy, Top5CategoricalAccuracy, TopKCategoricalAccuracy

__all__ = [
    "F1", "MAE", "MSE", "Accuracy", "Fbeta", "Loss", "Metric", "Precision", "Recall", "Top1CategoricalAccuracy",
    "Top5CategoricalAccuracy", "TopKCategoricalAccuracy", "get_metric_fn", "names",
]  # fmt: skip

_BY_NAME = {
    "accuracy": Accuracy, "acc": Accuracy, "precision": Precision, "recall": Recall, "F1": F1, "topk": TopKCategoricalAccuracy,
    "top_1_accuracy": Top1CategoricalAccuracy, "top_5_accuracy": Top5CategoricalAccuracy, "mae": MAE, "mse": MSE, "loss": Loss,
}  # fmt: skip


def names() -> list[str]:
    """The names that get_metric_fn knows."""
    return sorted(_BY_NAME)


def get_metric_fn(name: str, *args: Any, **kwargs: Any) -> Metric:
    """A metric by its name.  Raises: KeyError for an unknown one."""
    if name not in _BY_NAME:
        raise KeyError(f"there is no metric {name!r}: {', '.join(names())}")
    return _BY_NAME[name](*args, **kwargs)


def get_metrics(metrics: Any) -> dict[str, Metric]:
    """The metrics of a Model by name.  Raises: TypeError for anything but a set of names or a dict of metrics."""
    if metrics is None:
        return {}
    if isinstance(metrics, set):
        return {name: get_metric_fn(name) for name in sorted(metrics)}
    if not isinstance(metrics, dict):
        raise TypeError(f"metrics={metrics!r}: a set of names, such as {{'acc'}}, or a dict of names and metrics")
    for name, metric in metrics.items():
        if not isinstance(name, str) or not isinstance(metric, Metric):
            raise TypeError(f"metrics={{{name!r}: {metric!r}}}: the key is a text and the value a metric, such as nn.Accuracy()")
    return metrics
