"""The scripts: where each lies, its arguments, the data it wants."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.migrated import pictures, texts


def _nothing(folder: Path) -> None:
    """No data."""


@dataclass(frozen=True)
class Row:
    """One script. folder: what is taken out of the model zoo.  script: path below it, run in its own folder.

    prepare: puts data into the script's folder.  before: scripts with arguments that are run first.
    is_root_searched: the script imports modules by their path below ``folder``, which goes to PYTHONPATH.
    """

    number: int
    folder: str
    script: str
    arguments: tuple[str, ...] = ()
    prepare: Callable[[Path], None] = _nothing
    before: tuple[tuple[str, ...], ...] = ()
    is_root_searched: bool = False


def _lenet(folder: Path) -> None:
    pictures.make_mnist(folder / "MNIST", 6000, 1000)
    for name in ("output/ckpt_npu", "test/output"):
        (folder / name).mkdir(parents=True, exist_ok=True)


def _bert(folder: Path) -> None:
    vocabulary = texts.make_vocabulary(folder / "vocab.txt")
    texts.make_bert_config(folder / "bert_config.json", len(vocabulary))
    texts.make_pretraining_records(folder / "pretraining.tfrecord", 64, 32, 4, len(vocabulary))


def _mrpc(folder: Path) -> None:
    _bert(folder)
    texts.make_mrpc(folder / "MRPC", 64, 16)


def _bert_ner(folder: Path) -> None:
    _bert(folder)
    texts.make_ner(folder / "data", 48)
    for name in ("output", "middle_data"):
        (folder / name).mkdir(exist_ok=True)


def _wide_resnet(folder: Path) -> None:
    pictures.make_cifar_records(folder / "records" / "train.tfrecords", 80)


def _pretraining(*more: str) -> tuple[str, ...]:
    return (
        "--bert_config_file=bert_config.json", "--input_file=pretraining.tfrecord", "--do_train=True", "--train_batch_size=8",
        "--max_seq_length=32", "--max_predictions_per_seq=4", "--num_train_steps=6", "--num_warmup_steps=2",
        "--iterations_per_loop=1", *more,
    )  # fmt: skip


_IMAGES, _NLP = "built-in/cv/image_classification", "built-in/nlp"
_TAGGING = ("--hidden_size_lstm", "8", "--max_sequence_length", "12", "--max_word_length", "6")
_WIDE = (
    "--do_train=True", "--model_path=None", "--depths=10", "--ks=1", "--image_num=80", "--batch_size=4", "--epoch=1",
    "--data_path=records", "--output_path=output",
)  # fmt: skip
_EFFICIENT = (
    "--data_dir=null", "--model_dir=model", "--mode=train", "--train_batch_size=2", "--train_steps=2", "--input_image_size=32",
    "--num_train_images=4", "--iterations_per_loop=1", "--model_name=efficientnet-b0",
)  # fmt: skip
_COLA = (
    "--task_name=MRPC", "--do_train=True", "--do_eval=True", "--data_dir=MRPC", "--vocab_file=vocab.txt",
    "--bert_config_file=bert_config.json", "--max_seq_length=32", "--train_batch_size=4", "--num_train_epochs=1",
    "--iterations_per_loop=1", "--output_dir=output",
)  # fmt: skip
_NER = (
    "--task_name=NER", "--do_lower_case=False", "--crf=True", "--do_train=True", "--do_eval=False", "--do_predict=False",
    "--data_dir=data", "--vocab_file=vocab.txt", "--bert_config_file=bert_config.json", "--max_seq_length=32",
    "--train_batch_size=4", "--num_train_epochs=1", "--iterations_per_loop=1", "--output_dir=output",
    "--init_checkpoint=pretrained/model.ckpt-6",
)  # fmt: skip

_SCRIPTS = (
    Row(1, "built-in/recommendation/DeepCTR_Series_for_TensorFlow", "examples/run_din.py"),
    Row(5, "contrib/cv/TCN_ID1231_for_TensorFlow", "copymem/copymem_test.py",
        ("--epochs", "1", "--blank_len", "20", "--levels", "3", "--nhid", "6")),
    Row(6, "contrib/cv/Keras-TCN_ID2665_for_TensorFlow", "train.py",
        ("--train_data_n", "256", "--validation_data_n", "64", "--seq_length", "60", "--batch_size", "32", "--epochs", "1",
         "--tensorboard_path", "./tb")),
    Row(7, f"{_IMAGES}/Multi-Layer_Perceptron_ID0628_for_TensorFlow", "mlp.py",
        ("--training_epochs=30", "--display_steps=10"), pictures.make_iris),
    Row(9, f"{_NLP}/LeNet_ID0127_for_TensorFlow", "LeNet.py", ("--steps", "8", "--batch_size", "16"), _lenet),
    Row(12, f"{_IMAGES}/IMM_ID1170_for_TensorFlow", "main_l2.py", ("--epoch=1", "--batch_size=100"),
        lambda folder: pictures.make_mnist(folder / "MNIST_data", 8000, 1000)),
    Row(30, f"{_NLP}/BioBERT_ID0280_for_TensorFlow", "run_pretraining.py", _pretraining("--output_dir=output"), _bert),
    Row(33, f"{_NLP}/Roberta_ID2349_for_TensorFlow", "run_pretraining.py", _pretraining("--output_dir=output"), _bert),
    Row(36, f"{_NLP}/BertCOLA_ID1629_for_TensorFlow", "run_classifier.py", _COLA, _mrpc),
    Row(24, f"{_IMAGES}/GoogleNet_ID0051_for_TensorFlow", "train.py",
        ("--batch_size=2", "--iterations_per_loop=1", "--max_train_steps=2", "--mode=train", "--data_path=imagenet"),
        lambda folder: pictures.make_imagenet_records(folder / "imagenet", 8)),
    Row(16, "contrib/cv/wideresnet/wideresnet_ID0175_for_TensorFlow", "run_wideresnet.py", _WIDE, _wide_resnet),
    Row(21, "contrib/nlp/SEQUENCE_TAGGING_ID2097_for_TensorFlow", "train.py", ("--epochs", "1", *_TAGGING),
        lambda folder: texts.make_conll(folder / "data", 60), (("build_data.py",),)),
    Row(29, f"{_IMAGES}/EfficientNet_B0_ID0009_for_TensorFlow", "efficientnet/main_npu.py", _EFFICIENT),
    Row(40, f"{_NLP}/Bert-NER_ID0797_for_TensorFlow", "BERT_NER.py", _NER, _bert_ner,
        (("bert/run_pretraining.py", *_pretraining("--output_dir=pretrained")),)),
)  # fmt: skip

_RESNET = ("--use_synthetic_data", "--resnet_size=50", "--batch_size=4", "--max_train_steps=2", "--train_epochs=1")
# The ResNet-50 of the vendor's guide, one step a call and two: rows 1011 and 1012.
_GUIDE = tuple(
    Row(1010 + n, f"{_IMAGES}/ResNet101_ID0063_for_TensorFlow", "r1/resnet/imagenet_main.py",
        (*_RESNET, f"--iterations_per_loop={n}", "--model_dir=model"), is_root_searched=True)
    for n in (1, 2)
)  # fmt: skip

ROWS = (*_SCRIPTS, *_GUIDE)
