"""Metrics give what those of MindSpore 2.10 gave for the same numbers, and refuse what does not fit."""

from __future__ import annotations

import numpy as np
import pytest
from mindspore import Tensor, nn

drawn = np.random.RandomState(1)
PREDICTIONS = [drawn.rand(6, 4).astype(np.float32) for _ in range(2)]
LABELS = [drawn.randint(0, 4, 6).astype(np.int32) for _ in range(2)]
SEVERAL = [((drawn.rand(5, 3) > 0.5) * 1, (drawn.rand(5, 3) > 0.5) * 1) for _ in range(2)]
POSITIONS = [(drawn.rand(2, 3, 5).astype(np.float32), drawn.randint(0, 3, (2, 5))) for _ in range(2)]
NUMBERS = [drawn.rand(4, 3).astype(np.float32) for _ in range(4)]
OF_CLASSES = list(zip(PREDICTIONS, LABELS, strict=True))
OF_NUMBERS = [tuple(NUMBERS[:2]), tuple(NUMBERS[2:])]
PRECISIONS, RECALLS = [0.5, 0.285714, 1.0, 0.0], [0.333333, 0.666667, 0.333333, 0.0]
CASES = {
    "accuracy": (nn.Accuracy, OF_CLASSES, {}, 0.333333),
    "precision": (nn.Precision, OF_CLASSES, {}, PRECISIONS),
    "precision of all": (nn.Precision, OF_CLASSES, {"average": True}, 0.446429),
    "recall": (nn.Recall, OF_CLASSES, {}, RECALLS),
    "recall of all": (nn.Recall, OF_CLASSES, {"average": True}, 0.333333),
    "F1": (nn.F1, OF_CLASSES, {}, [0.4, 0.4, 0.5, 0.0]),
    "F1 of all": (nn.F1, OF_CLASSES, {"average": True}, 0.325),
    "Fbeta": (lambda: nn.Fbeta(2), OF_CLASSES, {}, [0.357143, 0.526316, 0.384615, 0.0]),
    "the first": (nn.Top1CategoricalAccuracy, OF_CLASSES, {}, 0.333333),
    "the first three": (lambda: nn.TopKCategoricalAccuracy(3), OF_CLASSES, {}, 0.583333),
    "accuracy of several": (lambda: nn.Accuracy("multilabel"), SEVERAL, {}, 0.0),
    "precision of several": (
        lambda: nn.Precision("multilabel"), SEVERAL, {}, [0, 0.5, 0, 1, 0.666667, 0, 0.666667, 0, 1, 0.5],
    ),
    "recall of several": (lambda: nn.Recall("multilabel"), SEVERAL, {}, [0, 1, 0, 0.333333, 1, 0, 1, 0, 0.5, 0.5]),
    "recall of several, of all": (lambda: nn.Recall("multilabel"), SEVERAL, {"average": True}, 0.433333),
    "accuracy at positions": (nn.Accuracy, POSITIONS, {}, 0.55),
    "precision at positions": (nn.Precision, POSITIONS, {}, [0.666667, 0.333333, 0.5]),
    "recall at positions": (nn.Recall, POSITIONS, {}, [0.666667, 0.2, 0.666667]),
    "mean absolute error": (nn.MAE, OF_NUMBERS, {}, 0.792523),
    "mean squared error": (nn.MSE, OF_NUMBERS, {}, 0.285292),
    "loss": (nn.Loss, [(Tensor(np.float32([1, 2])),), (Tensor(np.float32(4)),)], {}, 2.75),
}  # fmt: skip
"""(metric, batches, arguments of eval, what MindSpore 2.10 gives)."""


@pytest.mark.parametrize("case", CASES)
def test_a_metric_is_that_of_mindspore(case):
    make, batches, options, wanted = CASES[case]
    metric = make()
    for _ in range(2):  # clear() forgets what was before
        metric.clear()
        for batch in batches:
            metric.update(*batch)
        np.testing.assert_allclose(metric.eval(**options), wanted, atol=1e-6)


@pytest.mark.parametrize("make", [nn.Accuracy, nn.Precision, nn.F1, nn.Top5CategoricalAccuracy])
def test_labels_may_be_rows_of_zeros_and_a_one(make):
    predictions, labels = OF_CLASSES[0]
    np.testing.assert_array_equal(make()(Tensor(predictions), Tensor(labels)), make()(predictions, np.eye(4)[labels]))


def test_metrics_have_the_names_of_r1_1():
    names = ["F1", "acc", "accuracy", "loss", "mae", "mse", "precision", "recall", "top_1_accuracy", "top_5_accuracy", "topk"]
    assert nn.names() == names
    assert isinstance(nn.get_metric_fn("topk", 3), nn.TopKCategoricalAccuracy)


def test_a_metric_of_a_program_s_own_is_called_as_the_others():
    class Count(nn.Metric):
        def __init__(self):
            super().__init__()
            self.clear()

        def clear(self):
            self.n = 0

        def update(self, *inputs):
            self.n += len(self._convert_data(inputs[0]))

        def eval(self):
            return self.n

    assert Count()([1, 2, 3]) == 3
    with pytest.raises(TypeError, match="abstract"):
        nn.Metric()


BAD = {
    "one input": (lambda: nn.Accuracy().update(PREDICTIONS[0]), ValueError, "takes 2 inputs"),
    "two losses": (lambda: nn.Loss().update(1, 2), ValueError, "takes 1 input"),
    "a loss with two axes": (lambda: nn.Loss().update(NUMBERS[0]), ValueError, "a number or a vector"),
    "a text": (lambda: nn.MAE().update("a", "b"), TypeError, "not str"),
    "other shapes": (lambda: nn.Accuracy().update(PREDICTIONS[0], LABELS[0][:3]), ValueError, "do not fit"),
    "other numbers of classes": (
        lambda: [metric.update(*pair) for metric in [nn.Accuracy()] for pair in (OF_CLASSES[0], POSITIONS[0])],
        ValueError,
        "this batch has 3 classes, those before 4",
    ),
    "an unknown class": (lambda: nn.Recall().update(PREDICTIONS[0], LABELS[0] + 3), ValueError, "and the predictions have 4"),
    "numbers for several": (lambda: nn.Recall("multilabel").update(*OF_NUMBERS[0]), ValueError, "zeros and ones"),
    "an unknown kind": (lambda: nn.Accuracy("regression"), TypeError, "classification, multilabel"),
    "no sample": (lambda: nn.Accuracy().eval(), RuntimeError, "there was no sample"),
    "no sample of errors": (lambda: nn.MSE().eval(), RuntimeError, "there was no sample"),
    "no k": (lambda: nn.TopKCategoricalAccuracy(0), ValueError, "k=0"),
    "half a k": (lambda: nn.TopKCategoricalAccuracy(0.5), TypeError, "a whole number"),
    "no beta": (lambda: nn.Fbeta(0), ValueError, "beta=0"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_does_not_fit_is_said(case):
    call, kind, words = BAD[case]
    with pytest.raises(kind, match=words):
        call()
