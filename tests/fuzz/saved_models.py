"""Fitted models of every kind as files, with the rows that they were fitted to: what is mutated."""

import numpy as np
import pandas as pd

from dpmlite import (
    MAPDPM,
    BayesianHierarchicalClustering,
    CollapsedGibbs,
    DPSearch,
    merge_models,
)


def reals(rng, n_rows=36, n_columns=2):
    centres = rng.normal(0.0, 5.0, size=(3, n_columns))
    return centres[rng.integers(3, size=n_rows)] + rng.normal(size=(n_rows, n_columns))


def with_gaps(rng, X):
    return np.where(rng.random(X.shape) < 0.15, np.nan, X)


def bits(rng, n_rows=30, n_columns=4):
    p = rng.choice([0.1, 0.9], size=(2, n_columns))[rng.integers(2, size=n_rows)]
    return (rng.random(p.shape) < p).astype(float)


def counts(rng, n_rows=30, n_columns=4):
    p = rng.dirichlet(np.ones(n_columns), size=2)
    return np.array([rng.multinomial(12, p[k]) for k in rng.integers(2, size=n_rows)], float)


def mixed(rng, n_rows=60):
    group = rng.integers(2, size=n_rows)
    return pd.DataFrame(
        {
            "height": 170.0 + rng.normal(8.0 * group, 2.0),
            "income": np.exp(rng.normal(group, 0.3)),
            "city": np.array(["Ulm", "Bonn", "Trier"], dtype=object)[rng.integers(3, size=n_rows)],
            "visits": rng.poisson(2.0 + 9.0 * group).astype(float),
            "member": (rng.random(n_rows) < 0.2 + 0.6 * group).astype(float),
        }
    )


FAMILIES_OF_COLUMNS = {
    "height": "normal-gamma",
    "income": "log-normal",
    "city": "categorical",
    "visits": "poisson-gamma",
    "member": "beta-bernoulli",
}
FULL_COLUMNS = {("height", "income"): "log-normal", "city": "categorical"}


def exposed(rng, n_rows=40):
    """Counts of events beside the time in which they were counted."""
    days, group = rng.uniform(1.0, 30.0, n_rows), rng.integers(2, size=n_rows)
    claims = rng.poisson(days * np.array([0.2, 4.0])[group]).astype(float)
    return pd.DataFrame({"claims": claims, "days": days})


def streamed(model, X):
    half = len(X) // 2
    return model.partial_fit(X[:half]).partial_fit(X[half:])


def merged(X, **parameters):
    half = len(X) // 2
    parts = (MAPDPM(random_state=0, **parameters).fit(rows) for rows in (X[:half], X[half:]))
    return merge_models(*parts)


def all_models():
    """Pairs of a fitted model and its rows, by name."""
    rng = np.random.default_rng(0)
    X, paper = reals(rng), {"prior": "paper", "random_state": 0}
    gaps, words, zeros_and_ones, table = with_gaps(rng, X), counts(rng), bits(rng), mixed(rng)
    weights = rng.random(len(X)) + 0.5
    bits_with_gaps = with_gaps(rng, zeros_and_ones)
    full = table[["height", "income", "city"]]
    rates, of_rates = exposed(rng), {"claims": "poisson-gamma", "days": "exposure"}
    sparse = {"component": "dirichlet-multinomial", **paper}
    binary = {"component": "beta-bernoulli", **paper}
    return {
        "default": (MAPDPM(random_state=0).fit(X), X),
        "joined": (MAPDPM(random_state=0, join=False, max_clusters=2).fit(X), X),
        "outliers": (MAPDPM(random_state=0, outlier_level=0.05).fit(X), X),
        "paper": (MAPDPM(**paper).fit(X), X),
        "weights": (MAPDPM(**paper).fit(X, sample_weight=weights), X),
        "alpha": (MAPDPM(alpha="cv", alphas=[0.5, 2.0], cv=2, **paper).fit(X), X),
        "ints": (MAPDPM(**paper).fit(np.round(20.0 * X)), np.round(20.0 * X)),
        "stream": (streamed(MAPDPM(**paper), X), X),
        "default stream": (streamed(MAPDPM(random_state=0), X), X),
        "merged": (merged(X, prior="paper"), X),
        "gaps": (MAPDPM(allow_missing=True, **paper).fit(gaps), gaps),
        "gaps stream": (streamed(MAPDPM(allow_missing=True, **paper), gaps), gaps),
        "full": (MAPDPM(component="normal-inverse-wishart", **paper).fit(X), X),
        "full stream": (streamed(MAPDPM(component="normal-inverse-wishart", **paper), X), X),
        "known variance": (MAPDPM(component="normal-known-variance", **paper).fit(X), X),
        "counts": (MAPDPM(**sparse).fit(words), words),
        "counts stream": (streamed(MAPDPM(**sparse), words), words),
        "bits": (MAPDPM(**binary).fit(zeros_and_ones), zeros_and_ones),
        "bits with gaps": (
            streamed(MAPDPM(allow_missing=True, **binary), bits_with_gaps),
            bits_with_gaps,
        ),
        "mixed": (MAPDPM(component=FAMILIES_OF_COLUMNS, **paper).fit(table), table),
        "mixed stream": (streamed(MAPDPM(component=FAMILIES_OF_COLUMNS, **paper), table), table),
        "mixed full": (MAPDPM(component=FULL_COLUMNS, random_state=0).fit(full), full),
        "exposures": (MAPDPM(component=of_rates, **paper).fit(rates), rates),
        "exposures stream": (streamed(MAPDPM(component=of_rates, **paper), rates), rates),
        "mixed auto": (MAPDPM(random_state=0, allow_missing=True).fit(table), table),
        "prefixes": (DPSearch(random_state=0).fit(X), X),
        "certified": (DPSearch(scoring="tight", **binary).fit(zeros_and_ones), zeros_and_ones),
        "tree": (BayesianHierarchicalClustering(alternative_trees=True, **paper).fit(X), X),
        "tree of weights": (
            BayesianHierarchicalClustering(**paper).fit(X, sample_weight=np.round(weights)),
            X,
        ),
        "tree of counts": (BayesianHierarchicalClustering(**sparse).fit(words), words),
        "samples": (CollapsedGibbs(n_samples=8, **paper).fit(X), X),
        "samples of bits": (
            CollapsedGibbs(n_samples=6, **binary).fit(zeros_and_ones),
            zeros_and_ones,
        ),
    }
