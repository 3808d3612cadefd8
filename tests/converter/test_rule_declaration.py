"""Declarations of rules: once, for one kind of site or several, and with parts that say what differs from it."""

from __future__ import annotations

import pytest

from tf2npu.rules import base
from tf2npu.rules.base import Example, part_of, registered, rule

SHOWN = (Example.same("y = f(x)", level="info"),)
TEXTS = {"id": "NPUX01", "title": "A reader", "why": "It reads queues.", "source": "a handbook", "done_when": "It is gone."}


@pytest.fixture(autouse=True)
def _no_other_rules(monkeypatch):
    monkeypatch.setattr(base, "_REGISTRY", {})


def reader(site):
    """Reports a reader."""


def writer(site):
    """Reports a writer."""


def test_a_function_that_looks_at_several_kinds_of_sites_has_a_part_for_each_in_this_order():
    rule(**TEXTS, on=("reference", "call"), matches=("a.read",), examples=SHOWN)(reader)
    parts = registered()["NPUX01"]
    assert [(part.on, part.matches, part.check, part.name) for part in parts] == [
        ("reference", ("a.read",), reader, "reader"),
        ("call", ("a.read",), reader, "reader"),
    ]
    assert [part.examples for part in parts] == [SHOWN, ()], "each is shown and tested once"


def test_each_kind_can_have_names_of_its_own():
    names = {"call": ("a.read",), "unknown_method": ("read",)}
    rule(**TEXTS, on=("call", "unknown_method"), matches=names, examples=SHOWN)(reader)
    assert {part.on: part.matches for part in registered()["NPUX01"]} == names


def test_a_part_says_what_its_rule_says_but_for_what_it_says_itself():
    rule(**TEXTS, once=True, examples=())(reader)
    part_of(reader, on="module", source="another", done_when="")(writer)
    head, part = registered()["NPUX01"]
    assert (part.id, part.title, part.why, part.once) == (head.id, head.title, head.why, True)
    assert (part.on, part.what, part.source, part.done_when) == ("module", "Reports a writer.", "another", "")


def test_several_declarations_of_one_id_are_parts_of_it_too():
    """As plug-ins have them that were written when there was no `part_of`."""
    rule(**TEXTS, examples=SHOWN)(reader)
    rule(**TEXTS, on="reference", examples=SHOWN)(writer)
    assert [part.on for part in registered()["NPUX01"]] == ["call", "reference"]


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"on": "cal"}, "unknown kind of site 'cal'"),
        ({"on": ("call", "cal")}, "unknown kind of site 'cal'"),
        ({"on": ("call", "reference"), "matches": {"call": ("a.f",)}}, "names are given for .'call'., and the kinds"),
        ({"title": "Another"}, "NPUX01 is already called 'A reader'"),
    ],
)
def test_a_declaration_that_is_wrong_is_refused(changed, told):
    rule(**TEXTS, examples=())(reader)
    with pytest.raises(ValueError, match=told):
        rule(**TEXTS | changed, examples=())(writer)
    assert len(registered()["NPUX01"]) == 1


def test_a_part_of_a_function_that_declares_no_rule_is_refused():
    with pytest.raises(ValueError, match="reader declares no rule"):
        part_of(reader)
