"""``tf.contrib.predictor``: feed a saved model or an Estimator's model with dictionaries.

Source: behaviour and parameters of tensorflow/contrib/predictor of TensorFlow 1.15.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf

__all__ = ["from_contrib_estimator", "from_estimator", "from_saved_model"]

DEFAULT_KEY = tf.saved_model.signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY


class Predictor:
    """A session and the tensors that it feeds and fetches, by name."""

    def __init__(self, graph: tf.Graph, session: tf.Session, feeds: Mapping[str, Any], fetches: Mapping[str, Any]) -> None:
        self._graph, self._session, self._feeds, self._fetches = graph, session, dict(feeds), dict(fetches)

    def __call__(self, input_dict: Mapping[str, Any]) -> dict[str, Any]:
        """The outputs for a batch.  Raises: ValueError for a name that is not an input."""
        unknown = sorted(set(input_dict) - set(self._feeds))
        if unknown:
            raise ValueError(f"Got unexpected keys in input_dict: {unknown}; expected: {sorted(self._feeds)}")
        feeds = {self._feeds[name]: value for name, value in input_dict.items()}
        return self._session.run(self._fetches, feed_dict=feeds)

    @property
    def graph(self) -> tf.Graph:
        """The graph of the model."""
        return self._graph

    @property
    def session(self) -> tf.Session:
        """The session, which stays open."""
        return self._session

    @property
    def feed_tensors(self) -> dict[str, Any]:
        """The input tensors, by name."""
        return self._feeds

    @property
    def fetch_tensors(self) -> dict[str, Any]:
        """The output tensors, by name."""
        return self._fetches


def from_saved_model(
    export_dir: str,
    signature_def_key: str | None = None,
    signature_def: Any = None,
    input_names: Mapping[str, str] | None = None,
    output_names: Mapping[str, str] | None = None,
    tags: str | None = None,
    graph: tf.Graph | None = None,
    config: Any = None,
) -> Predictor:
    """Load a SavedModel; inputs and outputs by its signature, or by tensor names.

    Raises: ValueError when signature and names are given together, or the model lacks the signature.
    """
    named = input_names is not None or output_names is not None
    if sum([named, signature_def is not None, signature_def_key is not None]) > 1:
        raise ValueError("give one of signature_def_key, signature_def, or input_names with output_names")
    if named and (input_names is None or output_names is None):
        raise ValueError("input_names and output_names must be given together")
    graph = graph or tf.Graph()
    with graph.as_default():
        session = tf.Session(config=config)
        wanted = tags.split(",") if tags else [tf.saved_model.tag_constants.SERVING]
        meta_graph = tf.saved_model.loader.load(session, wanted, export_dir)
    if not named:
        signature = signature_def or _signature(meta_graph, signature_def_key or DEFAULT_KEY)
        input_names = {key: info.name for key, info in signature.inputs.items()}
        output_names = {key: info.name for key, info in signature.outputs.items()}
    return Predictor(graph, session, *(_tensors(graph, names) for names in (input_names, output_names)))


def _signature(meta_graph: Any, key: str) -> Any:
    if key not in meta_graph.signature_def:
        raise ValueError(f"Got signature_def_key {key!r}; available signatures are {sorted(meta_graph.signature_def)}")
    return meta_graph.signature_def[key]


def _tensors(graph: tf.Graph, names: Any) -> dict[str, Any]:
    return {key: graph.get_tensor_by_name(name) for key, name in names.items()}


def from_estimator(
    estimator: tf.estimator.Estimator,
    serving_input_receiver_fn: Callable[[], Any],
    output_key: str | None = None,
    graph: tf.Graph | None = None,
    config: Any = None,
) -> Predictor:
    """The newest checkpoint of an Estimator, fed through a serving input receiver."""
    graph = graph or tf.Graph()
    with graph.as_default():
        receiver = serving_input_receiver_fn()
        spec = estimator._call_model_fn(receiver.features, None, tf.estimator.ModeKeys.PREDICT, estimator.config)
        checkpoint = tf.train.latest_checkpoint(estimator.model_dir)
        creator = tf.train.ChiefSessionCreator(spec.scaffold, config=config, checkpoint_filename_with_path=checkpoint)
        session = tf.train.MonitoredSession(session_creator=creator)
        outputs = spec.predictions
        if spec.export_outputs is not None:
            chosen = spec.export_outputs[output_key or DEFAULT_KEY]
            outputs = chosen.outputs if hasattr(chosen, "outputs") else spec.predictions
    feeds = receiver.receiver_tensors
    outputs = outputs if isinstance(outputs, dict) else {"output": outputs}
    return Predictor(graph, session, feeds, outputs)


def from_contrib_estimator(
    estimator: Any,
    prediction_input_fn: Any,
    input_alternative_key: str | None = None,
    output_alternative_key: str | None = None,
    graph: tf.Graph | None = None,
    config: Any = None,
) -> Predictor:
    """Refused: tf.contrib.learn.Estimator is not there."""
    raise TypeError("tf.contrib.learn.Estimator is gone; use a tf.estimator.Estimator with from_estimator")
