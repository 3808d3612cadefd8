"""Every text of the page is there in Chinese, with its slots."""

from __future__ import annotations

import json

from tests.comparison.templates import CATALOGUE, missing, templates


def test_every_text_has_one_in_chinese():
    assert len(templates()) >= 45
    assert missing() == []


def test_no_slot_is_lost():
    for english, chinese in json.loads(CATALOGUE.read_text(encoding="utf-8")).items():
        assert english.count("{}") == chinese.count("{}"), english
