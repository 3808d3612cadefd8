"""Reads the reviews and turns words into numbers."""
import collections
import io

import numpy as np

PAD, UNKNOWN, CLS = 0, 1, 2


def read_reviews(path):
    """Returns a list of (label, words)."""
    examples = []
    with io.open(path, encoding='utf-8') as f:
        for line in f:
            label, text = line.rstrip('\n').split('\t')
            examples.append((int(label), text.split()))
    return examples


def build_vocab(examples):
    """Numbers the words by frequency; the first three numbers are taken."""
    counts = collections.Counter(word for _, words in examples for word in words)
    ordered = sorted(counts, key=lambda word: (-counts[word], word))
    return {word: i + 3 for i, word in enumerate(ordered)}


def encode(examples, vocab, max_len):
    """Returns int32 arrays: ids of shape (N, max_len), starting with CLS and padded with 0, and labels (N,)."""
    ids = np.full((len(examples), max_len), PAD, np.int32)
    labels = np.zeros(len(examples), np.int32)
    for row, (label, words) in enumerate(examples):
        numbers = [CLS] + [vocab.get(word, UNKNOWN) for word in words]
        numbers = numbers[:max_len]
        ids[row, :len(numbers)] = numbers
        labels[row] = label
    return ids, labels
