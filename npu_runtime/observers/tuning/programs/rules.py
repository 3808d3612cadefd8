"""The rules by which AutoTune uses its bank.  Source: figure 5-22 of the textbook on the Ascend processor."""

from __future__ import annotations

from dataclasses import dataclass

DEFAULT, BANK, TUNED = "default", "bank", "tuned"
"""Origins of an operator's schedule: the rule of the compiler, a bank, and this run's search."""


@dataclass(frozen=True)
class Decision:
    """append, hit, reserved, update: the flags of a result file: a new entry is stored, there was one, it stays, it is replaced.
    shows_times: whether the result has times.  compiled_with: one of DEFAULT, BANK, TUNED.
    """

    append: bool
    hit: bool
    reserved: bool
    update: bool
    shows_times: bool
    compiled_with: str

    @property
    def stores(self) -> bool:
        """Whether the custom bank gets an entry."""
        return self.append or self.update


_RULES = {
    (False, True, True): Decision(True, False, False, False, True, TUNED),
    (False, True, False): Decision(True, False, False, False, True, DEFAULT),
    (True, False, False): Decision(False, True, True, False, False, BANK),
    (True, True, True): Decision(False, True, False, True, True, TUNED),
    (True, True, False): Decision(False, True, True, False, True, BANK),
    (False, False, False): Decision(False, False, False, False, False, DEFAULT),
}
"""(in a bank before, tuned now, better than what is there or than the default) and what follows. Where nothing is better, the
default is stored, so that the next run does not search again."""


def decide(in_bank: bool, is_tuned: bool, is_better: bool = False) -> Decision:
    """The decision of the rules about an operator.

    in_bank: before this compilation.  is_tuned: now.  is_better: what was found, than the bank's or else than the default.
    An operator that no search takes, or that time did not suffice for, is in no bank and not tuned.
    """
    return _RULES[in_bank, is_tuned, is_tuned and is_better]
