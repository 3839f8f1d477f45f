"""Cases A and B and the oracle table, by maximum likelihood; numbers in names are the cases'."""

from __future__ import annotations

import numpy as np
import pytest

from hmeta.core.errors import DataError
from hmeta.infer.mle import fit_counts

TOLERANCE = 2e-3
S1, S2 = [36, 24, 17, 20, 10, 12, 9, 2], [1, 4, 10, 11, 19, 18, 28, 39]
O5 = ([100, 50, 20, 10, 5, 1], [3, 7, 8, 12, 27, 89])
O7 = [216, 155, 194, 208, 80, 62, 42, 43]
O9 = [326, 154, 157, 137, 102, 65, 35, 26]

# id, counts, padding, d, c, (meta_d, M) relative, (meta_d, M) absolute
TABLE = [
    ("O1", (S1, S2), 0.0, 1.5041, -0.0896, (1.4607, 0.9712), (1.4662, 0.9748)),
    ("O2", (S1, S2), 1 / 8, 1.4901, -0.0884, (1.4418, 0.9676), (1.4470, 0.9711)),
    ("O5", O5, 0.0, 2.5244, 0.1035, (2.3370, 0.9258), (2.3517, 0.9316)),
    ("O7", (O7, O7[::-1]), 0.0, 1.4975, 0.0, (0.4407, 0.2943), (0.4407, 0.2943)),
    ("O9", (O9, O9[::-1]), 0.0, 1.4939, 0.0, (1.4928, 0.9992), (1.4928, 0.9992)),
]


@pytest.mark.parametrize(
    ("counts", "pad", "d", "c", "relative", "absolute"), [r[1:] for r in TABLE], ids=[r[0] for r in TABLE]
)
def test_oracle_table(counts, pad, d, c, relative, absolute):
    fits = (fit_counts(*counts, meta_c="relative", pad=pad), fit_counts(*counts, meta_c="absolute", pad=pad))
    for fit, (meta_d, ratio) in zip(fits, (relative, absolute), strict=True):
        assert (fit.d, fit.c, fit.meta_d, fit.M) == pytest.approx((d, c, meta_d, ratio), abs=TOLERANCE)


@pytest.mark.parametrize(
    ("counts", "auroc2"),
    [((S1, S2), 0.7097), (([5, 15, 20, 20], [20, 20, 15, 5]), 0.3750), (O5, 0.8077), ((O7, O7[::-1]), 0.5671)],
)
def test_oracle_table_auroc2(counts, auroc2):
    assert fit_counts(*counts).auroc2 == pytest.approx(auroc2, abs=5e-5)


def test_oracle_table_o4_negative_d_is_flagged():
    fit = fit_counts([5, 15, 20, 20], [20, 20, 15, 5], meta_c="relative")
    assert (fit.d, fit.c, fit.meta_d, fit.M) == pytest.approx((-0.8615, 0.0, -1.0606, 1.2312), abs=TOLERANCE)
    assert fit.status == "flagged"
    assert "d negative" in fit.reason


def test_case_01_no_s1_responses():
    fit = fit_counts([0, 0, 5, 1], [0, 0, 0, 6])
    assert fit.status == "undefined"
    assert fit.reason == "no S1 responses"
    assert fit.n == 12
    assert np.isnan([fit.d, fit.c, fit.meta_d, fit.M, fit.se_M]).all()
    assert fit.auroc2 == pytest.approx(0.9167, abs=5e-5)


@pytest.mark.parametrize("pad", [0.5, "1/(2K)"])
def test_case_01_padding_does_not_make_it_defined(pad):
    fit = fit_counts([0, 0, 5, 1], [0, 0, 0, 6], pad=pad)
    assert fit.reason == "no S1 responses"
    assert np.isnan([fit.meta_d, fit.M]).all()


def test_case_01_as_an_error_where_asked():
    with pytest.raises(DataError, match=r"no S1 responses.*12 trials"):
        fit_counts([0, 0, 5, 1], [0, 0, 0, 6], on_undefined="raise")


@pytest.mark.parametrize("pad", [0.0, 0.25])
@pytest.mark.parametrize("meta_c", ["absolute", "relative"])
def test_case_02_one_confidence_level_used(pad, meta_c):
    fit = fit_counts([40, 0, 0, 10], [10, 0, 0, 40], pad=pad, meta_c=meta_c)
    assert fit.status == "undefined"
    assert fit.reason == "one confidence level used"
    assert np.isnan([fit.meta_d, fit.M, fit.se_M]).all()
    assert fit.auroc2 == 0.5
    if pad == 0.0:
        assert fit.d == pytest.approx(1.6832, abs=TOLERANCE)


def test_case_04_padding_is_explicit_and_its_effect_named():
    counts = ([6, 3, 3, 2, 1, 0, 0, 0], [0, 0, 1, 1, 2, 3, 3, 5])
    fits = {pad: fit_counts(*counts, meta_c="relative", pad=pad) for pad in (0.0, "1/(2K)", 0.5)}
    assert [fit.M for fit in fits.values()] == pytest.approx([1.056, 0.907, 0.749], abs=TOLERANCE)
    assert [fit.d for fit in fits.values()] == pytest.approx([2.61, 2.33, 1.81], abs=5e-3)
    assert np.isnan(fits[0.0].pad_change)
    assert "padding" not in fits[0.0].reason
    for pad in ("1/(2K)", 0.5):
        assert fits[pad].pad == pad
        assert fits[pad].pad_change == pytest.approx(fits[pad].M / 1.0556 - 1.0, abs=TOLERANCE)
        assert "padding changes M by more than 5 %" in fits[pad].reason


def test_case_06_perfect_accuracy():
    for pad in (0.0, "1/(2K)"):
        fit = fit_counts([30, 20, 0, 0], [0, 0, 20, 30], pad=pad)
        assert fit.status == "undefined"
        assert fit.reason == "no wrong answers"
        assert np.isnan([fit.auroc2, fit.meta_d, fit.M]).all()
        assert fit.accuracy == 1.0
    assert fit_counts([30, 20, 0, 0], [0, 0, 20, 30]).d == np.inf


def test_case_08_one_stimulus_class_missing():
    with pytest.raises(DataError, match="no S2 trials"):
        fit_counts([10, 10, 10, 10], [0, 0, 0, 0])
    with pytest.raises(DataError, match="no S1 trials"):
        fit_counts([0, 0, 0, 0], [10, 10, 10, 10])


def test_case_09_one_rating_level():
    with pytest.raises(DataError, match="at least two rating levels are needed"):
        fit_counts([40, 10], [10, 40])


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        (([-1, 10, 5, 3], [2, 5, 10, 4]), r"nR_S1, position 0 .*negative"),
        (([1, 10, 5, 3], [2, 5, float("nan"), 4]), r"nR_S2, position 2"),
        (([1, 10, 5, 3], [2, 5, 10, 4, 1, 1]), r"nR_S1 and nR_S2 differ in length"),
        (([1, 10, 5], [2, 5, 10]), r"nR_S1.*even length"),
        (([2.5, 10, 5, 3], [2, 5, 10, 4]), r"nR_S1, position 0.*whole number"),
    ],
)
def test_case_10_bad_arrays(counts, message):
    with pytest.raises(DataError, match=message):
        fit_counts(*counts)


def test_case_10_fractions_pass_as_padded_counts():
    by_hand = fit_counts([x + 0.125 for x in S1], [x + 0.125 for x in S2], pad="included")
    assert pytest.approx(fit_counts(S1, S2, pad=0.125).M, abs=1e-9) == by_hand.M


def test_case_10_lists_equal_arrays():
    assert repr(fit_counts(S1, S2)) == repr(fit_counts(np.array(S1), np.array(S2)))


def test_case_12_swapped_stimulus_labels():
    fit = fit_counts(S2, S1, meta_c="relative")
    assert (fit.d, fit.meta_d, fit.M) == pytest.approx((-1.5041, -1.4607, 0.9712), abs=TOLERANCE)
    assert fit.auroc2 == pytest.approx(0.290, abs=5e-4)
    assert fit.status == "flagged"
    assert "stimulus coding probably inverted" in fit.reason


def test_case_13_rating_order_reversed():
    fit = fit_counts([20, 17, 24, 36, 2, 9, 12, 10], [11, 10, 4, 1, 39, 28, 18, 19], meta_c="relative")
    assert (fit.d, fit.meta_d, fit.M) == pytest.approx((1.5041, -1.1736, -0.780), abs=TOLERANCE)
    assert "rating order probably reversed" in fit.reason


def test_case_14_negative_meta_d():
    fit = fit_counts([10, 40, 15, 15], [15, 15, 40, 10], meta_c="relative")
    assert (fit.d, fit.meta_d, fit.M) == pytest.approx((0.6373, -1.3017, -2.043), abs=TOLERANCE)


def test_case_21_an_unused_level_changes_nothing():
    """A level without a rating: the same fit with it (K = 4) and without it (K = 3), to 1e-8."""
    four = fit_counts([30, 0, 12, 8, 5, 6, 0, 4], [4, 0, 6, 5, 8, 12, 0, 30])
    three = fit_counts([30, 12, 8, 5, 6, 4], [4, 6, 5, 8, 12, 30])
    assert (four.d, four.meta_d, four.M) == pytest.approx((1.4726, 1.3241, 0.899), abs=TOLERANCE)
    assert (four.meta_d, four.se_M) == pytest.approx((three.meta_d, three.se_M), abs=1e-8)
    assert four.criteria == three.criteria


def test_case_27_unequal_trials_per_stimulus():
    fit = fit_counts([144, 96, 68, 80, 40, 48, 36, 8], S2, meta_c="relative")
    assert (fit.d, fit.meta_d, fit.M) == pytest.approx((1.5041, 1.4670, 0.975), abs=TOLERANCE)


@pytest.mark.parametrize(
    ("n_s2", "ratio", "sd_ratio"),
    [
        ([67, 75, 118, 155, 170, 155, 118, 142], 0.689, 1.4),
        ([1, 15, 83, 235, 332, 235, 83, 16], 1.158, 0.7),
        ([18, 49, 117, 198, 236, 198, 117, 67], 1.001, 1.0),
    ],
)
def test_case_51_unequal_variances_are_named(n_s2, ratio, sd_ratio):
    """The counts are expected ones, so that the slope is 1/sd_ratio but for rounding (0.02)."""
    fit = fit_counts([184, 198, 236, 198, 117, 49, 14, 3], n_s2, meta_c="relative")
    assert pytest.approx(ratio, abs=TOLERANCE) == fit.M
    assert fit.zroc_slope == pytest.approx(1 / sd_ratio, abs=0.02)
    assert fit.zroc_low < 1 / sd_ratio < fit.zroc_high
    assert ("z-ROC slope excludes 1" in fit.reason) == (sd_ratio != 1.0)


def test_d_of_zero_leaves_meta_d_but_no_ratio():
    fit = fit_counts([10, 20, 20, 10], [10, 20, 20, 10])
    assert fit.d == pytest.approx(0.0, abs=1e-12)
    assert np.isfinite(fit.meta_d)
    assert np.isnan([fit.M, fit.se_M]).all()
    assert "d = 0" in fit.reason
    assert fit_counts([10, 20, 20, 10], [10, 20, 20, 10], meta_c="relative").status == "undefined"


def test_ratings_that_separate_have_no_finite_maximum():
    """Every right answer sure, every wrong one unsure: the likelihood grows without bound in meta_d."""
    fit = fit_counts([40, 0, 10, 0], [0, 10, 0, 40])
    assert fit.status == "failed"
    assert fit.reason == "no finite maximum: meta_d goes to +infinity"
    assert np.isnan([fit.meta_d, fit.M, fit.se_M]).all()
    assert fit.auroc2 == 1.0
