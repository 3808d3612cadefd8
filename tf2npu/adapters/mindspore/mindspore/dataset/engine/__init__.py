"""Sources, operations and iterators of pipelines."""

from ..core import config
from .datasets import *
from .datasets import REFUSED
from .datasets import __all__ as _datasets
from .iterators import DictIterator, Iterator, TupleIterator
from .samplers import *
from .samplers import __all__ as _samplers

__all__ = [*_datasets, *_samplers, "DictIterator", "Iterator", "REFUSED", "TupleIterator", "config"]
