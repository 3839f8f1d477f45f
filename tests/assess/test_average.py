"""Averages over units: the mean, and an interval that draws whole units."""

import numpy as np
import pytest

from hmeta.assess.average import MEAN, average
from hmeta.assess.compute import compute_metrics
from hmeta.assess.table import Resampling
from hmeta.core.errors import DataError
from tests.assess.data import answers, file_of

NONE = Resampling(size=0)
MODELS = tuple("abcdefghijkl")


@pytest.fixture(scope="module")
def table():
    frame = answers(n_items=30, models=MODELS)
    frame.loc[frame["model"] == "a", "correct"] = 1
    return compute_metrics(file_of(frame), ["auroc2", "accuracy"], by=["domain"], resampling=NONE)


def test_the_average_weighs_units_alike_and_names_how_many_have_a_value(table):
    found = average(table, "model", Resampling(size=4000)).frame
    assert set(found["model"]) == {MEAN}
    row = found[(found["metric"] == "auroc2") & (found["domain"] == "(all)")].iloc[0]
    of_units = table.frame[(table.frame["metric"] == "auroc2") & (table.frame["domain"] == "(all)")]["estimate"]
    assert row["estimate"] == pytest.approx(np.nanmean(of_units))
    assert (row["n_units"], row["n_undefined"]) == (11, 1)
    assert row["n"] == 11 * 60


def test_the_standard_error_is_that_of_a_mean_of_units(table):
    found = average(table, "model", Resampling(size=4000)).frame
    for metric in ("auroc2", "accuracy"):
        row = found[(found["metric"] == metric) & (found["domain"] == "(all)")].iloc[0]
        values = table.frame[(table.frame["metric"] == metric) & (table.frame["domain"] == "(all)")][
            "estimate"
        ].dropna()
        assert row["standard_error"] == pytest.approx(values.std(ddof=0) / np.sqrt(len(values)), rel=0.05)
        assert row["lower"] < row["estimate"] < row["upper"]


def test_one_unit_has_no_interval():
    one = compute_metrics(file_of(answers(models=("a",))), ["accuracy"], resampling=NONE)
    row = average(one, "model", Resampling()).frame.iloc[0]
    assert np.isfinite(row["estimate"])
    assert np.isnan(row["lower"])


def test_no_unit_with_a_value_gives_the_reason():
    perfect = compute_metrics(file_of(answers().assign(correct=1)), ["auroc2"], resampling=NONE)
    row = average(perfect, "model", Resampling()).frame.iloc[0]
    assert np.isnan(row["estimate"])
    assert row["reason"] == "no wrong answers"


def test_a_column_that_is_no_factor_is_refused(table):
    with pytest.raises(DataError, match='Did you mean "model"'):
        average(table, "modle")
