"""The launchers that are run."""

from __future__ import annotations

from benchmarks.launchers import data
from benchmarks.launchers.launcher import Launcher

_CLICK_CUTS = (("configs/config.py", "batch_size = 16000", "batch_size = 2000"),
               ("configs/config.py", "train_size = 41257636", "train_size = 160000"),
               ("configs/config.py", "'/npu/traindata/tf_record'", "'{data}'"),
               ("configs/config.py", "iterations_per_loop = 10", "iterations_per_loop = 2"))  # fmt: skip
_PERFORMANCE, _FULL = "test/train_performance_8p.sh", "test/train_full_8p.sh"

LAUNCHERS = (
    Launcher(
        "lstm", "nlp/LSTM_ID0111_for_TensorFlow", _PERFORMANCE, data.reviews, r"Training loss: (\S+)",
        cuts=((_PERFORMANCE, "train_steps=1000", "train_steps=100"),),
    ),
    Launcher(
        "alexnet", "cv/image_classification/AlexNet_ID0072_for_TensorFlow", _PERFORMANCE, data.imagenet, r" loss: *([\d.]+)",
        cuts=((_PERFORMANCE, "max_train_steps=1000", "max_train_steps=4"),
              (_PERFORMANCE, "iterations_per_loop=100", "iterations_per_loop=2"),
              (_PERFORMANCE, "batch_size=128", "batch_size=16")),
    ),
    Launcher(
        "widedeep_0028", "recommendation/WideDeep_ID0028_for_TensorFlow", _PERFORMANCE, data.clicks, r"batch .*: loss = ([\d.]+)",
        cuts=_CLICK_CUTS,
    ),
    Launcher(
        "deepfm", "recommendation/DeepFM_ID0030_for_TensorFlow", _PERFORMANCE, data.clicks, r"batch .*: loss = ([\d.]+)",
        cuts=(*_CLICK_CUTS[:2], ("configs/config.py", '"/npu/traindata/deepfm"', '"{data}"')),
    ),
    Launcher(
        "densenet121", "cv/image_classification/DenseNet121_ID0067_for_TensorFlow", _PERFORMANCE, data.imagenet, r"\bloss: *([\d.]+)",
        cuts=((_PERFORMANCE, "max_train_steps=200", "max_train_steps=2"), (_PERFORMANCE, "iterations_per_loop=10", "iterations_per_loop=1"),
              (_PERFORMANCE, "display_every=10", "display_every=1"), (_PERFORMANCE, "batch_size=32", "batch_size=4")),
    ),
    Launcher(
        "bert_google", "nlp/BertBase_Google_ID0631_for_TensorFlow", _PERFORMANCE, data.sentences, r"\bloss = ([\d.]+)",
        ("--data_path={data}", "--type=bertbase", "--train_batch_size=2", "--num_train_steps=4", "--max_seq_length=128",
         "--max_predictions_per_seq=20"),
        cuts=((_PERFORMANCE, "iterations_per_loop=500", "iterations_per_loop=2"),
              ("configs/bert_base_12layer_config.json", '"num_hidden_layers": 12', '"num_hidden_layers": 2')),
        counts=((_PERFORMANCE, "for i in 0 1 2 3 4 5 6 7", "for i in $(seq 0 $(({ranks}-1)))"),),
    ),
)  # fmt: skip
"""By name, which is also the order of the table's rows."""
