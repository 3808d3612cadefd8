"""The launchers that are run: one of each of thirteen families, chosen for what they need: TensorFlow,
scikit-learn, and easydict for one of them."""

from __future__ import annotations

from benchmarks.launchers import data
from benchmarks.launchers.launcher import Edits, Launcher

_PERFORMANCE, _FULL = "test/train_performance_8p.sh", "test/train_full_8p.sh"
_IMAGES = "cv/image_classification"
_HOOK_LOSS = r"\bloss: *([\d.]+)"
_ESTIMATOR_LOSS = r"INFO:tensorflow:(?:global_step = \d+, )?loss = ([\d.eE+-]+)"
_BERT_LOSS = r" Loss = +([\d.]+) Average"
_CHIEF = ("--data_path={data}", "--one_node_ip=127.0.0.1")


def _in(file: str, *pairs: tuple[str, str]) -> Edits:
    return tuple((file, old, new) for old, new in pairs)


def _small_bert(file: str, layers: int, hidden: int) -> Edits:
    """Two layers, an eighth as wide; the heads stay."""
    return _in(
        file,
        (f'"num_hidden_layers": {layers}', '"num_hidden_layers": 2'),
        (f'"hidden_size": {hidden}', f'"hidden_size": {hidden // 8}'),
        (f'"intermediate_size": {hidden * 4}', f'"intermediate_size": {hidden // 2}'),
    )


_CLICKS = _in("configs/config.py", ("batch_size = 16000", "batch_size = 2000"), ("train_size = 41257636", "train_size = 160000"))

LAUNCHERS = (
    Launcher(
        "lstm", "nlp/LSTM_ID0111_for_TensorFlow", _PERFORMANCE, data.reviews, r"Training loss: (\S+)",
        cuts=_in(_PERFORMANCE, ("train_steps=1000", "train_steps=100")),
    ),
    Launcher(
        "widedeep", "recommendation/WideDeep_ID0028_for_TensorFlow", _PERFORMANCE, data.clicks, r"batch .*: loss = ([\d.]+)",
        cuts=_CLICKS + _in("configs/config.py", ("'/npu/traindata/tf_record'", "'{data}'"),
                           ("iterations_per_loop = 10", "iterations_per_loop = 2")),
    ),
    Launcher(
        "deepfm", "recommendation/DeepFM_ID0030_for_TensorFlow", _PERFORMANCE, data.clicks, r"batch .*: loss = ([\d.]+)",
        cuts=_CLICKS + _in("configs/config.py", ('"/npu/traindata/deepfm"', '"{data}"'), ("n_epoches = 2", "n_epoches = 1"),
                           ("iteration_per_loop = 10", "iteration_per_loop = 2")),
    ),
    Launcher(
        "alexnet", f"{_IMAGES}/AlexNet_ID0072_for_TensorFlow", _PERFORMANCE, data.imagenet, _HOOK_LOSS,
        cuts=_in(_PERFORMANCE, ("max_train_steps=1000", "max_train_steps=4"),
                 ("iterations_per_loop=100", "iterations_per_loop=2"), ("batch_size=128", "batch_size=16")),
    ),
    Launcher(
        "densenet121", f"{_IMAGES}/DenseNet121_ID0067_for_TensorFlow", _PERFORMANCE, data.imagenet, _HOOK_LOSS,
        cuts=_in(_PERFORMANCE, ("max_train_steps=200", "max_train_steps=2"), ("iterations_per_loop=10", "iterations_per_loop=1"),
                 ("display_every=10", "display_every=1"))
        + _in("train.py", ("'--batch_size', default=32", "'--batch_size', default=4")),
    ),
    Launcher(
        "googlenet", f"{_IMAGES}/GoogleNet_ID0051_for_TensorFlow", _PERFORMANCE, data.imagenet, _HOOK_LOSS,
        cuts=_in(_PERFORMANCE, ("max_train_steps=2000", "max_train_steps=4"),
                 ("iterations_per_loop=100", "iterations_per_loop=2"), ("batch_size=64", "batch_size=4"))
        + _in("train.py", ("'--display_every', default=100", "'--display_every', default=1")),
    ),
    Launcher(
        "mobilenet_v2", f"{_IMAGES}/MobileNetV2_ID0074_for_TensorFlow", _PERFORMANCE, data.imagenet, _HOOK_LOSS,
        cuts=_in(_PERFORMANCE, ("train_steps=500", "train_steps=4"), ("iterations_per_loop=10", "iterations_per_loop=2"),
                 ("batch_size=256", "batch_size=4")),
    ),
    Launcher(
        "shufflenet_v1", f"{_IMAGES}/ShufflenetV1_ID0184_for_Tensorflow", _PERFORMANCE, data.shards, _ESTIMATOR_LOSS,
        cuts=_in(_PERFORMANCE, ("max_train_step=2000", "max_train_step=4"), ("iterations_per_loop=100", "iterations_per_loop=2"),
                 ("batch_size=96", "batch_size=4"))
        + _in("architecture.py", ("BATCH_SIZE = 96", "BATCH_SIZE = 4")),
    ),
    Launcher(
        "resnet50", f"{_IMAGES}/ResNet50_ID0058_for_TensorFlow", "test/train_performance_bs32_8p.sh", data.imagenet, _HOOK_LOSS,
        _CHIEF,
        cuts=_in("test/train_performance_bs32_8p.sh", ("train_steps=2000", "train_steps=4"),
                 ("iterations_per_loop=100", "iterations_per_loop=2"))
        + _in("src/configs/res50_32bs_8p.py", ("'batch_size':32", "'batch_size':4")),
    ),
    Launcher(
        "bert_google", "nlp/BertBase_Google_ID0631_for_TensorFlow", _PERFORMANCE, data.sentences, _ESTIMATOR_LOSS,
        ("--data_path={data}/wikipedia_128", "--type=bertbase", "--train_batch_size=2", "--num_train_steps=4",
         "--max_seq_length=128", "--max_predictions_per_seq=20"),
        cuts=_small_bert("configs/bert_base_12layer_config.json", 12, 768),
        counts=_in(_PERFORMANCE, ("for i in 0 1 2 3 4 5 6 7", "for i in $(seq 0 $(({ranks}-1)))")),
    ),
    Launcher(
        "bert_base", "nlp/Bert-base_ID0060_for_TensorFlow", _PERFORMANCE, data.sentences, _BERT_LOSS,
        ("--data_path={data}/wikipedia_128",),
        cuts=_in(_PERFORMANCE, ("train_steps=1000", "train_steps=20"), ("iterations_per_loop=100", "iterations_per_loop=10"),
                 ("batch_size=128", "batch_size=2"))
        + _small_bert("configs/bert_base_config.json", 12, 768),
    ),
    Launcher(
        "nezha", "nlp/Nezha-large_for_TensorFlow", _PERFORMANCE, data.sentences, _BERT_LOSS,
        cuts=_in(_PERFORMANCE, ("num_train_steps=1000", "num_train_steps=20"),
                 ("iterations_per_loop=100", "iterations_per_loop=10"), ("train_batch_size=64", "train_batch_size=2"))
        + _small_bert("configs/nezha_large_config.json", 24, 1024),
    ),
    Launcher(
        "roberta", "nlp/Roberta_ID2349_for_TensorFlow", _PERFORMANCE, data.sentences, _ESTIMATOR_LOSS,
        cuts=_in(_PERFORMANCE, ("num_train_steps=1000", "num_train_steps=16"), ("train_batch_size=16", "train_batch_size=2"))
        + _small_bert("bert_config_large.json", 24, 1024),
    ),
)  # fmt: skip
"""In the order of the table's rows."""
