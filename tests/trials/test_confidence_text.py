"""Confidence stated in text: one row of the table a phrase."""

from __future__ import annotations

import pytest

from hmeta.core.errors import DataError
from hmeta.core.schema import CONFIDENCE_STATUS
from hmeta.trials.confidence_text import parse_column, parse_confidence

UNIT, PERCENT, TEN, SEVEN, TOP = (0, 1), (0, 100), (0, 10), (1, 7), (20, 100)

TABLE = [
    # text, scale, value, status
    ("Confidence: 85", PERCENT, 85, "ok"),
    ("85%", PERCENT, 85, "percent"),
    ("85%", UNIT, 0.85, "percent"),
    ("0.85", UNIT, 0.85, "ok"),
    (".85", UNIT, 0.85, "ok"),
    ("85/100", PERCENT, 85, "ok"),
    ("85/100", UNIT, 0.85, "ok"),
    ("85 out of 100", TEN, 8.5, "ok"),
    ("Confidence: 8/10", PERCENT, 80, "ok"),
    ("Confidence: 6/7", SEVEN, 6, "ok"),
    ("**Confidence**: 85", PERCENT, 85, "ok"),
    ("**Confidence: 85**", PERCENT, 85, "ok"),
    ("*Confidence:* **85%**", PERCENT, 85, "percent"),
    ("`confidence` = 85", PERCENT, 85, "ok"),
    ("Confidence: between 80 and 90", PERCENT, 85, "range"),
    ("between 80 and 90", PERCENT, 85, "range"),
    ("85-90", PERCENT, 87.5, "range"),
    ("Confidence: 85–90 %", PERCENT, 87.5, "range"),
    ("Confidence: 0.8 to 0.9", UNIT, 0.85, "range"),
    ("Confidence: 0.9-1", UNIT, 0.95, "range"),
    ("Confidence: 85 ± 5", PERCENT, 85, "range"),
    ("eighty-five", PERCENT, 85, "ok"),
    ("Confidence: Eighty five percent", UNIT, 0.85, "percent"),
    ("Confidence: zero point nine", UNIT, 0.9, "ok"),
    ("Confidence: one hundred", PERCENT, 100, "ok"),
    ("Confidence: between eighty and ninety", PERCENT, 85, "range"),
    ("Confidence: seven", SEVEN, 7, "ok"),
    ("Confidence: 85 on a scale of 0 to 100", PERCENT, 85, "ok"),
    ("Confidence (0-100): 85", PERCENT, 85, "ok"),
    ("Confidence [0 to 1]: 0.9", UNIT, 0.9, "ok"),
    ("Confidence (in percent): 85", PERCENT, 85, "ok"),
    ("Confidence level: 85%", PERCENT, 85, "percent"),
    ("Confidence score: 85.", PERCENT, 85, "ok"),
    ("Confidence in my answer: 85", PERCENT, 85, "ok"),
    ("My confidence that the answer is correct is 85%.", PERCENT, 85, "percent"),
    ("My confidence is about 85.", PERCENT, 85, "ok"),
    ("Confidence: approximately 85", PERCENT, 85, "ok"),
    ("Confidence: ~85%", PERCENT, 85, "percent"),
    ("Confidence: [85]", PERCENT, 85, "ok"),
    ("Confidence: <85>", PERCENT, 85, "ok"),
    ("Confidence (85%)", PERCENT, 85, "percent"),
    ("Confidence: very high (95%)", PERCENT, 95, "percent"),
    ("Confidence: 0,85", UNIT, 0.85, "ok"),
    ("| Confidence | 85 |", PERCENT, 85, "ok"),
    ("<confidence>85</confidence>\n3 reasons follow", PERCENT, 85, "ok"),
    ("Confidence:\n85", PERCENT, 85, "ok"),
    ("I am 85% confident that it is B.", PERCENT, 85, "percent"),
    ("I'm about 90 percent sure.", UNIT, 0.9, "percent"),
    ("Answer: B, with 85% certainty", PERCENT, 85, "percent"),
    ("Konfidenz: 85 %", PERCENT, 85, "percent"),
    ("置信度:85", PERCENT, 85, "ok"),
    ("我的信心：85％", PERCENT, 85, "percent"),
    # a number that fits two readings
    ("Confidence: 85", UNIT, 0.85, "percent"),
    ("Confidence: 0.85", PERCENT, 85, "unit_interval"),
    ("Confidence: 1", PERCENT, 1, "ok"),
    ("Confidence: 1.0", PERCENT, None, "ambiguous"),
    ("Confidence: 1.0", UNIT, 1.0, "ok"),
    ("Confidence: 0", UNIT, 0, "ok"),
    ("Confidence: 100", UNIT, 1.0, "percent"),
    ("Confidence: 85%", TEN, 8.5, "percent"),
    ("Confidence: 85%", SEVEN, None, "ambiguous"),
    ("Confidence: 85%", TOP, 85, "percent"),
    ("Confidence: more than 90", PERCENT, None, "ambiguous"),
    ("Confidence: >90%", PERCENT, None, "ambiguous"),
    # outside the scale: never clamped
    ("Confidence: 120", PERCENT, None, "out_of_range"),
    ("Confidence: 120%", PERCENT, None, "out_of_range"),
    ("Confidence: -5", PERCENT, None, "out_of_range"),
    ("Confidence: 8", SEVEN, None, "out_of_range"),
    ("Confidence: 15", TOP, None, "out_of_range"),
    ("Confidence: 85-120", PERCENT, None, "out_of_range"),
    ("Confidence: 1,000", PERCENT, None, "missing"),
    # several
    ("Confidence: 40\nOn reflection:\nConfidence: 80", PERCENT, 80, "multiple"),
    ("Confidence: 80\nFinal confidence: 80", PERCENT, 80, "ok"),
    ("Confidence: 80 ... Confidence: 300", PERCENT, None, "out_of_range"),
    # none
    ("", PERCENT, None, "missing"),
    ("   ", PERCENT, None, "missing"),
    ("Answer: B", PERCENT, None, "missing"),
    ("The 95% confidence interval is wide.", PERCENT, None, "missing"),
    ("Confidence interval: 80-90", PERCENT, None, "missing"),
    ("Confidence: N/A", PERCENT, None, "missing"),
    ("Confidence: <0-100>", PERCENT, None, "missing"),
    ("Overconfidence: 5", PERCENT, None, "missing"),
    ("My confidence\n\n1. First reason", PERCENT, None, "missing"),
    ("I'm sorry, but I cannot help with that.", PERCENT, None, "refusal"),
    ("I’m unable to answer.", PERCENT, None, "refusal"),
    ("I can't be certain. Confidence: 40", PERCENT, 40, "ok"),
    # JSON
    ('{"answer": "B", "confidence": 0.85}', UNIT, 0.85, "ok"),
    ('{"answer": "B", "confidence": "85%"}', PERCENT, 85, "percent"),
    ('```json\n{"code": "X", "confidence": 0.85}\n```', UNIT, 0.85, "ok"),
    ('```json\n{"code": "X", "confidence": 0.85}\n```\nI chose X. Confidence: 3', UNIT, 0.85, "ok"),
    ('Here: {"result": {"confidence_score": 70}} done', PERCENT, 70, "ok"),
    ('{"confidence": 0.5} {"confidence": 0.75}', UNIT, 0.75, "multiple"),
    ('{"confidence": null}', UNIT, None, "missing"),
    ('{"confidence": 1}', UNIT, None, "ambiguous"),
    ('{"confidence": 1.0}', UNIT, 1.0, "ok"),
    ('{"confidence": 1.7}', UNIT, None, "out_of_range"),
    ('{"code": "cut short", "confidence": 0.85', UNIT, 0.85, "ok"),
]

BUG_33 = [
    ("Confidence: 85%", 0.85, "percent"),
    ("confidence: 0.9", 0.90, "ok"),
    ("**Confidence**: 95.1 %.", 0.951, "percent"),
    ("Confidence: 1%", 0.01, "percent"),
    ("Confidence: 1", None, "ambiguous"),
    ("Confidence: 0.95%", None, "ambiguous"),
    ("Confidence: 85-90", 0.875, "range"),
    ("Confidence: 85/100", 0.85, "ok"),
    ("Confidence: 2.5", None, "out_of_range"),
    ("Confidence: -1", None, "out_of_range"),
    ("Confidence: high", None, "missing"),
    ("Step: 7. Answer: B", None, "missing"),
    ("Top: 3 ... Confidence: 60%", 0.60, "percent"),
    ("Confidence: 40% ... Confidence: 80%", 0.80, "multiple"),
    ("I can't answer that.", None, "refusal"),
    ("信心：85％", 0.85, "percent"),
]


def assert_reads(text: str, scale: tuple[float, float], value: float | None, status: str) -> None:
    parsed = parse_confidence(text, lower=scale[0], upper=scale[1])
    assert parsed.status == status
    assert parsed.raw == text
    if value is None:
        assert parsed.value is None
    else:
        assert parsed.value == pytest.approx(value, abs=1e-12)
        assert parsed.rule


@pytest.mark.parametrize(("text", "scale", "value", "status"), TABLE)
def test_phrase(text, scale, value, status):
    assert_reads(text, scale, value, status)


@pytest.mark.parametrize(("text", "value", "status"), BUG_33)
def test_bug_33_on_the_unit_scale(text, value, status):
    assert_reads(text, UNIT, value, status)


def test_ambiguous_statements_name_what_they_could_mean():
    assert parse_confidence("Confidence: 1", lower=0, upper=1).candidates == pytest.approx((1.0, 0.01))
    assert parse_confidence("Confidence: 0.95%", lower=0, upper=1).candidates == pytest.approx((0.0095, 0.95))


def test_words_carry_values_only_when_given():
    words = {"high": 0.9, "very high": 0.99}
    read = parse_confidence("Confidence: Very high", lower=0, upper=1, words=words)
    assert (read.value, read.status, read.rule) == (0.99, "ok", "label+word")
    assert parse_confidence('{"confidence": "high"}', lower=0, upper=1, words=words).value == 0.9
    assert parse_confidence("high", lower=0, upper=1, words=words).value == 0.9
    assert parse_confidence("highest", lower=0, upper=1, words=words).value is None


def test_half_steps_on_a_scale_of_whole_steps_are_flagged():
    assert parse_confidence("7.5", lower=0, upper=10, step=1).status == "non_integer"
    assert parse_confidence("7.0", lower=0, upper=10, step=1).status == "ok"


def test_an_empty_scale_is_refused():
    with pytest.raises(DataError, match="scale is empty"):
        parse_confidence("85", lower=100, upper=0)


def test_column_keeps_value_status_rule_and_text():
    column = parse_column(["Confidence: 85", None, float("nan"), "no idea", 40], 0, 100)
    assert column["status"].tolist() == ["ok", "missing", "missing", "missing", "ok"]
    assert column["value"].tolist()[0] == 85
    assert column["value"].isna().tolist() == [False, True, True, True, False]
    assert column["raw"].tolist() == ["Confidence: 85", "", "", "no idea", "40"]
    assert column["rule"].tolist()[0] == "label+number"


def test_every_status_is_a_known_one():
    seen = {parse_confidence(text, lower=s[0], upper=s[1]).status for text, s, _, _ in TABLE}
    assert seen <= set(CONFIDENCE_STATUS)


@pytest.mark.parametrize("text", ["{" * 3000, "confidence " * 3000, "9" * 400, "Confidence: " + "(" * 5000])
def test_odd_long_text_is_read_without_trouble(text):
    assert parse_confidence(text, lower=0, upper=100).value is None
