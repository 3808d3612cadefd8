"""``tf.contrib.learn``: the parts that scripts took along after its estimators had moved to ``tf.estimator``."""

from __future__ import annotations

from npu_bridge._contrib import _vocabulary as preprocessing
from tensorflow.python.training.basic_session_run_hooks import NanLossDuringTrainingError

__all__ = ["ModeKeys", "NanLossDuringTrainingError", "preprocessing"]


class ModeKeys:
    """Names of the modes; INFER is "infer", the value of ``tf.estimator.ModeKeys.PREDICT``."""

    TRAIN = "train"
    EVAL = "eval"
    INFER = "infer"

    @classmethod
    def validate(cls, key: str) -> None:
        """Raises: ValueError when key is none of the modes."""
        if key not in (cls.TRAIN, cls.EVAL, cls.INFER):
            raise ValueError(f"Invalid mode {key}.")
