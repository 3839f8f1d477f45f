"""Bootstrap replicates as weights: margins, moments, clusters and strata."""

import numpy as np
import pytest

from hmeta.core.errors import DataError
from hmeta.resample.design import design

ROW = np.array([0, 1, 2, 1])
COUNT = np.array([30.0, 50.0, 20.0, 10.0])


def replicates(built, size=4000, seed=1):
    return np.concatenate(list(built.replicates(np.random.default_rng(seed), size)))


def test_the_design_adds_equal_rows_up_and_keeps_the_data():
    built = design(ROW, COUNT, 3)
    assert built.observed.tolist() == [30.0, 60.0, 20.0]
    assert built.n_units == 110


def test_replicates_are_multinomial():
    # Five standard errors of each mean and variance: a false alarm in about 1 of 300,000 runs, and the seed is fixed.
    w = replicates(design(ROW, COUNT, 3))
    assert (w.sum(axis=1) == 110).all()
    p = np.array([30, 60, 20]) / 110
    variance = 110 * p * (1 - p)
    assert np.all(np.abs(w.mean(axis=0) - 110 * p) < 5 * np.sqrt(variance / len(w)))
    assert np.all(np.abs(w.var(axis=0) / variance - 1) < 5 * np.sqrt(2 / len(w)))


def test_strata_keep_their_sizes():
    stratum = np.array([0, 0, 1, 1])
    w = replicates(design(np.arange(4), COUNT, 4, stratum=stratum), 200)
    assert (w[:, :2].sum(axis=1) == 80).all()
    assert (w[:, 2:].sum(axis=1) == 30).all()
    assert w.std(axis=0).min() > 0


def test_clusters_are_drawn_whole_and_equal_ones_share_a_pattern():
    row = np.array([0, 1, 0, 1, 0, 2])
    cluster = np.array([0, 0, 1, 1, 2, 2])
    built = design(row, np.ones(6), 3, cluster=cluster)
    assert sorted(built.multiplicity.tolist()) == [1, 2]
    w = replicates(built, 500)
    assert (w[:, 0] == 3).all()
    assert (w[:, 1] + w[:, 2] == 3).all()
    assert np.abs(w[:, 2].mean() - 1.0) < 5 * np.sqrt(3 * (1 / 3) * (2 / 3) / 500)


def test_clusters_of_one_answer_are_answers():
    by_answer = design(ROW, COUNT, 3)
    entries = np.repeat(ROW, COUNT.astype(int))
    by_cluster = design(entries, np.ones(len(entries)), 3, cluster=np.arange(len(entries)))
    assert sorted(by_cluster.multiplicity.tolist()) == sorted(by_answer.multiplicity.tolist())


def test_the_jackknife_leaves_one_unit_out():
    ((weights, multiplicity),) = design(ROW, COUNT, 3).jackknife(np.random.default_rng(1))
    assert multiplicity.tolist() == [30, 60, 20]
    assert weights.tolist() == [[29, 60, 20], [30, 59, 20], [30, 60, 19]]


def test_the_jackknife_of_many_patterns_is_a_sample_in_chunks(monkeypatch):
    monkeypatch.setattr("hmeta.resample.design.MOST_LEFT_OUT", 20)
    monkeypatch.setattr("hmeta.resample.design.LARGEST_CHUNK", 300)
    parts = list(design(np.arange(50), np.ones(50), 50).jackknife(np.random.default_rng(1)))
    weights = np.concatenate([part[0] for part in parts])
    assert len(parts) == 4
    assert weights.shape == (20, 50)
    assert (weights.sum(axis=1) == 49).all()


def test_chunks_do_not_change_the_number_of_replicates(monkeypatch):
    monkeypatch.setattr("hmeta.resample.design.LARGEST_CHUNK", 30)
    assert replicates(design(ROW, COUNT, 3), 101).shape == (101, 3)


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(DataError, match="not whole"):
        design(ROW, COUNT + 0.5, 3)
    with pytest.raises(DataError, match="one cluster"):
        design(ROW, COUNT, 3, cluster=np.zeros(4, dtype=int))
    with pytest.raises(DataError, match="several strata"):
        design(ROW, COUNT, 3, cluster=np.array([0, 0, 1, 1]), stratum=np.array([0, 1, 1, 1]))
