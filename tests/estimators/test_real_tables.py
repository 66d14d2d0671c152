"""Every family on a real table: the search does what it promises, and finds what is there.

tests/papers/real_tables.py says where the tables come from.
"""

from types import SimpleNamespace

import numpy as np
import pytest
from cases import needs_kernels
from families import CASES
from real_tables import table_path

import dpmlite
from dpmlite import MAPDPM, neg_log_joint

pytestmark = needs_kernels


def read_csv(name):
    return np.loadtxt(table_path(name), delimiter=",", skiprows=1, ndmin=2)


def read_sparse(name):
    """Anything with these three arrays is a sparse table; and its labels."""
    with np.load(table_path(name)) as file:
        rows = SimpleNamespace(**{key: file[key] for key in ("data", "indices", "indptr")})
        rows.shape = tuple(int(n) for n in file["shape"])
        return rows, file["y"]


def climbed(X, component, **parameters):
    """A whole search, which must beat one cluster and be no worse than sweeps alone."""
    parameters = {"prior": "paper", **parameters}
    model = MAPDPM(component=component, random_state=0, **parameters).fit(X)
    swept = MAPDPM(
        component=component, init="sequential", split_merge=False, random_state=0, **parameters
    ).fit(X)
    assert model.converged_
    assert model.neg_log_joint_ <= swept.neg_log_joint_
    single = np.zeros(X.shape[0], dtype=int)
    prior = None if parameters["prior"] == "paper" else parameters["prior"]
    assert model.neg_log_joint_ < neg_log_joint(
        X, single, alpha=1.0, component=component, prior=prior
    )
    return model


def purity(labels, truth):
    """Share of rows whose label is the most common one of their cluster."""
    return sum(np.bincount(truth[labels == k]).max() for k in set(labels)) / len(labels)


def test_wine_with_full_covariances():
    table = read_csv("wine.csv")
    X, truth = table[:, :-1], table[:, -1].astype(int)
    model = climbed(X, "normal-inverse-wishart")
    case = CASES["normal-inverse-wishart"]
    expected = case.neg_log_joint(X, model.labels_, 1.0, model.prior_)
    assert model.neg_log_joint_ == pytest.approx(expected, rel=1e-9)
    assert purity(model.labels_, truth) > 0.9
    diagonal = MAPDPM(prior="paper", random_state=0).fit(X)
    assert model.neg_log_joint_ < diagonal.neg_log_joint_


def test_galaxies_with_known_variance():
    X = read_csv("galaxies.csv")
    model = climbed(X, "normal-known-variance")
    case = CASES["normal-known-variance"]
    expected = case.neg_log_joint(X, model.labels_, 1.0, model.prior_)
    assert model.neg_log_joint_ == pytest.approx(expected, rel=1e-9)
    means = np.sort(model.means_[:, 0])
    assert means[0] == pytest.approx(9_900.0, abs=500.0)
    assert means[-1] == pytest.approx(33_000.0, abs=1_000.0)


def test_newsgroups_with_binary_words():
    X, truth = read_sparse("20news_w100.npz")
    model = climbed(X, "beta-bernoulli")
    assert 10 < model.n_clusters_ < 300
    assert purity(model.labels_, truth) > 0.6
    dense = np.zeros(X.shape)
    rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    dense[rows, X.indices] = X.data
    case = CASES["beta-bernoulli"]
    expected = case.neg_log_joint(dense, model.labels_, 1.0, model.prior_)
    assert model.neg_log_joint_ == pytest.approx(expected, rel=1e-9)


@pytest.mark.slow
def test_the_joint_of_papers_with_counts_is_exact():
    X, _ = read_sparse("nips12.npz")
    model = climbed(X, "dirichlet-multinomial")
    assert 5 < model.n_clusters_ < 100
    case, prior = CASES["dirichlet-multinomial"], model.prior_
    total = -dpmlite.crp_log_prob(model.labels_, alpha=1.0)
    for k in range(model.n_clusters_):
        words = np.zeros(X.shape[1])
        for i in np.flatnonzero(model.labels_ == k):
            part = slice(X.indptr[i], X.indptr[i + 1])
            words[X.indices[part]] += X.data[part]
        total -= case.log_marginal(words[None], prior)
    assert model.neg_log_joint_ == pytest.approx(total, rel=1e-9)
