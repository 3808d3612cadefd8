"""All datasets by their names, as `mindspore.dataset.engine.datasets` has them."""

from __future__ import annotations

from enum import Enum

from ..core.refusal import refused_class
from ._batch import BatchInfo
from ._dataset import Dataset, zipped
from ._generator import GeneratorDataset
from ._image_files import Cifar10Dataset, Cifar100Dataset, ImageFolderDataset, MnistDataset
from ._source import NumpySlicesDataset, SourceDataset

_WRITE_A_SOURCE = "read the files with a Python class and give it to GeneratorDataset"
REFUSED = {
    "MindDataset": "it needs files in MindRecord's format, which is not read here; read the original data with GeneratorDataset",
    "TFRecordDataset": "read the records with tf.data.TFRecordDataset in a Python class and give it to GeneratorDataset",
    "ManifestDataset": _WRITE_A_SOURCE,
    "VOCDataset": _WRITE_A_SOURCE,
    "CocoDataset": _WRITE_A_SOURCE,
    "CelebADataset": _WRITE_A_SOURCE,
    "CLUEDataset": _WRITE_A_SOURCE,
    "CSVDataset": "read the file with numpy.genfromtxt or csv and give the columns to NumpySlicesDataset",
    "TextFileDataset": "read the lines in Python and give them to NumpySlicesDataset",
    "PaddedDataset": "add the rows to the arrays yourself and give them to NumpySlicesDataset",
    "GraphData": "keep the graph in arrays and sample it in a class for GeneratorDataset",
    "Schema": "give column_names and column_types to GeneratorDataset",
    "DatasetCache": "leave cache out: arrays of NumpySlicesDataset, MNIST and CIFAR are held in memory",
}


class Shuffle(str, Enum):
    """The ways of shuffling several files."""

    GLOBAL = "global"
    FILES = "file"


def zip(datasets) -> Dataset:
    """Columns of a tuple of datasets beside each other."""
    return zipped(datasets)


globals().update({_name: refused_class("mindspore.dataset", _name, _instead) for _name, _instead in REFUSED.items()})

MappableDataset = SourceDataset

__all__ = [
    *REFUSED,
    "BatchInfo",
    "Cifar10Dataset",
    "Cifar100Dataset",
    "Dataset",
    "GeneratorDataset",
    "ImageFolderDataset",
    "MappableDataset",
    "MnistDataset",
    "NumpySlicesDataset",
    "Shuffle",
    "SourceDataset",
    "zip",
]
