"""The scripts that are run, with their arguments, and the reasons why others are not."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple


class Script(NamedTuple):
    """folder, file: below the zoo's TensorFlow2/built-in.  words: its arguments, where DATA stands for the folder of the data.

    most_steps: batches after which an epoch ends, for a script whose data cannot be small; 0 for all.  needs: packages that it
    imports and this project does not have.
    """

    folder: str
    file: str
    words: tuple[str, ...]
    most_steps: int = 0
    needs: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """A short name: the folder's without the version."""
        return _short(self.folder)


_CV, _IMAGES = "keras_sample/cv", "cv/image_classification"
_TABLES, _PLOTS = ("pandas", "tqdm"), ("matplotlib",)


def _short(folder: str) -> str:
    return Path(folder).name.removesuffix("_for_TensorFlow2.X")


def _script(path: str, words: str, most_steps: int = 0, needs: tuple[str, ...] = ()) -> Script:
    folder, _, file = path.rpartition("/")
    return Script(f"{folder}_for_TensorFlow2.X", f"{file}.py", tuple(words.split()), most_steps, needs)


SCRIPTS = (
    _script("keras_sample/generative/vae_ID2593/main", "--data_path DATA --train_epochs 3 --log_steps 4"),
    _script(f"{_CV}/knowledge_disti_ID2517/knowledge_distillation", "--data_path DATA --epoch 1"),
    _script(f"{_CV}/autoencoder_ID2495/train", "--data_dir DATA --epochs 2 --log_steps 4"),
    _script(f"{_CV}/mnist_convnet_ID2524/mnist_convnet", "--data_path DATA --epochs 2"),
    _script(f"{_CV}/siamese_contrastive_ID2538/siamese_contrastive", "--epochs 2", 8, _PLOTS),
    _script(
        f"{_CV}/involution_ID2515/involution",
        "--data_path DATA/cifar-10-batches-py --epochs 1 --batch_size 16 --Drop_Reminder False --save_h5 False",
        8,
    ),
    _script(f"{_CV}/zero_dce_ID2548/zero_dce", "--data_path DATA --epochs 1 --batch_size 1", 4, _PLOTS),
    _script("keras_sample/keras_recipes/subclassing_conv_layers_ID2615/subclassing_conv_layers", "--data_path DATA --epochs 2"),
    _script(
        "keras_sample/nlp/text_classification_with_transformer_ID2563/text_classification_with_transformer",
        "--data_dir DATA --epochs 2 --static 0",
    ),
    _script(
        "keras_sample/nlp/text_classification_with_switch_transformer_ID2562/text_classification_with_switch_transformer",
        "--data_dir DATA --epochs 1",
    ),
    _script(f"{_IMAGES}/SKNet-TF2_ID3579/train", "--data_path DATA --epochs 1"),
    _script(f"{_IMAGES}/Keras-MnasNet_ID3518/train", "--data_dir DATA/cifar-10-batches-py --epochs 1 --batch_size 64", 8),
    _script(
        f"{_IMAGES}/Densenet_smplified_ID3541/cifar10_densenet_classification",
        "--data_path DATA --train_epochs 1 --batch_size 8",
        6,
    ),
    _script(f"{_IMAGES}/schizo-nn_ID3657/train", "--data_path DATA --epochs 2"),
    _script(f"{_IMAGES}/coral-ordinal_ID3192/train", "--data_path DATA/.keras/datasets --train_epochs 2", 8),
    _script(
        f"{_IMAGES}/CircleLossMNIST_ID3551/test_class", "--data_path DATA/few --train_epochs 1 --batch_size 16", needs=_PLOTS
    ),
    _script(f"{_IMAGES}/cutmix_ID2502/train", "--data_dir DATA/cifar-10-batches-py --epochs 1", 8, _PLOTS),
    _script("cv/image_synthesis/tf_v2_01_SGAN_ID3999/train", "--data_path DATA/arrays --epochs 3 --batch_size 64"),
    _script("cv/image_synthesis/tf_v2_02_CGAN_ID4000/train", "--data_path DATA/arrays --train_epochs 3 --batch_size 64"),
    _script("GAN_ID2351/tf_v2_03_WGAN", "--data_path DATA --train_epochs 2", needs=_PLOTS),
    _script("recommendation/DIN_ID2641/train", "--data_path DATA --epochs 2 --log_steps 10", needs=_TABLES),
    _script("recommendation/FM_ID2631/train", "--data_dir DATA --epochs 2 --batch_size 64 --read_part True", needs=_TABLES),
    _script("recommendation/MF_ID2624/train", "--data_path DATA --epochs 2 --static 0", needs=_TABLES),
    _script(
        "recommendation/STAMP_ID2628/train", "--data_path DATA --epochs 2 --batch_size 16 --steps_per_epoch 8", needs=_TABLES
    ),
    _script("recommendation/WDL_ID2633/train", "--data_dir DATA --epochs 2 --batch_size 64 --read_part True", needs=_TABLES),
)

_PACKAGES = {
    "tensorflow_datasets": f"{_IMAGES}/MNIST_ID2481 {_IMAGES}/densenet_ID3534 {_IMAGES}/ghostnet_tf2_ID3555 {_CV}/bit_ID2496 "
    f"{_CV}/gradient_centralization_ID2508 {_CV}/learnable_resizer_ID2518 keras_sample/generative/adain_ID2581",
    "tensorflow_addons": f"{_CV}/consistency_training_ID2499 {_CV}/convmixer_ID2501 cv/detection/Swin-Transformer_ID2374 "
    "nlp/keras-bert_ID3157",
    "transformers": "nlp/Kaggle_QA_Google_Labeling_ID3294 keras_sample/nlp/text_extraction_with_bert_ID2564",
    "cv2": f"{_CV}/deeplabv3_plus_ID2503 cv/detection/YOLOv5_ID1719 cv/detection/YoloV3_ID0363 cv/detection/YoloV5_ID2353",
    "trimesh": f"{_IMAGES}/pointnet_ID2531",
    "imgaug": f"{_CV}/keypoint_detection_ID2516",
    "gensim": "nlp/Word2vec_ID2350",
    "IPython": f"{_CV}/super_resolution_sub_pixel_ID2541",
}
_SESSIONS = "AUTOAUGMENT_ID2891 Oct-ResNet_ID2890 PointNet_ID2913 word2vec_ID2886 DeepCTR_Series"
_DATA_OF_THEIR_OWN = (
    "ResNet101_ID0361 ResNet50_ID0360 ResNext50_ID0362 TCC_ID0714 face_recognition_TF2_ID3613 pointnet_segmentation_ID2532 "
    "Swin-Transformer_ID2412 sensor-har_ID3399 BERT_ID2478 BertLarge_ID0634 Roberta_Series Transformer_ID0633 "
    "TextToTextTransferTransformer_ID4150 albert-FineTune_Series bert-squad_ID1566"
)
OTHERS = {
    **{_short(folder): f"needs {package}" for package, folders in _PACKAGES.items() for folder in folders.split()},
    "AttRec_ID2630": "squeezes inputs that Keras gave a second axis up to 2.6; TensorFlow 2.15 itself ends with an error",
    "BYOL_ID0721": "updates variables with an optimizer that has seen others, which Keras refuses since 2.11",
    "FFM_ID2632": "TensorFlow itself traces longer than a run may take: 741 pairs of features, each with operations of its own",
    "improved-bagan-gp_ID3132": "loads models that were trained before",
    "research-papers-implementation_ID3281": "its schedule takes the root of the step, an integer since Keras 2.11",
    "siamese_network_ID2539": "downloads weights of ImageNet",
    **dict.fromkeys(_SESSIONS.split(), "runs sessions of TensorFlow 1, by npu_device.compat.v1"),
    **dict.fromkeys(_DATA_OF_THEIR_OWN.split(), "not tried: it reads records, corpora or sets of photographs"),
}
"""Scripts that are not run, with the reason."""
