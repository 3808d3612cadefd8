"""Messages are plain: at most thirty words, no pronoun without its noun, no sentence without a verb."""

from __future__ import annotations

import csv
from functools import lru_cache
from pathlib import Path

import pytest

from tests.report.message_templates import FINDINGS, facts, templates
from tests.report.plain_sentences import MOST_WORDS, faults, messages, not_yet

MOST_MET = Path(__file__).parents[1] / "fixtures" / "plain_english" / "most_met.tsv"
"""The messages that five public projects for TensorFlow 1 meet most: how often, the rule and its part, the message."""

PLAIN = [
    "The file is read here. Remove the call.",
    "The op runs where it is.",
    "The ranks that take part are given by the rank table.",
    "Remove this call, and build a graph.",
    "The added line closes the session, so that it ends with the program.",
    "The names are those of the adapter.",
    "Write tf.cast(x, tf.float32) in the place of {}.",
    "Check that the file is read.",
]
NOT_PLAIN = [
    ("This is a loop.", "'This'"),
    ("If it is open, call sess.close().", "'it'"),
    ("It runs.", "'It'"),
    ("Set that in the options.", "'that'"),
    ("In a pipeline this stays.", "'this'"),
    ("Those are gone.", "'Those'"),
    ("A session on the NPU.", "no verb"),
    ("Faster on the NPU: {}.", "no verb"),
    ("The file is read. Faster on the NPU.", "no verb"),
    ("The call stays " + "here " * MOST_WORDS, "33 words"),
]


@lru_cache(maxsize=1)
def most_met() -> list[dict[str, str]]:
    with MOST_MET.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


@pytest.mark.parametrize("text", PLAIN)
def test_what_is_plain_is_taken_for_it(text: str) -> None:
    assert faults(text) == []


@pytest.mark.parametrize(("text", "told"), NOT_PLAIN)
def test_what_is_not_plain_is_told(text: str, told: str) -> None:
    assert any(told in fault for fault in faults(text))


def test_the_messages_that_are_met_most_are_plain() -> None:
    assert len(most_met()) >= 60
    assert {row["message"]: told for row in most_met() if (told := faults(row["message"]))} == {}


def test_the_messages_that_are_met_most_are_those_of_the_rules() -> None:
    """A message that is written again is written again in the list, too."""
    said = {text.strip() for text in (*templates(FINDINGS), *facts())}
    assert [row["message"] for row in most_met() if row["message"] not in said] == []


def test_every_other_message_is_plain_but_for_those_of_before() -> None:
    wrong = {text: told for text in messages() if (told := faults(text)) and text not in not_yet()}
    assert wrong == {}


def test_the_list_of_those_of_before_only_shrinks() -> None:
    """Messages that are plain by now, or gone, are taken out by `python -m tests.report.plain_sentences --write`."""
    assert not_yet() - {text for text in messages() if faults(text)} == set()
    assert len(not_yet()) <= 104
