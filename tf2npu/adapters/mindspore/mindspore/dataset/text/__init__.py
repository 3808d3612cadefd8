"""Transforms of texts: but for `to_bytes` and `to_str` their names are refused. Rows of texts are read as any others."""

from __future__ import annotations

import numpy as np

from ..core.refusal import refused_class

_PYTHON = "give map a Python function of the text (an array with one text) that does it"
_PIECES = "call the package sentencepiece in a Python function that map applies"
REFUSED = {
    "BasicTokenizer": _PYTHON,
    "BertTokenizer": _PYTHON,
    "CaseFold": _PYTHON,
    "JiebaTokenizer": "call the package jieba in a Python function that map applies",
    "Lookup": "look words up in a Python dictionary, in a function that map applies",
    "Ngram": _PYTHON,
    "NormalizeUTF8": "call unicodedata.normalize in a Python function that map applies",
    "PythonTokenizer": _PYTHON,
    "RegexReplace": "call re.sub in a Python function that map applies",
    "RegexTokenizer": "call re.findall in a Python function that map applies",
    "SPieceTokenizerLoadType": _PIECES,
    "SPieceTokenizerOutType": _PIECES,
    "SentencePieceModel": _PIECES,
    "SentencePieceTokenizer": _PIECES,
    "SentencePieceVocab": _PIECES,
    "SlidingWindow": _PYTHON,
    "ToNumber": "use transforms.c_transforms.TypeCast after a Python function that makes numbers",
    "TruncateSequencePair": _PYTHON,
    "UnicodeCharTokenizer": _PYTHON,
    "UnicodeScriptTokenizer": _PYTHON,
    "Vocab": "keep the words in a Python dictionary",
    "WhitespaceTokenizer": _PYTHON,
    "WordpieceTokenizer": _PYTHON,
}

globals().update({_name: refused_class("mindspore.dataset.text", _name, _instead) for _name, _instead in REFUSED.items()})


def to_str(array, encoding="utf8"):
    """Texts of an array of bytes."""
    return np.char.decode(array, encoding)


def to_bytes(array, encoding="utf8"):
    """Bytes of an array of texts."""
    return np.char.encode(array, encoding)


__all__ = [*REFUSED, "to_bytes", "to_str"]
