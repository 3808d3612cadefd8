"""Sentences with a structure that can be learned: BERT's records, MRPC, CoNLL, GloVe."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from benchmarks.migrated.records import write_records

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
ENTITIES = ("PER", "LOC", "ORG", "MISC")


def words(n: int = 60) -> list[str]:
    """Made-up words of two syllables."""
    first, second = ("ba", "de", "fi", "go", "hu", "ka", "le", "mi", "no", "pu"), ("dar", "ken", "lis", "mor", "tun", "ral")
    return [a + b for b in second for a in first][:n]


def make_vocabulary(path: Path) -> list[str]:
    """A ``vocab.txt`` of BERT: special tokens, words, letters, numbers."""
    letters = [chr(c) for c in range(ord("a"), ord("z") + 1)]
    tokens = [*SPECIAL, *words(), *letters, *(f"##{letter}" for letter in letters), *map(str, range(10)), ".", ","]
    path.write_text("\n".join(tokens) + "\n")
    return tokens


def make_bert_config(path: Path, vocabulary_size: int, max_positions: int = 64) -> None:
    """A BERT of two layers and width 32."""
    config = {
        "attention_probs_dropout_prob": 0.1, "hidden_act": "gelu", "hidden_dropout_prob": 0.1, "hidden_size": 32,
        "initializer_range": 0.02, "intermediate_size": 64, "max_position_embeddings": max_positions,
        "num_attention_heads": 2, "num_hidden_layers": 2, "type_vocab_size": 2, "vocab_size": vocabulary_size,
    }  # fmt: skip
    path.write_text(json.dumps(config, indent=2, sort_keys=True) + "\n")


def make_pretraining_records(path: Path, n: int, length: int, n_predictions: int, vocabulary_size: int) -> None:
    """Records of BERT's pretraining; the second sentence repeats the first when it is the next one."""
    random = np.random.default_rng(5)

    def example() -> dict[str, np.ndarray | list[float]]:
        half = length // 2
        is_random = int(random.integers(0, 2))
        first = random.integers(5, vocabulary_size, half)
        ids = np.concatenate([first, random.integers(5, vocabulary_size, half) if is_random else first])
        ids[0], ids[half - 1], ids[-1] = 2, 3, 3
        positions = np.sort(random.choice(np.arange(1, half - 1), n_predictions, replace=False))
        masked = ids[positions]
        ids[positions] = 4
        return {
            "input_ids": ids, "input_mask": np.ones(length, int), "segment_ids": np.repeat([0, 1], half),
            "masked_lm_positions": positions, "masked_lm_ids": masked, "masked_lm_weights": [1.0] * n_predictions,
            "next_sentence_labels": np.array([is_random]),
        }  # fmt: skip

    write_records(path, (example() for _ in range(n)))


def make_mrpc(folder: Path, n_train: int, n_dev: int) -> None:
    """``train.tsv``, ``dev.tsv``, ``test.tsv`` of MRPC: quality, two ids, two sentences."""
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = words()
    for part, n, seed in (("train", n_train, 6), ("dev", n_dev, 7), ("test", n_dev, 8)):
        random = np.random.default_rng(seed)
        lines = ["Quality\t#1 ID\t#2 ID\t#1 String\t#2 String"]
        for i in range(n):
            is_same = int(random.integers(0, 2))
            first = list(random.choice(vocabulary, 8))
            second = first if is_same else list(random.choice(vocabulary, 8))
            label = is_same if part != "test" else i
            lines.append(f"{label}\t{i}\t{i + 1000}\t{' '.join(first)} .\t{' '.join(second)} .")
        (folder / f"{part}.tsv").write_text("\n".join(lines) + "\n")


def tagged_sentence(random: np.random.Generator) -> list[tuple[str, str]]:
    """Words with IOB tags; the last syllable of a word tells its entity."""
    kinds = ("dar", "ken", "lis", "mor")
    sentence = []
    for word in random.choice(words(), 6):
        kind = next((ENTITIES[i] for i, end in enumerate(kinds) if word.endswith(end)), None)
        sentence.append((str(word), f"B-{kind}" if kind else "O"))
    return [*sentence, (".", "O")]


def make_conll(folder: Path, n: int) -> None:
    """``coNLL/eng/eng.{train,testa,testb}.iob`` with a word and its tag a line, and ``glove.6B/glove.6B.100d.txt``."""
    for part, seed in (("train", 9), ("testa", 10), ("testb", 11)):
        random = np.random.default_rng(seed)
        path = folder / "coNLL" / "eng" / f"eng.{part}.iob"
        path.parent.mkdir(parents=True, exist_ok=True)
        sentences = ("".join(f"{word} {tag}\n" for word, tag in tagged_sentence(random)) for _ in range(n))
        path.write_text("-DOCSTART- -X-\n\n" + "\n".join(sentences) + "\n")
    random = np.random.default_rng(12)
    path = folder / "glove.6B" / "glove.6B.100d.txt"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{word} {' '.join(f'{v:.4f}' for v in random.normal(0, 0.5, 100))}\n" for word in [*words(), "."]))


def make_ner(folder: Path, n: int) -> None:
    """``{train,dev,test}.txt``: word, two fields that nobody reads, tag; a sentence ends with a full stop."""
    folder.mkdir(parents=True, exist_ok=True)
    for part, seed in (("train", 13), ("dev", 14), ("test", 15)):
        random = np.random.default_rng(seed)
        sentences = ("".join(f"{word} X X {tag}\n" for word, tag in tagged_sentence(random)) for _ in range(n))
        (folder / f"{part}.txt").write_text("\n".join(sentences) + "\n")
