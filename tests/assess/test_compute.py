"""Tables of measures: cells, intervals, reasons, and counts = trials."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from hmeta.assess.cells import ALL
from hmeta.assess.compute import compute_metrics
from hmeta.assess.table import Resampling
from hmeta.core.errors import DataError
from hmeta.trials.counts import to_counts
from tests.assess.data import answers, file_of

QUICK = Resampling(size=400)
NONE = Resampling(size=0)


def test_every_unit_has_its_own_row_and_the_value_that_scikit_learn_gives():
    frame = answers()
    table = compute_metrics(file_of(frame), ["auroc2", "accuracy"], resampling=NONE).frame
    for model, part in frame.groupby("model"):
        row = table[(table["model"] == model) & (table["metric"] == "auroc2")].iloc[0]
        assert row["estimate"] == pytest.approx(roc_auc_score(part["correct"], part["confidence"]), abs=1e-12)
        assert row["n"] == 120
    assert np.isnan(table["lower"]).all()


def test_segments_stand_beside_the_pooled_value():
    frame = answers()
    table = compute_metrics(file_of(frame), ["accuracy"], by=["domain"], resampling=NONE).frame
    assert table["domain"].tolist() == [ALL, "even", "odd"] * 2
    pooled = frame.groupby("model")["correct"].mean()
    assert table[table["domain"] == ALL]["estimate"].tolist() == pytest.approx(pooled.tolist())
    assert table[table["domain"] != ALL]["n"].sum() == 240


def test_counts_and_trials_give_the_same_table():
    data = file_of(answers())
    counted = to_counts(data, ["model"])
    wanted = ["auroc2", "accuracy", "mean_confidence"]
    one, two = (compute_metrics(ds, wanted, resampling=QUICK).frame for ds in (data, counted))
    pd.testing.assert_frame_equal(one, two)


def test_scale_and_signal_are_never_pooled_silently_bug_35():
    frame = pd.DataFrame(
        {
            "model": ["m"] * 4,
            "signal": ["verbal", "verbal", "logprob", "logprob"],
            "confidence": [0.95, 0.95, 0.29, 0.31],
            "correct": [1, 0, 0, 1],
        }
    )
    from hmeta.trials.tables import trials_dataset

    data = trials_dataset(frame, task="open")
    apart = compute_metrics(data, ["mean_confidence"], resampling=NONE)
    assert apart.frame["signal"].tolist() == ["logprob", "verbal"]
    assert apart.frame["estimate"].tolist() == pytest.approx([0.30, 0.95])
    pooled = compute_metrics(data, ["mean_confidence"], pool=["signal"], resampling=NONE)
    assert len(pooled.frame) == 1
    assert any("pooled over 2 levels of signal" in note for note in pooled.notes)


def test_excluded_answers_are_counted_and_leave_no_default_value_bug_34():
    frame = pd.DataFrame(
        {"model": "m", "correct": [1] * 6 + [0] * 4, "confidence": [90, 80, 90, 70, 60, 90, *[np.nan] * 4]}
    )
    table = compute_metrics(file_of(frame), ["accuracy", "auroc2"], resampling=QUICK).frame
    assert table["n"].tolist() == [6, 6]
    assert table["n_excluded"].tolist() == [4, 4]
    assert table["estimate"].iloc[0] == 1.0
    assert np.isnan(table["estimate"].iloc[1])
    assert table["reason"].iloc[1] == "no wrong answers"


def test_a_unit_without_usable_answers_keeps_its_row():
    frame = answers(models=("a", "b"))
    frame.loc[frame["model"] == "b", "confidence"] = np.nan
    table = compute_metrics(file_of(frame), ["auroc2"], resampling=QUICK).frame
    assert table["model"].tolist() == ["a", "b"]
    assert table["reason"].iloc[1] == "no answers"
    assert table["n_excluded"].iloc[1] == 120


def test_intervals_shrink_with_the_level_and_repeat_with_the_seed():
    data = file_of(answers())
    wide, narrow, again = (
        compute_metrics(data, ["auroc2"], resampling=Resampling(size=1000, level=level)).frame
        for level in (0.95, 0.5, 0.95)
    )
    pd.testing.assert_frame_equal(wide, again)
    assert (wide["lower"] < narrow["lower"]).all()
    assert (narrow["upper"] < wide["upper"]).all()
    assert (narrow["lower"] < narrow["estimate"]).all()


def test_the_interval_of_accuracy_is_binomial():
    # The bootstrap of a share is Binomial(n, p)/n exactly: ends differ from its quantiles by one answer at most.
    from scipy.stats import binom

    row = compute_metrics(file_of(answers(models=("a",))), ["accuracy"], resampling=Resampling(size=10_000)).frame.iloc[
        0
    ]
    n, p = int(row["n"]), row["estimate"]
    assert row["lower"] * n == pytest.approx(binom.ppf(0.025, n, p), abs=1.01)
    assert row["upper"] * n == pytest.approx(binom.ppf(0.975, n, p), abs=1.01)
    assert row["standard_error"] == pytest.approx(np.sqrt(p * (1 - p) / n), rel=0.05)


def test_clusters_widen_the_interval_of_correlated_answers():
    frame = answers(models=("a",), conditions=("x",), n_items=40)
    repeated = pd.concat([frame.assign(repeat=i) for i in range(5)])
    data = file_of(repeated)
    by_answer = compute_metrics(data, ["accuracy"], resampling=Resampling(size=2000)).frame
    by_item = compute_metrics(data, ["accuracy"], resampling=Resampling(size=2000, cluster="item")).frame
    ratio = by_item["standard_error"].iloc[0] / by_answer["standard_error"].iloc[0]
    assert ratio == pytest.approx(np.sqrt(5), rel=0.08)


def test_one_cluster_gives_no_interval_and_says_so():
    table = compute_metrics(
        file_of(answers().assign(batch="only")), ["accuracy"], resampling=Resampling(size=200, cluster="batch")
    ).frame
    assert table["estimate"].notna().all()
    assert np.isnan(table["lower"]).all()
    assert set(table["reason"]) == {"no interval: one batch"}


def test_chance_gives_one_half_and_a_small_p_value_only_where_confidence_tells():
    frame = answers(n_items=150, models=("a",), conditions=("y",))
    blind = frame.assign(confidence=np.random.default_rng(8).permutation(frame["confidence"].to_numpy()))
    plan = Resampling(size=0, null=500)
    sharp, chance = (compute_metrics(file_of(f), ["auroc2"], resampling=plan).frame.iloc[0] for f in (frame, blind))
    assert sharp["null_mean"] == pytest.approx(0.5, abs=0.01)
    assert sharp["p_null"] == pytest.approx(1 / 501)
    assert chance["p_null"] > 0.01


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metrics": ["auroc"]}, 'Did you mean "auroc2"'),
        ({"metrics": ["auroc2(bins=3)"]}, "has no option bins"),
        ({"by": ["domian"]}, 'Did you mean "domain"'),
        ({"by": ["domain"], "pool": ["domain"]}, "both a segment and pooled"),
        ({"resampling": Resampling(size=5)}, "too few resamples"),
        ({"resampling": Resampling(cluster="items")}, 'Did you mean "item"'),
        ({"resampling": Resampling(kind="bcaa")}, 'Did you mean "bca"'),
        ({"resampling": Resampling(level=95)}, "level of an interval is a share"),
        ({"on_violation": "keep"}, "cannot be kept"),
    ],
)
def test_what_cannot_be_done_is_refused(options, message):
    with pytest.raises(DataError, match=message):
        compute_metrics(file_of(answers()), **options)


def test_values_above_one_without_a_scale_are_refused_bug_32():
    from hmeta.trials.tables import trials_dataset

    frame = pd.DataFrame({"model": "m", "confidence": [95, 90], "correct": [1, 0]})
    with pytest.raises(DataError, match="values above 1, and no scale is declared"):
        compute_metrics(trials_dataset(frame, task="open"), ["accuracy"])


def test_progress_counts_every_cell():
    seen = []
    compute_metrics(file_of(answers()), ["accuracy"], resampling=QUICK, progress=lambda *step: seen.append(step))
    assert seen == [(1, 2), (2, 2)]
