"""Results files with a confidence made of other columns."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from hmeta.assess.derive import derive_geometric_mean, derive_p_true, derive_resampled
from hmeta.core.errors import DataError
from hmeta.trials.tables import frame_of, scale_frame, trials_dataset
from hmeta.trials.validation import validate
from tests.trials.answer_tables import SHARED, scale


def scored(**columns) -> pd.DataFrame:
    """Return two models, three items, up to three repeats."""
    rows = [
        *[("a", "q1", r, s, 3.0) for r, s in enumerate([3.0, 3.4, 1.0])],
        *[("a", "q2", r, s, 5.0) for r, s in enumerate([2.0, 2.0, 2.5])],
        ("a", "q3", 0, 4.0, 4.0),
        *[("b", "q1", r, s, 3.0) for r, s in enumerate([4.0, 4.0, 4.0])],
        *[("b", "q2", r, s, np.nan) for r, s in enumerate([1.0, np.nan, 1.0])],
    ]
    frame = pd.DataFrame(rows, columns=["model", "item", "repeat", "score", "label"])
    return frame.assign(confidence=80.0, domain="x", note=range(len(frame))).assign(**columns)


def results(frame: pd.DataFrame):
    return trials_dataset(frame, task="open", scales=scale(0, 100), title="t", license="MIT")


def test_resampled_makes_one_answer_an_item():
    made = derive_resampled(results(scored()), 0.5)
    found = frame_of(made.dataset).set_index(["model", "item"])
    assert found.index.tolist() == [("a", "q1"), ("a", "q2"), ("b", "q1"), ("b", "q2")]
    np.testing.assert_allclose(found["confidence"], [2 / 3, 1, 1, 1], atol=1e-6)
    np.testing.assert_allclose(found["score"], [3.2, 6.5 / 3, 4, 1], atol=1e-6)
    assert found["correct"].tolist()[:3] == [1, 0, 0]
    assert found["correct"].isna().tolist() == [False, False, False, True]
    assert found["n_scores"].tolist() == [3, 3, 3, 2]
    assert found["domain"].tolist() == ["x"] * 4
    assert set(found["signal"]) == {"resampled"}
    assert "note" not in found
    assert "columns that vary among repeats are left out: note" in made.notes


def test_no_row_leaves_without_a_count():
    made = derive_resampled(results(scored()), 0.5)
    assert made.left_out == {"missing score": 1, "the only score of its item": 1}
    assert made.rows_in == len(scored()) == int(made.dataset["n_scores"].sum()) + sum(made.left_out.values())
    assert "left out 1 rows: missing score" in made.render()


def test_the_new_file_validates_on_the_unit_scale():
    made = derive_resampled(results(scored()), 0.5)
    scales = scale_frame(made.dataset)
    assert scales is not None
    assert scales[["scale_lower", "scale_upper", "scale_step"]].to_numpy().tolist() == [[0, 1, 0]]
    report = validate(made.dataset).report
    assert (report.rows_in, report.rows_used) == (4, 3)
    assert made.dataset.attrs["license"] == "MIT"


def test_the_input_is_not_modified():
    ds = results(scored())
    before = ds.copy(deep=True)
    derive_resampled(ds, 0.5)
    assert ds.identical(before)


def test_factors_keep_repeats_apart():
    frame = scored(condition=["hot", "cold", "hot"] * 4 + ["hot"])
    made = derive_resampled(results(frame[frame["item"] == "q1"]), 0.5)
    found = frame_of(made.dataset)
    assert found[["model", "condition", "n_scores"]].to_numpy().tolist() == [["a", "hot", 2], ["b", "hot", 2]]
    assert made.left_out == {"the only score of its item": 2}


def test_elicited_scales_stay_apart():
    frame = pd.concat([scored(scale="0-100"), scored(scale="1-7", confidence=5.0)])
    scales = pd.concat([scale(0, 100), scale(1, 7)])
    made = derive_resampled(trials_dataset(frame, task="open", scales=scales), 0.5)
    assert sorted(set(made.dataset["scale"].values)) == ["0-1 (0-100)", "0-1 (1-7)"]
    assert made.dataset.sizes["trial"] == 8
    assert validate(made.dataset).report.rows_used == 6


def test_a_tolerance_on_the_edge_counts():
    frame = scored(label=[3.7, 3.7, 3.7, 5, 5, 5, 4, 3, 3, 3, 1, 1, 1])
    found = frame_of(derive_resampled(results(frame), 0.5).dataset)
    assert found["correct"].tolist()[0] == 1  # |3.2 − 3.7|


def test_without_labels_correctness_is_unknown():
    made = derive_resampled(results(scored().drop(columns="label")), 0.5)
    assert (made.dataset["correct"].values == -1).all()
    assert "there is no column label, so correctness is unknown" in made.notes


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: f.drop(columns="item"), 'column "item" is missing'),
        (lambda f: f.drop(columns="score"), 'column "score" is missing'),
        (lambda f: f.drop_duplicates(["model", "item"]), "no item has two scores or more"),
        (lambda f: f.assign(score=np.nan), "no item has two scores or more"),
        (lambda f: f.assign(label=range(len(f))), "4 items have more than one label"),
        (lambda f: f.assign(signal=["verbal", "logit"] * 6 + ["logit"]), "several sources"),
    ],
)
def test_what_cannot_be_resampled_is_refused(change, message):
    with pytest.raises(DataError, match=message):
        derive_resampled(results(change(scored())), 0.5)


def test_counts_are_refused():
    ds = results(scored()).assign_attrs(hmeta_layout="counts")
    with pytest.raises(DataError, match="single answers are needed"):
        derive_resampled(ds, 0.5)


def tokens() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "model": ["a", "a", "b"],
            "item": ["1", "2", "1"],
            "correct": [1, 0, 1],
            "confidence": [90.0, 80.0, np.nan],
            "confidence_status": ["ok", "ok", "refusal"],
            "logprob_sum": [np.log(0.25), np.nan, np.log(0.9)],
            "n_tokens": [2, 4, 1],
            "yes": np.log([0.6, 0.1, 0.5]),
            "no": np.log([0.2, 0.1, 0.0001]),
        }
    )


def test_geometric_mean_replaces_the_confidence_and_keeps_it():
    made = derive_geometric_mean(results(tokens()), "logprob_sum", "n_tokens")
    found = frame_of(made.dataset)
    np.testing.assert_allclose(found["confidence"], [0.5, np.nan, 0.9], atol=1e-6)
    np.testing.assert_allclose(found["reported_confidence"], [90, 80, np.nan])
    assert found["correct"].tolist() == [1, 0, 1]
    assert set(found["signal"]) == {"token_probability"}
    assert "confidence_status" not in found
    assert any("1 of 3 answers have no confidence" in note for note in made.notes)
    assert validate(made.dataset).report.rows_used == 2


def test_p_true_replaces_the_confidence():
    made = derive_p_true(results(tokens()), "yes", "no")
    np.testing.assert_allclose(made.dataset["confidence"].values, [0.75, 0.5, 0.5 / 0.5001], atol=1e-6)
    assert made.signal == "p_true"


def test_columns_that_do_not_fit_are_refused():
    with pytest.raises(DataError, match='Did you mean "logprob_sum"'):
        derive_geometric_mean(results(tokens()), "logprob_sums", "n_tokens")
    with pytest.raises(DataError, match="holds text"):
        derive_p_true(results(tokens()), "yes", "item")
    with pytest.raises(DataError, match="no answer gets a confidence"):
        derive_geometric_mean(results(tokens().assign(logprob_sum=np.nan)), "logprob_sum", "n_tokens")


def test_agreement_of_real_repeats():
    """With ε = 0 and a code for each category, the confidence is the share of the most frequent category."""
    raw = pd.read_parquet(SHARED / "data" / "llm" / "deductive_coding_confidence.parquet")
    raw = raw[(raw["model"] == "deepseek-chat") & (raw["context"] == "L1")]
    codes = pd.Index(pd.concat([raw["pred_code"], raw["gold_code"]]).astype(str).unique())
    frame = pd.DataFrame(
        {
            "model": raw["model"].astype(str),
            "item": raw["claim_id"].astype(str),
            "run": raw["run"],
            "confidence": raw["confidence"],
            "score": codes.get_indexer(raw["pred_code"].astype(str)).astype(float),
            "label": codes.get_indexer(raw["gold_code"].astype(str)).astype(float),
        }
    )
    made = derive_resampled(trials_dataset(frame, task="open", scales=scale(0, 1, 0)), 0)
    found = frame_of(made.dataset)
    modal = raw.groupby(raw["claim_id"].astype(str))["pred_code"].agg(lambda c: c.astype(str).value_counts().iloc[0])
    assert len(found) == 113
    np.testing.assert_allclose(found.set_index("item")["confidence"].sort_index(), (modal / 10).sort_index(), atol=1e-6)
