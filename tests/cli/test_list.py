"""``hmeta list``: tables of words, and a whole page for one name of each kind."""

from __future__ import annotations

import json

import pytest

from hmeta.cli import main


def shown(capsys, *words) -> str:
    with pytest.raises(SystemExit) as stop:
        main(["list", *words])
    out, err = capsys.readouterr()
    assert (stop.value.code, err) == (0, "")
    return out


def line_of(text: str, start: str) -> str:
    return next(line.strip() for line in text.splitlines() if line.strip().startswith(start))


@pytest.mark.parametrize("what", ["metrics", "curves", "models", "methods", "figures"])
def test_tables_are_words_not_python_lists(capsys, what):
    out = shown(capsys, what)
    assert "['" not in out
    assert "nan" not in out


def test_tasks_are_joined(capsys):
    assert "binary, mafc, open" in line_of(shown(capsys, "metrics"), "auroc2 ")
    assert " open " in line_of(shown(capsys, "models"), "type2_pooled")


def test_a_method_has_formula_options_and_reference(capsys):
    out = shown(capsys, "methods", "platt")
    assert "Fit slope and intercept by maximum likelihood" in out
    assert "slope × logit of the confidence + intercept" in line_of(out, "formula:")
    assert line_of(out, "smoothing = false (true or false): Platt's targets")
    assert line_of(out, "edge = 0.0 (a number): Confidences nearer to 0 or 1")
    assert "Platt (1999)" in line_of(out, "reference:")


@pytest.mark.parametrize("name", ["beta", "histogram", "isotonic", "platt", "temperature"])
def test_every_method_and_every_option_of_it_is_described(capsys, name):
    entry = json.loads(shown(capsys, "methods", name, "--json"))
    assert entry["name"] == name
    assert all(entry[key] for key in ("summary", "definition", "formula", "reference"))
    assert all(": " in text for text in entry["options"].values())
    assert "Parameters" not in entry["definition"]


def test_a_model_has_formulas_links_priors_and_task(capsys):
    out = shown(capsys, "models", "mafc_pooled")
    assert line_of(out, "tasks:").split() == ["tasks:", "mafc"]
    assert line_of(out, "likelihood:").endswith("mafc, noise gumbel, rule gap")
    assert line_of(out, "d = 1 + (1 | model) + (1 | dataset) + (1 | model:dataset), link identity")
    assert line_of(out, "criteria = 1 | model, pooling none")
    assert line_of(out, "M = level normal(0.8, 0.5), contrasts and slopes normal(0, 0.5), spread between groups")
    log = shown(capsys, "models", "binary_two_group")
    assert line_of(log, "M = 0 + C(group) + (1 | participant), link log")
    assert line_of(log, "M = level normal(0, 1)")
    assert "anchor normal(0, 1.5)" in shown(capsys, "models", "type2_single")


def test_measures_of_p_show_their_caution(capsys):
    assert "certainty that the verdict is wrong" in line_of(shown(capsys, "metrics", "op_gap"), "caution:")
    assert line_of(shown(capsys, "curves", "balanced_accuracy_curve"), "caution:")
