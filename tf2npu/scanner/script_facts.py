"""Facts: answers about a script that are found once, however many rules ask for them."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

from tf2npu.scanner.script import Script

T = TypeVar("T")


def fact(question: Callable[[Script], T]) -> Callable[[Script], T]:
    """Answer a question about a script where it is first asked, and remember the answer until the script is done.

    A question that is asked about parts of a script is a fact that begins as an empty dictionary, by the id of the part; whoever
    asks fills it.
    """

    @wraps(question)
    def answer(script: Script) -> T:
        answers = script.answers
        if question not in answers:
            answers[question] = question(script)
        known: T = answers[question]
        return known

    return answer
