"""``tf.contrib.learn.preprocessing``: texts to word numbers, as ``VocabularyProcessor`` counted them.

Attribute names are those of TF 1.15, so that a vocabulary that was pickled there is read here.
Source: tensorflow/contrib/learn/python/learn/preprocessing of TF 1.15.
"""

from __future__ import annotations

import pickle
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from tensorflow.python.platform import gfile

__all__ = ["TOKENIZER_RE", "ByteProcessor", "CategoricalVocabulary", "VocabularyProcessor", "tokenizer"]
TOKENIZER_RE = re.compile(r"[A-Z]{2,}(?![a-z])|[A-Z][a-z]+(?=[A-Z])|[\'\w\-]+", re.UNICODE)


def tokenizer(iterator: Iterable[str]) -> Iterator[list[str]]:
    """The words of each text."""
    for text in iterator:
        yield TOKENIZER_RE.findall(text)


class CategoricalVocabulary:
    """Numbers of words, 0 being the unknown one; once frozen it takes no new ones."""

    def __init__(self, unknown_token: str = "<UNK>", support_reverse: bool = True) -> None:
        self._unknown_token = unknown_token
        self._support_reverse = support_reverse
        self._freq: dict[Any, int] = defaultdict(int)
        self._freeze = False
        self._number([])

    def _number(self, words: Iterable[Any]) -> None:
        names = [self._unknown_token, *words]
        self._mapping = {name: number for number, name in enumerate(names)}
        if self._support_reverse:
            self._reverse_mapping = names

    def __len__(self) -> int:
        return len(self._mapping)

    def freeze(self, freeze: bool = True) -> None:
        """Stop taking new words, or take them again."""
        self._freeze = freeze

    def get(self, category: Any) -> int:
        """The word's number, a new one for a new word unless frozen."""
        if category not in self._mapping:
            if self._freeze:
                return 0
            self._mapping[category] = len(self._mapping)
            if self._support_reverse:
                self._reverse_mapping.append(category)
        return self._mapping[category]

    def add(self, category: Any, count: int = 1) -> None:
        """Count a word."""
        if self.get(category) > 0:
            self._freq[category] += count

    def trim(self, min_frequency: int, max_frequency: int = -1) -> None:
        """Keep the words counted more often than min_frequency and, when positive, less often than max_frequency."""
        by_name = sorted(self._freq.items(), key=lambda item: (isinstance(item[0], str), item[0]))
        by_count = sorted(by_name, key=lambda item: item[1], reverse=True)
        kept = [item for item in by_count if item[1] > min_frequency and not 0 < max_frequency <= item[1]]
        self._number(name for name, _ in kept)
        self._freq = dict(kept)

    def reverse(self, class_id: int) -> Any:
        """The word of a number. Raises: ValueError when it was made without ``support_reverse``."""
        if not self._support_reverse:
            raise ValueError("This vocabulary wasn't initialized with support_reverse to support reverse() function.")
        return self._reverse_mapping[class_id]


class ByteProcessor:
    """Texts as the numbers of their UTF-8 bytes."""

    def __init__(self, max_document_length: int) -> None:
        self.max_document_length = max_document_length

    def fit(self, x: Any) -> None:
        """Nothing is learned."""

    def fit_transform(self, x: Iterable[str | bytes]) -> Iterator[np.ndarray]:
        """The same as ``transform``."""
        return self.transform(x)

    def transform(self, x: Iterable[str | bytes]) -> Iterator[np.ndarray]:
        """uint8 (max_document_length,) of each text, cut or padded with zeros."""
        for document in x:
            data = document.encode("utf-8") if isinstance(document, str) else document
            numbers = np.frombuffer(data[: self.max_document_length], np.uint8)
            yield np.pad(numbers, (0, self.max_document_length - len(numbers)))

    def reverse(self, x: Iterable[np.ndarray]) -> Iterator[str]:
        """The texts again, "" for bytes that are no UTF-8."""
        for numbers in x:
            try:
                yield np.trim_zeros(numbers.astype(np.uint8), trim="b").tobytes().decode("utf-8")
            except UnicodeDecodeError:
                yield ""


class VocabularyProcessor:
    """Texts as the numbers of their words."""

    def __init__(
        self,
        max_document_length: int,
        min_frequency: int = 0,
        vocabulary: CategoricalVocabulary | None = None,
        tokenizer_fn: Callable[[Iterable[str]], Iterable[list[str]]] | None = None,
    ) -> None:
        self.max_document_length = max_document_length
        self.min_frequency = min_frequency
        self.vocabulary_ = vocabulary or CategoricalVocabulary()
        self._tokenizer = tokenizer_fn or tokenizer

    def fit(self, raw_documents: Iterable[str], unused_y: Any = None) -> VocabularyProcessor:
        """Number the words of the texts and freeze the vocabulary."""
        for tokens in self._tokenizer(raw_documents):
            for token in tokens:
                self.vocabulary_.add(token)
        if self.min_frequency > 0:
            self.vocabulary_.trim(self.min_frequency)
        self.vocabulary_.freeze()
        return self

    def fit_transform(self, raw_documents: Iterable[str], unused_y: Any = None) -> Iterator[np.ndarray]:
        """``fit`` and ``transform``."""
        self.fit(raw_documents)
        return self.transform(raw_documents)

    def transform(self, raw_documents: Iterable[str]) -> Iterator[np.ndarray]:
        """int64 (max_document_length,) of each text, cut or padded with zeros."""
        for tokens in self._tokenizer(raw_documents):
            words = list(tokens)[: self.max_document_length]
            numbers = np.zeros(self.max_document_length, np.int64)
            numbers[: len(words)] = [self.vocabulary_.get(word) for word in words]
            yield numbers

    def reverse(self, documents: Iterable[Iterable[int]]) -> Iterator[str]:
        """The words of each row of numbers, separated by blanks."""
        for numbers in documents:
            yield " ".join(self.vocabulary_.reverse(number) for number in numbers)

    def save(self, filename: str) -> None:
        """Pickle the processor into a file."""
        with gfile.Open(filename, "wb") as file:
            file.write(pickle.dumps(self))

    @classmethod
    def restore(cls, filename: str) -> VocabularyProcessor:
        """The processor of a file that ``save`` wrote, here or under TF 1.15."""
        with gfile.Open(filename, "rb") as file:
            return pickle.loads(file.read())
